"""SIGINT and SIGTERM: a run ends in order, says how to go on, and goes on to the same end."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from decoders.generate import generate
from results import RunStore, SampleRecord
from tests.harness.tiny import (
    OUR_OWN_ITEMS,
    harness,
    manifest,
    outcomes,
    records,
    refused,
    summary,
)

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

TOTAL = 12
Hook = Callable[[Callable[[int], None]], None]


def arguments(model: Path, out: Path, *more: object) -> list[object]:
    options = ["--limit", 6, "--max-new-tokens", 5, "--decoders", "ar,block-ar"]
    return ["run", "--model", model, "--out", out, *options, *more]


@pytest.fixture(scope="module")
def undisturbed(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.running.trade_off_plot", lambda *_: None)
        assert harness(*arguments(model, folder)).exit_code == 0
    return folder


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Whatever happens, they are put back."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.fixture
def on_append(monkeypatch: pytest.MonkeyPatch) -> Hook:
    """Have a function called with the number of records kept, after each."""
    append = RunStore.append

    def watch(call: Callable[[int], None]) -> None:
        def watched(self: RunStore, record: SampleRecord) -> None:
            append(self, record)
            call(len(self.records))

        monkeypatch.setattr(RunStore, "append", watched)

    return watch


def send(number: signal.Signals, at: int, times: int = 1) -> Callable[[int], None]:
    def call(kept: int) -> None:
        if kept == at:
            for _ in range(times):
                os.kill(os.getpid(), number)

    return call


def goes_on(model: Path, folder: Path, undisturbed: Path, *more: object) -> None:
    result = harness(*arguments(model, folder, "--resume", *more))
    assert result.exit_code == 0, result.output
    assert outcomes(folder) == outcomes(undisturbed)
    assert sum(row["items"] for row in summary(folder)) == TOTAL


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
@pytest.mark.parametrize("at", [1, 5, TOTAL - 1])
def test_a_stop_ends_with_the_sample_and_a_summary(
    model: Path,
    undisturbed: Path,
    tmp_path: Path,
    on_append: Hook,
    number: signal.Signals,
    status: int,
    at: int,
):
    folder = tmp_path / "run"
    on_append(send(number, at))
    result = harness(*arguments(model, folder))
    assert result.exit_code == status, result.output
    assert len(records(folder)) == at
    assert outcomes(folder).items() <= outcomes(undisturbed).items()
    last = result.stderr.splitlines()[-1]
    assert last == (
        f"stopped by {number.name} with {at} of {TOTAL} samples done; go on: the same command with"
        f" --resume --out {folder}"
    )
    assert sum(row["items"] for row in summary(folder)) == at
    assert "items" in result.stdout
    assert not list(folder.rglob("*.tmp"))
    on_append(lambda _: None)
    goes_on(model, folder, undisturbed)


def test_the_batches_at_hand_are_ended(
    model: Path, undisturbed: Path, tmp_path: Path, on_append: Hook
):
    """What was decoded together must be measured together: no turn is done in two parts."""
    folder = tmp_path / "run"
    on_append(send(signal.SIGINT, 2))
    result = harness(*arguments(model, folder, "--batch-size", 2))
    assert result.exit_code == 130, result.output
    assert {key.decoder for key in records(folder)} == {"ar"}
    assert len(records(folder)) == 6
    on_append(lambda _: None)
    result = harness(*arguments(model, folder, "--batch-size", 2, "--resume"))
    assert result.exit_code == 0, result.output
    found = {key._replace(batch_size=1): each["ids"] for key, each in outcomes(folder).items()}
    assert found == {key: each["ids"] for key, each in outcomes(undisturbed).items()}


def test_a_second_signal_ends_at_once(
    model: Path, undisturbed: Path, tmp_path: Path, on_append: Hook
):
    folder = tmp_path / "run"
    on_append(send(signal.SIGTERM, 3, times=2))
    result = harness(*arguments(model, folder))
    assert result.exit_code == 143, result.output
    assert not (folder / "summary.json").exists()
    assert len(records(folder)) == 3
    on_append(lambda _: None)
    goes_on(model, folder, undisturbed)


def test_a_stop_that_comes_too_late_is_none(
    model: Path, undisturbed: Path, tmp_path: Path, on_append: Hook
):
    folder = tmp_path / "run"
    on_append(send(signal.SIGINT, TOTAL))
    result = harness(*arguments(model, folder))
    assert result.exit_code == 0, result.output
    assert "stopped" not in result.stderr
    assert outcomes(folder) == outcomes(undisturbed)
    assert "not all traces" in result.stderr
    assert not (folder / "traces").exists()
    on_append(lambda _: None)
    goes_on(model, folder, undisturbed)
    assert (folder / "traces").exists()


def test_a_stop_before_the_first_sample(
    model: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*_: object) -> float:
        os.kill(os.getpid(), signal.SIGINT)
        return 0.0

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("harness.measuring.warm_up", interrupted)
        result = harness(*arguments(model, folder, "--json"))
    assert result.exit_code == 130, result.output
    assert json.loads(result.stdout) == []
    assert f"0 of {TOTAL} samples" in result.stderr
    assert records(folder) == {}
    goes_on(model, folder, undisturbed)


def test_a_stopped_run_prints_its_rows_as_json(model: Path, tmp_path: Path, on_append: Hook):
    on_append(send(signal.SIGINT, 4))
    result = harness(*arguments(model, tmp_path / "run", "--json"))
    assert result.exit_code == 130
    assert json.loads(result.stdout) == summary(tmp_path / "run")


def test_the_overhead_is_what_is_not_decoding(
    model: Path, undisturbed: Path, tmp_path: Path, on_append: Hook
):
    """And adds up when a run goes on."""
    folder = tmp_path / "run"
    on_append(send(signal.SIGINT, 5))
    harness(*arguments(model, folder))
    first = manifest(folder)["overhead"]
    on_append(lambda _: None)
    goes_on(model, folder, undisturbed)
    second = manifest(folder)["overhead"]
    parts = ("scoring_s", "writing_s", "progress_s", "summary_s")
    assert second.keys() == {"share", "share_with_summary", "decoding_s", *parts}
    assert all(0 < first[name] < second[name] for name in ("decoding_s", *parts))
    decoding_s = sum(each.compute_s or 0 for each in records(folder).values())
    assert second["decoding_s"] == pytest.approx(decoding_s, abs=1e-3)
    for name, counted in (("share", parts[:3]), ("share_with_summary", parts)):
        beside_s = sum(second[part] for part in counted)
        whole_s = beside_s + second["decoding_s"]
        # The share has five digits, and each of the seconds six.
        tolerance = 5e-6 + 5 * 5e-7 / whole_s
        assert second[name] == pytest.approx(beside_s / whole_s, abs=tolerance)


# The other commands.


def interrupted_in_the_second(patch: pytest.MonkeyPatch) -> None:
    calls: list[None] = []

    def once(*arguments: Any, **options: Any) -> Any:
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return generate(*arguments, **options)

    patch.setattr("harness.decoding.generate", once)


def test_an_interrupted_decode_has_printed_whole_lines(
    model: Path, monkeypatch: pytest.MonkeyPatch
):
    interrupted_in_the_second(monkeypatch)
    lines = "".join(f'{{"id": {number}, "ids": [5, 6]}}\n' for number in range(3))
    options = ["--decoder", "ar", "--decoder", "block-ar", "--input", "-", "--max-new-tokens", 4]
    result = harness("decode", "--model", model, *options, stdin=lines)
    assert result.exit_code == 130
    assert result.stdout.endswith("\n")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [0, 1, 2]
    assert "Traceback" not in result.output


def test_an_interrupted_decode_leaves_no_file(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, out = tmp_path / "data", tmp_path / "out"
    data.write_text('{"id": 1, "ids": [5, 6]}\n')
    options = ["--decoder", "ar", "--decoder", "block-ar", "--input", data, "--max-new-tokens", 3]
    interrupted_in_the_second(monkeypatch)
    result = harness("decode", "--model", model, *options, "--out", out)
    assert result.exit_code == 130, result.output
    assert "Traceback" not in result.output
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


def test_an_interrupted_score_prints_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tasks.gsm8k.Gsm8k.score", interrupted)
    lines = '{"id": "gsm8k/embedded/0000", "text": "#### 4"}\n'
    result = harness("score", "--task", "gsm8k", "--answers", "-", stdin=lines)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_retrying_goes_on_with_a_run(model: Path, tmp_path: Path):
    result = harness(*arguments(model, tmp_path / "run", "--retry-failed"))
    refused(result, "--retry-failed", "--resume", "--out")
    assert not (tmp_path / "run").exists()
