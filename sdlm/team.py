"""The follower processes as their driver sees them: led together, ended together.

A follower that has died is an error that names it, at the next order or, under gloo, in the middle
of a forward; the others are ended with it, as none can go on alone.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NoReturn

import torch
import torch.distributed as dist
import torch.multiprocessing

from sdlm.followers import Failed, Seat, Stop, follow, take_seat
from sdlm.model import SDLM

# How long a rank that is told to end may take, and a failing one to be gone.
ENDING_S, FAILING_S = 10.0, 2.0


class TeamLost(ChildProcessError):
    """A rank is gone, and with it the model: no later forward can succeed."""


class Team:
    """Ranks 1 ... N-1, in order, and this process's membership. `threads`: to go back to."""

    def __init__(
        self,
        processes: Sequence[SpawnProcess],
        connections: Sequence[Connection],
        threads: int,
    ) -> None:
        self.processes, self.connections, self.threads = processes, connections, threads
        self.ended = False

    @property
    def ranks(self) -> int:
        return len(self.processes) + 1

    def await_joined(self) -> None:
        """Wait until every follower has come one step further; TeamLost if one fails."""
        for rank, connection in enumerate(self.connections, 1):
            try:
                answer: object = connection.recv()
            except (EOFError, OSError) as error:
                self.fail(error)
            if isinstance(answer, Failed):
                raise TeamLost(_ended(rank, answer.reason))

    def tell(self, order: object) -> None:
        """Give every follower an order; TeamLost if one has died, or all were ended."""
        if self.ended:
            raise TeamLost("this tensor-parallel model is closed; open it again")
        try:
            for connection in self.connections:
                connection.send(order)
        except OSError as error:
            self.fail(error)

    @contextmanager
    def together(self, order: object) -> Iterator[None]:
        """Give an order, and do this rank's part of it inside."""
        self.tell(order)
        try:
            yield
        except BaseException as error:
            # The followers may be waiting in the middle of it for this rank.
            self.fail(error)

    def fail(self, error: BaseException) -> NoReturn:
        """End all over an error, which a follower's death explains better than its own words."""
        reasons = self._reasons() if isinstance(error, RuntimeError | OSError | EOFError) else []
        self.end(kill=True)
        if reasons:
            raise TeamLost("; ".join(reasons)) from error
        raise error

    def _reasons(self) -> list[str]:
        """Why the followers that are gone have ended."""
        gone = wait([process.sentinel for process in self.processes], timeout=FAILING_S)
        for process in self.processes:
            # A sentinel may be there a moment before the exit code is.
            if process.sentinel in gone:
                process.join(FAILING_S)
        members = enumerate(zip(self.processes, self.connections, strict=True), 1)
        return [
            _ended(rank, _last_words(connection) or f"exit code {process.exitcode}")
            for rank, (process, connection) in members
            if not process.is_alive()
        ]

    def end(self, *, kill: bool = False) -> None:
        """End every follower, with `kill` wherever it stands. A second call does nothing."""
        if self.ended:
            return
        self.ended = True
        for process, connection in zip(self.processes, self.connections, strict=True):
            if kill:
                process.kill()
            else:
                _send_stop(connection)
        if dist.is_initialized():
            dist.destroy_process_group()
        for process, connection in zip(self.processes, self.connections, strict=True):
            process.join(ENDING_S)
            if process.is_alive():
                process.kill()
                process.join()
            connection.close()
        torch.set_num_threads(self.threads)


def gather_team(seat: Seat) -> tuple[SDLM, Team]:
    """This process's share of the model, as rank 0, and the followers that hold the others.

    seat: whose `threads` are all, to be divided, and whose `store` is made here.
    """
    context = torch.multiprocessing.get_context("spawn")
    processes: list[SpawnProcess] = []
    connections: list[Connection] = []
    team = Team(processes, connections, seat.threads)
    with tempfile.TemporaryDirectory() as folder:
        own = replace(
            seat, threads=max(1, seat.threads // seat.ranks), store=Path(folder) / "ranks"
        )
        try:
            for rank in range(1, own.ranks):
                ours, theirs = context.Pipe()
                process = context.Process(target=follow, args=(own, rank, theirs), daemon=True)
                process.start()
                # The follower's own is now the only one, so its death closes the pipe.
                theirs.close()
                processes.append(process)
                connections.append(ours)
            torch.set_num_threads(own.threads)
            team.await_joined()
            share = take_seat(own, rank=0)
            team.await_joined()
        except BaseException:
            team.end(kill=True)
            raise
    return share, team


def _send_stop(connection: Connection) -> None:
    try:
        connection.send(Stop())
    except OSError:
        # It is gone already.
        return


def _last_words(connection: Connection) -> str | None:
    try:
        while connection.poll():
            answer: object = connection.recv()
            if isinstance(answer, Failed):
                return answer.reason
    except (EOFError, OSError):
        return None
    return None


def _ended(rank: int, reason: str) -> str:
    return (
        f"tensor-parallel rank {rank} has ended ({reason}), and the model with it; start again"
        " (a run goes on with --resume)"
    )
