"""`harness run`: what it writes, and that every number in it is the one it says."""

import csv
import json
import math
import xml.etree.ElementTree as ElementTree
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from transformers import AutoTokenizer

from decoders.ar import Autoregressive
from decoders.confidence import GreedyConfidence
from decoders.generate import Request, generate
from decoders.self_speculative import SelfSpeculative
from decoders.trimming import Ending
from harness.running import default_folder
from harness.terminal import print_summary
from results import RunStore, SampleRecord, read_summary
from sdlm.checkpoint import load_model
from sdlm.model import SDLM
from tasks import Item, Score
from tasks.gsm8k import Gsm8k
from tests.harness.conftest import Finished
from tests.harness.tiny import (
    EOS,
    MASK,
    OUR_OWN_ITEMS,
    SPECS,
    harness,
    manifest,
    outcomes,
    records,
    refused,
    summary,
)

# `finished`, being shared, is made before this takes hold.
pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

# DESIGN.md, section 7.
COLUMNS = [
    "task",
    "source",
    "model",
    "decoder",
    "batch_size",
    "items",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "tokens_per_s",
    "speedup",
    "speedup_lo",
    "speedup_hi",
    "tokens_per_forward",
    "query_slots_per_token",
    "mean_length",
    "cap_share",
    "no_answer_share",
    "failed",
    "agreement",
    "guessed_share",
    "paired_items",
    "difference",
    "difference_lo",
    "difference_hi",
    "p_value",
    "p_holm",
    "detectable",
    "time_to_first_token_s",
    "latency_p50_s",
    "latency_p90_s",
    "latency_p99_s",
    "decode_forward_s",
    "accepted_length",
    "peak_memory_bytes",
    "joules_per_token",
    "noisy_share",
    "unstable",
    "near_ties",
    "real_divergences",
    "fixed_length",
    "baseline_model_speedup",
    "baseline_model_speedup_lo",
    "baseline_model_speedup_hi",
]
OURS = "tests.fakes:SomeDecoder"


def measured(model: Path, out: Path, exit_code: int = 0, **options: object) -> None:
    """A run that has to succeed, but for samples that are meant to fail: exit code 1."""
    named = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    arguments = [part for pair in named.items() for part in pair]
    result = harness("run", "--model", model, "--out", out, *arguments)
    assert result.exit_code == exit_code, (result.exception, result.output)


def items_of(folder: Path) -> list[str]:
    return list(dict.fromkeys(key.item_id for key in records(folder)))


# What is written.


def test_a_run_holds_every_sample_once(finished: Finished):
    written = [
        json.loads(line)
        for path in (finished.folder / "samples").rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    items = {sample["item_id"] for sample in written}
    assert len(items) == 4
    pairs = Counter((sample["decoder"], sample["item_id"]) for sample in written)
    assert pairs == {(spec, item): 1 for spec in SPECS for item in items}
    assert len({path.name for path in (finished.folder / "samples").rglob("*.jsonl")}) == 11


def test_the_answers_vary(finished: Finished):
    """Or the other tests of this file would show little."""
    kept = [record.kept for record in records(finished.folder).values()]
    assert {count for counts in kept for count in counts or ()} == {0, 1, 2, 3, 4}
    finishes = {record.finish for record in records(finished.folder).values()}
    assert finishes == {"eos", "length"}


def test_the_manifest_says_what_was_run_on_what(finished: Finished, model: Path):
    found = manifest(finished.folder)
    assert found["schema"] == 1
    config = found["config"]
    expected = {
        "model": str(model),
        "baseline_model": None,
        "baseline_model_sha256": None,
        "tasks": ["gsm8k"],
        "sources": {"gsm8k": "official"},
        "protocol": "paper",
        "decoders": list(SPECS),
        "limit": 4,
        "batch_sizes": [1],
        "order": "given",
        "compile": False,
        "quantize": "none",
        "tensor_parallel": 1,
        "dtype": "float32",
        "attention": "flex" if torch.cuda.is_available() else "dense",
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "max_new_tokens": {"gsm8k": 14},
        "fixed_length": None,
        "repeats": 1,
        "seed": 0,
    }
    hashes = {"model_sha256", "data_sha256", "template_sha256"}
    assert {name: config[name] for name in expected} == expected
    assert config.keys() == expected.keys() | hashes
    for digest in (
        config["model_sha256"],
        config["data_sha256"]["gsm8k"],
        config["template_sha256"]["gsm8k"],
    ):
        assert len(digest) == 64
        assert int(digest, 16)
    assert found["software"]["packages"]["torch"] == torch.__version__
    assert found["software"].keys() == {"python", "platform", "packages", "git_commit"}
    assert found["hardware"]["threads"] == torch.get_num_threads()
    assert {"cpu", "cores", "usable_cores", "memory_bytes"} <= found["hardware"].keys()
    assert found["model_config"]["mask_token_id"] == MASK
    assert found["warmup_s"].keys() == set(SPECS)
    assert all(seconds > 0 for seconds in found["warmup_s"].values())
    (invocation,) = found["invocations"]
    assert {"started", "arguments", "load_average", "other_load"} <= invocation.keys()
    assert (invocation["engine"], invocation["workers"]) == ("local", 1)
    assert invocation["threads"] == torch.get_num_threads()


def test_tables_hold_the_design_columns_and_the_same_numbers(finished: Finished):
    data = json.loads((finished.folder / "summary.json").read_text())
    assert data["schema"] == 1
    assert [row["decoder"] for row in data["rows"]] == list(SPECS)
    assert all(list(row) == COLUMNS for row in data["rows"])
    with (finished.folder / "tables" / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(data["rows"])
    for row, expected in zip(rows, data["rows"], strict=True):
        shown = {name: "" if value is None else str(value) for name, value in expected.items()}
        assert row == shown
    text = (finished.folder / "tables" / "summary.md").read_text()
    for row in data["rows"]:
        assert f"{row['tokens_per_forward']:.2f}" in text
        assert row["decoder"] in text


def test_plots_are_pictures_and_print(finished: Finished):
    plots = finished.folder / "plots"
    names = sorted(path.name for path in plots.iterdir())
    assert names == ["gsm8k.pdf", "gsm8k.png", "gsm8k.svg"]
    assert (plots / "gsm8k.pdf").read_bytes().startswith(b"%PDF")
    assert (plots / "gsm8k.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert ElementTree.parse(plots / "gsm8k.svg").getroot().tag.endswith("svg")


def test_the_terminal_shows_every_row_whole_and_then_the_paths(finished: Finished):
    """To a pipe, as here, and whatever width a terminal is taken to have."""
    shown = finished.result.stdout
    assert "…" not in shown
    lines = shown.splitlines()
    for row in summary(finished.folder):
        name, _, options = row["decoder"].partition("(")
        tau = options.removeprefix("tau=").partition(",")[0] if "tau" in options else ""
        label = f"{name} (tau {tau})" if tau else name
        (line,) = (line for line in lines if line.strip().startswith(f"{label} "))
        fields = [str(row["items"]), row["source"], f"{100 * row['accuracy']:.1f}"]
        fields += [f"{100 * row['accuracy_hi']:.1f}", f"{row['speedup']:.2f}"]
        fields += [f"{row['tokens_per_forward']:.2f}", f"{row['query_slots_per_token']:.2f}"]
        for field in fields:
            assert field in line, (field, line)
    paths = [line for line in lines if line.startswith(str(finished.folder))]
    assert lines[-len(paths) :] == paths
    assert {"manifest.json", "summary.json"} <= {Path(path).name for path in paths}
    assert all(Path(path).exists() for path in paths)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_digit_is_lost_to_a_narrow_terminal(finished: Finished, width: int, tmp_path: Path):
    rows = read_summary(finished.folder)
    with (tmp_path / "shown").open("w") as file:
        print_summary(rows, Console(file=file, width=width, force_terminal=True))
    shown = (tmp_path / "shown").read_text()
    assert "…" not in shown
    # A column without room would be left out in silence.
    for heading in ("items", "capped", "guessed", "failed", "forward", "agreement"):
        assert heading in shown
    for row in rows:
        assert f"{row.tokens_per_forward:.2f}" in shown
        assert f"{row.query_slots_per_token:.2f}" in shown
        assert f"{row.speedup:.2f}" in shown


def test_json_is_the_table_and_nothing_else(model: Path, tmp_path: Path):
    options = ["--limit", 2, "--max-new-tokens", 3, "--decoders", "ar"]
    result = harness("run", "--model", model, *options, "--out", tmp_path / "run", "--json")
    assert json.loads(result.stdout) == summary(tmp_path / "run")


def test_the_default_folder_is_named_for_time_and_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    options = ["--limit", 1, "--max-new-tokens", 2, "--decoders", "ar"]
    result = harness("run", "--model", model, *options, "--json")
    assert result.exit_code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    # Said at the start, since it is needed to go on.
    assert f"--resume --out runs/{folder.name}" in result.stderr.splitlines()[0]
    assert folder.name.endswith(f"-{model.name}")
    assert folder.name[:8].isdigit()
    assert len(records(folder)) == 1


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        (".", "mine"),
        ("../mine", "mine"),
        ("some/model", "model"),
        ("nano+runs/other/adapter", "nano"),
        ("../mine+some/adapter", "mine"),
    ],
)
def test_the_default_folder_is_named_for_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ending: str
):
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    assert default_folder(name).name.split("-", 2)[2] == ending


# The numbers.


def wilson(successes: int, n: int) -> tuple[float, float]:
    z = 1.959963984540054
    share, spread = successes / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return middle - half, middle + half


def recomputed(folder: Path, spec: str) -> dict[str, Any]:
    """A row by definition, but for the intervals of the speedup."""
    by_item = {key.item_id: sample for key, sample in records(folder).items()}
    assert by_item
    mine = [sample for sample in records(folder).values() if sample.decoder == spec]
    baseline = [sample for sample in records(folder).values() if sample.decoder == "ar"]
    reference = "ar" if spec == "ar" else "block-ar(block=4)"
    other = {s.item_id: s.ids for s in records(folder).values() if s.decoder == reference}
    tokens = seconds = forwards = slots = correct = capped = unanswered = guessed = same = 0
    for sample in mine:
        assert sample.ids is not None
        tokens += len(sample.ids)
        seconds += sample.compute_s or 0
        forwards += len(sample.kept or ())
        slots += (sample.query_slots or 0) - (sample.prompt_tokens or 0)
        correct += sample.correct is True
        capped += sample.finish == "length"
        unanswered += sample.extracted_by == "none"
        guessed += sample.extracted_by == "fallback"
        same += sample.ids == other[sample.item_id]
    base_tokens = sum(len(sample.ids or ()) for sample in baseline)
    base_seconds = sum(sample.compute_s or 0 for sample in baseline)
    lo, hi = wilson(correct, len(mine))
    return {
        "task": "gsm8k",
        "source": "official",
        "batch_size": 1,
        "items": len(mine),
        "accuracy": correct / len(mine),
        "accuracy_lo": lo,
        "accuracy_hi": hi,
        "tokens_per_s": tokens / seconds,
        "speedup": tokens / seconds / (base_tokens / base_seconds),
        "tokens_per_forward": tokens / forwards,
        "query_slots_per_token": slots / tokens,
        "mean_length": tokens / len(mine),
        "cap_share": capped / len(mine),
        "no_answer_share": unanswered / len(mine),
        "failed": 0,
        "agreement": same / len(mine),
        "guessed_share": guessed / len(mine),
    }


def check_summary(folder: Path) -> None:
    for row in summary(folder):
        for name, value in recomputed(folder, row["decoder"]).items():
            got = row[name]
            if isinstance(value, float):
                assert got == pytest.approx(value, rel=1e-9, abs=1e-12), (row["decoder"], name)
            else:
                assert got == value, (row["decoder"], name)
        assert row["speedup_lo"] <= row["speedup"] <= row["speedup_hi"]


def test_summary_numbers_follow_from_the_samples(finished: Finished):
    check_summary(finished.folder)


def test_accuracies_follow_from_the_samples(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """With a scorer that likes some answers, as the random model gets none right."""
    score = Gsm8k.score

    def lenient(self: Gsm8k, item: Any, text: str, finished: bool) -> Any:
        liked = zlib.crc32(f"{item.id}{text}".encode()) % 2
        return score(self, item, f"{text}\n#### {item.gold if liked else -1}", finished)

    monkeypatch.setattr(Gsm8k, "score", lenient)
    chosen = "ar,block-ar,entropy(tau=0.8)"
    measured(model, tmp_path / "run", limit=6, max_new_tokens=9, decoders=chosen)
    check_summary(tmp_path / "run")
    assert any(0 < row["accuracy"] < 1 for row in summary(tmp_path / "run"))


def test_self_speculation_agrees_with_block_ar(finished: Finished):
    rows = {row["decoder"]: row for row in summary(finished.folder)}
    assert rows["self-speculative(verify=window,block=4)"]["agreement"] == 1.0
    assert rows["self-speculative(verify=window,block=4)"]["tokens_per_forward"] > 1.0


def test_samples_are_what_decoding_the_prompt_gives(finished: Finished, model: Path):
    """Ids, counts and prompt, from the item by another way."""
    tokenizer, loaded = AutoTokenizer.from_pretrained(model), load_model(model)
    items = {item.id: item for item in Gsm8k().items("official")}
    ending = Ending(budget=14, eos_token_ids=frozenset(EOS))
    decoders = {
        SPECS[0]: Autoregressive(),
        SPECS[5]: GreedyConfidence(mask_token_id=MASK, tau=0.6, block=4),
        SPECS[-1]: SelfSpeculative(mask_token_id=MASK, block=4),
    }
    for key, sample in records(finished.folder).items():
        if key.decoder in decoders:
            turns = [{"role": t.role, "content": t.content} for t in items[key.item_id].messages]
            ids = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
            request = Request(key="", ids=tuple(ids))
            (answer,) = generate(loaded, decoders[key.decoder], [request], ending)
            assert sample.prompt_tokens == len(ids)
            assert sample.ids == list(answer.ids)
            assert sample.kept == list(answer.kept)
            assert sample.query_slots == answer.query_slots


def test_scores_are_those_of_the_text(finished: Finished, model: Path):
    tokenizer = AutoTokenizer.from_pretrained(model)
    items = {item.id: item for item in Gsm8k().items("official")}
    for key, sample in records(finished.folder).items():
        assert sample.text == tokenizer.decode(sample.ids, skip_special_tokens=True)
        score = Gsm8k().score(items[key.item_id], sample.text, sample.finish != "length")
        assert (sample.correct, sample.answer) == (score.correct, score.answer)
        assert (sample.extracted_by, sample.finished) == (score.extracted_by, score.finished)


def test_times_of_a_sample_fit_together(finished: Finished):
    for sample in records(finished.folder).values():
        assert sample.wall_s is not None
        assert sample.compute_s == pytest.approx(sample.wall_s)
        assert sample.first_token_s is not None
        assert 0 < sample.first_token_s <= sample.wall_s


# Order, batches, options.


def test_decoders_take_turns_in_rotating_order(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[tuple[str, str]] = []
    append = RunStore.append

    def watched(self: RunStore, record: SampleRecord) -> None:
        seen.append((record.decoder, record.item_id))
        append(self, record)

    monkeypatch.setattr(RunStore, "append", watched)
    chosen = "ar,block-ar,entropy(tau=0.9)"
    measured(model, tmp_path / "one", limit=5, max_new_tokens=3, decoders=chosen)
    a, b, c = manifest(tmp_path / "one")["config"]["decoders"]
    turns = [(a, b, c), (b, c, a), (c, a, b), (a, b, c), (b, c, a)]
    items = list(dict.fromkeys(item for _, item in seen))
    assert items == sorted(items)
    assert seen == [(spec, item) for turn, item in zip(turns, items, strict=True) for spec in turn]
    seen.clear()
    options = {"limit": 12, "max_new_tokens": 3, "decoders": "ar,block-ar", "batch_size": 2}
    measured(model, tmp_path / "two", **options)
    # Chunks of four batches: eight items, then the last four.
    specs = [spec for spec, _ in seen]
    assert specs == [a] * 8 + [b] * 8 + [b] * 4 + [a] * 4


def test_each_decoder_warms_up_once_and_uncounted(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[tuple[str, int, int]] = []

    def watched(model: Any, decoder: Any, requests: Any, ending: Ending, **options: Any) -> Any:
        calls.append((decoder.name, len(requests), ending.budget))
        return generate(model, decoder, requests, ending, **options)

    monkeypatch.setattr("harness.measuring.generate", watched)
    chosen = "ar,self-speculative"
    measured(model, tmp_path / "run", limit=2, max_new_tokens=40, decoders=chosen)
    first = [
        ("ar", 1, 16),
        ("ar", 1, 40),
        ("self-speculative", 1, 16),
        ("self-speculative", 1, 40),
    ]
    assert calls == [*first, ("self-speculative", 1, 40), ("ar", 1, 40)]
    assert len(records(tmp_path / "run")) == 4


def test_ids_do_not_depend_on_the_batch_size(finished: Finished, model: Path, tmp_path: Path):
    measured(model, tmp_path / "run", limit=4, max_new_tokens=14, batch_size=4)
    alone, together = outcomes(finished.folder), outcomes(tmp_path / "run")
    assert {key._replace(batch_size=4) for key in alone} == together.keys()
    for key, sample in alone.items():
        expected = sample | {"batch_size": 4}
        assert together[key._replace(batch_size=4)] == expected
    assert [row["batch_size"] for row in summary(tmp_path / "run")] == [4] * 11
    compute = sum(sample.compute_s or 0 for sample in records(tmp_path / "run").values())
    wall = sum(sample.wall_s or 0 for sample in records(tmp_path / "run").values())
    assert compute < wall


def test_limit_draws_by_seed_and_zero_is_all(model: Path, tmp_path: Path):
    options = {"data": "embedded", "max_new_tokens": 1, "decoders": "ar"}
    for name, limit, seed in [("some", 5, 0), ("others", 5, 1), ("all", 0, 0)]:
        measured(model, tmp_path / name, limit=limit, seed=seed, **options)
    assert len(items_of(tmp_path / "some")) == len(items_of(tmp_path / "others")) == 5
    assert items_of(tmp_path / "some") != items_of(tmp_path / "others")
    assert items_of(tmp_path / "all") == [item.id for item in Gsm8k().items("embedded")]
    assert {row["source"] for row in summary(tmp_path / "all")} == {"embedded"}


def test_taus_and_block_spell_decoders_out(model: Path, tmp_path: Path):
    chosen = f"greedy-confidence(tau=0.5),entropy(rule=cumulative),ar,ar,{OURS}(stride=2)"
    options = {"limit": 1, "max_new_tokens": 2, "tau": "0.9,0.90,0.7", "block": 6}
    measured(model, tmp_path / "run", decoders=chosen, **options)
    assert manifest(tmp_path / "run")["config"]["decoders"] == [
        "greedy-confidence(tau=0.5,rule=per-token,block=6)",
        "entropy(tau=0.9,rule=cumulative,block=6)",
        "entropy(tau=0.7,rule=cumulative,block=6)",
        "ar",
        f"{OURS}(tau=0.9,rule=per-token,block=6,stride=2,loud=False)",
        f"{OURS}(tau=0.7,rule=per-token,block=6,stride=2,loud=False)",
    ]


def test_the_same_decoder_spelled_twice_runs_once(model: Path, tmp_path: Path):
    options = {"limit": 2, "max_new_tokens": 2}
    measured(model, tmp_path / "run", decoders="block-ar,block-ar(block=4)", **options)
    assert len(records(tmp_path / "run")) == 2


def test_sampling_is_repeatable(model: Path, tmp_path: Path):
    chosen = "ar(temperature=1.5,seed=1),greedy-confidence(tau=0.6,temperature=1.5)"
    options = {"limit": 3, "max_new_tokens": 8, "decoders": chosen}
    measured(model, tmp_path / "one", **options)
    measured(model, tmp_path / "two", batch_size=3, **options)
    first = [sample["ids"] for sample in outcomes(tmp_path / "one").values()]
    second = {
        key._replace(batch_size=1): value for key, value in outcomes(tmp_path / "two").items()
    }
    assert first == [second[key]["ids"] for key in outcomes(tmp_path / "one")]
    assert all(row["speedup"] is None for row in summary(tmp_path / "one"))


def test_the_data_folder_of_the_command_line_comes_first(model: Path, tmp_path: Path):
    (tmp_path / "data" / "gsm8k").mkdir(parents=True)
    rows = [{"question": f"What is {n} + 1?", "answer": f"so\n#### {n + 1}"} for n in range(1319)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "data" / "gsm8k" / "test.jsonl").write_text(lines)
    options = {"limit": 2, "max_new_tokens": 2, "decoders": "ar"}
    measured(model, tmp_path / "one", data="official", **options)
    measured(model, tmp_path / "two", data_dir=tmp_path / "data", **options)
    one, two = (manifest(tmp_path / name)["config"] for name in ("one", "two"))
    assert one.pop("data_sha256") != two.pop("data_sha256")
    assert one == two


# Samples that fail.


def test_a_scorer_that_raises_costs_its_own_sample_only(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    score = Gsm8k.score
    bad: list[str] = []

    def picky(self: Gsm8k, item: Any, text: str, finished: bool) -> Any:
        if not bad:
            bad.append(item.id)
        if item.id == bad[0]:
            raise KeyError("no such unit")
        return score(self, item, text, finished)

    monkeypatch.setattr(Gsm8k, "score", picky)
    for batch_size in (1, 3):
        bad.clear()
        out = tmp_path / f"run{batch_size}"
        options = {"limit": 5, "max_new_tokens": 4, "decoders": "ar,block-ar"}
        measured(model, out, exit_code=1, batch_size=batch_size, **options)
        samples = records(out)
        assert len(samples) == 10
        failed = {key for key, sample in samples.items() if sample.error is not None}
        assert {key.item_id for key in failed} == set(bad)
        assert len(failed) == 2
        for key in failed:
            assert samples[key].error == "KeyError: 'no such unit'"
            assert samples[key].ids is None
        for row in summary(out):
            assert (row["items"], row["failed"]) == (5, 1)
            assert row["no_answer_share"] is not None


def test_a_decoder_that_raises_costs_its_own_samples_only(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise TypeError("no such tensor")

    monkeypatch.setattr(SelfSpeculative, "accept", broken)
    options = ["--limit", 3, "--max-new-tokens", 4, "--tau", 0.6]
    arguments = ["run", "--model", model, *options, "--out", tmp_path / "run"]
    result = harness(*arguments)
    assert result.exit_code == 1, (result.exception, result.output)
    rows = {row["decoder"]: row for row in summary(tmp_path / "run")}
    failed = rows.pop("self-speculative(verify=window,block=4)")
    assert (failed["items"], failed["failed"]) == (3, 3)
    assert failed["accuracy"] is failed["speedup"] is failed["agreement"] is None
    assert failed["tokens_per_s"] is failed["cap_share"] is None
    assert "gsm8k: 3 failed under self-speculative(" in result.stderr
    assert "; the first: TypeError: no such tensor\n" in result.stderr
    assert all(row["failed"] == 0 and row["speedup"] is not None for row in rows.values())
    # A failed sample is done: it is not tried again, and its error stays.
    monkeypatch.undo()
    assert harness(*arguments, "--resume").exit_code == 1
    again = {row["decoder"]: row for row in summary(tmp_path / "run")}
    assert again["self-speculative(verify=window,block=4)"] == failed


def test_a_full_disk_ends_in_one_line(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunStore, "append", full)
    options = ["--limit", 1, "--decoders", "ar", "--max-new-tokens", 2]
    result = harness("run", "--model", model, *options, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "error: [Errno 28] No space left on device"


def test_a_run_needs_a_tokenizer(ar_model: Path, tmp_path: Path):
    options = ["--decoders", "ar", "--out", tmp_path / "run"]
    refused(harness("run", "--model", ar_model, *options), "tokenizer", str(ar_model))
    assert not (tmp_path / "run").exists()


def test_logits_that_are_not_finite_fail_their_own_sample_only(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    forward = SDLM.forward

    def spoilt(self: SDLM, ids_BT: torch.Tensor, *rest: Any) -> torch.Tensor:
        logits_BNV = forward(self, ids_BT, *rest)
        # Prompts of even length, when they are prefilled together or alone.
        if ids_BT.shape[1] > 20 and ids_BT.shape[1] % 2 == 0:
            logits_BNV[0, 0, 5] = float("nan")
        return logits_BNV

    monkeypatch.setattr(SDLM, "forward", spoilt)
    out = tmp_path / "run"
    measured(model, out, exit_code=1, decoders="ar", limit=12, max_new_tokens=4)
    found = [*records(out).values()]
    bad = [sample for sample in found if sample.error is not None]
    assert 0 < len(bad) < len(found)
    assert all("not finite" in str(sample.error) for sample in bad)
    assert all(sample.prompt_tokens % 2 for sample in found if sample.prompt_tokens)


def test_what_decoders_answer_alike_is_judged_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    judged: list[tuple[str, str, bool]] = []
    score = Gsm8k.score

    def counted(task: Gsm8k, item: Item, text: str, finished: bool) -> Score:
        judged.append((item.id, text, finished))
        return score(task, item, text, finished)

    monkeypatch.setattr(Gsm8k, "score", counted)
    options = ["--limit", 4, "--max-new-tokens", 8, "--traces", 0]
    specs = "ar,block-ar,self-speculative,greedy-confidence(tau=0)"
    assert (
        harness(
            "run", "--model", model, *options, "--decoders", specs, "--out", tmp_path / "run"
        ).exit_code
        == 0
    )
    found = records(tmp_path / "run").values()
    answers = {(each.item_id, each.text, each.finish != "length") for each in found}
    assert 4 < len(answers) < len(found) == 16
    assert sorted(judged) == sorted(answers)
