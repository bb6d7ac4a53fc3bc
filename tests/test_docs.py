"""What the documentation shows must run."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
import typer.main

from decoders.generate import Request, generate
from decoders.registry import build_decoder, spec_of
from decoders.trimming import Ending
from sdlm import pretrain
from sdlm.retrofit import __main__ as retrofit
from sdlm.retrofit.command import with_train_options
from tasks.embedded import gsm8k, humaneval_plus, math500
from tasks.embedded.mmlu.catalog import SUBJECTS
from tests.benchmarks.sizing import tables
from tests.fakes import tiny_model

DOCS = Path(__file__).parent.parent / "docs"


def test_the_decoder_of_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(
        r"```python\n# my_decoders.py\n(.*?)```", (DOCS / "adding-a-decoder.md").read_text(), re.S
    )
    (tmp_path / "my_decoders.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_decoders", raising=False)
    model = tiny_model()
    decoder = build_decoder(
        "my_decoders:Margin(gap=0.5)",
        default_block=4,
        mask_token_id=model.config.mask_token_id,
    )
    assert spec_of(decoder) == "my_decoders:Margin(block=4,gap=0.5)"
    (answer,) = generate(model, decoder, [Request(key="a", ids=(1, 2, 3))], Ending(budget=20))
    assert len(answer.ids) == 20
    assert max(answer.kept) > 1


def test_the_tables_of_sizing():
    """`python -m tests.benchmarks.sizing` prints them anew."""
    text = (DOCS / "scaling.md").read_text()
    for table in tables().split("\n\n"):
        assert table in text


def test_the_sizes_of_the_embedded_suites() -> None:
    text = (DOCS / "embedded.md").read_text()
    facts = sum(len(subject.facts) for subject in SUBJECTS if not subject.rule)
    rules = sum(subject.rule for subject in SUBJECTS)
    code = humaneval_plus.FAMILIES
    assert f"{len(gsm8k.FAMILIES)} kinds of stories" in text
    assert f"| {len(math500.FAMILIES)} families |" in text
    assert f"| {sum(map(len, code.values()))} families in {len(code)} subjects;" in text
    assert f"| {len(SUBJECTS)} subjects: {facts} facts, and {rules} subjects of rules |" in text


def options_of(command: Callable[..., None], *left_out: str) -> dict[str, str]:
    """Every name of an option of a training command, with the option's default."""
    app = typer.Typer(add_completion=False)
    app.command()(with_train_options(command, leave_out=left_out))
    return {
        name: str(getattr(option.default, "value", option.default))
        for option in typer.main.get_command(app).params
        for name in (*option.opts, *option.secondary_opts)
    }


def test_the_options_of_training() -> None:
    """All are named, those named exist, and a value beside one is its default."""
    page = (DOCS / "retrofit.md").read_text()
    ours = options_of(retrofit.main)
    theirs = options_of(pretrain.main, *pretrain.LEFT_OUT)
    every = theirs | ours
    of_blocks = {"--block-size", "--budget", "--shift", "--no-shift", "--causal-attn"}
    of_blocks |= {"--mask-token"}
    assert ours.keys() - theirs.keys() == of_blocks | {"--clean-loss-weight", "--attention"}
    elsewhere = {"--nproc-per-node", "--count"}
    elsewhere |= {"--model", "--adapter", "--tasks", "--decoders"}
    elsewhere |= {"--mix", "--data-dir", "--judge", "--on-mismatch", "--decoder"}
    named = set(re.findall(r"--[a-z][a-z0-9-]*", page))
    assert named <= every.keys() | elsewhere
    # Of a switch that is on, the name that turns it off.
    assert ours.keys() - named == {
        "--shift",
        "--no-compile",
        "--bf16",
        "--no-assistant-only-loss",
    }
    table = page.partition("## Options")[2].partition("## ")[0]
    for name, value in re.findall(r"`(--[a-z0-9-]+) ([^`]+)`", table):
        default = every[name]
        same = float(value) == float(default) if value[0].isdigit() else value == default
        assert same, (name, value, default)
