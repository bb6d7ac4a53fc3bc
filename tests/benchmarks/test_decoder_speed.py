"""Wall time of each decoder on nano; `pytest tests/benchmarks --benchmark-enable` prints it."""

import pytest

from decoders.generate import Request, generate
from decoders.registry import DECODERS, build_decoder
from decoders.trimming import Ending
from harness.models import LoadedModel, open_model
from sdlm.model_names import model_folder
from tests.benchmarks.against_transformers import measure

NEW_TOKENS = 64


@pytest.fixture(scope="module")
def nano() -> LoadedModel:
    return open_model(
        "nano",
        model_folder("nano"),
        dtype="float32",
        attention=None,
        device="cpu",
        need_tokenizer=True,
    )


@pytest.mark.parametrize("batch_size", [1, 8])
@pytest.mark.parametrize("name", DECODERS)
def test_decoder(benchmark, nano: LoadedModel, name: str, batch_size: int) -> None:
    config = nano.model.config
    decoder = build_decoder(name, default_block=4, mask_token_id=config.mask_token_id)
    requests = [
        Request(key=str(row), ids=tuple(range(100 + row, 180 + row))) for row in range(batch_size)
    ]

    def decode() -> int:
        answers = generate(
            nano.model, decoder, requests, Ending(budget=NEW_TOKENS), batch_size=batch_size
        )
        return sum(len(answer.ids) for answer in answers)

    assert benchmark(decode) == NEW_TOKENS * batch_size


def test_same_ids_as_transformers_generate(capsys: pytest.CaptureFixture[str]) -> None:
    rates = measure("nano-ar", repeats=1)
    with capsys.disabled():
        print(
            f"\nar {rates.ours:.0f}, transformers {rates.theirs:.0f} tokens/s: {rates.ratio:.2f}x"
        )
    assert rates.same_ids
