"""The generated four-choice questions: one right option, splits disjoint, every fact taught."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice

import pytest

from tasks.embedded.mmlu import eval_items, problems, statements
from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.subject import Fact, Subject, expand
from tasks.embedded.problem import Problem, in_eval
from tasks.letters import choose
from tasks.mmlu import Mmlu

EVAL_SHA256 = "603434e98b0a04877a1e83b670ca7f924034fe31ff0494a4f8e6bcd88dfdf039"
BY_NAME = {subject.name: subject for subject in SUBJECTS}
QUESTION = re.compile(
    r"Question: (?P<words>[^\n]+)\nA\. (?P<A>[^\n]+)\nB\. (?P<B>[^\n]+)\nC\. (?P<C>[^\n]+)\n"
    r"D\. (?P<D>[^\n]+)\nAnswer:"
)


@pytest.fixture(scope="module")
def train() -> list[Problem]:
    return list(islice(problems("train", 0), 20_000))


@pytest.fixture(scope="module")
def told() -> list[Problem]:
    return list(islice(statements(0), 20_000))


def options(question: str) -> dict[str, str]:
    """The options of a question turn by letter."""
    found = QUESTION.fullmatch(question)
    assert found is not None, question
    return {letter: found[letter] for letter in "ABCD"}


def asked(problem: Problem) -> str:
    return problem.messages[-1].content


def examples(problem: Problem) -> list[tuple[str, str]]:
    """The earlier turns as pairs of question and answer."""
    turns = problem.messages[:-1]
    assert [turn.role for turn in problem.messages] == ["user", "assistant"] * (
        len(turns) // 2
    ) + ["user"]
    return [(a.content, b.content) for a, b in zip(turns[::2], turns[1::2], strict=True)]


def pairs(sample: Iterable[Problem]) -> Iterable[tuple[Subject, str, str, str]]:
    """Subject, question, answer and chosen letter of every pair of turns."""
    for problem in sample:
        for question, answer in [*examples(problem), (asked(problem), problem.answer)]:
            yield BY_NAME[problem.subject], question, answer, answer[-2]


def said(subject: Subject) -> dict[str, tuple[Fact, bool]]:
    """Every sentence of a subject, with the fact it states and its direction."""
    ways = [True] if subject.backward is None else [True, False]
    return {subject.sentence(fact, way): (fact, way) for fact in subject.facts for way in ways}


SAID = {subject.name: said(subject) for subject in SUBJECTS}


def stated(subject: Subject, question: str, answer: str) -> tuple[Fact, bool]:
    """The fact that an answer turn states, and its direction; the rest of it must be right."""
    read = ", ".join(f"{option} {letter}" for letter, option in options(question).items())
    form = re.compile(re.escape(read) + r"\. (.+) ([ABCD])\. The answer is \2\.")
    found = form.fullmatch(answer)
    assert found is not None, answer
    return SAID[subject.name][f"{found[1]}."]


def stated_by(problem: Problem) -> list[Fact]:
    """The facts of a problem's examples and of its answer."""
    turns = [*examples(problem), (asked(problem), problem.answer)]
    return [stated(BY_NAME[problem.subject], *turn)[0] for turn in turns]


def test_exactly_one_option_is_right(train: list[Problem]) -> None:
    for subject, question, answer, letter in pairs([*train[:8000], *eval_items()]):
        fact, forward = stated(subject, question, answer)
        choices = options(question)
        assert len(set(choices.values())) == 4, question
        true = {f[forward] for f in subject.facts if f[not forward] == fact[not forward]}
        right = [name for name, option in choices.items() if option in true]
        assert right == [letter], question
        assert choices[letter] == fact[forward]
        shown = fact[not forward]
        assert shown.lower() in question.split("\n")[0].lower(), question


ROMAN_SIGNS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def from_roman(numeral: str) -> int:
    """A Roman numeral read from the right, smaller signs before larger ones subtracted."""
    total = largest = 0
    for sign in reversed(numeral):
        value = ROMAN_SIGNS[sign]
        largest = max(largest, value)
        total += value if value == largest else -value
    return total


SMALL_PRIMES = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59}
NUMBER_NAMES = (
    ("twenty", 20), ("thirty", 30), ("forty", 40), ("fifty", 50), ("sixty", 60), ("seventy", 70),
    ("eighty", 80), ("ninety", 90), ("one", 1), ("two", 2), ("three", 3), ("four", 4),
    ("five", 5), ("six", 6), ("seven", 7), ("eight", 8), ("nine", 9),
)  # fmt: skip


def weekday(entity: str) -> str:
    """The day of an entity such as "3 days after Monday", by the calendar."""
    step, _, word, day = entity.split()
    (start,) = (d for n in range(7) if f"{(d := date(2024, 1, 1 + n)):%A}" == day)
    return f"{start + timedelta(int(step) * (1 if word == 'after' else -1)):%A}"


def month_after(month: str) -> str:
    (number,) = (n for n in range(1, 13) if f"{date(2024, n, 1):%B}" == month)
    return f"{date(2024, number, 28) + timedelta(20):%B}"


def oclock(entity: str) -> str:
    """The time on a twelve-hour clock, turned one hour at a time."""
    step, _, _, hour = entity.split()
    hand = int(hour)
    for _ in range(int(step)):
        hand = 1 if hand == 12 else hand + 1
    return f"{hand} o'clock"


def number_of(word: str) -> str:
    values = dict(NUMBER_NAMES)
    return str(sum(values[part] for part in word.split("-")))


RULES: dict[str, Callable[[Fact], bool]] = {
    "roman_numerals": lambda fact: from_roman(fact.value) == int(fact.entity),
    "binary_numbers": lambda fact: int(fact.value, 2) == int(fact.entity),
    "prime_numbers": lambda f: (f.value == "prime") == (int(f.entity) in SMALL_PRIMES),
    "parity": lambda fact: (fact.value == "even") == (fact.entity[-1] in "02468"),
    "sums": lambda fact: sum(map(int, fact.entity.split(" + "))) == int(fact.value),
    "number_words": lambda fact: number_of(fact.value) == fact.entity,
    "alphabet_order": lambda fact: chr(ord(fact.entity) + 1) == fact.value,
    "order_of_months": lambda fact: month_after(fact.entity) == fact.value,
    "days_of_the_week": lambda fact: weekday(fact.entity) == fact.value,
    "clock_hours": lambda fact: oclock(fact.entity) == fact.value,
}


def test_rules_are_followed() -> None:
    assert {subject.name for subject in SUBJECTS if subject.rule} == set(RULES)
    for name, holds in RULES.items():
        for fact in BY_NAME[name].facts:
            assert holds(fact), (name, fact)


def test_only_the_right_number_has_the_asked_property(train: list[Problem]) -> None:
    rows = [p for p in [*train, *eval_items()] if p.subject in ("prime_numbers", "parity")]
    assert len(rows) > 500
    for problem in rows:
        (kind,) = re.findall("prime|composite|odd|even", asked(problem))
        for letter, number in options(asked(problem)).items():
            holds = RULES[problem.subject](Fact(number, kind))
            assert holds == (letter == problem.gold), asked(problem)


def test_tables_are_sound() -> None:
    assert len(BY_NAME) == len(SUBJECTS) >= 24
    assert 0.2 <= len(RULES) / len(SUBJECTS) <= 0.3
    for subject in SUBJECTS:
        entities = [fact.entity for fact in subject.facts]
        assert len(set(entities)) == len(entities) >= 12, subject.name
        assert len(set(subject.facts)) == len(subject.facts)
        for text in (text for fact in subject.facts for text in fact):
            assert re.fullmatch(r"\S+( \S+)*", text), (subject.name, text)


def test_wordings() -> None:
    for subject in SUBJECTS:
        assert len(subject.wordings["train"]) >= 8, subject.name
        assert len(subject.wordings["eval"]) >= 1, subject.name
        assert subject.forward.says.endswith("{y}.")
        ways = [subject.forward]
        if subject.backward is not None:
            assert subject.backward.says.endswith("{x}.")
            ways.append(subject.backward)
        for way, shown, hidden in zip(ways, "xy", "yx", strict=False):
            texts = expand(way.questions)
            assert len(set(texts)) == len(texts), subject.name
            assert all(f"{{{shown}}}" in text for text in texts)
            assert not any(f"{{{hidden}}}" in text for text in texts)


def test_expand_writes_every_combination() -> None:
    assert expand(["[a|b] c[ d|]", "e"]) == ["a c d", "a c", "b c d", "b c", "e"]


def test_letters_are_uniform(train: list[Problem]) -> None:
    count = Counter(problem.gold for problem in train)
    expected = len(train) / 4
    # The 0.001 quantile of chi-square with three degrees of freedom.
    assert sum((count[letter] - expected) ** 2 / expected for letter in "ABCD") < 16.3, count


def test_the_scorer_reads_every_answer_as_its_letter(train: list[Problem]) -> None:
    for _, _, answer, letter in pairs([*train[:3000], *eval_items()]):
        assert choose(answer) == (letter, "marker"), answer
    assert all(problem.answer.endswith(f" {problem.gold}.") for problem in train)


def test_evaluation_items_have_five_other_examples_of_their_subject() -> None:
    for problem in eval_items():
        facts = stated_by(problem)
        assert len(facts) == 6
        assert len({fact.entity for fact in facts}) == 6, facts


def test_numbers_of_examples_in_training(train: list[Problem]) -> None:
    count = Counter(len(examples(problem)) for problem in train)
    for shots, share in enumerate((0.35, 0.2, 0.15, 0.1, 0.1, 0.1)):
        assert abs(count[shots] / len(train) - share) < 0.015, count
    for problem in train[:3000]:
        facts = stated_by(problem)
        assert len(set(facts)) == len(facts)


def test_splits_share_no_template_no_filling_no_question(
    train: list[Problem], told: list[Problem]
) -> None:
    held_out = eval_items()
    taught = [*train, *told]
    assert not {p.template for p in taught} & {p.template for p in held_out}
    assert not {p.filling for p in taught} & {p.filling for p in held_out}
    # Questions of examples count too, on both sides: the evaluation's own are training questions.
    shown = {turn.content for p in taught for turn in p.messages if turn.role == "user"}
    assert not shown & {asked(p) for p in held_out}
    assert not {q for p in held_out for q, _ in examples(p)} & {asked(p) for p in held_out}


def test_no_set_of_options_is_met_in_training(train: list[Problem]) -> None:
    """Whatever the wording: a fact is never asked with the options that evaluation gives it."""

    def sets(sample: Iterable[Problem]) -> set[tuple[Fact, frozenset[str]]]:
        return {
            (stated(subject, question, answer)[0], frozenset(options(question).values()))
            for subject, question, answer, _ in pairs(sample)
        }

    final = [replace(p, messages=p.messages[-1:]) for p in eval_items()]
    assert not sets(train) & sets(final)


def test_split_rule_is_a_checksum_of_template_and_filling(
    train: list[Problem], told: list[Problem]
) -> None:
    for expected, sample in ((False, train), (False, told), (True, eval_items())):
        for problem in sample:
            assert in_eval("template", problem.template) == expected
            assert in_eval("filling", problem.filling) == expected


def test_every_fact_of_the_evaluation_is_taught_and_no_held_out_instance_is(
    train: list[Problem], told: list[Problem]
) -> None:
    facts = {(s.name, stated(s, *turn)[0]) for s, *turn, _ in pairs(train)}
    sentences = {
        (p.subject, sentence + ".") for p in told for sentence in p.answer[:-1].split(". ")
    }
    kinds = Counter[bool]()
    for problem in eval_items():
        subject = BY_NAME[problem.subject]
        fact, _ = stated(subject, asked(problem), problem.answer)
        kinds[subject.unseen] += 1
        assert ((subject.name, fact) in facts) is not subject.unseen, problem
        for way in (True, False) if subject.backward else (True,):
            if subject.unseen:
                assert (subject.name, subject.sentence(fact, way)) not in sentences
        if not subject.unseen:
            assert (subject.name, subject.sentence(fact, True)) in sentences, problem
    assert kinds[True] > 20
    assert kinds[False] > 100


def test_statements_are_open_questions_and_rows(told: list[Problem]) -> None:
    rows = 0
    for problem in told:
        (turn,) = problem.messages
        assert turn.role == "user"
        assert not QUESTION.search(turn.content)
        assert "The answer is" not in problem.answer
        assert problem.answer.endswith(f"{problem.gold}.")
        count = problem.filling.count(", ") + 1
        assert count in (1, 4, 5, 6, 7, 8)
        rows += count > 1
    assert 0.4 < rows / len(told) < 0.7


def test_statements_state_facts(told: list[Problem]) -> None:
    for problem in told[:5000]:
        known = SAID[problem.subject]
        forms = {f"{f.entity}: {f.value}" for f in BY_NAME[problem.subject].facts}
        forms |= {f"{f.value}: {f.entity}" for f in BY_NAME[problem.subject].facts}
        parts = [part + "." for part in problem.answer[:-1].split(". ")]
        tabled = problem.answer[:-1].split("; ")
        assert all(p in known for p in parts) or all(p in forms for p in tabled), problem


def test_the_evaluation_items_are_pinned() -> None:
    lines = [json.dumps([[t.content for t in p.messages], p.answer]) for p in eval_items()]
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == EVAL_SHA256


def test_the_same_seed_gives_the_same_problems_and_another_seed_others() -> None:
    for source in (lambda seed: problems("train", seed), statements):
        first, again, other = (list(islice(source(seed), 50)) for seed in (3, 3, 4))
        assert first == again
        assert first != other


def test_subjects_are_balanced(train: list[Problem], told: list[Problem]) -> None:
    assert {problem.subject for problem in eval_items()} == set(BY_NAME)
    for sample in (train, told, eval_items()):
        count = Counter(problem.subject for problem in sample)
        assert max(count.values()) - min(count.values()) <= 1
    assert {p.subject for p in train if p.level == "2"} == set(RULES)
    assert {problem.level for problem in train} == {"1", "2"}


def length(problem: Problem) -> int:
    return sum(len(turn.content) for turn in problem.messages) + len(problem.answer)


def test_lengths(train: list[Problem], told: list[Problem]) -> None:
    bounds = ((train, 520, 1800), (told, 220, 800), (eval_items(), 1150, 1600))
    for sample, mean, largest in bounds:
        lengths = [length(problem) for problem in sample]
        assert sum(lengths) / len(lengths) < mean
        assert max(lengths) < largest
    for problem in train[:5000]:
        words, *_ = asked(problem).split("\n")
        assert len(words) <= len("Question: ") + 70, words
        assert all(len(option.split()) <= 4 for option in options(asked(problem)).values())


def test_text_is_tidy(train: list[Problem], told: list[Problem]) -> None:
    # An option that is a letter of the alphabet may stand beside its own: D D.
    doubled = r"  |\b(?![A-D]\b)(\w+) \1\b|\?\?|(?<!\.)\.\.(?!\.)"
    article = r"(?:\ba|^A|Question: A) [aeio][a-z]"
    stray = re.compile(rf"[\[\]{{}}|@<>_]| [,?;]|{doubled}|{article}")
    for problem in [*train, *told, *eval_items()]:
        for text in (asked(problem), problem.answer):
            assert not stray.search(text), text
    assert not any(sentence[0].islower() for known in SAID.values() for sentence in known)
    for _, question, _, _ in pairs(train[:5000]):
        words = question.split("\n")[0].removeprefix("Question: ")
        assert words[-1] in "?.", words
        assert not words[0].islower(), words


def test_the_task_asks_the_embedded_items() -> None:
    task = Mmlu()
    items = task.items("embedded")
    assert task.sources == ("embedded", "official")
    assert len(items) == task.count("embedded") == 200
    assert [items[0].id, items[-1].id] == ["mmlu/embedded/0000", "mmlu/embedded/0199"]
    for item, problem in zip(items, eval_items(), strict=True):
        assert (item.messages, item.gold) == (problem.messages, problem.gold)
        assert (item.subject, item.level) == (problem.subject, problem.level)
        assert task.score(item, problem.answer, finished=True).correct
    assert task.template_hash("embedded") != task.template_hash("official")
