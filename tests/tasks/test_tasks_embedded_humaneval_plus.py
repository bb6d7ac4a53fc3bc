"""The generated functions: results held against oracles, splits disjoint, text tidy, pinned."""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import math
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import reduce
from itertools import accumulate, chain, combinations, groupby, islice, pairwise
from typing import Any

import pytest

from tasks.embedded.humaneval_plus import FAMILIES, eval_items, problems
from tasks.embedded.humaneval_plus.family import Family
from tasks.embedded.humaneval_plus.inputs import calls
from tasks.embedded.humaneval_plus.writing import MAX_PROMPT_CHARS, fill, sketch
from tasks.embedded.problem import Problem, in_eval
from tasks.humaneval_plus import HumanEvalPlus, read_problem
from tasks.programs import assemble
from tasks.sandbox import Sandbox

EVAL_SHA256 = "6deae24d761c27d5dfa5a7ece70b730a6fc25baed87dfbef283e10728e03d1c6"
EVERY = [family for families in FAMILIES.values() for family in families]
Parts = Mapping[str, str]
Constants = Mapping[str, Any]
Oracle = Callable[..., Any]


@pytest.fixture(scope="module")
def train() -> list[Problem]:
    return list(islice(problems("train", 0), 20_000))


def question(problem: Problem) -> str:
    (turn,) = problem.messages
    return turn.content


def run(source: str, name: str, inputs: list[Any]) -> list[str]:
    """What each call returns or raises, as text; the function gets copies."""
    scope: dict[str, Any] = {}
    exec(source, scope)
    told: list[str] = []
    for arguments in inputs:
        try:
            told.append(repr(scope[name](*json.loads(json.dumps(arguments)))))
        except Exception as error:
            told.append(type(error).__name__)
    return told


# Oracles: what the functions mean, written in another way, by the names of parts and constants.

NUMBER_TESTS: Mapping[str, Callable[[int, Constants], bool]] = {
    "even": lambda x, c: not x & 1,
    "odd": lambda x, c: bool(x & 1),
    "above": lambda x, c: x - c["t"] > 0,
    "below": lambda x, c: c["t"] - x > 0,
    "min": lambda x, c: not x < c["t"],
    "max": lambda x, c: not x > c["t"],
    "other": lambda x, c: abs(x - c["t"]) > 0,
    "multiple": lambda x, c: math.gcd(x, c["f"]) == c["f"],
    "indivisible": lambda x, c: math.gcd(x, c["f"]) != c["f"],
    "between": lambda x, c: x in range(c["lo"], c["hi"] + 1),
    "positive": lambda x, c: x >= 1,
    "negative": lambda x, c: x <= -1,
}
NUMBER_MAPS: Mapping[str, Callable[[int, Constants], int]] = {
    "square": lambda x, c: abs(x) ** 2,
    "cube": lambda x, c: x * x * x,
    "times": lambda x, c: sum([x] * c["m"]),
    "plus": lambda x, c: c["m"] - -x,
    "minus": lambda x, c: -(c["m"] - x),
    "half": lambda x, c: math.floor(x / 2),
    "abs": lambda x, c: max(x, -x),
    "neg": lambda x, c: 0 - x,
    "mod": lambda x, c: x - math.floor(x / c["m"]) * c["m"],
}
REDUCTIONS: Mapping[str, Callable[[list[int]], Any]] = {
    "sum": lambda xs: reduce(int.__add__, xs, 0),
    "largest": lambda xs: sorted(xs)[-1] if xs else 0,
    "smallest": lambda xs: sorted(xs)[0] if xs else 0,
    "distinct": lambda xs: len(Counter(xs)),
    "list": list,
    "sorted": lambda xs: sorted(xs, reverse=True)[::-1],
    "descending": lambda xs: sorted(xs)[::-1],
    "backwards": lambda xs: list(reversed(xs)),
}
WORD_TESTS: Mapping[str, Callable[[str, Constants], bool]] = {
    "long": lambda w, c: bool(w[c["k"] :]),
    "short": lambda w, c: not w[c["k"] - 1 :],
    "starting": lambda w, c: w[0] == c["c"],
    "ending": lambda w, c: w[-1] == c["c"],
    "having": lambda w, c: w.count(c["c"]) > 0,
    "lacking": lambda w, c: w.find(c["c"]) < 0,
    "palindrome": lambda w, c: list(w) == list(reversed(w)),
}
WORD_MAPS: Mapping[str, Callable[[str], Any]] = {
    "upper": str.swapcase,
    "reverse": lambda w: "".join(reversed(w)),
    "length": lambda w: sum(1 for _ in w),
    "first": lambda w: w[0],
    "last": lambda w: w[-1],
    "double": lambda w: w + w,
}
LETTER_TESTS: Mapping[str, Callable[[str, Constants], bool]] = {
    "vowel": lambda x, c: x in set("aeiou"),
    "consonant": lambda x, c: x not in set("aeiou"),
    "before": lambda x, c: ord(x) < ord(c["c"]),
    "after": lambda x, c: ord(x) > ord(c["c"]),
    "not": lambda x, c: bool(x.replace(c["c"], "")),
}


def kept(p: Parts, c: Constants, xs: Any) -> list[int]:
    return [x for x in xs if "which" not in p or NUMBER_TESTS[p["which"]](x, c)]


def composed(p: Parts, c: Constants, xs: Any) -> Any:
    """Filter, map and sum up, as far as there are parts for it."""
    mapped = [NUMBER_MAPS[p["how"]](x, c) if "how" in p else x for x in kept(p, c, xs)]
    return REDUCTIONS[p["red"]](mapped)


def words_kept(p: Parts, c: Constants, words: list[str]) -> list[Any]:
    return [WORD_MAPS[p["how"]](w) for w in words if WORD_TESTS[p["which"]](w, c)]


def first_or(found: list[int], other: int) -> int:
    return found[0] if found else other


def index_of(p: Parts, c: Constants, xs: list[int]) -> int:
    found = [i for i, x in enumerate(xs) if NUMBER_TESTS[p["which"]](x, c)]
    return -1 if not found else min(found) if p["end"] == "first" else max(found)


def letters_of(p: Parts, c: Constants, s: str) -> Any:
    found = [x for x in s if LETTER_TESTS[p["which"]](x, c)]
    if p["chname"] in ("count", "list", "sorted"):
        return {"count": len, "list": list, "sorted": sorted}[p["chname"]](found)
    text = "".join(found)
    return {"keep": text, "upper": text.upper(), "doubled": re.sub("(.)", r"\1\1", text)}[
        p["chname"]
    ]


def digit_reduce(p: Parts, c: Constants, n: int) -> int:
    digits = kept(p, c, map(int, str(n)))
    return {"sum": sum(digits), "max": max([0, *digits]), "count": len(digits)}[p["dred"]]


def collatz(n: int) -> list[int]:
    return [n] if n == 1 else [n, *collatz(3 * n + 1 if n & 1 else n >> 1)]


def fibonacci(p: Parts, c: Constants, n: int) -> Any:
    terms = [c["p"], c["q"]]
    for _ in range(n):
        x, y = terms[-2:]
        k = c.get("k", 0)
        terms.append(
            {"x + y": x + y, "x * y": x * y, "x + y + @k": x + y + k}.get(p["finext"], k * y + x)
        )
    return {"x": terms[n], "result": terms[:n], "sum(result)": sum(terms[:n])}[p["fiend"]]


def base_digits(n: int, base: int) -> list[int]:
    return [] if n == 0 else [*base_digits(n // base, base), n % base]


def digital_root(n: int, limit: int) -> int:
    return n if n < limit else digital_root(sum(map(int, str(n))), limit)


def chosen(p: Parts, c: Constants, n: int, which: str, limit: str) -> bool:
    return NUMBER_TESTS[p[which]](n, {"t": c.get(limit), "f": c.get(limit)})


def divisors(p: Parts, n: int) -> Any:
    found = [i for i in range(1, n + 1) if n / i == n // i and (i < n or p["upto"] != "@n")]
    return {"count": len(found), "total": sum(found), "listed": found}[p["divs"]]


def grouped(key: Callable[[Any], Any], values: list[Any]) -> dict[Any, list[Any]]:
    return {key(one): [x for x in values if key(x) == key(one)] for one in values}


WORD_KEYS: Mapping[str, Callable[[str], Any]] = {
    "length": len, "first": lambda w: w[0], "last": lambda w: w[-1]}  # fmt: skip
COLLECTED: Mapping[str, Callable[[list[Any]], Any]] = {
    "[w]": list, "1": len, "len(w)": lambda ws: len("".join(ws))}  # fmt: skip


def fizz(c: Constants, n: int) -> str:
    said = c["first"] * (not n % c["lo"]) + c["second"] * (not n % c["hi"])
    return said or str(n)


def grade(p: Parts, c: Constants, n: int) -> str:
    limits = [c["lo"], c["hi"]] if p["op"] == ">=" else [c["lo"] + 1, c["hi"] + 1]
    return [c["third"], c["second"], c["first"]][sum(n >= limit for limit in limits)]


def merged(p: Parts, d: dict[str, int], e: dict[str, int]) -> dict[str, int]:
    join = {"sum": sum, "maximum": max, "minimum": min, "product": math.prod}[p["mename"]]
    return {key: join([x[key] for x in (d, e) if key in x]) for key in [*d, *e]}


def steps(n: int, m: int) -> int:
    return 0 if n == 0 else 1 + steps(n // m if n % m == 0 else n - 1, m)


def dict_filter(p: Parts, c: Constants, d: dict[str, int]) -> Any:
    keys = list(filter(lambda key: kept(p, c, [d[key]]), d))
    forms = {"keys": keys, "sorted": sorted(keys), "count": len(keys), "joined": ",".join(keys)}
    return forms | {"part": {key: d[key] for key in keys}}


ORACLES: Mapping[str, Oracle] = {
    **dict.fromkeys(
        (
            "filter_map_reduce", "filter_map_list", "filter_reduce",
            "filter_list", "map_reduce", "map_list",
        ),
        composed,
    ),
    "range_reduce": lambda p, c, n: composed(p, c, range(1, n + 1)),
    "count_if": lambda p, c, xs: len(kept(p, c, xs)),
    "every_or_some": lambda p, c, xs: (
        len(kept(p, c, xs)) == len(xs) if p["quant"] == "all" else bool(kept(p, c, xs))
    ),
    "index_of": index_of,
    "indices": lambda p, c, xs: [i for i in range(len(xs)) if kept(p, c, xs[i : i + 1])],
    "partition": lambda p, c, xs: [kept(p, c, xs), [x for x in xs if not kept(p, c, [x])]],
    "digit_reduce": digit_reduce,
    "dict_filter": lambda p, c, d: dict_filter(p, c, d)[p["diname"]],
    "dict_values": lambda p, c, d: REDUCTIONS[
        {"max": "largest", "min": "smallest"}.get(p["vaname"], p["vaname"])
    ](kept(p, c, d.values())),
    "dict_map": lambda p, c, d: {key: NUMBER_MAPS[p["how"]](d[key], c) for key in d},
    "sum_at": lambda p, c, xs: sum(
        NUMBER_MAPS[p["how"]](x, c) for i, x in enumerate(xs) if i % 2 == (p["atname"] == "odd")
    ),
    "word_list": words_kept,
    "sentence_words": lambda p, c, s: p["sep"].join(words_kept(p, c, s.split())),
    "count_words": lambda p, c, s: len([w for w in s.split() if WORD_TESTS[p["which"]](w, c)]),
    "letters_of": letters_of,
    "both_tests": lambda p, c, n: (all if p["conj"] == "and" else any)(
        [chosen(p, c, n, "which", "k"), chosen(p, c, n, "also", "h")]
    ),
    "word_if": lambda p, c, n: c["first" if chosen(p, c, n, "which", "k") else "second"],
    "clamp": lambda p, c, n: sorted([c["lo"], n, c["hi"]])[1],
    "digit_sum": lambda p, c, n: sum(map(int, str(n))),
    "reverse_digits": lambda p, c, n: int("".join(reversed(str(n)))),
    "gcd": lambda p, c, a, b: math.gcd(a, b),
    "lcm": lambda p, c, a, b: math.lcm(a, b),
    "power": lambda p, c, n: math.prod([n] * c["k"]),
    "is_prime": lambda p, c, n: n > 1 and all(n % i for i in range(2, n)),
    "divisors": lambda p, c, n: divisors(p, n),
    "smallest_divisor": lambda p, c, n: first_or(
        [i for i in range(1, n) if i > c["k"] and n % i == 0], n
    ),
    "round_to_multiple": lambda p, c, n: (
        n - n % c["k"] if p["way"] == "down" else math.ceil(n / c["k"]) * c["k"]
    ),
    "boxes": lambda p, c, n: list(divmod(n, c["k"])),
    "is_power": lambda p, c, n: n in [c["k"] ** i for i in range(12)],
    "pairs_with": lambda p, c, xs: [
        {"sum": x + y, "product": x * y, "distance": max(x, y) - min(x, y)}[p["pairname"]]
        for x, y in combinations(xs, 2)
    ].count(c["k"]),
    "running": lambda p, c, xs: list(
        accumulate(
            xs,
            {"sum": int.__add__, "product": int.__mul__, "max": max, "min": min}[p["runname"]],
        )
    ),
    "dedupe": lambda p, c, xs: list(dict.fromkeys(xs)),
    "spread": lambda p, c, xs: {
        "difference": sorted(xs)[-1] - sorted(xs)[0],
        "sum": sorted(xs)[-1] + sorted(xs)[0],
        "product": sorted(xs)[-1] * sorted(xs)[0],
    }[p["outcome"]],
    "every_nth": lambda p, c, xs: [
        xs[i] for i in range(len(xs)) if i in range(int(p["offset"] or 0), 99, c["k"])
    ],
    "interleave": lambda p, c, xs, ys: list(chain(*zip(xs, ys, strict=False))),
    "ranked": lambda p, c, xs: sorted(dict.fromkeys(xs), reverse=p["size"] == "largest")[1],
    "chunk": lambda p, c, xs: [
        [x for _, x in group] for _, group in groupby(enumerate(xs), lambda one: one[0] // c["k"])
    ],
    "neighbours": lambda p, c, xs: sum(
        {"rises": y > x, "falls": y < x, "repeats": y == x, "doubles": y == x + x}.get(
            p["nbname"], y > x + c.get("k", 0)
        )
        for x, y in pairwise(xs)
    ),
    "is_sorted": lambda p, c, xs: {
        "sorted": xs == sorted(xs),
        "increasing": xs == sorted(set(xs)),
        "decreasing": xs == sorted(set(xs))[::-1],
        "changing": len(xs) == len(list(groupby(xs))),
    }[p["soname"]],
    "rotate": lambda p, c, xs: (
        list(turned(xs, -c["k"] if p["way"] == "left" else c["k"])) if c["k"] <= len(xs) else xs
    ),
    "reverse_words": lambda p, c, s: p["sep"].join(reversed(s.split())),
    "is_palindrome": lambda p, c, s: all(s[i] == s[-1 - i] for i in range(len(s))),
    "replace_letter": lambda p, c, s: s.translate({ord(c["c"]): c["e"]}),
    "remove_letters": lambda p, c, s: s.translate({ord(c["c"]): None, ord(c["e"]): None}),
    "run_length": lambda p, c, s: "".join(
        "".join([x, str(len(list(run)))][:: 1 if p["runcode"].startswith("@s") else -1])
        for x, run in groupby(s)
    ),
    "caesar": lambda p, c, s: "".join(
        shifted(x, c["k"] if p["sign"] == "+" else -c["k"]) for x in s
    ),
    "is_anagram": lambda p, c, s, t: Counter(s) == Counter(t),
    "join_with": lambda p, c, ws: c["sep"].join(
        {"@ws": ws, "@ws[::-1]": list(reversed(ws))}.get(p["joined"], sorted(ws))
    ),
    "group_words": lambda p, c, ws: {
        key: COLLECTED[p["added"]](group)
        for key, group in grouped(WORD_KEYS[p["bykey"]], ws).items()
    },
    "invert": lambda p, c, d: dict(zip(d.values(), d, strict=True)),
    "merge": lambda p, c, d, e: merged(p, d, e),
    "grade": grade,
    "fizz": lambda p, c, n: fizz(c, n),
    "compare": lambda p, c, a, b: ["same", c["first"], c["second"]][(a > b) - (a < b)],
    "sign": lambda p, c, n: c["p"] * ((n > 0) - (n < 0)),
    "triangle_kind": lambda p, c, *sides: ["equilateral", "isosceles", "scalene"][
        len(set(sides)) - 1
    ],
    "nearest": lambda p, c, n: min((c["lo"], c["hi"]), key=lambda x: abs(n - x)),
    "steps_to_zero": lambda p, c, n: steps(n, c["m"]),
    "collatz": lambda p, c, n: {
        "steps": len(collatz(n)) - 1, "peak": max(collatz(n)), "total": sum(collatz(n)),
    }[p["coname"]],
    "fibonacci": fibonacci,
    "digital_root": lambda p, c, n: digital_root(n, c["k"]),
    "powers": lambda p, c, n: [c["m"] ** i for i in range(12) if c["m"] ** i <= n],
    "to_base": lambda p, c, n: base_digits(n, c["m"])[:: 1 if p["turn"] else -1],
    "fizz_list": lambda p, c, n: [
        fizz({"first": c["first"], "second": "", "lo": c["m"], "hi": 1}, i + 1) for i in range(n)
    ],
    "alternating": lambda p, c, xs: (sum(xs[::2]) - sum(xs[1::2])) * int(p["one"]),
}  # fmt: skip


def turned(xs: list[int], places: int) -> deque[int]:
    found = deque(xs)
    found.rotate(places)
    return found


def shifted(letter: str, places: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz" * 3
    return alphabet[alphabet.index(letter, 26) + places]


@pytest.mark.parametrize("family", EVERY, ids=lambda family: family.key)
def test_results_are_those_of_an_oracle(family: Family) -> None:
    rng = random.Random(family.key)
    for _ in range(12):
        drawn = sketch(rng, family)
        function = fill(rng, drawn)
        base, plus = calls(rng, family.args, list(function.constants.values()))
        assert len(base) == 4
        assert 6 <= len(plus) <= 16
        inputs = base + plus
        body = "".join(f"    {line}\n" for line in function.body.split("\n"))
        told = run(f"{function.signature}\n{body}", function.name, inputs)
        assert not [one for one in told if one.endswith("Error")], function
        if family.key in ORACLES:
            oracle = ORACLES[family.key]
            expected = [repr(oracle(drawn.parts, function.constants, *one)) for one in inputs]
            assert told == expected, function


def test_many_families_have_an_oracle() -> None:
    assert len(ORACLES) >= 65
    assert ORACLES.keys() <= {family.key for family in EVERY}


def test_the_answer_becomes_the_whole_program(train: list[Problem]) -> None:
    for problem in [*eval_items(), *train[:500]]:
        gold = json.loads(problem.gold)
        program = assemble(question(problem), gold["entry_point"], problem.answer)
        assert program.extracted_by == "marker", problem
        assert program.source == question(problem) + gold["canonical_solution"], problem
        assert gold["prompt"] == question(problem)


def test_examples_in_the_docstring_are_true(train: list[Problem]) -> None:
    shown = 0
    for problem in [*eval_items(), *train[:2000]]:
        gold = json.loads(problem.gold)
        for call, told in re.findall(r">>> (.*)\n    (.*)\n", question(problem)):
            scope: dict[str, Any] = {}
            exec(question(problem) + gold["canonical_solution"], scope)
            assert repr(eval(call, scope)) == told, problem
            shown += 1
    assert shown > 400


def test_the_scorer_accepts_the_answers_and_no_broken_ones(sandbox: Sandbox) -> None:
    task = HumanEvalPlus(sandbox=sandbox)
    items = task.items("embedded", None)[:20]
    answers = [problem.answer for problem in eval_items()[:20]]
    work = [(item, text, True) for item, text in zip(items, answers, strict=True)]
    work += [(item, "```python\n    return None\n```", True) for item in items]
    scores = list(task.score_all(work))
    assert [score.correct for score in scores] == [True] * 20 + [False] * 20
    assert {score.extracted_by for score in scores} == {"marker"}
    assert not any(score.details["base"] for score in scores[20:])


def mutants(body: str) -> set[str]:
    """Bodies with one thing changed: a comparison, an operator or a number."""
    swaps = [(" >= ", " > "), (" <= ", " < "), (" > ", " >= "), (" < ", " <= "), (" == ", " != ")]
    swaps += [(" + ", " - "), ("max(", "min("), (" % ", " // "), ("[::-1]", ""), (".upper()", "")]
    found = {body.replace(old, new, 1) for old, new in swaps}
    found |= {
        body[: m.start()] + str(int(m[0]) + 1) + body[m.end() :]
        for m in re.finditer(r"\b\d+\b", body)
    }
    return found - {body}


def test_inputs_tell_wrong_functions_apart() -> None:
    passed = tried = 0
    for problem in eval_items():
        gold = json.loads(problem.gold)
        body, inputs = gold["canonical_solution"], gold["base_input"] + gold["plus_input"]
        if "while" in body:  # A mutant may never end.
            continue
        right = run(gold["prompt"] + body, gold["entry_point"], inputs)
        assert len(set(right)) > 1, problem
        for mutant in mutants(body):
            tried += 1
            passed += run(gold["prompt"] + mutant, gold["entry_point"], inputs) == right
    assert tried > 300
    assert passed < 0.06 * tried


def test_the_answers_of_other_items_fail() -> None:
    golds = [json.loads(problem.gold) for problem in eval_items()]
    for gold, other in islice(pairwise(golds), 60):
        inputs = gold["base_input"] + gold["plus_input"]
        name = gold["entry_point"]
        right = run(gold["prompt"] + gold["canonical_solution"], name, inputs)
        assert run(gold["prompt"] + other["canonical_solution"], name, inputs) != right


def test_splits_share_no_template_no_filling_no_question(train: list[Problem]) -> None:
    held_out = eval_items()
    assert len({question(problem) for problem in held_out}) == 200
    for read in (lambda p: p.template, lambda p: p.filling, question):
        assert not {read(problem) for problem in train} & {read(problem) for problem in held_out}


def test_split_rule_is_a_checksum_of_template_and_filling(train: list[Problem]) -> None:
    for expected, sample in ((False, train), (True, eval_items())):
        for problem in sample:
            assert in_eval("template", problem.template) == expected
            assert in_eval("filling", problem.filling) == expected


def test_the_evaluation_items_are_pinned() -> None:
    lines = [json.dumps([question(p), p.answer, p.gold]) for p in eval_items()]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == EVAL_SHA256


def test_the_same_seed_gives_the_same_problems_and_another_seed_others() -> None:
    first, again, other = (list(islice(problems("train", seed), 50)) for seed in (3, 3, 4))
    assert first == again
    assert not {question(p) for p in first} & {question(p) for p in other}


def family_of(problem: Problem) -> str:
    return problem.template.split("/")[0]


def test_variety(train: list[Problem]) -> None:
    keys = {family.key for family in EVERY}
    assert len(keys) == len(EVERY) >= 100
    assert {family_of(problem) for problem in train} == keys
    assert min(Counter(map(family_of, train)).values()) > 50
    assert len({family_of(problem) for problem in eval_items()}) >= 80
    assert len({problem.template for problem in train}) > 8_000
    assert len({question(problem) for problem in train}) > 19_500
    assert {problem.level for problem in eval_items()} == {"1", "2", "3"}
    assert {problem.subject for problem in eval_items()} == set(FAMILIES)


@pytest.mark.parametrize("family", EVERY, ids=lambda family: family.key)
def test_each_family_has_twelve_wordings(family: Family) -> None:
    rng = random.Random(0)
    assert len({sketch(rng, family).doc for _ in range(400)}) >= 12


def test_text_is_tidy(train: list[Problem]) -> None:
    stray = re.compile(r"[{}|@]|  | [.,;:]|(?<!\.)\.\.(?!\.)|\b(\w\w+) \1\b")
    for problem in [*train, *eval_items()]:
        text = question(problem)
        doc = text.split('"""')[1].split("\n")[0]
        assert not stray.search(re.sub("'[^']*'|[.]{3}", "x", doc)), doc
        assert re.match(r"[A-Z].*\.$", doc), doc
        assert 40 <= len(text) <= MAX_PROMPT_CHARS
        assert text.isascii()
        assert text.endswith('"""\n')


def test_names_hide_nothing(train: list[Problem]) -> None:
    for problem in train[:2500]:
        gold = json.loads(problem.gold)
        (function,) = ast.parse(question(problem) + gold["canonical_solution"]).body
        assert isinstance(function, ast.FunctionDef)
        arguments = {argument.arg for argument in function.args.args}
        names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        assert not arguments & set(dir(builtins)), problem
        assert function.name not in {*arguments, *names, *dir(builtins)}, problem


def test_embedded_items(sandbox: Sandbox) -> None:
    task = HumanEvalPlus(sandbox=sandbox)
    items = task.items("embedded", None)
    assert len(items) == task.count("embedded") == 200
    assert items[7].id == "humaneval_plus/embedded/0007"
    assert items[7].messages == eval_items()[7].messages
    assert [turn.role for turn in items[7].messages] == ["user"]
    assert (items[7].subject, items[7].level) == (eval_items()[7].subject, eval_items()[7].level)
    assert read_problem(items[7]).prompt == items[7].messages[0].content
    # Every token of a byte-level vocabulary is at least one character.
    assert max(len(p.answer) for p in eval_items()) < task.max_new_tokens["embedded"]
    assert len(task.template_hash("embedded")) == 64
    assert task.template_hash("embedded") != task.template_hash("official")
