# Ray leaves much of what it returns untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false
"""Ray workers: each makes its own plan from the same wish, loads the model once, and pulls shards.

Workers stream records back as they are made, and this process alone stores them. A worker that is
lost, with its node or alone, is replaced, and what is missing of its shard is done again, by
whichever worker is free. Of Ray nothing is used but actors, their streams, and waiting.
"""

import logging
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import ray
import torch
from ray.exceptions import RayError, RayTaskError

from harness.asking import EngineChoice, Wish, asked_tasks
from harness.engine import Event, Joined, check_same
from harness.jobs import MOST_LOST, Job
from harness.machine import hardware, usable_cores
from harness.measuring import Worker
from harness.placement import Node, Placement, place
from harness.planning import Plan, make_plan
from harness.shards import Shard, all_shards, at_rest
from harness.stopping import end
from tasks.sources import DATA_DIR_VARIABLE

REACH_S = 5.0
PATIENCE_S = 60.0
# HTTP/2: its opening with settings of none, and where a frame's type stands.
OPENING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
FRAME_HEAD, SETTINGS = 9, 4
# Records have a few kB; Ray would take a third of the memory for what passes through.
STORE_BYTES = 100 * 2**20
# What workers may have another of than this process: it needs no GPU, and measures no memory.
LEFT_TO_WORKERS = ("device", "attention", "batch_sizes")


class RayWorker:
    """A process with a plan and a model of its own."""

    def prepare(
        self, wish: Wish, paths: list[str], folder: str, threads: int, sharing: int
    ) -> Joined:
        """Make the plan, with modules and relative paths found as in the driver's `folder`."""
        sys.path += [path for path in paths if path not in sys.path]
        if Path(folder).is_dir():
            os.chdir(folder)
        torch.set_num_threads(threads)
        plan = make_plan(wish, asked_tasks(wish), sharing=sharing)
        self._worker = Worker(plan, alone=False)
        return Joined(socket.gethostname(), hardware(plan.config.device), plan.config)

    def run(self, shard: Shard) -> Iterator[Event]:
        yield from self._worker.run(shard)


class RayEngine:
    """Workers of a Ray that this process is connected to; the first is ready once this is."""

    def __init__(self, wish: Wish, plan: Plan, placement: Placement) -> None:
        self.workers, self.threads = placement.workers, placement.threads
        self._wish, self._placement = wish, placement
        self._expected, self._excepted = plan.config, LEFT_TO_WORKERS
        # What has been asked of workers -> who; any of it may be waited for.
        self._starting: dict[Any, Any] = {}
        self._running: dict[Any, tuple[Any, Job]] = {}
        self._idle: list[Any] = []
        self._lost_starting = 0
        # Where the first has a batch size to find, the others wait for it.
        self._start(1 if wish.batch_sizes == "auto" else len(all_shards(plan)))
        self._first = self._await_first()
        # The others are to be just like it.
        self._expected, self._excepted = self._first.config, ()
        self._wish = replace(wish, batch_sizes=self._first.config.batch_sizes)
        self.plan = replace(plan, config=self._first.config)
        self.hardware = self._first.hardware

    def run(
        self,
        shards: Sequence[Shard],
        keep: Callable[[Event], None],
        left_of: Callable[[Shard], Shard | None],
        stopped: Callable[[], bool],
    ) -> None:
        waiting = deque(Job(shard=shard) for shard in shards)
        self._start(len(waiting))
        keep(self._first)
        while True:
            if stopped():
                waiting.clear()
            if not (waiting or self._running):
                break
            while waiting and self._idle:
                self._assign(self._idle.pop(), waiting.popleft())
            (ready,), _ = ray.wait([*self._starting, *self._running])
            if ready in self._running:
                self._hear(ready, waiting, keep, left_of, stopped)
            elif (found := self._welcome(ready)) is not None:
                keep(found)

    def _start(self, wanted: int) -> None:
        """Start workers until there are enough of them for so many shards."""
        self._wanted = wanted
        as_actor: Any = ray.remote(num_cpus=self.threads, num_gpus=self._placement.gpus)
        there = len(self._starting) + len(self._running) + len(self._idle)
        for _ in range(min(self.workers, wanted) - there):
            actor = as_actor(RayWorker).remote()
            ready = actor.prepare.remote(
                self._wish, sys.path, os.getcwd(), self.threads, self._placement.sharing
            )
            self._starting[ready] = actor

    def _await_first(self) -> Joined:
        timeout_s: float | None = PATIENCE_S
        while True:
            ready, _ = ray.wait([*self._starting], timeout=timeout_s)
            if not ready:
                cores = f"{self.threads} free cores of the cluster"
                print(f"no worker is ready yet: still loading, or no {cores}", file=sys.stderr)
                timeout_s = None
            elif (found := self._welcome(ready[0])) is not None:
                return found

    def _welcome(self, ready: Any) -> Joined | None:
        """A worker that is ready, from now on idle; None, and another started, if it was lost."""
        actor = self._starting.pop(ready)
        try:
            found: Any = ray.get(ready)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            self._lost_starting += 1
            if self._lost_starting == MOST_LOST:
                raise ChildProcessError(
                    f"{MOST_LOST} workers in a row were lost before they were ready (the last:"
                    f" {_first_line(error)}); is there memory for --workers {self.workers}?"
                ) from None
            ray.kill(actor)
            self._start(self._wanted)
            return None
        self._lost_starting = 0
        check_same(self._expected, found, self._excepted)
        self._idle.append(actor)
        return found

    def _assign(self, actor: Any, job: Job) -> None:
        stream = actor.run.options(num_returns="streaming").remote(job.shard)
        self._running[stream] = (actor, job)

    def _hear(
        self,
        stream: Any,
        waiting: deque[Job],
        keep: Callable[[Event], None],
        left_of: Callable[[Shard], Shard | None],
        stopped: Callable[[], bool],
    ) -> None:
        """What a worker says next: an event, that it is done, or nothing any more."""
        actor, job = self._running.pop(stream)
        try:
            event: Any = ray.get(next(stream))
        except StopIteration:
            self._idle.append(actor)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            ray.kill(actor)
            if (left := left_of(job.shard)) is not None:
                waiting.appendleft(job.again(left, _first_line(error)))
            self._start(len(waiting) + len(self._running))
        else:
            keep(event)
            if stopped() and at_rest(job.shard, left_of(job.shard)):
                ray.kill(actor)
                return
            # Behind the others, so that all are heard in turn.
            self._running[stream] = (actor, job)


def _first_line(error: RayError) -> str:
    return str(error).partition("\n")[0]


@contextmanager
def open_ray(choice: EngineChoice, wish: Wish, plan: Plan) -> Generator[RayEngine]:
    """Workers for the plan of a wish, on a Ray of our own or a cluster; ended on the way out."""
    if data_dir := os.environ.get(DATA_DIR_VARIABLE):
        # A node's own variables are those that its Ray was started with.
        wish = replace(wish, data_dir=wish.data_dir or Path(data_dir))
    here = [Node(len(usable_cores()), torch.cuda.device_count())]
    if choice.ray_address is None:
        place(here, choice.workers)
    with _connected(choice.ray_address, here[0]):
        yield RayEngine(wish, plan, place(_nodes(), choice.workers))


@contextmanager
def _connected(address: str | None, here: Node) -> Generator[None]:
    """Connected to Ray, which prints nothing and reports to nobody; SIGTERM ends it in order.

    What Ray has to say of lost workers it prints to standard output, where only results belong.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    before = signal.getsignal(signal.SIGTERM)
    with redirect_stdout(StringIO()):
        try:
            if address is None:
                ray.init(
                    address="local",
                    num_cpus=here.cores,
                    num_gpus=here.gpus,
                    include_dashboard=False,
                    object_store_memory=STORE_BYTES,
                    **quiet,
                )
            else:
                _connect(address, quiet)
            signal.signal(signal.SIGTERM, end)
            yield
        finally:
            ray.shutdown()
            signal.signal(signal.SIGTERM, before)


def _connect(address: str, quiet: dict[str, Any]) -> None:
    wanted = "give HOST:PORT of a running cluster's head, or auto on one of its nodes"
    try:
        if address != "auto":
            host, colon, port = address.rpartition(":")
            if not colon or not port.isdecimal() or "/" in host:
                raise ValueError(f"--ray-address is {address!r}; {wanted}")
            _check_speaks_grpc(host, int(port))
        ray.init(address=address, **quiet)
    except (OSError, OverflowError, RuntimeError) as error:
        raise ValueError(f"--ray-address {address} can't be reached ({error}); {wanted}") from None


def _check_speaks_grpc(host: str, port: int) -> None:
    """Raise OSError where nobody listens, or somebody who isn't Ray; it would try for minutes.

    Ray's head speaks gRPC, so it answers the opening of HTTP/2 (RFC 9113, 3.4) by its settings.
    """
    with socket.create_connection((host, port), REACH_S) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            # It waits for a handshake first, which is Ray's own matter.
            return
        connection.sendall(OPENING)
        head = connection.makefile("rb").read(FRAME_HEAD)
    if len(head) < FRAME_HEAD or head[3] != SETTINGS:
        raise OSError("what listens there is not Ray")


def _nodes() -> list[Node]:
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [Node(int(has.get("CPU", 0)), int(has.get("GPU", 0))) for has in alive]
