"""How many workers on which nodes, with how many threads each: never more threads than cores."""

from collections.abc import Sequence
from typing import NamedTuple


class Node(NamedTuple):
    """What a machine of the cluster has to give."""

    cores: int
    gpus: int


class Placement(NamedTuple):
    """Workers with `threads` each, and a GPU each where `gpus` is 1; all fit at once.

    sharing: workers that the memory of a batch size has to do for; a GPU is nobody else's.
    """

    workers: int
    threads: int
    gpus: int
    sharing: int


def place(nodes: Sequence[Node], workers: int | None) -> Placement:
    """One worker a GPU unless said otherwise, and where there is none, one a core; each with as
    many threads as all of them can have. ValueError for more workers than can be."""
    gpus = 1 if any(node.gpus for node in nodes) else 0
    most = _room(nodes, 1, gpus)
    if most < 1:
        raise ValueError("the Ray cluster has no node with a free core; start one that has")
    if workers is None:
        workers = most
    if workers > most:
        kind = "GPUs, one a worker" if gpus else "cores, at least one a worker"
        raise ValueError(f"--workers is {workers}; there are {most} {kind}: give at most {most}")
    threads = next(
        count
        for count in range(max(node.cores for node in nodes), 0, -1)
        if _room(nodes, count, gpus) >= workers
    )
    sharing = 1 if gpus else min(workers, max(node.cores // threads for node in nodes))
    return Placement(workers=workers, threads=threads, gpus=gpus, sharing=sharing)


def _room(nodes: Sequence[Node], threads: int, gpus: int) -> int:
    """How many workers with so many threads fit."""
    return sum(
        min(node.cores // threads, node.gpus) if gpus else node.cores // threads for node in nodes
    )
