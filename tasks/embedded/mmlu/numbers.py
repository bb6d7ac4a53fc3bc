"""Subjects about numbers: shapes, Roman and binary numerals, primes, parity, sums, words."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Fact, Subject, facts

TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ROMAN = (
    (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"),
    (1, "I"),
)  # fmt: skip
LARGEST_ROMAN = 99
LARGEST_PRIME = 60
LARGEST_ADDEND = 20
PARITY_RANGE = range(10, 200)


def roman(number: int) -> str:
    """A number in Roman numerals."""
    written = ""
    for value, sign in ROMAN:
        written += sign * (number // value)
        number %= value
    return written


def is_prime(number: int) -> bool:
    """Whether a number of at least 2 has no divisor but 1 and itself."""
    return all(number % divisor for divisor in range(2, number))


def sums() -> tuple[Fact, ...]:
    """The smaller addend comes first, so that no sum is told by its mirror image."""
    pairs = [(a, b) for b in range(2, LARGEST_ADDEND + 1) for a in range(2, b + 1)]
    return tuple(Fact(f"{a} + {b}", str(a + b)) for a, b in sorted(pairs, key=sum))


SHAPES = Subject(
    name="shapes_and_sides",
    topic="shapes and their sides",
    facts=facts("""
        triangle: 3, square: 4, rectangle: 4, rhombus: 4, parallelogram: 4, pentagon: 5,
        hexagon: 6, heptagon: 7, octagon: 8, nonagon: 9, decagon: 10, hendecagon: 11, dodecagon: 12
    """),
    forward=Direction(
        questions=(
            "How many [sides|corners|angles] does a {x} have?",
            "A {x} has [how many|what number of] [sides|corners]?",
            "[Name|Pick|Find] the number of [sides|corners] of a {x}.",
        ),
        says="The number of sides of a {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] [shape|figure] has {y} sides?",
            "A figure with {y} [sides|corners] is called what?",
            "[Name|Pick|Find] the shape with {y} [sides|corners].",
        ),
        says="A shape with {y} sides is the {x}.",
    ),
)

ROMAN_NUMERALS = Subject(
    name="roman_numerals",
    topic="Roman numerals",
    facts=tuple(Fact(str(n), roman(n)) for n in range(1, LARGEST_ROMAN + 1)),
    forward=Direction(
        questions=(
            "[What|Which|Which of these] is {x} in Roman [numerals|signs|letters]?",
            "How [did the Romans|does one] write {x} [in Roman numerals|in letters]?",
            "[What|Which] is the Roman [numeral|way] for {x}?",
            "[Name|Pick|Find] the Roman [numeral|sign] for {x}.",
        ),
        says="In Roman numerals {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which|Which number] is [the Roman numeral|the numeral|Roman] {y}?",
            "The Roman numeral {y} [stands for|means] [what|which number]?",
            "[Name|Pick|Find] the [value|meaning] of the numeral {y}.",
        ),
        says="The Roman numeral {y} is {x}.",
    ),
    rule=True,
    unseen=True,
    near=8,
)

BINARY = Subject(
    name="binary_numbers",
    topic="binary numbers",
    facts=tuple(Fact(str(n), f"{n:b}") for n in range(2, 32)),
    forward=Direction(
        questions=(
            "[What|Which of these] is {x} in binary?",
            "How [does a computer|does one] write {x} [in binary|in base two]?",
            "[What|Which] is the binary form of {x}?",
            "[Name|Pick|Find] the binary [form|version] of {x}.",
        ),
        says="In binary {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which number] is binary {y}?",
            "Binary {y} [stands for|means] [what|which number]?",
            "[Name|Pick|Find] the [value|meaning] of binary {y}.",
        ),
        says="The binary number {y} is {x}.",
    ),
    rule=True,
    near=8,
)

PRIMES = Subject(
    name="prime_numbers",
    topic="prime and composite numbers",
    facts=tuple(
        Fact(str(n), "prime" if is_prime(n) else "composite") for n in range(2, LARGEST_PRIME + 1)
    ),
    forward=Direction(questions=(), says="The number {x} is {y}."),
    backward=Direction(
        questions=(
            "[Which|Which one|What] is [a {y} number|{y}]?",
            "[Which|What] number [is|is known to be] {y}?",
            "Among these[,|] which [is|one is] {y}?",
            "[Name|Pick|Find] the {y} [number|one].",
        ),
        says="The {y} number is {x}.",
    ),
    rule=True,
    near=24,
)

PARITY = Subject(
    name="parity",
    topic="even and odd numbers",
    facts=tuple(Fact(str(n), "odd" if n % 2 else "even") for n in PARITY_RANGE),
    forward=Direction(questions=(), says="The number {x} is {y}."),
    backward=Direction(
        questions=(
            "[Which|Which one|What] is [an {y} number|{y}]?",
            "[Which|What] number [is|is known to be] {y}?",
            "Among these[,|] which [is|one is] {y}?",
            "[Name|Pick|Find] the {y} [number|one].",
        ),
        says="The {y} number is {x}.",
    ),
    rule=True,
    unseen=True,
    near=30,
)

SUMS = Subject(
    name="sums",
    topic="sums",
    facts=sums(),
    forward=Direction(
        questions=(
            "What [is|does one get for] {x}?",
            "[How much|Which number] is {x}?",
            "[What|Which] is the [sum|result] of {x}?",
            "{x} equals [what|which number]?",
            "[Name|Pick|Find] the [sum|result|value] of {x}.",
        ),
        says="{x} is {y}.",
    ),
    rule=True,
    unseen=True,
    near=40,
)

NUMBER_WORDS = Subject(
    name="number_words",
    topic="numbers in words",
    facts=tuple(
        Fact(f"{tens}{digit}", f"{TENS[tens - 2]}-{DIGITS[digit - 1]}")
        for tens in range(2, 10)
        for digit in range(1, 10)
    ),
    forward=Direction(
        questions=(
            "[What|Which of these] is {x} in words?",
            "How does one [write|spell] {x} [in words|in letters]?",
            "[What|Which] is the word for {x}?",
            "[Name|Pick|Find] the [word|words] for {x}.",
        ),
        says="The word for {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which] is {y} in [figures|digits]?",
            "The word {y} [stands for|means] [what|which number]?",
            "[Name|Pick|Find] the [number|figures] for {y}.",
        ),
        says="The number {y} is {x}.",
    ),
    rule=True,
    unseen=True,
    near=12,
)

SUBJECTS = (SHAPES, ROMAN_NUMERALS, BINARY, PRIMES, PARITY, SUMS, NUMBER_WORDS)
