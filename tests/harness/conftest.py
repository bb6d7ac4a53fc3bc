"""The tiny model, a finished run of it, and children that run the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import Result

from sdlm.tokenizer import train_tokenizer
from tests.harness.tiny import TEXTS, VOCAB, harness, make_model

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _official_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Items of our own as the official ones, so that no answer here depends on the generator's."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "gsm8k").mkdir()
    rows = [
        {"question": question(n), "answer": f"{n} + {7 * n} = {8 * n}\n#### {8 * n}"}
        for n in range(1, 1320)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "gsm8k" / "test.jsonl").write_text(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDLM_DATA_DIR", str(folder))
        yield


def question(n: int) -> str:
    return f"Ann has {n} apples and buys {7 * n} more. How many has she?"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SDLM of block size 4 with a chat tokenizer; not to be changed."""
    folder = make_model(tmp_path_factory.mktemp("models") / "tiny", seed=5)
    train_tokenizer(TEXTS, VOCAB, folder)
    return folder


@pytest.fixture(scope="session")
def ar_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An autoregressive model without a tokenizer; not to be changed."""
    folder = tmp_path_factory.mktemp("models") / "tiny-ar"
    return make_model(folder, block_size=None, mask_token_id=None)


class Finished(NamedTuple):
    """A run of all decoders on four items; not to be changed."""

    folder: Path
    result: Result


@pytest.fixture(scope="session")
def finished(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("runs") / "all"
    options = ["--limit", 4, "--max-new-tokens", 14]
    result = harness("run", "--model", model, *options, "--out", folder)
    assert result.exit_code == 0, result.output
    return Finished(folder, result)


@pytest.fixture
def unplotted(monkeypatch: pytest.MonkeyPatch):
    """Drawing takes longer than everything else in a tiny run, and most tests don't look at it."""
    monkeypatch.setattr("harness.running.trade_off_plot", lambda *_: None)


class Ended(NamedTuple):
    """How a child ended: its exit code, or minus the signal; and all that it printed."""

    status: int
    output: str


class Children:
    """Runs the command line in processes that can be killed and have no network."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.output, self.attempts = folder / "output", folder / "attempts"
        self.attempts.touch()
        first = ["run", "--model", model, "--data", "embedded", "--limit", "2", "--decoders", "ar"]
        first += ["--max-new-tokens", "2", "--out", folder / "first"]
        offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.harness.forking", self.attempts, *first],
            cwd=ROOT,
            env=os.environ | offline | {"OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        *arguments: object,
        watched: Path | None = None,
        kill_at: int = 0,
        delay_s: float = 0.0,
    ) -> Ended:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {
            "arguments": [str(each) for each in arguments],
            "output": str(self.output),
            "watched": None if watched is None else str(watched),
            "kill_at": kill_at,
            "delay_s": delay_s,
        }
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        return Ended(answer["status"], self.output.read_text())


@pytest.fixture(scope="session")
def children(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    started = Children(tmp_path_factory.mktemp("children"), model)
    yield started
    started.process.communicate()
