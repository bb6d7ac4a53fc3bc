"""Where to write a label beside a point so that it covers as little as possible.

Plain geometry in the coordinates of the page; greedy, one label after the other, so it finds good
places and not always the best.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_MARGIN = 2.0
_COST_OF_A_CLASH = 20.0
_COST_OF_A_STRAY = 4.0


class Box(NamedTuple):
    x0: float
    y0: float
    x1: float
    y1: float

    def padded(self, margin: float) -> "Box":
        return Box(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def overlaps(self, other: "Box") -> bool:
        return (
            self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1
        )

    def inside(self, other: "Box") -> bool:
        return (
            other.x0 <= self.x0
            and self.x1 <= other.x1
            and other.y0 <= self.y0
            and self.y1 <= other.y1
        )


class Obstacle(NamedTuple):
    """A place that a label had better not cover, and how much that matters."""

    x: float
    y: float
    weight: float


def curve_obstacles(places: Sequence[tuple[float, float]]) -> list[Obstacle]:
    """The markers of a curve and, mattering less, its lines and the upright interval bars."""
    found = [Obstacle(x, y, 8.0) for x, y in places]
    for (x0, y0), (x1, y1) in pairwise(places):
        steps = [step / 24 for step in range(1, 24)]
        found += [Obstacle(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t, 1.0) for t in steps]
    found += [Obstacle(x, y + 3.0 * step, 0.3) for x, y in places for step in range(-12, 13)]
    return found


def best_place(
    candidates: Sequence[Box],
    page: Box,
    obstacles: Sequence[Obstacle],
    taken: Sequence[Box],
    strays: Sequence[bool] = (),
) -> int:
    """The index of the candidate that costs least, the first of equals. `strays`: which of them
    a reader could take for the label of another point."""
    costs = [
        _cost(box.padded(_MARGIN), page, obstacles, taken) + _COST_OF_A_STRAY * is_stray
        for box, is_stray in zip(candidates, strays or [False] * len(candidates), strict=True)
    ]
    return costs.index(min(costs))


def _cost(box: Box, page: Box, obstacles: Sequence[Obstacle], taken: Sequence[Box]) -> float:
    clashes = sum(box.overlaps(other) for other in taken) + (not box.inside(page))
    covered = sum(
        each.weight
        for each in obstacles
        if box.x0 <= each.x <= box.x1 and box.y0 <= each.y <= box.y1
    )
    return covered + _COST_OF_A_CLASH * clashes
