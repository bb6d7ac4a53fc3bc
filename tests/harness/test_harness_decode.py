"""`harness decode`: JSON lines in and out, for engines and for the recorded cases."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from decoders.registry import spec_of
from sdlm.team import TeamLost
from tests import golden
from tests.harness.tiny import EOS, VOCAB, harness

KEYS = ["id", "decoder", "ids", "text", "finish", "kept", "forwards", "query_slots", "wall_s"]
D = 4
SPECS = [
    "ar",
    "block-ar",
    "greedy-confidence(tau=0.6)",
    "entropy(tau=0.8,rule=cumulative)",
    "self-speculative",
    "self-speculative(verify=causal)",
]
PROMPTS: list[dict[str, Any]] = [
    {"id": "long", "ids": [(7 * n) % VOCAB for n in range(40)]},
    {"id": 2, "ids": [9]},
    {"id": "", "ids": [30, 31, 32]},
    {"id": -1, "prompt": "Ann has 3 apples."},
    {"id": "τ\n", "ids": [100, 200, 300, 7, 7]},
]


def lines_of(prompts: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(prompt) + "\n" for prompt in prompts)


def decoded(
    model: Path, specs: Sequence[str], lines: str, *more: object, budget: int = 12
) -> list[dict[str, Any]]:
    """What `decode` prints for these lines."""
    decoders = [part for spec in specs for part in ("--decoder", spec)]
    options = ["--input", "-", "--max-new-tokens", budget, *decoders, *more]
    result = harness("decode", "--model", model, *options, stdin=lines)
    assert result.exit_code == 0, (result.exception, result.output)
    return [json.loads(line) for line in result.stdout.splitlines()]


def untimed(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "wall_s"} for row in rows]


@pytest.fixture(scope="module")
def rows(model: Path) -> list[dict[str, Any]]:
    return decoded(model, SPECS, lines_of(PROMPTS))


def by_name(rows: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["decoder"].startswith(name)]


# What a line holds.


def test_one_line_for_each_decoder_and_prompt_in_their_order(rows: list[dict[str, Any]]):
    full = [
        "ar",
        "block-ar(block=4)",
        "greedy-confidence(tau=0.6,rule=per-token,block=4)",
        "entropy(tau=0.8,rule=cumulative,block=4)",
        "self-speculative(verify=window,block=4)",
        "self-speculative(verify=causal,block=4)",
    ]
    expected = [(spec, prompt["id"]) for spec in full for prompt in PROMPTS]
    assert [(row["decoder"], row["id"]) for row in rows] == expected
    assert all(list(row) == KEYS for row in rows)


def test_kept_counts_and_forwards_tell_one_story(rows: list[dict[str, Any]]):
    for row in rows:
        assert sum(row["kept"]) == len(row["ids"]) <= 12
        assert row["forwards"]["prefill"] == 1
        assert len(row["kept"]) == 1 + row["forwards"]["decode"]
        assert row["finish"] in ("eos", "length")
        assert (row["finish"] == "length") == (len(row["ids"]) == 12)
        assert not set(row["ids"]) & set(EOS)
        assert row["wall_s"] > 0
    for row in by_name(rows, "self-speculative"):
        assert row["kept"][0] == 0
    for row in by_name(rows, "ar") + by_name(rows, "block-ar"):
        assert set(row["kept"][:-1]) <= {1}
    assert {row["finish"] for row in rows} == {"eos", "length"}
    assert {count for row in rows for count in row["kept"]} == {0, 1, 2, 3, 4}


def test_query_slots_are_what_each_forward_feeds(rows: list[dict[str, Any]], model: Path):
    chat = [{"role": "user", "content": PROMPTS[3]["prompt"]}]
    tokenizer = AutoTokenizer.from_pretrained(model)
    chat_length = len(tokenizer.apply_chat_template(chat, add_generation_prompt=True)["input_ids"])
    length = {p["id"]: len(p["ids"]) if "ids" in p else chat_length for p in PROMPTS}
    for row in rows:
        prompt, later = length[row["id"]], row["forwards"]["decode"]
        # Tokens kept by one forward are fed in the next one; those of the last are not.
        fed_again = sum(row["kept"][:later])
        expected = {
            "ar": prompt + later,
            "block-ar": prompt + D + later * (1 + D),
            "greedy-confidence": prompt + D + fed_again + later * D,
            "entropy": prompt + D + fed_again + later * D,
            "self-speculative": prompt + D + later * (D + D * D),
        }
        assert row["query_slots"] == expected[row["decoder"].split("(")[0]]


def test_equal_output_decoders_are_equal(rows: list[dict[str, Any]]):
    def ids(name: str) -> list[list[int]]:
        return [row["ids"] for row in by_name(rows, name)]

    assert ids("self-speculative(verify=window") == ids("block-ar")
    assert ids("self-speculative(verify=causal") == ids("ar")


def test_text_is_the_ids_decoded(rows: list[dict[str, Any]], model: Path):
    tokenizer = AutoTokenizer.from_pretrained(model)
    for row in rows:
        assert row["text"] == tokenizer.decode(row["ids"], skip_special_tokens=True)


def test_without_a_tokenizer_ids_are_enough(ar_model: Path):
    (row,) = decoded(ar_model, ["ar"], '{"id": 1, "ids": [5, 6, 7]}')
    assert row["text"] is None
    assert row["ids"]


# Answers that fail.


@pytest.fixture
def spoilt(model: Path, tmp_path: Path) -> Path:
    """The model, but for one token, 300, that it overflows at."""
    shutil.copytree(model, tmp_path / "spoilt")
    state = load_file(tmp_path / "spoilt" / "model.safetensors")
    state["model.embed_tokens.weight"][300] = float("nan")
    save_file(state, tmp_path / "spoilt" / "model.safetensors")
    return tmp_path / "spoilt"


@pytest.mark.parametrize("batch_size", [1, 3])
def test_an_answer_that_failed_is_a_row_and_costs_no_other(
    rows: list[dict[str, Any]], spoilt: Path, tmp_path: Path, batch_size: int
):
    specs = ["ar", "entropy(tau=0.8,rule=cumulative)"]
    options = [part for spec in specs for part in ("--decoder", spec)]
    options += ["--input", "-", "--max-new-tokens", 12, "--batch-size", batch_size]
    result = harness(
        "decode", "--model", spoilt, *options, "--out", tmp_path / "out", stdin=lines_of(PROMPTS)
    )
    assert result.exit_code == 1, result.output
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    whole = by_name(rows, "ar") + by_name(rows, "entropy")
    assert [row["id"] for row in found] == [row["id"] for row in whole]
    failed = [row for row in found if "error" in row]
    # The prompt that holds the token, once for each decoder.
    assert [row["id"] for row in failed] == [PROMPTS[4]["id"]] * 2
    for row in failed:
        assert list(row) == [*KEYS, "error"]
        assert "not finite" in row["error"]
        assert (row["text"], row["finish"]) == (None, None)
    sound = [row for row in whole if row["id"] != PROMPTS[4]["id"]]
    assert untimed([row for row in found if "error" not in row]) == untimed(sound)
    told = result.stderr.splitlines()[-1]
    assert told.startswith("2 answers failed; the first: logits of prompt 'τ\\n' are not finite")


# Options.


@pytest.mark.parametrize("batch_size", [2, 5, 64])
def test_a_batch_changes_nothing_but_times(
    rows: list[dict[str, Any]], model: Path, batch_size: int
):
    batched = decoded(model, SPECS, lines_of(PROMPTS), "--batch-size", batch_size)
    assert untimed(batched) == untimed(rows)


def test_end_tokens_are_the_ones_given(model: Path):
    lines = lines_of(PROMPTS)
    free = decoded(model, SPECS, lines, "--eos-ids", "none")
    assert {(row["finish"], len(row["ids"])) for row in free} == {("length", 12)}
    ends = sorted({free[0]["ids"][5], free[2]["ids"][0]})
    given = decoded(model, SPECS, lines, "--eos-ids", ",".join(map(str, ends)))
    for row, whole in zip(given, free, strict=True):
        end = next((n for n, token in enumerate(whole["ids"]) if token in ends), None)
        assert row["ids"] == whole["ids"][:end]
        assert row["finish"] == ("length" if end is None else "eos")
    # One token fewer than the budget allows, and an answer of no token at all.
    assert any(row["ids"] == [] and row["kept"][-1] == 0 for row in given)


def test_the_budget_is_exact(model: Path):
    for budget in (1, 2, 5):
        rows = decoded(model, SPECS, lines_of(PROMPTS), "--eos-ids", "none", budget=budget)
        assert {len(row["ids"]) for row in rows} == {budget}
        assert {sum(row["kept"]) for row in rows} == {budget}


def test_the_context_bounds_the_budget(model: Path, tmp_path: Path):
    shutil.copytree(model, tmp_path / "model")
    raw = json.loads((tmp_path / "model" / "config.json").read_text())
    raw["max_position_embeddings"] = 10
    (tmp_path / "model" / "config.json").write_text(json.dumps(raw))
    prompt = '{"id": 1, "ids": [5, 6, 7, 8, 9, 10, 11]}'
    rows = decoded(tmp_path / "model", SPECS, prompt, "--eos-ids", "none")
    assert {(row["finish"], len(row["ids"])) for row in rows} == {("length", 3)}


def test_block_is_for_decoders_that_name_none(model: Path):
    specs = ["block-ar", "block-ar(block=3)", "ar", "block-ar(block=6)"]
    rows = decoded(model, specs, '{"id": 1, "ids": [5]}', "--block", 6)
    # The last is the first again.
    assert [row["decoder"] for row in rows] == ["block-ar(block=6)", "block-ar(block=3)", "ar"]


def test_a_prompt_is_a_chat_turn_unless_raw(model: Path, tmp_path: Path):
    tokenizer = AutoTokenizer.from_pretrained(model)
    text = "Bob has 12 pears.\n"
    line = json.dumps({"id": 1, "prompt": text})
    turn = f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    chat, raw = (
        json.dumps({"id": 1, "ids": tokenizer(each)["input_ids"]}) for each in (turn, text)
    )
    assert untimed(decoded(model, ["ar"], line)) == untimed(decoded(model, ["ar"], chat))
    expected = untimed(decoded(model, ["ar"], raw))
    assert untimed(decoded(model, ["ar"], line, "--raw")) == expected
    assert expected != untimed(decoded(model, ["ar"], chat))
    shutil.copytree(model, tmp_path / "model")
    (tmp_path / "model" / "chat_template.jinja").unlink()
    assert untimed(decoded(tmp_path / "model", ["ar"], line)) == expected


def test_sampling_belongs_to_a_prompt_and_a_seed(model: Path):
    lines, other = lines_of(PROMPTS), lines_of(PROMPTS[::-1])
    spec = "greedy-confidence(tau=0.6,temperature=2)"
    rows = decoded(model, [spec], lines)
    assert untimed(decoded(model, [spec], other, "--batch-size", 3)) == untimed(rows)[::-1]
    seeded = decoded(model, [spec.replace(")", ",seed=1)")], lines)
    assert [row["ids"] for row in seeded] != [row["ids"] for row in rows]


def test_dtype_and_attention_are_options(model: Path):
    for dtype in ("float32", "bfloat16"):
        options = ["--dtype", dtype, "--attention", "dense"]
        assert len(decoded(model, ["ar"], '{"id": 1, "ids": [5]}', *options)) == 1


@pytest.mark.slow
def test_flex_gives_the_same(rows: list[dict[str, Any]], model: Path):
    compiled = decoded(model, SPECS, lines_of(PROMPTS), "--attention", "flex")
    assert untimed(compiled) == untimed(rows)


# Files and streams.


def test_files_hold_what_the_streams_say(rows: list[dict[str, Any]], model: Path, tmp_path: Path):
    (tmp_path / "in").write_bytes(lines_of(PROMPTS).replace("\n", "\r\n\r\n").encode())
    (tmp_path / "out").write_text("old")
    options = ["--input", tmp_path / "in", "--out", tmp_path / "out", "--max-new-tokens", 12]
    decoders = [part for spec in SPECS for part in ("--decoder", spec)]
    result = harness("decode", "--model", model, *options, *decoders)
    assert result.exit_code == 0
    assert result.stdout == ""
    written = (tmp_path / "out").read_bytes().decode().split("\n")
    assert written.pop() == ""
    assert untimed([json.loads(line) for line in written]) == untimed(rows)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_on_the_way_leaves_the_output_as_it_was(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    old: str | None,
    error: type[BaseException],
):
    from harness.decoding import generate

    def failing(*arguments: Any, **options: Any) -> Any:
        yield from generate(*arguments, **options)
        raise error("later")

    monkeypatch.setattr("harness.decoding.generate", failing)
    if old is not None:
        (tmp_path / "out").write_text(old)
    options = ["--decoder", "ar", "--input", "-", "--max-new-tokens", 2, "--out", tmp_path / "out"]
    result = harness("decode", "--model", model, *options, stdin='{"id": 1, "ids": [5]}')
    assert result.exit_code != 0
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == ({} if old is None else {"out": old})


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (TeamLost("rank 1 has ended"), "error: rank 1 has ended"),
        (FileNotFoundError(2, "no such file", "words"), "error: [Errno 2] no such file: 'words'"),
        (
            torch.OutOfMemoryError("CUDA out of memory.\nA page of details"),
            "error: out of memory (CUDA out of memory.); take smaller batches, or a smaller model",
        ),
    ],
    ids=["rank", "a decoder's own file", "memory"],
)
def test_an_error_of_decoding_is_not_the_file_s(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
):
    def failing(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr("harness.decoding.generate", failing)
    options = ["--decoder", "ar", "--input", "-", "--out", tmp_path / "out"]
    result = harness("decode", "--model", model, *options, stdin='{"id": 1, "ids": [5]}')
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == line
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_is_said_once(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sdlm.whole_file.os.replace", full)
    options = ["--decoder", "ar", "--input", "-", "--out", tmp_path / "out"]
    result = harness("decode", "--model", model, *options, stdin='{"id": 1, "ids": [5]}')
    assert result.exit_code == 2
    said = f"error: {tmp_path / 'out'} can't be written: No space left on device"
    assert result.stderr.splitlines()[-1] == said
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("terminal", [False, True])
def test_standard_output_holds_nothing_but_the_lines(
    model: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    options = ["--decoder", "ar", "--input", "-", "--max-new-tokens", 2]
    result = harness("decode", "--model", model, *options, stdin='{"id": 1, "ids": [5]}')
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["id"] == 1
    assert "1/1" in result.stderr


# The released code's answers, through the command line.


def some_cases(model_name: str) -> list[tuple[golden.Setting, golden.Case]]:
    """For every algorithm one answer that ends by an end token and one that fills its budget."""
    chosen: dict[tuple[str, bool], tuple[golden.Setting, golden.Case]] = {}
    for setting, (case, *_) in golden.cases(model_name).items():
        chosen[setting.algorithm, len(case.ids) < setting.budget] = (setting, case)
    assert len(chosen) == 2 * len(golden.DECODER_OF)
    return list(chosen.values())


@pytest.mark.parametrize("model_name", ["d4-tied", "d8-untied"])
def test_recorded_answers(model_name: str):
    for setting, case in some_cases(model_name):
        prompt = golden.prompts(model_name)[setting.prompt]
        (row,) = decoded(
            golden.folder() / model_name,
            [spec_of(setting.decoder())],
            json.dumps({"id": case.id, "ids": prompt}),
            "--eos-ids",
            ",".join(map(str, setting.eos)) or "none",
            budget=setting.budget,
        )
        assert row["ids"] == list(case.ids), case.id
        assert row["kept"] == list(case.kept), case.id
        assert row["forwards"] == {"prefill": 1, "decode": case.forwards - 1}, case.id
        assert row["finish"] == ("eos" if len(case.ids) < setting.budget else "length")
