"""The generated competition problems: steps and answers checked by oracles, splits disjoint."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, islice, permutations, product

import pytest

from tasks.embedded.math500 import FAMILIES, eval_items, problems
from tasks.embedded.math500.family import wording
from tasks.embedded.problem import Problem, in_eval
from tasks.item import Item
from tasks.math500 import Math500

EVAL_SHA256 = "ae1323a042ffe9122631e8348cba8831ccc1bc344d2c8f35006cec4b0aff2818"
FORMULA = re.compile(r"\$([^$]*)\$")
NAME = re.compile(r"(?<![\\a-z])[a-z](?![a-z])")
Value = Fraction | float | complex

# LaTeX as Python, in this order.
REWRITES = (
    (r"\\sqrt\{(\d+)\}", r"sqrt(\1)"),
    (r"\\pi", r"pi"),
    (r"\\binom\{(\d+)\}\{(\d+)\}", r"comb(\1,\2)"),
    (r"(\d)\\frac\{(\d+)\}\{(\d+)\}", r"(\1+\2/\3)"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\(sin|cos) (\d+)\^\\circ", r"\1(\2)"),
    (r"\\log_\{?(\d+)\}? (\d+)", r"log(\2,\1)"),
    (r"(\d+)!", r"factorial(\1)"),
    (r"\^\\circ", ""),
    (r"\\cdot", "*"),
    (r"\\div", "/"),
    (r"\\gcd", "gcd"),
    (r"\|([^|]*)\|", r"abs(\1)"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
    (r"\^", "**"),
    (r"(?<=[\d)])\s*(?=[a-z(])", "*"),
    (r"(?<![\w.])(\d+(?:\.\d+)?)", r"number('\1')"),
)
FUNCTIONS = {
    "number": Fraction,
    "sin": lambda degrees: math.sin(math.radians(degrees)),
    "cos": lambda degrees: math.cos(math.radians(degrees)),
    "log": lambda number, base: math.log(number) / math.log(base),
    "sqrt": math.sqrt,
    "factorial": lambda number: Fraction(math.factorial(int(number))),
    "comb": lambda n, k: math.comb(int(n), int(k)),
    "gcd": lambda a, b: math.gcd(int(a), int(b)),
    "abs": abs,
    "pi": math.pi,
}


@cache
def python(latex: str) -> str:
    for pattern, replacement in REWRITES:
        latex = re.sub(pattern, replacement, latex)
    return latex


@cache
def value(latex: str, name: str = "", at: Value = 0) -> Value:
    """The value of an expression, exact without roots. name: a letter that stands for `at`."""
    return eval(python(latex), FUNCTIONS | {name: at})


def close(one: Value, two: Value) -> bool:
    if isinstance(one, Fraction) and isinstance(two, Fraction):
        return one == two
    return abs(one - two) < 1e-9


def question(problem: Problem) -> str:
    return problem.messages[0].content


def formulas(problem: Problem) -> list[str]:
    return FORMULA.findall(question(problem))


def whole(problem: Problem) -> list[int]:
    """The whole numbers that stand alone in the question's formulas, in order."""
    return [int(text) for text in formulas(problem) if re.fullmatch(r"-?\d+", text)]


def letter(problem: Problem) -> str:
    """The letter of the question's unknown."""
    return next(m[0] for text in formulas(problem) if (m := NAME.search(text)) is not None)


def equations(problem: Problem) -> Iterator[tuple[str, str]]:
    """Both sides of every equation between numbers in the worked answer."""
    for formula in FORMULA.findall(problem.answer):
        sides = [
            side
            for side in formula.split(" = ")
            if NAME.search(re.sub(r"\\\w+", "", side)) is None
            and not re.search(r"_|,|\\le|[<>]", side)
        ]
        yield from ((side, sides[0]) for side in sides[1:])


def solves(problem: Problem) -> bool:
    """Whether the answer put in place of the unknown makes the question's equation true."""
    name, at = letter(problem), value(problem.gold)
    sides = next(text for text in formulas(problem) if " = " in text).split(" = ")
    return close(value(sides[0], name, at), value(sides[1], name, at))


def solves_system(problem: Problem) -> bool:
    pairs = [text.split(" = ") for text in formulas(problem) if " = " in text]
    names = sorted(set(NAME.findall(pairs[0][0])))
    point = dict(zip(names, point_of(problem.gold), strict=True))
    return all(eval(python(left), FUNCTIONS | point) == int(right) for left, right in pairs)


def point_of(text: str) -> list[int]:
    return [int(part) for part in text.strip("()").split(",")]


def points(problem: Problem) -> list[list[int]]:
    return [point_of(m) for m in re.findall(r"\(-?\d+(?:, -?\d+)+\)", question(problem))]


def is_interval(problem: Problem) -> bool:
    """Whether the interval holds just the numbers that satisfy the inequality."""
    name = letter(problem)
    text = next(text for text in formulas(problem) if re.search(r"[<>]|\\[lg]e", text))
    text = re.sub(r"\\le", "<=", re.sub(r"\\ge", ">=", text))
    low, high = problem.gold[1:-1].split(", ")
    for half in range(-80, 81):
        at = Fraction(half, 2)
        inside = low == r"-\infty" or at > int(low) or (at == int(low) and problem.gold[0] == "[")
        inside &= (
            high == r"\infty" or at < int(high) or (at == int(high) and problem.gold[-1] == "]")
        )
        if bool(eval(python(text), FUNCTIONS | {name: at})) != inside:
            return False
    return True


def same_polynomial(problem: Problem) -> bool:
    name = letter(problem)
    text = next(text for text in formulas(problem) if len(text) > 1)
    return all(value(text, name, at) == value(problem.gold, name, at) for at in range(-4, 5))


def roots(problem: Problem) -> list[int]:
    """The whole numbers that solve the question's equation."""
    name = letter(problem)
    left, right = next(text for text in formulas(problem) if " = " in text).split(" = ")
    return [at for at in range(-40, 41) if value(left, name, at) == value(right, name, at)]


def expression(problem: Problem) -> bool:
    return close(value(formulas(problem)[0]), value(problem.gold))


def composed(problem: Problem) -> Value:
    """f(g(k)), or f(k) where the question has one function."""
    text = question(problem)
    rules = {m[1]: (m[2], m[3]) for m in re.finditer(r"([a-z])\(([a-z])\) = ([^$]*)\$", text)}
    at: Value = int(re.findall(r"\((-?\d+)\)", text)[-1])
    for name in sorted(rules, reverse=True):
        letter_of, body = rules[name]
        at = value(body, letter_of, at)
    return at


def divisors(number: int) -> list[int]:
    return [k for k in range(1, number + 1) if number % k == 0]


def remainder(problem: Problem) -> int:
    texts = [text for text in formulas(problem) if re.fullmatch(r"[\d^{} \\cdot]+", text)]
    return int(value(texts[0]).real) % int(texts[1])


def congruences(problem: Problem) -> int:
    """The least positive solution of the question's congruence, or the inverse it asks for."""
    found = re.search(
        r"\$(\d+)([a-z])(?: \+ (\d+))? \\equiv (\d+) \\pmod\{(\d+)\}", question(problem)
    )
    if found is None:
        factor, by = whole(problem)
        moved, right = 0, 1
    else:
        factor, moved, right, by = (int(found[k] or 0) for k in (1, 3, 4, 5))
    return next(x for x in range(1, by) if (factor * x + moved - right) % by == 0)


def from_base(text: str) -> int:
    digits, base = text.split("_")
    return int(digits, int(base))


def sequence(problem: Problem) -> list[int]:
    text = next(text for text in formulas(problem) if "," in text)
    return [int(part) for part in text.split(", ") if part != r"\ldots"]


def marbles(problem: Problem, drawn: int) -> Fraction:
    """The chance that all drawn are red, by counting."""
    text = question(problem)
    colours = {m[2]: int(m[1]) for m in re.finditer(r"\$(\d+)\$ (red|blue)", text)}
    bag = ["red"] * colours["red"] + ["blue"] * colours["blue"]
    draws = list(combinations(bag, drawn))
    return Fraction(sum(set(draw) == {"red"} for draw in draws), len(draws))


def dice(problem: Problem) -> Fraction:
    numbers = [int(n) for n in re.findall(r"\d+", question(problem)) if n != "1"]
    wanted, faces = numbers if "with two fair" in question(problem) else numbers[::-1]
    rolls = list(product(range(1, faces + 1), repeat=2))
    return Fraction(sum(sum(roll) == wanted for roll in rolls), len(rolls))


def coins(problem: Problem) -> Fraction:
    numbers = whole(problem)
    flips, heads = max(numbers), min(numbers)
    every = list(product((0, 1), repeat=flips))
    return Fraction(sum(sum(one) == heads for one in every), len(every))


def recursion(problem: Problem) -> int:
    found = re.search(r"a_1 = (\d+)\$ and \$a_\{n\+1\} = (\d+)a_n ([+-]) (\d+)", question(problem))
    assert found is not None
    term = int(found[1])
    for _ in range(3):
        term = int(found[2]) * term + int(found[3] + found[4])
    return term


def sigma(problem: Problem) -> Value:
    found = re.search(r"\\sum_\{k=1\}\^(\d) \((.*)\)\$", question(problem))
    assert found is not None
    return sum((value(found[2], "k", k) for k in range(1, int(found[1]) + 1)), Fraction(0))


def complex_value(text: str) -> Value:
    return value(text, "i", 1j)


def arrangements(problem: Problem) -> int:
    (word,) = re.findall(r"\b[A-Z]{3,}\b", question(problem))
    return len(set(permutations(word)))


def cells(problem: Problem) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", formulas(problem)[-1])]


def vector_sum(problem: Problem) -> list[int]:
    k, a, b, c, d = (int(n) for n in re.findall(r"-?\d+", formulas(problem)[0]))
    return [k * a + c, k * b + d]


def multiples(problem: Problem) -> int:
    """Multiples in a range, counted one by one."""
    found = [
        re.search(pattern, question(problem))
        for pattern in (r"(?:multiples of|divisible by) \$(\d+)", r"from \$(\d+)\$ to \$(\d+)")
    ]
    numbers = [int(n) for m in found if m is not None for n in m.groups()]
    by, low, high = numbers if len(numbers) == 3 else (numbers[0], 1, whole(problem)[1])
    return sum(k % by == 0 for k in range(low, high + 1))


Oracle = Callable[[Problem], bool]


def equals(compute: Callable[[Problem], Value]) -> Oracle:
    """An oracle that computes the answer."""
    return lambda problem: close(value(problem.gold), compute(problem))


def of_numbers(compute: Callable[..., Value]) -> Oracle:
    """An oracle that computes the answer from the whole numbers of the question in their order."""
    return lambda problem: close(value(problem.gold), compute(*whole(problem)))


ORACLES: dict[str, Oracle] = {
    **dict.fromkeys(
        ("shift", "scale", "two_step", "both_sides", "bracket", "proportion", "exponent"), solves
    ),
    **dict.fromkeys(("sum_difference", "elimination"), solves_system),
    **dict.fromkeys(("inequality", "turned_inequality", "between"), is_interval),
    **dict.fromkeys(("factor", "expand"), same_polynomial),
    **dict.fromkeys(
        (
            "product_first", "signs", "two_products", "bars", "powers", "same_base", "surd",
            "alike",
            "unlike_sum", "unlike_difference", "fraction_product", "fraction_quotient", "simplify",
            "improper", "mixed_sum", "decimal", "trigonometry", "logarithms",
        ),
        expression,
    ),
    **dict.fromkeys(("linear_value", "quadratic_value", "composition"), equals(composed)),
    **dict.fromkeys(("remainder", "product_remainder", "power_remainder"), equals(remainder)),
    **dict.fromkeys(("modular_inverse", "congruence"), equals(congruences)),
    **dict.fromkeys(
        ("complex_sum", "complex_product"),
        lambda p: close(complex_value(formulas(p)[0]), complex_value(p.gold)),
    ),
    "larger_root": lambda p: max(roots(p)) == int(p.gold),
    "smaller_root": lambda p: min(roots(p)) == int(p.gold),
    "absolute": lambda p: math.prod(roots(p)) == int(p.gold),
    "median": lambda p: sorted(sequence(p))[2] == int(p.gold),
    "average": lambda p: sum(sequence(p)) == 4 * int(p.gold),
    "next_term": lambda p: int(p.gold) - sequence(p)[-1] == sequence(p)[1] - sequence(p)[0],
    "number_of_terms": lambda p: len(
        range(sequence(p)[0], sequence(p)[-1] + 1, sequence(p)[1] - sequence(p)[0])
    ) == int(p.gold),
    "sigma": equals(sigma),
    "recursion": equals(recursion),
    "consecutive": of_numbers(lambda s: next(k for k in range(s) if 3 * k - 3 == s)),
    "gcd": lambda p: math.gcd(*(int(n) for n in re.findall(r"\d+", question(p)))) == int(p.gold),
    "lcm": of_numbers(lambda a, b: next(k for k in range(a, a * b + 1, a) if k % b == 0)),
    "divisor_count": of_numbers(lambda n: len(divisors(n))),
    "divisor_sum": of_numbers(lambda n: sum(divisors(n))),
    "largest_prime": of_numbers(lambda n: max(k for k in divisors(n) if len(divisors(k)) == 2)),
    "primes": of_numbers(lambda a, b: sum(len(divisors(k)) == 2 for k in range(a, b + 1))),
    "digit_sum": of_numbers(lambda n: sum(map(int, str(n)))),
    "to_base_ten": lambda p: from_base(
        next(text for text in formulas(p) if "_" in text)
    ) == int(p.gold),
    "from_base_ten": lambda p: from_base(p.gold) in whole(p),
    "units_digit": lambda p: int(value(formulas(p)[0]).real) % 10 == int(p.gold),
    "integers_between": lambda p: len(
        range(*(int(n) for n in re.findall(r"\d+", question(p))))
    ) + 1 == int(p.gold),
    **dict.fromkeys(("multiples", "multiples_between"), equals(multiples)),
    "letters": equals(arrangements),
    "marble": equals(lambda p: marbles(p, 1)),
    "two_marbles": equals(lambda p: marbles(p, 2)),
    "coins": equals(coins),
    "dice_sum": equals(dice),
    "midpoint": lambda p: [2 * m for m in point_of(p.gold)]
    == [a + b for a, b in zip(*points(p), strict=True)],
    "slope": equals(lambda p: Fraction(points(p)[1][1] - points(p)[0][1],
                                       points(p)[1][0] - points(p)[0][0])),
    "distance": equals(lambda p: math.dist(*points(p))),
    "dot_product": equals(lambda p: sum(a * b for a, b in zip(*points(p), strict=True))),
    "determinant": equals(lambda p: cells(p)[0] * cells(p)[3] - cells(p)[1] * cells(p)[2]),
    "vector": lambda p: vector_sum(p) == point_of(p.gold),
    "hypotenuse": of_numbers(math.hypot),
    "circle_area": of_numbers(lambda d: math.pi * d * d / 4),
    "box_volume": of_numbers(lambda a, b, c: a * b * c),
    "box_surface": of_numbers(lambda a, b, c: 2 * (a * b + b * c + c * a)),
    "interior_angle": of_numbers(lambda n: Fraction(180 * (n - 2), n)),
    "radians": equals(lambda p: math.radians(int(re.findall(r"\d+", question(p))[0]))),
}  # fmt: skip


@pytest.fixture(scope="module")
def train() -> list[Problem]:
    return list(islice(problems("train", 0), 20_000))


def family(problem: Problem) -> str:
    return problem.template.partition("/")[0]


def test_every_equation_of_the_worked_answers_is_true(train: list[Problem]) -> None:
    without: Counter[str] = Counter()
    for problem in [*train[:6000], *eval_items()]:
        pairs = list(equations(problem))
        without[family(problem)] += not pairs
        for side, first in pairs:
            assert close(value(side), value(first)), (side, first, problem)
    # These may be settled by looking, without arithmetic.
    assert {name for name, count in without.items() if count} <= {"median", "primes", "decimal"}


def test_answers_agree_with_oracles(train: list[Problem]) -> None:
    assert len(ORACLES) >= 70
    assert set(ORACLES) <= {one.key for one in FAMILIES}
    checked: Counter[str] = Counter()
    for problem in [*train, *eval_items()]:
        name = family(problem)
        if name in ORACLES and checked[name] < 60:
            checked[name] += 1
            assert ORACLES[name](problem), problem
    assert set(checked) == set(ORACLES)


def test_answers_end_in_the_box_that_holds_the_reference(train: list[Problem]) -> None:
    for problem in train:
        end = rf" The answer is $\boxed{{{problem.gold}}}$."
        assert problem.answer.endswith(end), problem
        assert problem.answer.count("boxed") == 1


def test_the_task_finds_every_answer_right() -> None:
    task = Math500()
    items = task.items("embedded")
    assert len(items) == task.count("embedded") == 200
    for number, (item, problem) in enumerate(zip(items, eval_items(), strict=True)):
        assert item.id == f"math500/embedded/{number:04d}"
        assert [(turn.role, turn.content) for turn in item.messages] == [
            ("user", question(problem))
        ]
        assert (item.subject, item.level) == (problem.subject, problem.level)
        score = task.score(item, problem.answer, True)
        assert score.correct
        assert (score.answer, score.extracted_by) == (problem.gold, "boxed")


def test_the_task_finds_a_wrong_answer_wrong() -> None:
    item = Item(id="a", messages=(), gold="(2, 5]")
    assert not Math500().score(item, r"The answer is $\boxed{[2, 5]}$.", True).correct


def test_splits_share_no_template_no_filling_no_question(train: list[Problem]) -> None:
    held_out = eval_items()
    assert len({question(problem) for problem in held_out}) == 200
    assert not {p.template for p in train} & {p.template for p in held_out}
    assert not {p.filling for p in train} & {p.filling for p in held_out}
    assert not {question(p) for p in train} & {question(p) for p in held_out}


def test_split_rule_is_a_checksum_of_template_and_filling(train: list[Problem]) -> None:
    for expected, sample in ((False, train), (True, eval_items())):
        for problem in sample:
            assert in_eval("template", problem.template) == expected
            assert in_eval("filling", problem.filling) == expected


def test_the_evaluation_items_are_pinned() -> None:
    lines = [json.dumps([question(p), p.answer, p.gold]) for p in eval_items()]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == EVAL_SHA256


def test_both_splits_have_problems_of_every_family() -> None:
    """Or drawing one would never end."""
    rng = random.Random(0)
    for one in FAMILIES:
        templates = {wording(rng, one).template for _ in range(400)}
        fillings = {one.work(rng).filling for _ in range(400)}
        assert {in_eval("template", text) for text in templates} == {True, False}, one.key
        assert {in_eval("filling", text) for text in fillings} == {True, False}, one.key


def test_the_same_seed_gives_the_same_problems_and_another_seed_others() -> None:
    first, again, other = (list(islice(problems("train", seed), 50)) for seed in (3, 3, 4))
    assert first == again
    assert len({question(p) for p in first} & {question(p) for p in other}) < 3


def test_variety(train: list[Problem]) -> None:
    keys = [one.key for one in FAMILIES]
    assert len(set(keys)) == len(keys) >= 40
    told = Counter(map(family, train))
    assert set(told) == set(keys)
    assert min(told.values()) > 50
    wordings: defaultdict[str, set[str]] = defaultdict(set)
    for problem in train:
        wordings[family(problem)].add(problem.template)
    assert min(map(len, wordings.values())) >= 12
    assert len(set(map(family, eval_items()))) >= 80
    assert len({problem.subject for problem in eval_items()}) == 7


def test_levels_are_spread_and_higher_ones_take_more_steps(train: list[Problem]) -> None:
    shares = Counter(problem.level for problem in train)
    for level, share in zip("12345", (0.20, 0.25, 0.25, 0.18, 0.12), strict=True):
        assert abs(shares[level] / len(train) - share) < 0.02, shares
    steps: defaultdict[str, list[int]] = defaultdict(list)
    for problem in train[:5000]:
        steps[problem.level].append(len(list(equations(problem))))
    means = [sum(steps[level]) / len(steps[level]) for level in "12345"]
    assert means == sorted(means), means
    assert means[-1] > 2 * means[0], means


STRAY = re.compile(
    r"  | [,.?;]|\.\.|[+-] -|(?<!\d)[01][a-z]|\[[^\]]*\||<\w+>|\b[Ww]hat\b[^?]*\.$|^\$? |\(\)"
)


def test_text_is_tidy(train: list[Problem]) -> None:
    for problem in [*train, *eval_items()]:
        assert len(question(problem)) <= 260
        assert len(problem.answer) <= 340
        assert re.match(r"[A-Z].*[.?]$", question(problem)), problem
        assert re.match(r"[A-Z$]", problem.answer), problem
        for text in (question(problem), problem.answer):
            assert not STRAY.search(text), text
            assert text.count("$") % 2 == 0, text
            assert text.count("{") == text.count("}"), text
