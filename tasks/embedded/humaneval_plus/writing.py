"""From a family to a problem: a sketch with every wording chosen, then what fills it.

The sketch is the template: family, parts and every choice of words. What fills it are the
function's signature and the constants. So a docstring of one split, or a composition of parts in
the words of that split, is in no problem of the other one, whatever it is filled with.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tasks.embedded.humaneval_plus.family import Arg, Constant, Family
from tasks.embedded.humaneval_plus.inputs import KINDS, calls
from tasks.embedded.problem import Problem
from tasks.item import Message

SLOT = re.compile(r"@([a-z]+)")
OPTION = re.compile(r"\{([^{}]*)\}|@([a-z]+)")
EXAMPLE_SHARE = 0.3
HINT_SHARE = 0.25
MAX_EXAMPLE_CHARS = 60
MAX_PROMPT_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A family with its parts and words chosen; slots for arguments and constants are left."""

    family: Family
    template: str
    doc: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A sketch that is filled: the function's code and what was drawn for it."""

    name: str
    signature: str
    doc: str
    body: str
    constants: Mapping[str, Constant]
    filling: str


def sketch(rng: random.Random, family: Family) -> Sketch:
    """Choose a wording and an option of each group of parts."""
    picks: list[int] = []

    def choose(count: int) -> int:
        picks.append(int(rng.random() * count))
        return picks[-1]

    parts: dict[str, str] = {}
    for group in family.parts:
        parts |= group[choose(len(group))]
    words: dict[str, str] = {}

    def resolve(found: re.Match[str]) -> str:
        options, slot = found.groups()
        if options is not None:
            texts = options.split("|")
            return OPTION.sub(resolve, texts[choose(len(texts))])
        if slot not in parts:
            return f"@{slot}"
        if slot not in words:
            words[slot] = OPTION.sub(resolve, parts[slot])
        return words[slot]

    doc = OPTION.sub(resolve, family.docs[choose(len(family.docs))])
    template = f"{family.key}/{'.'.join(map(str, picks))}"
    return Sketch(family=family, template=template, doc=doc, parts=parts)


def fill(rng: random.Random, drawn: Sketch) -> Function:
    """Draw the names and the constants that the body or the docstring has slots for."""
    family = drawn.family
    values: dict[str, str] = dict(drawn.parts)
    for arg in family.args:
        values[arg.slot] = _new_name(rng, arg, values)
    body, name = family.body, _one(rng, family.names.split())
    body, name, doc = (_parts_in(text, drawn.parts) for text in (body, name, drawn.doc))
    needed = set(SLOT.findall(f"{body} {doc}"))
    constants: dict[str, Constant] = {}
    for slots, choices in family.constants.items():
        if needed.intersection(slots.split(",")):
            value = choices[int(rng.random() * len(choices))]
            chosen = value if isinstance(value, tuple) else (value,)
            constants.update(zip(slots.split(","), chosen, strict=True))
    values |= {slot: str(value) for slot, value in constants.items()}
    hinted = rng.random() < HINT_SHARE
    signature = _signature(_filled(name, values), family, values, hinted)
    return Function(
        name=_filled(name, values),
        signature=signature,
        doc=_filled(doc, values),
        body=_filled(body, values),
        constants=constants,
        filling=" ".join([signature, *map(str, constants.values())]),
    )


def write(rng: random.Random, drawn: Sketch, function: Function, subject: str) -> Problem | None:
    """The problem, or None where its prompt is too long."""
    args = drawn.family.args
    base, plus = calls(rng, args, list(function.constants.values()))
    lines = "".join(f"    {line}\n" for line in function.body.split("\n"))
    head = f'{function.signature}\n    """{function.doc}'
    prompt = f'{head}"""\n'
    if rng.random() < EXAMPLE_SHARE:
        example = _example(function.name, prompt + lines, base)
        if example:
            prompt = f'{head}\n{example}    """\n'
    if len(prompt) > MAX_PROMPT_CHARS:
        return None
    gold = {
        "prompt": prompt,
        "entry_point": function.name,
        "canonical_solution": lines,
        "base_input": base,
        "plus_input": plus,
        "atol": 0,
    }
    return Problem(
        messages=(Message(role="user", content=prompt),),
        answer=f"```python\n{lines}```",
        gold=json.dumps(gold),
        template=drawn.template,
        filling=function.filling,
        subject=subject,
        level=level(function.body),
    )


def varies(problem: Problem) -> bool:
    """Whether the function's results differ; where a drawn limit is silly, they may not."""
    gold = json.loads(problem.gold)
    scope: dict[str, object] = {}
    exec(gold["prompt"] + gold["canonical_solution"], scope)
    call = f"[{gold['entry_point']}(*inputs) for inputs in gold]"
    told = eval(call, scope, {"gold": gold["base_input"] + gold["plus_input"]})
    return len(set(map(repr, told))) > 1


def level(body: str) -> str:
    """How hard a function is to write, by its lines: one, up to four, or more."""
    lines = body.count("\n") + 1
    return "1" if lines == 1 else "2" if lines <= 4 else "3"


def _one(rng: random.Random, texts: list[str] | tuple[str, ...]) -> str:
    return texts[int(rng.random() * len(texts))]


def _new_name(rng: random.Random, arg: Arg, taken: Mapping[str, str]) -> str:
    """A name for an argument that no other argument has."""
    return _one(rng, [name for name in arg.names if name not in taken.values()])


def _parts_in(text: str, parts: Mapping[str, str]) -> str:
    """The text with what the parts bring, which may have slots of parts again."""
    while True:
        wider = SLOT.sub(lambda found: parts.get(found[1], found[0]), text)
        if wider == text:
            return text
        text = wider


def _filled(text: str, values: Mapping[str, str]) -> str:
    return SLOT.sub(lambda found: values[found[1]], text)


def _signature(name: str, family: Family, values: Mapping[str, str], hinted: bool) -> str:
    names = [values[arg.slot] for arg in family.args]
    if not hinted:
        return f"def {name}({', '.join(names)}):"
    hints = [f"{n}: {KINDS[arg.kind].hint}" for n, arg in zip(names, family.args, strict=True)]
    returns = _parts_in(family.returns, values)
    return f"def {name}({', '.join(hints)}) -> {returns}:"


def _example(name: str, source: str, inputs: list[list[object]]) -> str:
    """The lines of the first call that is short, run on our own code; empty if none is."""
    scope: dict[str, object] = {}
    exec(source, scope)
    for call in inputs:
        shown = f"    >>> {name}({', '.join(map(repr, call))})\n"
        if len(shown) <= MAX_EXAMPLE_CHARS:
            told = repr(eval(f"{name}(*call)", scope, {"call": call}))
            return shown + f"    {told}\n" if len(told) <= MAX_EXAMPLE_CHARS else ""
    return ""
