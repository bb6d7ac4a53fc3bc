"""A worker on a scripted model and a clock that only forwards move: what a run finds of it can be
worked out by hand."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from torch import Tensor

from decoders.generate import Request
from decoders.registry import build_decoder, spec_of
from harness.measuring import Worker
from harness.planning import Plan, TaskItems
from harness.run_config import RunConfig
from harness.shards import all_shards
from results import SampleRecord
from sdlm.cache import KVCache
from sdlm.layout import Layout
from tasks import Item, Score
from tests.fakes import ScriptedModel

EOS, MASK = 60, 63
PROMPT_TOKENS = 1


@dataclass
class Clock:
    """Seconds. A forward of T slots takes `forward_s` + T `slot_s`, times what `disturbed` makes
    of the moment."""

    forward_s: float = 1.0
    slot_s: float = 0.0
    disturbed: Callable[[float], float] = lambda now: 1.0
    now: float = 1000.0

    def perf_counter(self) -> float:
        return self.now

    def forward(self, slots: int) -> None:
        self.now += (self.forward_s + slots * self.slot_s) * self.disturbed(self.now)


class TimedModel(ScriptedModel):
    """Moves the clock by what each forward costs."""

    clock: Clock

    def __call__(
        self,
        ids_BT: Tensor,
        positions_BT: Tensor,
        layout: Layout,
        cache: KVCache,
        wanted_BN: Tensor,
    ) -> Tensor:
        self.clock.forward(ids_BT.numel())
        return super().__call__(ids_BT, positions_BT, layout, cache, wanted_BN)

    decode = __call__


class CountingTask:
    """Every answer is right; the text is its ids."""

    name = "counting"
    sources = ("embedded",)

    def score(self, item: Item, text: str, finished: bool) -> Score:
        return Score(correct=True, answer="1", extracted_by="marker", finished=finished)


def planted_run(
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    specs: list[str],
    lengths: list[int],
    sure: Callable[[int], float],
    **config: Any,
) -> list[SampleRecord]:
    """Records of answers of these lengths. sure(i): the model's probability of an answer's i-th
    token, however far ahead it is asked for it."""
    monkeypatch.setattr("decoders.loop.time", SimpleNamespace(perf_counter=clock.perf_counter))
    monkeypatch.setattr("harness.measuring.text_of", lambda _, completion: str(completion.ids))

    def answer(context: tuple[int, ...], ahead: int) -> tuple[int, float]:
        index = len(context) + ahead - PROMPT_TOKENS
        return (EOS if index >= lengths[context[0]] else 1 + index % 50), sure(index)

    model = TimedModel(answer, max_context=512)
    model.clock = clock
    decoders = [build_decoder(spec, default_block=4, mask_token_id=MASK) for spec in specs]
    plan = plan_of(model, {spec_of(each): each for each in decoders}, len(lengths), config)
    worker = Worker(plan)
    events = [event for shard in all_shards(plan) for event in worker.run(shard)]
    return [event for event in events if isinstance(event, SampleRecord)]


def plan_of(
    model: ScriptedModel, decoders: dict[str, Any], num_items: int, changes: dict[str, Any]
) -> Plan:
    fixed = changes.get("fixed_length")
    items = [Item(id=str(number), messages=(), gold="1") for number in range(num_items)]
    task = TaskItems(
        task=CountingTask(),  # pyright: ignore[reportArgumentType]
        source="embedded",
        items=items,
        requests=[Request(key=item.id, ids=(number,)) for number, item in enumerate(items)],
        budget=fixed or 200,
    )
    settings: dict[str, Any] = {
        "model": "planted",
        "model_sha256": "",
        "baseline_model": None,
        "baseline_model_sha256": None,
        "tasks": ("counting",),
        "sources": {"counting": "embedded"},
        "protocol": "paper",
        "decoders": tuple(decoders),
        "limit": 0,
        "batch_sizes": (1,),
        "order": "given",
        "dtype": "float32",
        "attention": "dense",
        "compile": False,
        "quantize": "none",
        "tensor_parallel": 1,
        "device": "cpu",
        "max_new_tokens": {"counting": task.budget},
        "fixed_length": None,
        "repeats": 1,
        "seed": 0,
        "data_sha256": {},
        "template_sha256": {},
    }
    loaded: Any = SimpleNamespace(
        model=model, eos_token_ids=frozenset({EOS}), tokenizer=None, name="planted"
    )
    config = RunConfig(**{**settings, **changes})
    return Plan(config=config, loaded=loaded, decoders=decoders, tasks=[task])
