"""The command line as a whole: its options, `list`, and that it works without a network."""

import importlib
import json
import runpy
import sys
from pathlib import Path

import pytest
import typer.main
from safetensors.torch import load_file
from typer.testing import Result

from decoders.registry import DECODERS
from harness.cli import app
from sdlm.checkpoint import load_model, model_sha256
from sdlm.model_names import HUB_FILES, PACKAGED
from tests.harness.conftest import Children
from tests.harness.tiny import (
    CONTEXT,
    OUR_OWN_ITEMS,
    VOCAB,
    harness,
    make_model,
    manifest,
    records,
    summary,
)

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

# Every verb's options. A change here is a change for everyone who calls the program.
OPTIONS = {
    "run": {
        *("--model", "--adapter", "--tasks", "--decoders", "--tau", "--block", "--limit"),
        *(
            "--batch-size",
            "--batch-sizes",
            "--order",
            "--compile",
            "--quantize",
            "--tensor-parallel",
        ),
        *("--engine", "--workers", "--ray-address"),
        *("--dtype", "--attention", "--max-new-tokens", "--seed", "--data", "--data-dir"),
        *("--include-path", "--apply-chat-template", "--protocol", "--unsafe-execution"),
        *("--baseline-model", "--fixed-length", "--repeats", "--repeat-noisy", "--traces"),
        *("--embedded-items", "--out", "--resume", "--retry-failed", "--json"),
    },
    "decode": {
        *("--model", "--adapter", "--decoder", "--input", "--max-new-tokens", "--eos-ids"),
        *("--block", "--batch-size", "--dtype", "--attention", "--compile", "--quantize"),
        *("--tensor-parallel", "--raw", "--out"),
    },
    "compare": {
        *("base", "new", "--tolerance", "--strict-ids", "--allow-different", "--markdown"),
        "--json",
    },
    "figures": {"runs", "--out", "--ablation"},
    "losses": {"log", "--out", "--title"},
    "report": {"runs", "--out"},
    "score": {
        *("--task", "--answers", "--data-dir", "--include-path", "--unsafe-execution", "--out"),
        "--embedded-items",
    },
    "export": {"--model", "--adapter", "--out"},
    "self-distil": {
        *("--model", "--adapter", "--data", "--out", "--judge", "--max-new-tokens"),
        *("--batch-size", "--dtype", "--decoder", "--on-mismatch", "--resume"),
    },
    "lm-eval": set(),
    "sandbox-check": set(),
    "list": {"--json"},
}


def test_verbs_and_options_are_these():
    group = typer.main.get_command(app)
    found = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in group.commands.items()  # pyright: ignore[reportAttributeAccessIssue]
    }
    assert found == OPTIONS


def test_defaults_are_the_documented_ones():
    group = typer.main.get_command(app)
    run = group.commands["run"]  # pyright: ignore[reportAttributeAccessIssue]
    defaults = {parameter.name: parameter.default for parameter in run.params}
    assert defaults["model"] == "nano"
    assert defaults["tasks"] == "gsm8k"
    assert defaults["decoders"] == "all"
    assert defaults["tau"] == "0.98,0.9,0.8,0.6"
    assert (defaults["limit"], defaults["seed"]) == (100, 0)
    # One row, but --batch-sizes may be given instead.
    assert (defaults["batch_size"], defaults["batch_sizes"]) == (None, None)
    assert (defaults["engine"], defaults["order"]) == ("local", "given")
    assert (defaults["compile"], defaults["quantize"]) == (False, "none")
    assert (defaults["dtype"], defaults["data"]) == ("auto", "auto")


@pytest.mark.parametrize("verb", [(), *((verb,) for verb in OPTIONS)])
def test_help_says_what_each_option_is_for(verb: tuple[str, ...]):
    result = harness(*verb, "--help")
    assert result.exit_code == 0
    for command in typer.main.get_command(app).commands.values():  # pyright: ignore
        for parameter in command.params:
            assert parameter.help, (command.name, parameter.name)


def test_it_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["harness", "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("harness", run_name="__main__")
    assert end.value.code == 0
    assert "decode" in capsys.readouterr().out


# `list`.


@pytest.fixture
def listed(model: Path, ar_model: Path, monkeypatch: pytest.MonkeyPatch):
    """`list` with the tiny models in the place of the packaged ones."""
    listing = importlib.import_module("harness.listing")
    monkeypatch.setattr(listing, "PACKAGED", (str(model), str(ar_model)))

    def show(*arguments: str) -> Result:
        result = harness("list", *arguments)
        assert result.exit_code == 0, result.output
        return result

    return show


def test_list_names_models_decoders_and_tasks(listed, model: Path, ar_model: Path):
    data = json.loads(listed("--json").stdout)
    assert data.keys() == {"models", "decoders", "tasks"}
    shape = {"layers": 2, "width": 48, "vocabulary": VOCAB, "context": CONTEXT}
    assert data["models"] == [
        {"name": str(model), "block": 4, **shape},
        {"name": str(ar_model), "block": "autoregressive", **shape},
    ]
    parameters = {row["name"]: row["parameters"] for row in data["decoders"]}
    assert list(parameters) == list(DECODERS)
    sampling = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "seed": 0}
    block = {"block": "the model's"}
    confident = {"tau": 0.98, "rule": "per-token", **block, **sampling}
    assert parameters == {
        "ar": sampling,
        "block-ar": block,
        "greedy-confidence": confident,
        "entropy": confident,
        "self-speculative": {
            "verify": "window",
            "draft_tau": 0.0,
            "slot_budget": 0,
            **block,
        },
    }
    assert data["tasks"] == [
        {"name": "gsm8k", "items": {"embedded": 200, "official": 1319}},
        {"name": "math500", "items": {"embedded": 200, "official": 500}},
        {"name": "mmlu", "items": {"embedded": 200, "official": 14042}},
        {"name": "humaneval_plus", "items": {"embedded": 200, "official": 164}},
    ]


def test_list_for_people_shows_the_same(listed):
    shown = listed().stdout
    for word in ("gsm8k", "200", "1,319", *DECODERS, "verify=window", "tau=0.98"):
        assert word in shown


@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_model_is_listed(name: str):
    data = json.loads(harness("list", "--json").stdout)
    assert name in [row["name"] for row in data["models"]]


# Models by name.


def test_a_hub_model_is_fetched_without_code_and_pickles(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[tuple[str, list[str]]] = []

    def snapshot(name: str, *, allow_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        return str(model)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    monkeypatch.chdir(tmp_path)
    options = ["--limit", 1, "--max-new-tokens", 2, "--decoders", "ar"]
    assert harness("run", "--model", "some/model", *options).exit_code == 0
    assert asked == [("some/model", HUB_FILES)]
    assert not [each for each in HUB_FILES if each.endswith((".py", ".bin", ".pt", "*"))]
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-model")
    assert manifest(folder)["config"]["model"] == "some/model"
    assert summary(folder)[0]["model"] == "some/model"


def test_a_hub_model_is_asked_for_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    def snapshot(name: str, *, allow_patterns: list[str]) -> str:
        asked.append(name)
        return str(model)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    row = {"id": 1, "prompt": "Ann has 3 apples.", "response": "Good."}
    (tmp_path / "data").write_text(json.dumps(row))
    options = ["--model", "some/model", "--max-new-tokens", 2]
    distilled = harness(
        "self-distil", *options, "--data", tmp_path / "data", "--out", tmp_path / "out"
    )
    assert distilled.exit_code == 0, distilled.output
    assert asked == ["some/model"]
    line = '{"id": 1, "ids": [5]}'
    decoded = harness("decode", *options, "--decoder", "ar", "--input", "-", stdin=line)
    assert decoded.exit_code == 0, decoded.output
    assert asked == ["some/model"] * 2


def test_a_model_s_hash_is_over_what_is_read_of_it(tmp_path: Path):
    make_model(tmp_path)
    hashes = [model_sha256(tmp_path)]
    # Mistral's other copy of its weights.
    (tmp_path / "consolidated.safetensors").write_text("never read")
    assert model_sha256(tmp_path) == hashes[0]
    (tmp_path / "model.safetensors").rename(tmp_path / "part-1.safetensors")
    names = dict.fromkeys(load_file(tmp_path / "part-1.safetensors"), "part-1.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    load_model(tmp_path)
    hashes.append(model_sha256(tmp_path))
    with (tmp_path / "part-1.safetensors").open("ab") as file:
        file.write(b"more")
    hashes.append(model_sha256(tmp_path))
    assert len(set(hashes)) == 3


def test_an_autoregressive_model_runs_the_baseline(model: Path, tmp_path: Path):
    for path in model.glob("*token*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    template = model / "chat_template.jinja"
    (tmp_path / template.name).write_bytes(template.read_bytes())
    make_model(tmp_path, block_size=None, mask_token_id=None)
    options = ["--data", "embedded", "--limit", 2, "--max-new-tokens", 2, "--decoders", "ar"]
    result = harness("run", "--model", tmp_path, *options, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert len(records(tmp_path / "run")) == 2


# Without a network.


def test_a_local_model_opens_no_connection(children: Children, model: Path, tmp_path: Path):
    """Nor does importing: the children are cut off before."""
    options = ["--data", "embedded", "--limit", 2, "--max-new-tokens", 3]
    ended = children.run("run", "--model", model, *options, "--out", tmp_path / "run")
    assert ended.status == 0, ended.output
    assert len(summary(tmp_path / "run")) == 11
    (tmp_path / "in").write_text('{"id": 1, "prompt": "Ann has 3 apples."}\n')
    options = ["--decoder", "self-speculative", "--input", tmp_path / "in"]
    ended = children.run("decode", "--model", model, *options, "--out", tmp_path / "out")
    assert ended.status == 0, ended.output
    assert json.loads((tmp_path / "out").read_text())["ids"]
    assert children.attempts.read_text() == ""


def test_a_hub_model_without_a_network_is_one_line(children: Children, tmp_path: Path):
    for verb in (["run", "--data", "embedded"], ["decode", "--decoder", "ar", "--input", "-"]):
        ended = children.run(*verb, "--model", "some/model", "--out", tmp_path / "out")
        assert ended.status == 2
        (line,) = ended.output.splitlines()
        assert line.startswith("error: model 'some/model'")
        assert "local folder" in line
    assert not (tmp_path / "out").exists()
    assert children.attempts.read_text() == ""
