"""Putting a story into words: the question, and the worked solution, before numbers are filled in.

Every choice is drawn through `Wording`, which records it, so the same choices always give the
same skeleton; `compose` returns question tokens, answer tokens and the skeleton's identity.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from tasks.embedded.grammar import Slot, Wording
from tasks.embedded.story import Calc, Family, Move

LATER = (
    "[Then|Later|After that|Next|A little later|Soon after that|Afterwards|Some time later|"
    "A bit later|Not long after that], "
)
FIRST = "[First|To begin with|To start|In the beginning], "
NEXT = "[Then|Next|After that|Now|From there|With that], "
LAST = "[So|Finally|In the end|Therefore|So in the end|As a result], "
DIRECT = {
    "+": "[Add {x} and {y}: |Adding {x} and {y} gives |The sum is |Together that is |Put them "
    "together: |Add them up: ]",
    "-": "[Subtract {y} from {x}: |Take {y} away from {x}: |The difference is |Taking {y} from "
    "{x} gives |What remains is |Subtracting gives ]",
    "*": "[Multiply {x} by {y}: |Multiplying gives |The product is |{x} times {y} is |Taking {x} "
    "times {y}, we get |That comes to ]",
    "/": "[Divide {x} by {y}: |Dividing gives |Splitting {x} by {y} gives |{x} divided by {y} is "
    "|Dividing {x} by {y}, we get |That comes to ]",
}
BACKWARD = re.compile(r"\b(this|that|it|rest|them|they|then|these|those|same|now)\b")
GENERAL_NOISE: tuple[tuple[str, str], ...] = (
    ("8-14", "{S} is {c} years old"),
    ("5-40", "{S} lives {c} minutes [from school|from the station|from the beach]"),
    ("3-12", "{S} has {c} cousins"),
    ("10-90", "[the house has the number {c}|{S} lives at number {c}]"),
    ("10-30", "it was {c} degrees [outside|that day]"),
    ("3-9", "[the weather stayed dry for {c} days|it had been sunny for {c} days]"),
    ("4-11", "{S} [got up|woke up] at {c} o'clock [that day|in the morning]"),
    ("15-60", "{S} [talked|chatted] with {his} [aunt|uncle|grandmother] for {c} minutes"),
    ("20-90", "[a bus ticket to town costs {c} cents|a pencil costs {c} cents]"),
    ("30-60", "{S} has [an uncle|an aunt|a teacher] who is {c} years old"),
)


SCENE_SHARE = 0.4
SCENES: tuple[str, ...] = (
    "[it was a busy [day|week|season]|it was a [quiet|sunny|cold|windy] day]",
    "{S} likes to [plan ahead|keep things in order|write everything down|count things]",
    "{S} [has many plans for the summer|is a careful person|rarely wastes anything]",
    "{S} and {F} are [good friends|neighbors|old friends|cousins]",
    "{S} [keeps a list of everything|has a notebook for numbers|likes to tell stories]",
    "{S} [had a lot to do|was in a good mood|had been busy for a long time]",
    "{F} [came to visit {o}|helped {o} for a while|talked with {o} on the phone]",
    "{S} wanted to [keep track of the numbers|know exactly where things stand|get things done]",
    "[everybody in {N}'s family likes numbers|{N}'s family lives in a small town]",
    "{S} [never forgets a number|is good with numbers|does everything with great care]",
)


class Skeleton(NamedTuple):
    """A problem without names, objects and numbers."""

    question: list[str | Slot]
    answer: list[str | Slot]
    template: str
    moves: list[Move]
    noise: Move | None


def compose(rng: random.Random, family: Family, moves: list[Move]) -> Skeleton:
    """All wording of one problem."""
    say = Wording(rng, words=True)
    noise = _noise(say, family)
    facts = _question(say, family, moves, noise)
    answer = _answer(family, moves, facts)
    plan = "/".join([family.key, *(m.key for m in moves)])
    return Skeleton(say.tokens, answer, f"{plan}:{''.join(say.choices)}", moves, noise)


def _noise(say: Wording, family: Family) -> Move | None:
    if not say.chance(0.25):
        return None
    if family.noise and say.chance(0.6):
        return family.noise[say.pick(len(family.noise))]
    if family.static:
        return None
    k = say.pick(len(GENERAL_NOISE))
    kind, text = GENERAL_NOISE[k]
    return Move("noise", {"c": kind}, text, event=False)


def _order(say: Wording, family: Family, moves: list[Move], noise: Move | None) -> list[int]:
    """Indices of the facts in the order they are told; the noise has the last index."""
    order = list(range(len(moves)))
    if family.static and say.chance(0.5):
        for k in range(len(order) - 1, 0, -1):
            j = say.pick(k + 1)
            order[k], order[j] = order[j], order[k]
    elif len(moves) > 1 and _movable(moves[-1]) and say.chance(0.3):
        order.insert(say.pick(len(moves)), order.pop())
    order = [k for k in order if moves[k].fact]
    if noise:
        # Before all that says "them", "more" or "half", which would be of what the noise counts.
        order.insert(say.pick(len(order)) if family.static else 0, len(moves))
    return order


def _scene(say: Wording) -> None:
    """A sentence that sets the scene and has no number."""
    say.say(SCENES[say.pick(len(SCENES))])
    say.tokens.append(". ")


def _ask(family: Family, moves: list[Move]) -> str:
    """The final question; nothing is `left` where nothing was taken away."""
    own = moves[-1].ask
    if any(calc.op in "-/" for move in moves for calc in move.calcs):
        return own or family.kept or family.ask
    ask = own or family.ask
    return ask.replace("[does {S} have|are] left", "does {S} have now").replace(" left", " there")


def _movable(item: Move) -> bool:
    """Whether a fact can be told before the others: no event, and it points back at nothing."""
    return not item.event and not BACKWARD.search(item.fact)


def _question(
    say: Wording, family: Family, moves: list[Move], noise: Move | None
) -> dict[int, list[str | Slot]]:
    """Tell the story and ask; the words of each move's fact."""
    facts: dict[int, list[str | Slot]] = {}
    ask = _ask(family, moves)
    order = _order(say, family, moves, noise)
    style = say.weighted((9, 63, 28))
    if style == 0:
        say.say(ask, len(moves) - 1)
        say.tokens.append("? ")
    if not family.static and say.chance(SCENE_SHARE):
        _scene(say)
    told = False
    joined = False
    for place, k in enumerate(order):
        item = moves[k] if k < len(moves) else noise
        assert item is not None, "the noise index appears only with noise"
        final = place == len(order) - 1
        if final and style == 2 and told and not joined:
            say.say("[If|If|If|Given that] ")
            facts[k] = _fact(say, item, k)
            say.tokens.append(", ")
            say.say(ask, len(moves) - 1)
            say.tokens.append("?")
            return facts
        if item.event and told and 0 < k < len(moves) and not joined and say.chance(0.35):
            say.say(LATER)
        facts[k] = _fact(say, item, k)
        told = told or k < len(moves)
        follows = order[place + 1] if not final else -1
        joins = not joined and 0 <= follows < len(moves) and k < len(moves) and say.chance(0.2)
        if joins and moves[follows].event and moves[k].event:
            say.say("[, and then | and then |, and later | and ]")
        elif joins:
            say.tokens.append(", and ")
        else:
            joins = False
            say.tokens.append(". ")
        joined = joins
    if style != 0:
        say.say(ask, len(moves) - 1)
        say.tokens.append("?")
    return facts


def _fact(say: Wording, item: Move, step: int) -> list[str | Slot]:
    start = len(say.tokens)
    say.say(item.fact, step)
    return say.tokens[start:]


def _answer(
    family: Family, moves: list[Move], facts: dict[int, list[str | Slot]]
) -> list[str | Slot]:
    """The sums, each after the fact that calls for it: a small model copies words with ease, and
    takes the numbers of a sum from far away only badly.

    Wording varies from move to move and is always the same for a move. Drawn anew for each
    problem, it was all but 1 % of a trained model's loss on answers: noise that nothing can learn.
    """
    say = Wording(random.Random(family.key))
    gap = " " if say.chance(0.5) else "\n"
    money = say.pick(2)
    count = sum(len(item.calcs) for item in moves)
    place = 0
    for k, item in enumerate(moves):
        if k in facts:
            say.tokens += [*facts[k], ". "]
        for index, calc in enumerate(item.calcs, 1):
            say.rng = random.Random(f"{family.key}/{item.key}/{index}")
            _step(say, calc, k, index, money, _connector(say, place, count))
            say.tokens.append(gap)
            place += 1
    say.tokens[-1] = "\n#### "
    say.tokens.append(Slot("value"))
    return say.tokens


def _connector(say: Wording, place: int, count: int) -> str:
    if count == 1 or not say.chance(0.4):
        return ""
    if place == 0:
        return FIRST
    return LAST if place == count - 1 else NEXT


def _step(say: Wording, calc: Calc, step: int, index: int, money: int, connector: str) -> None:
    """One calculation and its sentence, in one of several ways of writing it."""
    form = "$" if calc.unit == "$" and money else "dollars" if calc.unit == "$" else ""
    order = ("x" if calc.op in "+*" and say.chance(0.25) else "") + (
        "~" if calc.op == "*" and say.chance(0.25) else ""
    )
    equation = Slot(f"={index}", form + order, step)
    value = Slot(f"r{index}", form, step)
    style = say.weighted((44, 14, 12, 10, 10))
    if style in (0, 4) and connector:
        say.say(connector)
    if style == 0:
        _clause(say, calc, equation, step)
    elif style == 1:
        say.tokens.append(equation)
        say.say("[, so |. So |, and so |. Thus ]")
        _clause(say, calc, value, step)
    elif style == 2:
        _direct(say, calc, step)
        say.tokens.append(equation)
        say.say("[, so |. So |, and ]")
        _clause(say, calc, value, step)
    elif style == 3:
        say.say("[That makes |This gives |That is |We get |We have ]")
        _with_unit(say, calc, equation)
    else:
        say.say("[we can calculate |we compute |we work out |we find ]")
        say.tokens.append(equation)
        say.say("[, so |, and so |; ]")
        _clause(say, calc, value, step)
    say.tokens.append(".")


def _clause(say: Wording, calc: Calc, hole: Slot, step: int) -> None:
    start = len(say.tokens)
    say.say(calc.clause, step)
    for k in range(start, len(say.tokens)):
        token = say.tokens[k]
        if isinstance(token, str) and "@" in token:
            before, _, after = token.partition("@")
            say.tokens[k : k + 1] = [before, hole, after]
            return
    raise AssertionError(f"no @ in {calc.clause!r}")


def _with_unit(say: Wording, calc: Calc, equation: Slot) -> None:
    say.tokens.append(equation)
    if calc.unit != "$":
        say.say(" " + calc.unit)


def _direct(say: Wording, calc: Calc, step: int) -> None:
    text = DIRECT[calc.op].replace("{x}", "{." + calc.x + "}").replace("{y}", "{." + calc.y + "}")
    start = len(say.tokens)
    say.say(text)
    for k in range(start, len(say.tokens)):
        token = say.tokens[k]
        if isinstance(token, Slot) and token.name.startswith("."):
            say.tokens[k] = Slot(token.name, token.form, step)
