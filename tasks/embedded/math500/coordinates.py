"""Points in the plane: midpoint, slope, distance."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import ALGEBRA, GEOMETRY, Family, Work, whole, worked
from tasks.embedded.math500.notation import added, divided, lowest, reduced, root, squared
from tasks.embedded.math500.phrases import FIND


def _points(rng: random.Random, far: int) -> tuple[int, int, int, int]:
    """Two points that differ in both coordinates, by at most `far`."""
    a, b = whole(rng, -9, 9), whole(rng, -9, 9)
    c, d = a + whole(rng, -far, far), b + whole(rng, -far, far)
    return a, b, c, d


def _midpoint(rng: random.Random) -> Work:
    a, b, c, d = _points(rng, 9)
    if (a + c) % 2 or (b + d) % 2:
        return _midpoint(rng)
    steps = (
        f"${added(a, c)}$ and ${divided(a + c, 2)}$.",
        f"${added(b, d)}$ and ${divided(b + d, 2)}$.",
    )
    gold = f"({(a + c) // 2}, {(b + d) // 2})"
    return worked((a, b, c, d), gold, *steps, p=f"({a}, {b})", q=f"({c}, {d})")


def _slope(rng: random.Random) -> Work:
    a, b, c, d = _points(rng, 9)
    steps = (
        f"The rise is ${added(d, -b)}$ and the run is ${added(c, -a)}$.",
        f"The slope is ${reduced(d - b, c - a)}$."
        if c > a
        else f"The slope is ${d - b} \\div ({c - a}) = {lowest(d - b, c - a)}$.",
    )
    gold = lowest(d - b, c - a)
    return worked((a, b, c, d), gold, *steps, p=f"({a}, {b})", q=f"({c}, {d})")


def _distance(rng: random.Random) -> Work:
    a, b, c, d = _points(rng, 9)
    across, up = c - a, d - b
    both = across * across + up * up
    last = root(both)
    steps = (
        f"${added(c, -a)}$ and ${added(d, -b)}$.",
        f"${squared(across)}$ and ${squared(up)}$.",
        f"${added(across * across, up * up)}$.",
        rf"The distance is $\sqrt{{{both}}}$."
        if last == rf"\sqrt{{{both}}}"
        else rf"The distance is $\sqrt{{{both}}} = {last}$.",
    )
    return worked((a, b, c, d), last, *steps, p=f"({a}, {b})", q=f"({c}, {d})")


MIDPOINT = (
    f"{FIND} the midpoint of the segment [with endpoints|between] $<p>$ and $<q>$.",
    "What [point|is the point that] lies halfway between $<p>$ and $<q>$?",
    "[Let|Suppose] $A = <p>$ and $B = <q>$. [Find|What is|Determine] the midpoint of $AB$.",
)
SLOPE = (
    f"{FIND} the slope of the line through [|the points ]$<p>$ and $<q>$.",
    "What is the slope of the line [through|that contains|that passes through] $<p>$ and $<q>$?",
    "A line passes through [|the points ]$<p>$ and $<q>$. [Find|What is|Compute] its slope.",
)
DISTANCE = (
    f"{FIND} the distance [between|between the points] $<p>$ and $<q>$.",
    "[How far apart are|What is the distance between] [|the points ]$<p>$ and $<q>$?",
    "[Let|Suppose] $A = <p>$ and $B = <q>$. [Find|What is|Compute] the [distance|length] $AB$.",
)

FAMILIES = (
    Family("midpoint", GEOMETRY, 3, MIDPOINT, _midpoint),
    Family("slope", ALGEBRA, 3, SLOPE, _slope),
    Family("distance", GEOMETRY, 5, DISTANCE, _distance),
)
