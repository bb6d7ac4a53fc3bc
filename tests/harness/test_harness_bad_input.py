"""What a user gets wrong: one line that names it and what is accepted, exit code 2, no output."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import Result

from harness.json_lines import check_target
from harness.planning import build_decoders
from sdlm.model_names import model_folder
from sdlm.whole_file import whole_file
from tasks.gsm8k import Gsm8k
from tests.harness.tiny import CONTEXT, MASK, VOCAB, contents, harness, make_model, refused

ONE = '{"id": 1, "ids": [5, 6]}\n'
EVERY_DECODER = ["ar", "block-ar", "greedy-confidence", "entropy", "self-speculative"]
pytestmark = pytest.mark.usefixtures("unplotted")
NO_MODEL = "neither fetched nor loaded before this is found"


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SDLM_DATA_DIR", raising=False)


@pytest.fixture
def untouchable_model(monkeypatch: pytest.MonkeyPatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError(NO_MODEL)

    for name in ("sdlm.merging.find_model", "harness.models.open_model"):
        monkeypatch.setattr(name, never)
        monkeypatch.setattr(f"harness.planning.{name.rpartition('.')[2]}", never)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def flat(options: dict[str, object]) -> list[object]:
    return [part for pair in options.items() if pair[1] is not None for part in pair]


def run(model: object, out: object, **changed: object) -> Result:
    options: dict[str, object] = {
        "--data": "embedded",
        "--decoders": "ar",
        "--limit": 2,
        "--max-new-tokens": 4,
    }
    options |= {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    return harness("run", "--model", model, "--out", out, *flat(options))


def decode(model: object, out: object, lines: str | bytes = ONE, **changed: object) -> Result:
    options: dict[str, object] = {"--decoder": "ar", "--max-new-tokens": 4, "--input": "-"}
    options |= {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    return harness("decode", "--model", model, "--out", out, *flat(options), stdin=lines)


def test_what_follows_is_wrong_in_one_thing_only(model: Path, tmp_path: Path):
    assert run(model, tmp_path / "run").exit_code == 0
    assert decode(model, tmp_path / "decoded").exit_code == 0


# Options, found before there is a model.


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"tasks": "gsm9k"}, ["'gsm9k'", "nearest is 'gsm8k'"]),
        ({"tasks": " , "}, ["--tasks"]),
        ({"decoders": "entropi"}, ["'entropi'", "did you mean 'entropy'", *EVERY_DECODER]),
        ({"decoders": "ar,self_speculative"}, ["did you mean 'self-speculative'"]),
        ({"decoders": ","}, ["--decoders", "all"]),
        ({"decoders": "ar()x"}, ["'ar()x'", "name(parameter=value"]),
        ({"decoders": "block-ar(block=4"}, ["malformed"]),
        ({"decoders": "no.such.module:Decoder"}, ["'no.such.module:Decoder'", "imported"]),
        ({"decoders": "json:JSONDecoder"}, ["'json:JSONDecoder'", "dataclass"]),
        ({"tau": "0.9,1.01"}, ["--tau", "'1.01'", "0...1"]),
        ({"tau": "-0.1"}, ["'-0.1'", "0...1"]),
        ({"tau": "high"}, ["'high'", "0...1"]),
        ({"tau": "nan"}, ["'nan'", "0...1"]),
        ({"tau": ""}, ["--tau"]),
        ({"block": 1}, ["--block is 1", "at least 2"]),
        ({"block": -4}, ["--block is -4", "at least 2"]),
        ({"limit": -1}, ["--limit is -1", "at least 0"]),
        ({"batch_size": 0}, ["--batch-size is 0", "at least 1"]),
        ({"max_new_tokens": 0}, ["--max-new-tokens is 0", "at least 1"]),
        ({"data": "official"}, ["gsm8k/test.jsonl", "--data-dir", "SDLM_DATA_DIR"]),
        ({"data": None}, ["gsm8k/test.jsonl", "--data-dir", "SDLM_DATA_DIR"]),
        ({"data": "official", "data_dir": "nowhere"}, ["nowhere/gsm8k/test.jsonl"]),
    ],
)
@pytest.mark.usefixtures("untouchable_model")
def test_options_are_checked_before_the_model_is_touched(
    out: Path, changed: dict[str, object], words: list[str]
):
    refused(run("some/model", out, **changed), *words)
    assert not out.exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"batch_size": 0}, ["--batch-size is 0", "at least 1"]),
        ({"batch_size": -3}, ["--batch-size is -3", "at least 1"]),
        ({"max_new_tokens": 0}, ["--max-new-tokens is 0", "at least 1"]),
    ],
)
@pytest.mark.usefixtures("untouchable_model")
def test_options_of_decode_are_checked_before_the_model_is_touched(
    out: Path, changed: dict[str, object], words: list[str]
):
    refused(decode("some/model", out, **changed), *words)
    assert not out.exists()


# Runs in a child: whether torch was loaded shows only in a process that begins without it.
WITHOUT_TORCH = """
import sys
from harness.cli import app

try:
    app(sys.argv[1:])
except SystemExit as ended:
    assert "torch" not in sys.modules, "torch was loaded"
    sys.exit(ended.code)
"""


@pytest.mark.parametrize("task", ["gsm8k", "math500", "mmlu", "humaneval_plus"])
def test_missing_data_is_said_before_torch_is_loaded(out: Path, task: str):
    arguments = ["run", "--model", "some/model", "--tasks", task, "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *arguments],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: official data {task}/")
    for remedy in ("--data-dir DIR", "SDLM_DATA_DIR"):
        assert remedy in line
    assert not out.exists()


def test_answers_are_scored_without_torch(out: Path):
    line = json.dumps({"id": 1, "gold": "18", "text": "#### 18"})
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, "score", "--task", "gsm8k", "--answers", "-"],
        input=line,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["correct"] is True


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--dtype", "int8"],
        ["run", "--limit", "many"],
        ["run", "--data", "web"],
        ["run", "--attention", "eager"],
        ["run", "--colour", "red"],
        ["run", "gsm8k"],
        ["decode", "--input", "-"],
        ["dekode"],
    ],
)
def test_usage_errors_show_the_usage(arguments: list[str]):
    result = harness(*arguments)
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert not result.stdout


# Decoders on a model.


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("block-ar(width=3)", ["'width'", "block"]),
        ("self-speculative(temperature=0.5)", ["'temperature'", "greedy", "verify"]),
        ("self-speculative(verify=both)", ["'both'", "window, causal"]),
        ("greedy-confidence(rule=any)", ["'any'", "per-token, cumulative"]),
        ("entropy(tau=1.5)", ["tau is 1.5", "0...1"]),
        ("entropy(tau=-0.1)", ["tau is -0.1", "0...1"]),
        ("entropy(tau=nan)", ["tau is nan", "0...1"]),
        ("entropy(tau=high)", ["'high'", "a number"]),
        ("ar(temperature=-1)", ["temperature is -1"]),
        ("ar(top_p=0)", ["top_p is 0"]),
        ("ar(block=4)", ["'block'", "temperature"]),
        ("block-ar(block=1)", ["block is 1", "at least 2"]),
        ("block-ar(block=4.5)", ["'4.5'", "an integer"]),
        ("block-ar(block=4,block=4)", ["'block=4'", "once"]),
        ("block-ar(block)", ["'block'", "parameter=value"]),
        (f"self-speculative(block={CONTEXT + 1})", [f"block is {CONTEXT + 1}", f"{CONTEXT}"]),
    ],
)
def test_parameters_of_a_decoder(model: Path, out: Path, spec: str, words: list[str]):
    refused(run(model, out, decoders=spec), spec.split("(")[0], *words)
    refused(decode(model, out, decoder=spec), spec.split("(")[0], *words)
    assert not out.exists()


@pytest.mark.parametrize("block", [None, 4])
@pytest.mark.parametrize("spec", EVERY_DECODER[1:])
def test_a_block_decoder_on_an_autoregressive_model(
    ar_model: Path, out: Path, spec: str, block: int | None
):
    words = [f"{ar_model}: decoder '{spec}' needs an SDLM, and this model is autoregressive"]
    words += ["use the decoder ar", "python -m sdlm.retrofit"]
    refused(run(ar_model, out, decoders=spec, block=block), *words)
    refused(decode(ar_model, out, decoder=spec, block=block), *words)
    assert not out.exists()


def test_an_unknown_decoder_on_an_autoregressive_model(ar_model: Path, out: Path):
    refused(decode(ar_model, out, decoder="blok-ar"), "'blok-ar'", "did you mean 'block-ar'")


def test_decode_takes_one_decoder_at_a_time(model: Path, out: Path):
    refused(decode(model, out, decoder="all"), "'all'", *EVERY_DECODER)
    refused(decode(model, out, decoder="ar,entropy"), "'ar,entropy'")
    refused(decode(model, out, decoder=""), "''")


# Model folders.


def edit_config(**changed: object) -> Callable[[Path], None]:
    """None takes a field out."""

    def edit(folder: Path) -> None:
        raw = json.loads((folder / "config.json").read_text()) | changed
        raw = {name: value for name, value in raw.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(raw))

    return edit


def edit_tensors(edit: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def edit_file(folder: Path) -> None:
        state = load_file(folder / "model.safetensors")
        edit(state)
        save_file(state, folder / "model.safetensors")

    return edit_file


def overwrite(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


BROKEN_MODELS: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "no config": (remove("config.json"), ["config.json", "does not exist"]),
    "config is no JSON": (overwrite("config.json", "{"), ["config.json", "not JSON"]),
    "config is a list": (overwrite("config.json", "[]"), ["config.json", "list"]),
    "unknown family": (edit_config(model_type="gpt2"), ["'gpt2'", "qwen2"]),
    "a field is missing": (edit_config(hidden_size=None), ["config.json", "hidden_size"]),
    "no weights": (remove("model.safetensors"), ["model.safetensors", "does not exist"]),
    "weights cut short": (overwrite("model.safetensors", "x"), ["model.safetensors"]),
    "missing tensor": (
        edit_tensors(lambda state: state.pop("model.norm.weight")),
        ["missing tensor model.norm.weight"],
    ),
    "extra tensor": (
        edit_tensors(lambda state: state.update(extra=torch.zeros(1))),
        ["unknown tensor extra"],
    ),
    "misshapen tensor": (
        edit_tensors(lambda state: state.update({"model.norm.weight": torch.zeros(3)})),
        ["model.norm.weight is [3], not [48]"],
    ),
    "no mask token": (edit_config(text_mask_token_id=None), ["text_mask_token_id"]),
    "no block size": (edit_config(block_size=None), ["block_size"]),
    "mask token ends answers": (edit_config(text_mask_token_id=2), ["2", "end token"]),
    "mask token is text": (edit_config(text_mask_token_id=51), ["51", "ordinary token"]),
    "mask token outside": (edit_config(text_mask_token_id=VOCAB), [f"{VOCAB}", "outside"]),
    "tokenizer is no JSON": (overwrite("tokenizer.json", "{"), ["tokenizer"]),
}


@pytest.mark.parametrize("name", BROKEN_MODELS)
def test_a_broken_model_folder(model: Path, tmp_path: Path, out: Path, name: str):
    edit, words = BROKEN_MODELS[name]
    shutil.copytree(model, tmp_path / "model")
    edit(tmp_path / "model")
    refused(run(tmp_path / "model", out), *words)
    refused(decode(tmp_path / "model", out), *words)
    assert not out.exists()


def test_a_missing_model(tmp_path: Path, out: Path):
    for name in (tmp_path / "nowhere", "no such model", "a/b/c", "https://host/model"):
        words = [repr(str(name)), "nano", "folder", "hub id"]
        refused(run(name, out), *words)
        refused(decode(name, out), *words)


def test_a_model_that_the_hub_does_not_give(out: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object, **__: object) -> None:
        raise ConnectionError("no route to host\nand a page of details")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fails)
    refused(run("some/model", out), "'some/model'", "no route to host", "local folder")
    refused(decode("some/model", out), "'some/model'", "no route to host", "local folder")


def test_a_run_needs_a_chat_template(model: Path, tmp_path: Path, out: Path):
    shutil.copytree(model, tmp_path / "model")
    (tmp_path / "model" / "chat_template.jinja").unlink()
    refused(run(tmp_path / "model", out), "chat template")
    assert not out.exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there flex needs no C++ compiler")
@pytest.mark.parametrize(("variable", "value"), [("CXX", "/no/such/c++"), ("PATH", "/nowhere")])
def test_flex_without_a_compiler(
    model: Path, out: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv(variable, value)
    refused(run(model, out, attention="flex"), "'flex'", "C++ compiler", "--attention dense")
    refused(decode(model, out, attention="flex"), "'flex'", "C++ compiler", "--attention dense")
    assert not out.exists()


def test_a_prompt_as_long_as_the_context(model: Path, tmp_path: Path, out: Path):
    shutil.copytree(model, tmp_path / "model")
    edit_config(max_position_embeddings=16)(tmp_path / "model")
    refused(run(tmp_path / "model", out), "gsm8k/embedded/", "tokens", "context of 16")
    assert not out.exists()


@pytest.mark.usefixtures("untouchable_model")
def test_items_of_one_id(out: Path, monkeypatch: pytest.MonkeyPatch):
    item = Gsm8k().items("embedded")[3]
    monkeypatch.setattr(Gsm8k, "items", lambda *_: [item, item])
    refused(
        run("some/model", out, data="embedded"),
        f"task gsm8k has several items '{item.id}'",
        "an id of its own",
    )
    assert not out.exists()


# Outputs.


def test_a_run_folder_that_can_not_be_made(model: Path):
    refused(run(model, "/proc/no/run"), "/proc/no/run", "--out")


@pytest.mark.parametrize("place", ["file", "below a file", "other folder"])
@pytest.mark.usefixtures("untouchable_model")
def test_a_run_folder_that_can_not_be_one(tmp_path: Path, place: str):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    below = tmp_path / "file" / "run"
    paths = {"file": tmp_path / "file", "below a file": below, "other folder": tmp_path / "other"}
    path = paths[place]
    before = contents(tmp_path)
    refused(run("some/model", path), str(path), "--out")
    assert contents(tmp_path) == before
    assert {each.name for each in tmp_path.iterdir()} == {"file", "other"}


@pytest.mark.parametrize("place", ["file/decoded", "no/decoded", "folder", ""])
def test_a_file_that_can_not_be_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    refused(decode(model, place), "--out", place)
    assert {each.name for each in tmp_path.iterdir()} == {"file", "folder"}
    assert not list((tmp_path / "folder").iterdir())


def test_a_pipe_is_no_file_to_replace(model: Path, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        refused(decode(model, tmp_path / name), "--out", name, "give a file, or - for standard")
        assert (tmp_path / name).is_fifo()
        with pytest.raises(OSError, match="it is no file"), whole_file(tmp_path / name):
            pass
    assert len([*tmp_path.iterdir()]) == 2


def test_a_device_is_no_file_to_replace():
    # Nothing is written here, so that a fault can't cost this machine its null device.
    with pytest.raises(ValueError, match=r"--out '/dev/null' is a device.*give a file, or -"):
        check_target("/dev/null")
    check_target("-")


@pytest.mark.parametrize("old", [None, "old"])
def test_a_link_is_written_through(model: Path, tmp_path: Path, old: str | None):
    (tmp_path / "folder").mkdir()
    if old is not None:
        (tmp_path / "folder" / "target").write_text(old)
    (tmp_path / "link").symlink_to(Path("folder") / "target")
    assert decode(model, tmp_path / "link").exit_code == 0
    assert (tmp_path / "link").readlink() == Path("folder") / "target"
    assert json.loads((tmp_path / "folder" / "target").read_text())["id"] == 1
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["target"]
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "link"}


def test_a_link_to_nowhere_is_refused(model: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "no" / "target")
    refused(decode(model, tmp_path / "link"), "--out", "its folder does not exist")


def test_an_output_in_proc(model: Path):
    refused(decode(model, "/proc/decoded"), "'/proc/decoded' can't be written: ")


def test_an_error_stays_one_line_whatever_it_quotes(model: Path, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    refused(run(model, tmp_path / "file" / "a\nb"), "--out")


# Prompts.


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": 2, "ids": [5]', ["not JSON", '{"id": ..., "ids": [...]}']),
        ("[" * 100_000, ["not JSON", "nested", '{"id": ..., "ids": [...]}']),
        (f'{{"id": 2, "ids": [{"1" * 5000}]}}', ["not JSON", "digits"]),
        ("[5, 6]", ["a list", '{"id": ..., "ids": [...]}']),
        ("5", ["int"]),
        ('{"ids": [5]}', ["id is None", "string or an integer"]),
        ('{"id": null, "ids": [5]}', ["id is None"]),
        ('{"id": 1.5, "ids": [5]}', ["id is 1.5"]),
        ('{"id": true, "ids": [5]}', ["id is True"]),
        ('{"id": [1], "ids": [5]}', ["id is [1]"]),
        ('{"id": 2}', ["its keys are id"]),
        ('{"id": 2, "ids": [5], "prompt": "x"}', ["its keys are id, ids, prompt"]),
        ('{"id": 2, "ids": [5], "temperature": 1}', ["its keys are id, ids, temperature"]),
        ('{"id": 2, "ids": "5"}', ["ids is '5'", "list of integers"]),
        ('{"id": 2, "ids": [5, 6.0]}', ["ids has 6.0", "list of integers"]),
        ('{"id": 2, "ids": [5, true]}', ["ids has True", "list of integers"]),
        ('{"id": 2, "ids": [5, [6]]}', ["ids has [6]", "list of integers"]),
        ('{"id": 2, "ids": []}', ["'2'", "empty", "at least one token"]),
        ('{"id": 2, "prompt": ""}', ["'2'", "empty", "at least one token"]),
        ('{"id": 2, "prompt": 5}', ["prompt is 5", "a string"]),
        ('{"id": 2, "prompt": "\\ud800"}', ["prompt", "\\ud800"]),
        ('{"id": "\\udfff", "ids": [5]}', ["id has", "\\udfff"]),
        (f'{{"id": 2, "ids": [5, {VOCAB}]}}', [f"token id {VOCAB}", f"0...{VOCAB - 1}"]),
        ('{"id": 2, "ids": [-1]}', ["token id -1", f"0...{VOCAB - 1}"]),
        (f'{{"id": 2, "ids": [{10**30}]}}', [f"token id {10**30}"]),
        (f'{{"id": 2, "ids": {[5] * CONTEXT}}}', [f"{CONTEXT} tokens", f"context of {CONTEXT}"]),
        ('{"id": 1, "ids": [7]}', ["id 1", "line 1", "differ"]),
        ('{"id": "1", "ids": [7]}', ["id '1'", "line 1", "differ"]),
    ],
)
def test_a_line_that_is_no_prompt_is_named(
    model: Path, tmp_path: Path, out: Path, line: str, words: list[str]
):
    """By its number in the file, which counts empty lines."""
    lines = f"{ONE}\n{line}\n"
    refused(decode(model, out, lines), "standard input, line 3: ", *words)
    (tmp_path / "prompts.jsonl").write_text(lines)
    result = decode(model, "-", input=tmp_path / "prompts.jsonl")
    refused(result, f"{tmp_path / 'prompts.jsonl'}, line 3: ", *words)
    assert {each.name for each in tmp_path.iterdir()} == {"prompts.jsonl"}


@pytest.mark.parametrize("long", [[0.5] * 9000, "x" * 9000])
def test_a_message_stays_readable_whatever_it_quotes(model: Path, out: Path, long: Any):
    result = decode(model, out, json.dumps({"id": 2, "ids": long}))
    refused(result, "line 1")
    assert len(result.stderr) < 300


def test_a_prompt_for_a_model_without_a_tokenizer(ar_model: Path, out: Path):
    result = decode(ar_model, out, '{"id": 1, "prompt": "x"}')
    refused(result, "line 1", "tokenizer", str(ar_model), "give ids")
    assert not out.exists()


@pytest.mark.parametrize("lines", ["", "\n \n"])
def test_no_prompts_at_all(model: Path, out: Path, lines: str):
    refused(decode(model, out, lines), "standard input", "no prompt")
    assert not out.exists()


def test_an_input_that_can_not_be_read(model: Path, tmp_path: Path, out: Path):
    for path in (tmp_path / "missing", tmp_path):
        refused(decode(model, out, input=path), f"--input {path}")
    refused(decode(model, out, b'{"id": "\xff", "ids": [5]}'), "--input -", "utf-8")
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "''"),
        ("some", "'some'"),
        ("1,", "'1,'"),
        ("1;2", "'1;2'"),
        ("2.5", "'2.5'"),
        ("none,1", "'none,1'"),
        ("-1", "-1"),
        (f"1,{VOCAB}", f"{VOCAB}"),
    ],
)
def test_end_tokens_that_are_none(model: Path, out: Path, text: str, word: str):
    refused(decode(model, out, eos_ids=text), "--eos-ids", word)
    assert not out.exists()


def test_the_mask_token_may_be_past_the_tokenizer(tmp_path: Path, model: Path):
    """Not an error: no text contains it."""
    shutil.copytree(model, tmp_path / "model")
    make_model(tmp_path / "model", seed=5, mask_token_id=VOCAB - 1)
    assert MASK != VOCAB - 1
    assert run(tmp_path / "model", tmp_path / "run").exit_code == 0


def test_a_block_that_is_none_or_fills_the_memory(model: Path, tmp_path: Path):
    none = decode(model, tmp_path / "out", decoder="block-ar", block=0)
    refused(none, "block is 0", "at least 2")
    with pytest.raises(ValueError, match=r"block of 150 feeds 22,650 slots.*at most 16,384"):
        build_decoders(["self-speculative(block=150)"], model_folder("nano"), None)


def test_no_other_file_is_touched(model: Path, tmp_path: Path):
    source = tmp_path / "out.jsonl.tmp"
    source.write_text(ONE if isinstance(ONE, str) else ONE.decode())
    before = source.read_bytes()
    assert decode(model, tmp_path / "out.jsonl", input=source).exit_code == 0
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.tmp"]


def test_a_link_to_itself(model: Path, tmp_path: Path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(decode(model, tmp_path / "a"), "--out", "can't be written")


def test_a_template_that_refuses(model: Path, tmp_path: Path):
    broken = tmp_path / "model"
    shutil.copytree(model, broken)
    (broken / "chat_template.jinja").write_text("{{ raise_exception('roles must alternate') }}")
    lines = '{"id": 1, "prompt": "Ann has 3 apples."}\n'
    refused(decode(broken, tmp_path / "out", lines), "line 1", "chat template", "alternate")
