"""What a story is made of: moves with their sums, and how numbers are drawn that fit them.

A family of stories has openings, moves and endings; all three are `Move`s: a fact to tell, the
numbers it gives, and the calculations it calls for. A problem is an opening, some moves and
perhaps an ending. `p` is the running quantity, `a`, `b`, … the numbers of the move itself,
`r1`, `r2` results within the move, `v0`, `v1`, … the running quantity after each move so far.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

EASY_FACTORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 20, 25)
ROUND_FACTORS = (10, 12, 20, 25)
PERCENTS = (10, 20, 25, 50)
LARGEST_RESULT = 1500


@dataclass(frozen=True, slots=True)
class Calc:
    """`x op y`, the clause that states the result at `@`, and the unit of the result."""

    op: str
    x: str
    y: str
    clause: str
    unit: str


@dataclass(frozen=True, slots=True)
class Move:
    """One fact of a story and what follows from it."""

    key: str
    givens: dict[str, str]
    fact: str
    calcs: tuple[Calc, ...] = ()
    ask: str = ""
    #: An event has its place in time; other facts may stand anywhere.
    event: bool = True
    #: Number of running quantities there must be before this move; 0: any.
    need: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """Stories that share a setting.

    slots: the fillers of open nouns. kept: what is asked instead of `ask` where something was
    taken away, if that would be another question: what was earned is more than what is left.
    """

    key: str
    nouns: str
    ask: str
    openings: tuple[Move, ...]
    moves: tuple[Move, ...]
    endings: tuple[Move, ...]
    hi: int = 400
    static: bool = False
    slots: dict[str, str] = field(default_factory=dict[str, str])
    noise: tuple[Move, ...] = ()
    kept: str = ""


def givens(spec: str) -> dict[str, str]:
    """`"a:5-40 b:div"` as a mapping; the kinds are those of `draw`."""
    pairs = (item.partition(":") for item in spec.split())
    return {name: kind for name, _, kind in pairs}


def move(
    key: str, spec: str, fact: str, *calcs: Calc, ask: str = "", event: bool = True, need: int = 0
) -> Move:
    """A `Move` from its compact notation."""
    return Move(key, givens(spec), fact, calcs, ask, event, need)


def fact(key: str, spec: str, text: str, *calcs: Calc, ask: str = "", need: int = 0) -> Move:
    """A move that isn't an event: it may be told at any place."""
    return Move(key, givens(spec), text, calcs, ask, False, need)


def _part(rng: random.Random, ref: int) -> int:
    low, high = max(2, ref // 8), ref * 4 // 5
    return low + int(rng.random() * (high - low + 1)) if high >= low else 0


def _divisor(rng: random.Random, ref: int) -> int:
    fits = [k for k in EASY_FACTORS if ref % k == 0 and ref // k >= 2]
    return fits[int(rng.random() * len(fits))] if fits else 0


def _factor(rng: random.Random, ref: int) -> int:
    return (2, 2, 2, 3, 3, 4, 5)[int(rng.random() * 7)]


def _percent(rng: random.Random, ref: int) -> int:
    return PERCENTS[int(rng.random() * 4)]


def _over(rng: random.Random, ref: int) -> int:
    return ref + 3 + int(rng.random() * max(20, ref))


def _round_over(rng: random.Random, ref: int) -> int:
    return (ref // 10 + 1 + int(rng.random() * 5)) * 10


DRAWS: dict[str, Callable[[random.Random, int], int]] = {
    "part": _part,
    "div": _divisor,
    "k": _factor,
    "pct": _percent,
    "over": _over,
    "bill": _round_over,
}


def draw(rng: random.Random, kind: str, ref: int) -> int:
    """A number of a kind: `5-40`, `10-90/10` (multiples of 10), or one that fits `ref`.

    `part`: a part of ref; `div`: a divisor; `over`: more than ref; `bill`: a round number above
    it; `k`: a factor for comparisons; `pct`: 10, 20, 25 or 50. 0 means that nothing fits.
    """
    if kind in DRAWS:
        return DRAWS[kind](rng, ref)
    span, _, step = kind.partition("/")
    low, _, high = span.partition("-")
    unit = int(step or 1)
    count = (int(high) - int(low)) // unit + 1
    return int(low) + unit * int(rng.random() * count)


def result(op: str, x: int, y: int) -> int:
    """The result of a sum of this level, or 0 where it is too hard, inexact or below 2."""
    if op == "+":
        return x + y
    if op == "-":
        return x - y if x - y >= 2 else 0
    if op == "/":
        ok = y in EASY_FACTORS and x % y == 0 and x // y >= 2 and x <= 700
        return x // y if ok else 0
    small, large = min(x, y), max(x, y)
    if small in (2, 10) and large <= 150:
        return x * y
    ok = large <= 99 and (small <= 9 or small in ROUND_FACTORS or large in ROUND_FACTORS)
    return x * y if ok else 0


def solve(
    rng: random.Random, moves: list[Move], hi: int, largest: int, noise: Move | None = None
) -> list[dict[str, int]] | None:
    """Numbers for each move of a story (the noise last), or None where the draw fits nothing.

    hi: limit of the running quantity. largest: limit of every number, given or computed.
    """
    values: list[int] = []
    solved: list[dict[str, int]] = []
    for step in moves:
        env = {f"v{k}": value for k, value in enumerate(values)}
        if values:
            env["p"] = values[-1]
        last = _run(rng, step, env)
        if last == 0:
            return None
        if last > (LARGEST_RESULT if step.ask else hi) or max(env.values()) > largest:
            return None
        values.append(last)
        solved.append(env)
    if noise:
        solved.append({name: draw(rng, kind, 0) for name, kind in noise.givens.items()})
    return solved


def _run(rng: random.Random, step: Move, env: dict[str, int]) -> int:
    """Fill `env` with the numbers and results of one move; the last result, 0 on failure."""
    last = 0
    for index, calc in enumerate(step.calcs, 1):
        y = _operand(rng, step, env, calc.y, _known(env, calc.x))
        x = _operand(rng, step, env, calc.x, y)
        last = result(calc.op, x, y) if x >= 2 and y >= 2 else 0
        if last == 0:
            return 0
        env[f"r{index}"] = last
    for name, kind in step.givens.items():
        if name not in env:
            env[name] = draw(rng, kind, env.get("p", 0))
    return last or env.get("a", 0)


def _known(env: dict[str, int], name: str) -> int:
    return int(name) if name.isdigit() else env.get(name, 0)


def _operand(rng: random.Random, step: Move, env: dict[str, int], name: str, ref: int) -> int:
    if name.isdigit():
        return int(name)
    if name.endswith("%"):
        percent = _operand(rng, step, env, name[:-1], ref)
        env[name] = 100 // percent
        return env[name]
    if name not in env:
        if name not in step.givens:
            return 0
        env[name] = draw(rng, step.givens[name], ref)
    return env[name]
