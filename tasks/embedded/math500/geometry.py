"""Lengths, angles, areas and volumes."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import GEOMETRY, PREALGEBRA, Family, Work, pick, whole, worked
from tasks.embedded.math500.notation import added, divided, lowest, multiplied, root, squared
from tasks.embedded.math500.phrases import FIND

#: Right triangles with whole sides, each squarable by heart.
TRIPLES = tuple(
    (a * k, b * k, c * k)
    for a, b, c in ((3, 4, 5), (5, 12, 13), (8, 15, 17))
    for k in range(1, 5)
    if c * k <= 26
)


def _perimeter(rng: random.Random) -> Work:
    a, b = whole(rng, 2, 30), whole(rng, 2, 30)
    steps = (f"${added(a, b)}$.", f"${multiplied(2, a + b)}$.")
    return worked((a, b), 2 * (a + b), *steps, a=a, b=b)


def _area(rng: random.Random) -> Work:
    a, b = whole(rng, 2, 12), whole(rng, 2, 12)
    return worked((a, b), a * b, f"The area is ${multiplied(a, b)}$.", a=a, b=b)


def _from_perimeter(rng: random.Random) -> Work:
    a, b = whole(rng, 2, 12), whole(rng, 2, 12)
    steps = (
        f"${divided(2 * (a + b), 2)}$, so the other side is ${added(a + b, -a)}$.",
        f"The area is ${multiplied(a, b)}$.",
    )
    return worked((2 * (a + b), a), a * b, *steps, p=2 * (a + b), a=a)


def _triangle(rng: random.Random) -> Work:
    base, height = whole(rng, 3, 12), whole(rng, 3, 12)
    product = base * height
    steps = (
        f"${multiplied(base, height)}$.",
        rf"Half of it: ${product} \div 2 = {lowest(product, 2)}$.",
    )
    return worked((base, height), lowest(product, 2), *steps, b=base, h=height)


def _trapezoid(rng: random.Random) -> Work:
    a, b, height = whole(rng, 2, 12), whole(rng, 2, 12), whole(rng, 2, 9)
    if (a + b) % 2 or a == b:
        return _trapezoid(rng)
    half = (a + b) // 2
    steps = (
        f"${added(a, b)}$ and ${divided(a + b, 2)}$.",
        f"The area is ${multiplied(half, height)}$.",
    )
    return worked((a, b, height), half * height, *steps, a=a, b=b, h=height)


def _third_angle(rng: random.Random) -> Work:
    a, b = whole(rng, 20, 85), whole(rng, 20, 85)
    steps = (f"${added(a, b)}$.", f"The third angle is ${added(180, -a - b)}$ degrees.")
    return worked((a, b), 180 - a - b, *steps, a=a, b=b)


def _polygon(rng: random.Random) -> Work:
    sides, length = whole(rng, 3, 12), whole(rng, 2, 12)
    steps = (f"${multiplied(sides, length)}$.",)
    return worked((sides, length), sides * length, *steps, n=sides, s=length)


def _interior(rng: random.Random) -> Work:
    sides = pick(rng, (3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 40, 45, 60))
    outer = 360 // sides
    steps = (
        f"Each exterior angle is ${divided(360, sides)}$ degrees.",
        f"The interior angle is ${added(180, -outer)}$ degrees.",
    )
    return worked((sides,), 180 - outer, *steps, n=sides)


def _hypotenuse(rng: random.Random) -> Work:
    a, b = whole(rng, 2, 9), whole(rng, 2, 9)
    if rng.random() < 0.3:
        a, b, _ = pick(rng, TRIPLES)
    both = a * a + b * b
    steps = (
        f"${squared(a)}$ and ${squared(b)}$.",
        f"${added(a * a, b * b)}$.",
        rf"The hypotenuse is $\sqrt{{{both}}}{_simpler(both)}$.",
    )
    return worked((a, b), root(both), *steps, a=a, b=b)


def _simpler(number: int) -> str:
    """What follows a square root that isn't in simplest form yet."""
    return "" if root(number) == rf"\sqrt{{{number}}}" else f" = {root(number)}"


def _circle(rng: random.Random) -> Work:
    radius = whole(rng, 2, 20)
    steps = (f"The radius is ${divided(2 * radius, 2)}$.", f"${squared(radius)}$.")
    return worked((2 * radius,), rf"{radius * radius}\pi", *steps, d=2 * radius)


def _cylinder(rng: random.Random) -> Work:
    radius, height = whole(rng, 2, 9), whole(rng, 2, 9)
    square = radius * radius
    steps = (f"${squared(radius)}$.", f"${multiplied(square, height)}$.")
    return worked((radius, height), rf"{square * height}\pi", *steps, r=radius, h=height)


def _cone(rng: random.Random) -> Work:
    radius, third = whole(rng, 2, 9), whole(rng, 1, 4)
    square = radius * radius
    steps = (
        f"${squared(radius)}$.",
        f"A third of the height is ${divided(3 * third, 3)}$.",
        f"${multiplied(square, third)}$.",
    )
    gold = rf"{square * third}\pi"
    return worked((radius, 3 * third), gold, *steps, r=radius, h=3 * third)


def _box(rng: random.Random) -> Work:
    a, b, c = whole(rng, 2, 9), whole(rng, 2, 9), whole(rng, 2, 9)
    steps = (f"${multiplied(a, b)}$.", f"${multiplied(a * b, c)}$.")
    return worked((a, b, c), a * b * c, *steps, a=a, b=b, c=c)


def _surface(rng: random.Random) -> Work:
    a, b, c = whole(rng, 2, 9), whole(rng, 2, 9), whole(rng, 2, 9)
    half = a * b + a * c + b * c
    steps = (
        f"${multiplied(a, b)}$, ${multiplied(a, c)}$, ${multiplied(b, c)}$.",
        f"${added(a * b, a * c)}$ and ${added(a * b + a * c, b * c)}$.",
        f"${multiplied(2, half)}$.",
    )
    return worked((a, b, c), 2 * half, *steps, a=a, b=b, c=c)


UNIT = "[cm|m|inches|feet|units]"
RECTANGLE = "[rectangle|rectangular garden|rectangular field|rectangular card]"
PERIMETER = (
    f"A {RECTANGLE} is $<a>$ {UNIT} long and $<b>$ wide. [Find|What is] its perimeter.",
    f"{FIND} the perimeter of a {RECTANGLE} with sides $<a>$ and $<b>$.",
    f"What is the perimeter of a {RECTANGLE} that measures $<a>$ by $<b>$ {UNIT}?",
)
AREA = (
    f"A {RECTANGLE} is $<a>$ {UNIT} long and $<b>$ wide. [Find|What is] its area.",
    f"{FIND} the area of a {RECTANGLE} with sides $<a>$ and $<b>$.",
    f"What is the area of a {RECTANGLE} that measures $<a>$ by $<b>$ {UNIT}?",
)
FROM_PERIMETER = (
    f"A {RECTANGLE} has perimeter $<p>$ and one side [of length |]$<a>$. [Find|What is] its area.",
    f"{FIND} the area of a {RECTANGLE} with perimeter $<p>$ and one side $<a>$.",
    f"One side of a {RECTANGLE} is $<a>$ {UNIT} and its perimeter is $<p>$. What is its area?",
)
TRIANGLE = (
    f"{FIND} the area of a [triangle|triangular sail] with base $<b>$ and height $<h>$.",
    f"A triangle has a base of $<b>$ {UNIT} and a height of $<h>$. [Find|What is] its area.",
    "The [legs|shorter sides] of a right triangle are $<b>$ and $<h>$. [Find|What is|Compute] its"
    " area.",
)
TRAPEZOID = (
    f"{FIND} the area of a trapezoid with [bases|parallel sides] $<a>$ and $<b>$ and height"
    " $<h>$.",
    f"A trapezoid has [bases|parallel sides] of $<a>$ and $<b>$ {UNIT} and height $<h>$."
    " [Find|What"
    " is] its area.",
    "What is the area of a trapezoid [of|with] height $<h>$ [whose bases are|with bases] $<a>$ and"
    " $<b>$?",
)
THIRD_ANGLE = (
    r"Two angles of a triangle [are|measure] $<a>^\circ$ and $<b>^\circ$. [Find|What is|Compute]"
    " the third[| angle], in degrees.",
    r"In triangle [$ABC$|$PQR$|$XYZ$], two angles [are|measure] $<a>^\circ$ and $<b>^\circ$. How"
    " many degrees [are in|has] the third?",
    f"{FIND} the third angle[|, in degrees,] of a triangle with angles "
    r"$<a>^\circ$ and $<b>^\circ$.",
)
POLYGON = (
    "[Find|What is|Compute] the perimeter of a regular polygon with $<n>$ sides of length $<s>$.",
    f"A regular polygon has $<n>$ sides, each $<s>$ {UNIT} long. [Find|What is] its perimeter.",
    f"Each side of a regular $<n>$-gon is $<s>$ {UNIT} long. [Find|What is] its perimeter.",
)
INTERIOR = (
    "[Find|What is|Compute] the [measure|size] of [an|each] interior angle of a regular polygon"
    " with $<n>$ sides, in degrees.",
    "How many degrees [are in|does one measure for] each interior angle of a regular"
    " [$<n>$-gon|polygon with $<n>$ sides]?",
    "A regular polygon has $<n>$ sides. [Find|What is|Compute] [one|each] interior angle, in"
    " degrees.",
)
HYPOTENUSE = (
    f"{FIND} the [hypotenuse|length of the hypotenuse] of a right triangle with legs $<a>$ and"
    " $<b>$.",
    "A right triangle has legs [of length |]$<a>$ and $<b>$. [Find|What is|How long is] its"
    " hypotenuse.",
    "What is the length of [a|the] diagonal of a [rectangle|rectangular card] with sides $<a>$ and"
    " $<b>$?",
)
CIRCLE = (
    f"{FIND} the area of a [circle|circular plate|disk] with diameter $<d>$.",
    f"A [circle|circular pond|circular rug] has a diameter of $<d>$ {UNIT}. [Find|What is] its"
    r" area[|, in terms of $\pi$].",
    "What is the area of a [circle|disk] [of|with|that has] diameter $<d>$?",
)
CYLINDER = (
    f"{FIND} the volume of a [cylinder|right circular cylinder|can] with radius $<r>$ and height"
    " $<h>$.",
    f"A [cylinder|cylindrical can|cylindrical jar] has radius $<r>$ {UNIT} and height $<h>$."
    " [Find|"
    "What is] its volume.",
    "What is the volume of a cylinder of height $<h>$ [with|and] radius $<r>$?",
)
CONE = (
    f"{FIND} the volume of a [cone|right circular cone] with radius $<r>$ and height $<h>$.",
    f"A [cone|paper cone|right circular cone] has radius $<r>$ {UNIT} and height $<h>$. [Find|"
    "What is] its volume.",
    "What is the volume of a cone of height $<h>$ [with|and] [base |]radius $<r>$?",
)
BOX = (
    f"{FIND} the volume of a [box|rectangular box|crate] with edges $<a>$, $<b>$ and $<c>$.",
    f"A [box|rectangular box|tank|crate] measures $<a>$ by $<b>$ by $<c>$ {UNIT}. [Find|What is]"
    " its volume.",
    "What is the volume of a [box|rectangular prism] [of size|that measures] $<a>$ by $<b>$ by"
    " $<c>$?",
)
SURFACE = (
    f"{FIND} the surface area of a [box|rectangular box] with edges $<a>$, $<b>$ and $<c>$.",
    f"A [box|rectangular box|crate] measures $<a>$ by $<b>$ by $<c>$ {UNIT}. [Find|What is] its"
    " [total |]surface area.",
    "What is the [total |]surface area of a [box|rectangular prism] [of size|that measures] $<a>$"
    " by $<b>$ by $<c>$?",
)

FAMILIES = (
    Family("rectangle_perimeter", PREALGEBRA, 1, PERIMETER, _perimeter),
    Family("rectangle_area", PREALGEBRA, 1, AREA, _area),
    Family("area_from_perimeter", GEOMETRY, 3, FROM_PERIMETER, _from_perimeter),
    Family("triangle_area", GEOMETRY, 2, TRIANGLE, _triangle),
    Family("trapezoid", GEOMETRY, 3, TRAPEZOID, _trapezoid),
    Family("third_angle", GEOMETRY, 2, THIRD_ANGLE, _third_angle),
    Family("polygon_perimeter", GEOMETRY, 1, POLYGON, _polygon),
    Family("interior_angle", GEOMETRY, 3, INTERIOR, _interior),
    Family("hypotenuse", GEOMETRY, 4, HYPOTENUSE, _hypotenuse),
    Family("circle_area", GEOMETRY, 2, CIRCLE, _circle),
    Family("cylinder", GEOMETRY, 3, CYLINDER, _cylinder),
    Family("cone", GEOMETRY, 3, CONE, _cone),
    Family("box_volume", GEOMETRY, 2, BOX, _box),
    Family("box_surface", GEOMETRY, 5, SURFACE, _surface),
)
