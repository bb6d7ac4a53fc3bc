"""Who carries out the shards: this process (`local`), or Ray workers (`harness.engine_ray`).

Both hand on the same records, which the caller alone stores.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

import torch

from harness.asking import EngineChoice, Wish
from harness.machine import hardware
from harness.measuring import Scoring, WarmUp, Worker
from harness.planning import Plan
from harness.retrying import Halved
from harness.run_config import RunConfig
from harness.shards import Shard, at_rest
from results import SampleRecord


class Joined(NamedTuple):
    """A worker that is ready: the machine that it runs on, and the run as it has found it."""

    host: str
    hardware: dict[str, Any]
    config: RunConfig


Event = SampleRecord | WarmUp | Scoring | Halved | Joined


class Engine(Protocol):
    """plan: the run, as the workers found it. hardware: of the (first) worker.
    workers, threads: how many, and how many threads each computes with."""

    plan: Plan
    hardware: dict[str, Any]
    workers: int
    threads: int

    def run(
        self,
        shards: Sequence[Shard],
        keep: Callable[[Event], None],
        left_of: Callable[[Shard], Shard | None],
        stopped: Callable[[], bool],
    ) -> None:
        """Do the shards, handing each record to `keep` as it is made. left_of: what of a shard
        has not been kept, for a worker that got lost in it. Once `stopped`, only turns that are
        begun are ended, so that no batch is measured in two parts."""
        ...


class LocalEngine:
    """One worker, here."""

    workers = 1

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.hardware = hardware(plan.config.device)
        self.threads = torch.get_num_threads()
        self._worker = Worker(plan)

    def run(
        self,
        shards: Sequence[Shard],
        keep: Callable[[Event], None],
        left_of: Callable[[Shard], Shard | None],
        stopped: Callable[[], bool],
    ) -> None:
        for shard in shards:
            for event in self._worker.run(shard):
                keep(event)
                if stopped() and at_rest(shard, left_of(shard)):
                    return


def check_engine(choice: EngineChoice) -> None:
    """Raise ValueError where the engine's library is missing."""
    if choice.name == "ray" and find_spec("ray") is None:
        raise ValueError(
            "--engine ray needs the package ray, which is not installed:"
            " pip install 'sdlm-bench[ray]', or use --engine local"
        )


def check_same(expected: RunConfig, found: Joined, excepted: Sequence[str]) -> None:
    """Raise ValueError where a worker would measure anything else; `excepted` names fields."""
    ours, theirs = asdict(expected), asdict(found.config)
    for name in ours:
        if name not in excepted and ours[name] != theirs[name]:
            raise ValueError(
                f"the worker on {found.host} has {name} {theirs[name]}, others {ours[name]}:"
                " give all nodes the same packages, model and data"
            )


@contextmanager
def open_engine(choice: EngineChoice, wish: Wish, plan: Plan) -> Generator[Engine]:
    """An engine for the plan of a wish, with a worker that is ready; ended on the way out."""
    if choice.name == "local":
        yield LocalEngine(plan)
        return
    # Not everybody has it.
    from harness.engine_ray import open_ray

    with open_ray(choice, wish, plan) as engine:
        yield engine
