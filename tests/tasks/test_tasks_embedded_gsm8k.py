"""The generated word problems: sums checked by an oracle, splits disjoint, text tidy, pinned."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tasks.embedded.__main__ import main
from tasks.embedded.grammar import Slot
from tasks.embedded.gsm8k import FAMILIES, MAX_CHARS, WordProblem, eval_items, in_eval, problems
from tasks.embedded.lexicon import BOYS, GIRLS, WORDS, plural, tidy
from tasks.embedded.wording import compose
from tasks.item import TaskOptions
from tasks.numbers import extract
from tasks.registry import resolve_task

EVAL_SHA256 = "9d71aff27ab53ed3d9b412c9414f2ea96eb7904db1fe003c0a89228876997ed2"
# A product may have its tens and ones between.
EQUATION = re.compile(r"(\d+) ([-+*/x]) (\d+) = (?:\d+0 \+ \d+ = )?\$?(\d+)")
TENS_AND_ONES = re.compile(r"\d+ ([-+*/x]) \d+ = (\d+)0 \+ (\d+) = \$?(\d+)")


@pytest.fixture(scope="module")
def train() -> list[WordProblem]:
    return list(islice(problems("train", 0), 20_000))


def holds(left: int, op: str, right: int, result: int) -> bool:
    """Whether an equation is true, without division."""
    if op == "/":
        return right != 0 and result * right == left
    return {"+": left + right, "-": left - right, "*": left * right, "x": left * right}[
        op
    ] == result


def test_every_sum_is_true_and_the_last_one_is_the_answer(train: list[WordProblem]) -> None:
    for problem in [*train, *eval_items()]:
        sums = EQUATION.findall(problem.answer)
        assert len(sums) == problem.steps, problem
        assert all(holds(int(a), op, int(b), int(c)) for a, op, b, c in sums), problem
        for op, tens, ones, result in TENS_AND_ONES.findall(problem.answer):
            assert op in "*x", problem
            assert 10 * int(tens) + int(ones) == int(result), problem
        assert sums[-1][3] == problem.gold, problem
        assert problem.answer.endswith(f"#### {problem.gold}"), problem
        assert int(problem.gold) >= 0


def test_each_sum_is_used_later(train: list[WordProblem]) -> None:
    for problem in train[:3000]:
        sums = EQUATION.findall(problem.answer)
        used = Counter(number for a, _, b, _ in sums for number in (a, b))
        for _, _, _, result in sums[:-1]:
            assert used[result] > 0, problem


def test_each_fact_is_told_again_before_its_sums(train: list[WordProblem]) -> None:
    """In the words of the question, and in the order in which the sums need it."""
    by_key = {
        f"{family.key}/{move.key}": move
        for family in FAMILIES
        for move in (*family.openings, *family.moves, *family.endings)
    }
    for problem in train[:5000]:
        family, *keys = problem.template.partition(":")[0].split("/")
        moves = [by_key[f"{family}/{key}"] for key in keys]
        question = problem.question.lower()
        # 1 for a sentence of the question, then the number of sums up to the next one.
        seen: list[int] = []
        for sentence in re.split(r"(?<=\.)\s", problem.answer.rpartition("\n")[0]):
            if sentence.removesuffix(".").lower() in question:
                seen.append(0)
            elif seen:
                seen[-1] += len(EQUATION.findall(sentence))
        expected = [len(move.calcs) for move in moves if move.fact]
        if not moves[-1].fact:
            expected[-1] += len(moves[-1].calcs)
        assert seen == expected, problem


def test_numbers_are_those_of_the_question_in_order(train: list[WordProblem]) -> None:
    values = {word: n for n, word in enumerate(WORDS) if n >= 2} | {"twice": 2}
    pattern = re.compile(rf"\b(\d+|{'|'.join(values)})\b", re.IGNORECASE)
    for problem in train[:5000]:
        tokens = [token.lower() for token in pattern.findall(problem.question)]
        read = [int(token) if token.isdigit() else values[token] for token in tokens]
        # "The number became twice as large" is an event, not a number that is drawn.
        assert len(read) - len(problem.numbers) <= tokens.count("twice"), problem
        rest = iter(read)
        assert all(number in rest for number in problem.numbers), problem


def test_splits_share_no_template_no_numbers_no_question(train: list[WordProblem]) -> None:
    held_out = eval_items()
    assert len(held_out) == 200
    for name in ("template", "numbers", "question"):
        seen = {getattr(problem, name) for problem in train}
        assert not seen & {getattr(problem, name) for problem in held_out}, name


def test_split_rule_is_a_checksum_of_template_and_numbers(train: list[WordProblem]) -> None:
    for split, sample in (("train", train), ("eval", list(eval_items()))):
        for problem in sample:
            numbers = " ".join(map(str, problem.numbers))
            expected = split == "eval"
            assert in_eval("template", problem.template) == expected
            assert in_eval("numbers", numbers) == expected


def test_the_evaluation_items_are_pinned() -> None:
    lines = [json.dumps([p.question, p.answer, p.gold]) for p in eval_items()]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == EVAL_SHA256


def test_the_same_seed_gives_the_same_problems_and_another_seed_others() -> None:
    first, again, other = (list(islice(problems("train", seed), 50)) for seed in (3, 3, 4))
    assert first == again
    assert not {p.question for p in first} & {p.question for p in other}


def test_variety(train: list[WordProblem]) -> None:
    assert len(FAMILIES) >= 25
    assert len({*GIRLS, *BOYS}) >= 120
    assert len({problem.template for problem in train}) >= 5_000
    assert len({problem.question for problem in train}) == len(train)
    told = Counter(re.split("[/:]", problem.template)[0] for problem in train)
    assert set(told) == {family.key for family in FAMILIES}
    assert min(told.values()) > 200


def test_what_is_counted_beside_the_story_comes_before_it() -> None:
    """Else "half of them" would be half of the wrong things."""
    rng = random.Random(0)
    for family in FAMILIES:
        if family.static:
            continue
        beside = 0
        while beside < 20:
            skeleton = compose(rng, family, [family.openings[0], *family.moves[:2]])
            if skeleton.noise is None:
                continue
            beside += 1
            steps = [
                each.step
                for each in skeleton.question
                if isinstance(each, Slot) and each.step >= 0
            ]
            assert steps[0] == len(skeleton.moves), skeleton


def test_what_was_earned_is_not_asked_where_something_was_paid() -> None:
    """An amount that was earned is no less for what was spent of it."""
    gross = re.compile("earn|made|make|collected|score|read|travel|cover|spend on")
    for family in FAMILIES:
        outgoing = [each for each in family.moves if any(calc.op in "-/" for calc in each.calcs)]
        if not outgoing or not gross.search(family.ask):
            continue
        for each in outgoing:
            skeleton = compose(
                random.Random(1), family, [family.openings[0], each, family.moves[0]]
            )
            words = "".join(part for part in skeleton.question if isinstance(part, str))
            (asked,) = [part for part in re.split("[.?] ?", words) if "how " in part.lower()]
            assert re.search("left|keep|profit|remains|have|end up", asked), asked


def test_the_moves_of_a_family_have_different_keys() -> None:
    for family in FAMILIES:
        keys = [move.key for move in (*family.openings, *family.moves, *family.endings)]
        assert len(set(keys)) == len(keys), (family.key, Counter(keys).most_common(2))


def test_distribution_of_steps(train: list[WordProblem]) -> None:
    steps = Counter(problem.steps for problem in train)
    for count, share in {1: 0.15, 2: 0.35, 3: 0.28, 4: 0.15, 5: 0.07}.items():
        assert abs(steps[count] / len(train) - share) < 0.02, steps


def test_text_is_tidy(train: list[WordProblem]) -> None:
    stray = re.compile(r"[\[\]{}|@<>_]| [,.?;]|  |\.\.|[.?!] [a-z]|\b(\w+) \1\b|\b[01] [a-z]+s\b")
    for problem in train:
        assert len(problem.question) + len(problem.answer) <= MAX_CHARS
        for text in (problem.question, problem.answer):
            assert not stray.search(text), text
            assert re.match(r"[A-Z0-9$]", text), text
        assert problem.question.count("?") == 1, problem.question


def test_magnitudes(train: list[WordProblem]) -> None:
    assert max(int(problem.gold) for problem in train) <= 1500
    ages = [p for p in train if p.template.startswith("ages/") and "How old" in p.question]
    assert ages
    assert max(int(problem.gold) for problem in ages) <= 100


def test_the_scorer_reads_every_generated_answer() -> None:
    for problem in eval_items():
        found = extract(problem.answer)
        assert (found.answer, found.extracted_by) == (problem.gold, "marker")


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("box", "boxes"), ("candy", "candies"), ("toy", "toys"), ("peach", "peaches"),
        ("jar of jam", "jars of jam"), ("goose", "geese"), ("tomato plant", "tomato plants"),
        ("mango", "mangoes"), ("foot", "feet"), ("sheep", "sheep"), ("person", "people"),
    ],
)  # fmt: skip
def test_plurals(noun: str, expected: str) -> None:
    assert plural(noun) == expected


def test_tidy() -> None:
    assert tidy("there is a apple . it is red") == "There is an apple. It is red"


def test_command_line_writes_chat_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rows.jsonl"
    main(["--split", "train", "--count", "30", "--seed", "0", "--out", str(out)])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    expected = list(islice(problems("train", 0), 30))
    assert [row["messages"][0]["content"] for row in rows] == [p.question for p in expected]
    assert [row["messages"][1]["content"] for row in rows] == [p.answer for p in expected]
    assert [m["role"] for m in rows[0]["messages"]] == ["user", "assistant"]
    assert rows[0]["template"] == expected[0].template
    assert rows[0]["filling"] == " ".join(map(str, expected[0].numbers))
    assert list(tmp_path.iterdir()) == [out]
    assert "30 of 30" in capsys.readouterr().err


def test_command_line_refuses_a_count_below_one(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--count", "0", "--out", str(tmp_path / "x")])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["gsm8k", "math500", "humaneval_plus", "mmlu"])
def test_more_items_begin_with_the_same_ones(name: str) -> None:
    few = resolve_task(name, TaskOptions(unsafe_execution=True))
    more = resolve_task(name, TaskOptions(unsafe_execution=True, embedded_items=230))
    assert (few.count("embedded"), more.count("embedded")) == (200, 230)
    items = more.items("embedded", None)
    assert items[:200] == few.items("embedded", None)
    assert len({item.id for item in items}) == len({item.messages for item in items}) == 230
