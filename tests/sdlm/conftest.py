"""What the tests of training share."""

import json
from pathlib import Path

import pytest

from sdlm.tokenizer import train_tokenizer
from tests.sdlm.training_fakes import conversation


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data.jsonl and a tokenizer."""
    folder = tmp_path_factory.mktemp("training")
    rows = [conversation(n) for n in range(300)]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = [message["content"] for row in rows for message in row["messages"]]
    train_tokenizer(texts, 264, folder / "tokenizer")
    return folder
