"""`ar` against Hugging Face `generate`: same weights, same process, same ids, interleaved.

    python -m tests.benchmarks.against_transformers [--model nano-ar] [--repeats 9]

Prints both medians in tokens/s and their ratio, then the same as one JSON line.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from decoders.ar import Autoregressive
from decoders.generate import Request, generate
from decoders.trimming import Ending
from harness.models import LoadedModel, open_model
from sdlm.model_names import model_folder
from sdlm.tokenizer import chat_ids
from tasks import resolve_task
from tests.benchmarks.contenders import Theirs

NEW_TOKENS = 64
PROMPTS = 4


class Rates(NamedTuple):
    """Median tokens/s of both sides over interleaved repeats, and whether all ids agreed."""

    ours: float
    theirs: float
    same_ids: bool

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


def measure(model: str, repeats: int) -> Rates:
    loaded = open_model(
        model,
        model_folder(model),
        dtype="float32",
        attention=None,
        device="cpu",
        need_tokenizer=True,
    )
    reference = Theirs(loaded.folder, torch.float32, "cpu")
    prompts = _prompts(loaded)

    def ours(ids: list[int]) -> list[int]:
        request = Request(key="prompt", ids=tuple(ids))
        (answer,) = generate(loaded.model, Autoregressive(), [request], Ending(budget=NEW_TOKENS))
        return list(answer.ids)

    def theirs(ids: list[int]) -> list[int]:
        return list(reference.run("transformers generate", [ids], NEW_TOKENS).ids[0])

    same = all(ours(ids) == theirs(ids) for ids in prompts)  # the warm-up as well
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repeats):
        for ids in prompts:
            seconds["ours"].append(_timed(ours, ids))
            seconds["theirs"].append(_timed(theirs, ids))
    medians = {name: NEW_TOKENS / statistics.median(times) for name, times in seconds.items()}
    return Rates(medians["ours"], medians["theirs"], same)


def _prompts(loaded: LoadedModel) -> list[list[int]]:
    assert loaded.tokenizer is not None
    items = resolve_task("gsm8k").items("embedded", None)[:PROMPTS]
    return [
        chat_ids(loaded.tokenizer, [{"role": "user", "content": item.messages[-1].content}])
        for item in items
    ]


def _timed(call: Callable[[list[int]], list[int]], ids: list[int]) -> float:
    start = time.perf_counter()
    call(ids)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="nano-ar")
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    rates = measure(arguments.model, arguments.repeats)
    print(f"ar                      {rates.ours:8.1f} tokens/s")
    print(f"transformers generate   {rates.theirs:8.1f} tokens/s")
    print(f"ratio                   {rates.ratio:8.2f}   same ids: {rates.same_ids}")
    print(json.dumps(rates._asdict() | {"ratio": rates.ratio, "model": arguments.model}))


if __name__ == "__main__":
    main()
