"""What sensors say, where there are some and where there are none; noisy samples once more."""

import csv
from pathlib import Path
from typing import Any

import pytest
import torch

from decoders.generate import Completion
from harness import sensors
from harness.answers import text_of
from harness.measuring import Work
from harness.models import LoadedModel
from harness.sensors import PackageEnergy, PeakMemory, cpu_mhz
from harness.watching import Watch
from results import summarise
from results.measured import is_noisy
from results.records import MACHINE_FACTS
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


def package(folder: Path, name: str, energy_uj: int, size: int = 1_000_000) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "max_energy_range_uj").write_text(f"{size}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    return folder / "energy_uj"


def test_energy_is_that_of_all_packages_and_of_nothing_within_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sensors, "_POWERCAP", tmp_path)
    first = package(tmp_path / "intel-rapl:0", "package-0", 100)
    second = package(tmp_path / "intel-rapl:1", "package-1", 999_990)
    core = package(tmp_path / "intel-rapl:0:0", "core", 5)
    meter = PackageEnergy()
    assert meter.since_last() == 0
    first.write_text("300")
    core.write_text("900")
    assert meter.since_last() == pytest.approx(200e-6)
    # It begins again at 0 after 1,000,000.
    second.write_text("40")
    assert meter.since_last() == pytest.approx(50e-6)
    first.unlink()
    assert meter.since_last() is None
    assert meter.since_last() is None


def test_without_sensors_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("_POWERCAP", "_CPUS", "_CPUINFO"):
        monkeypatch.setattr(sensors, name, tmp_path / "nothing")
    assert PackageEnergy().since_last() is None
    assert cpu_mhz() is None
    memory = PeakMemory("cpu")
    memory.reset()
    assert memory.bytes() is None
    watch = Watch("cpu", alone=False)
    watch.begin()
    assert watch.facts() == {}


def test_the_clock_is_that_of_the_usable_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sensors, "usable_cores", lambda: [1, 2])
    monkeypatch.setattr(sensors, "_CPUS", tmp_path)
    monkeypatch.setattr(sensors, "_CPUINFO", tmp_path / "cpuinfo")
    (tmp_path / "cpuinfo").write_text(
        "".join(f"processor\t: {n}\ncpu MHz\t\t: {1000 * (n + 1)}.500\n\n" for n in range(4))
    )
    assert cpu_mhz() == 2500.5
    for core, khz in ((0, 1), (1, 2_000_000), (2, 3_000_000)):
        (tmp_path / f"cpu{core}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{core}" / "cpufreq" / "scaling_cur_freq").write_text(f"{khz}\n")
    assert cpu_mhz() == 2500


@pytest.mark.gpu
def test_a_peak_of_memory_is_forgotten_with_a_reset():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    memory = PeakMemory("cuda")
    memory.reset()
    before = memory.bytes()
    block = torch.zeros(200_000_000, dtype=torch.uint8, device="cuda")
    held = memory.bytes()
    assert before is not None
    assert held is not None
    assert held >= before + block.numel()
    del block
    memory.reset()
    assert memory.bytes() == before


def test_a_load_is_told_once_a_stretch_has_ended(monkeypatch: pytest.MonkeyPatch):
    class Meter:
        ready = False

        def share(self) -> float:
            return 0.4

    monkeypatch.setattr("harness.watching.LoadMeter", Meter)
    watch = Watch("cpu", alone=True)
    assert "other_load" not in watch.facts()
    Meter.ready = True
    assert watch.facts()["other_load"] == 0.4
    Meter.ready = False
    assert watch.facts()["other_load"] == 0.4
    assert watch.facts().keys() <= MACHINE_FACTS.keys()


class Loads:
    """What is said of the load, sample by sample, and again from the first."""

    def __init__(self, *loads: float) -> None:
        self.loads, self.asked = loads, 0

    def __call__(self) -> dict[str, float]:
        self.asked += 1
        return {"other_load": self.loads[(self.asked - 1) % len(self.loads)]}


def run(model: Path, out: Path, *more: object) -> Any:
    options = ["--limit", 3, "--max-new-tokens", 4, "--decoders", "ar,block-ar", "--traces", 0]
    return harness("run", "--model", model, *options, "--out", out, *more)


def test_noisy_samples_are_told_and_measured_again(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The second item's first decoder was disturbed, and is so again, though it comes second then;
    the other one goes along."""
    out = tmp_path / "run"
    monkeypatch.setattr("harness.watching.Watch.facts", Loads(0, 0, 0.9, 0, 0, 0))
    told = run(model, out)
    assert told.exit_code == 0
    assert "during 1 of 6 samples" in told.stderr
    assert [row["noisy_share"] for row in summary(out)].count(1 / 3) == 1
    first = records(out)
    monkeypatch.setattr("harness.watching.Watch.facts", Loads(0.0, 0.9))
    assert run(model, out, "--resume", "--repeat-noisy").exit_code == 0
    found = records(out)
    again = sorted(key for key in found if key.repeat > 0)
    assert {key.repeat for key in again} == {1, 2}
    assert len({key.item_id for key in again}) == 1
    assert len({key.decoder for key in again}) == 2
    assert {key: found[key] for key in first} == first
    for key in first:
        repeats = [found[each] for each in found if each[:4] == key[:4]]
        assert not all(map(is_noisy, repeats))
        assert len({tuple(each.ids or ()) for each in repeats}) == 1


def test_what_stays_noisy_is_repeated_twice_at_most(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "run"
    monkeypatch.setattr("harness.watching.Watch.facts", Loads(0.9))
    warmed: list[str] = []

    def warm(_: object, work: Work, *rest: object) -> float:
        warmed.append(work.turn.spec)
        return 0.0

    monkeypatch.setattr("harness.measuring.warm_up", warm)
    assert run(model, out, "--repeat-noisy", "--repeats", 2).exit_code == 0
    assert sorted({key.repeat for key in records(out)}) == [0, 1, 2, 3]
    # Once, not for each pass.
    assert sorted(warmed) == ["ar", "block-ar(block=4)"]
    before = outcomes(out)
    assert run(model, out, "--repeat-noisy", "--repeats", 2, "--resume").exit_code == 0
    assert outcomes(out) == before


def test_repeats_are_resumed_where_they_were_left(model: Path, tmp_path: Path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert run(model, whole, "--repeats", 2).exit_code == 0
    assert run(model, part, "--repeats", 2).exit_code == 0
    assert len(outcomes(whole)) == 12
    path = part / "samples" / "gsm8k" / "ar.jsonl"
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:2]))
    assert run(model, part, "--repeats", 2, "--resume").exit_code == 0
    assert outcomes(part) == outcomes(whole)
    refused(run(model, part, "--repeats", 3, "--resume"), "repeats")
    rows = summarise(records(part).values(), {}, "ar")
    assert [(row.items, row.unstable) for row in rows] == [(3, 0), (3, 0)]


def test_an_item_whose_second_repeat_fails_has_failed_in_every_table(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []

    def failing(loaded: LoadedModel, completion: Completion) -> str:
        if read.count(completion.key) == 3 and read[0] == completion.key:
            raise RuntimeError("the last of two decoders, twice")
        read.append(completion.key)
        return text_of(loaded, completion)

    monkeypatch.setattr("harness.measuring.text_of", failing)
    out = tmp_path / "run"
    options = ["--tasks", "math500", "--data", "embedded", "--limit", 6, "--repeats", 2]
    assert run(model, out, *options).exit_code == 1
    (failed,) = [each for each in records(out).values() if each.error is not None]
    assert failed.repeat == 1
    with (out / "tables" / "breakdown.csv").open() as file:
        parts = [*csv.DictReader(file)]
    for row in summary(out):
        fails = int(row["decoder"] == failed.decoder)
        assert (row["items"], row["failed"]) == (6, fails)
        levels = [p for p in parts if p["decoder"] == row["decoder"] and "level" in p["part"]]
        assert sum(int(part["items"]) for part in levels) == 6 - fails
    assert (out / "report.html").exists()


def test_a_fixed_length_is_every_answer_s(model: Path, tmp_path: Path):
    out = tmp_path / "run"
    options = ["--limit", 3, "--decoders", "ar,self-speculative", "--fixed-length", 9]
    result = harness("run", "--model", model, *options, "--out", out)
    assert result.exit_code == 0
    assert "9 ids long whatever would end them" in result.stderr
    for record in records(out).values():
        assert len(record.ids or []) == 9
        assert (record.correct, record.finish, record.fixed_length) == (None, "length", 9)
    for row in summary(out):
        assert row["accuracy"] is row["p_value"] is None
        assert row["speedup"] is not None
        assert (row["cap_share"], row["mean_length"]) == (1, 9)
    assert "9 ids long" in (out / "tables" / "summary.md").read_text()
    assert manifest(out)["config"]["fixed_length"] == 9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fixed-length", 0), "--fixed-length is 0"),
        (("--repeats", 0), "--repeats is 0"),
        (("--traces", -1), "--traces is -1"),
        (("--fixed-length", 4, "--max-new-tokens", 4), "leave the other out"),
        (("--repeat-noisy", "--engine", "ray"), "--repeat-noisy and --engine ray don't go"),
        (("--repeat-noisy", "--tensor-parallel", 2), "--repeat-noisy and --tensor-parallel don't"),
    ],
)
def test_wrong_numbers_are_refused(
    model: Path, tmp_path: Path, options: tuple[object, ...], words: str
):
    result = harness("run", "--model", model, *options, "--out", tmp_path / "run")
    refused(result, words)
    assert not (tmp_path / "run").exists()
