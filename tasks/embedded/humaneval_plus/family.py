"""What a family of functions is: names, arguments, wordings and one body, with slots to fill.

Two marks stand in these texts. `{a|b}` in a docstring is a choice between wordings. `@slot` stands
for an argument's name, a constant, or a text that a part brings. Slots have lower-case letters
only, so that `@red_@which` holds two of them.

    Family(
        key="power",
        names="power raised",
        args=(NUMBER,),
        returns="int",
        docs=("{Return|Compute} @n to the power @k.",),
        body="return @n ** @k",
        constants={"k": range(2, 6)},
    )
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

Part = Mapping[str, str]
Constant = int | str
#: A constant's choices; a slot `lo,hi` draws several constants at once, as tuples.
Choices = Sequence[Constant] | Sequence[tuple[Constant, ...]]


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument: its slot, the kind of its values (`inputs.KINDS`), the names it may have."""

    slot: str
    kind: str
    names: tuple[str, ...]

    def of(self, kind: str) -> Arg:
        """The same argument with values of another kind."""
        return Arg(self.slot, kind, self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Functions that are told and written alike.

    names: the function's names, separated by spaces. returns: the type, for hints. parts: groups
    of which each gives one option; an option brings texts for slots. constants: what may be
    drawn for a slot. weight: how often the family is drawn, against others.
    """

    key: str
    names: str
    args: tuple[Arg, ...]
    returns: str
    docs: tuple[str, ...]
    body: str
    parts: tuple[tuple[Part, ...], ...] = ()
    constants: Mapping[str, Choices] = field(default_factory=dict[str, Choices])
    weight: int = 1


def code(text: str) -> str:
    """A body of several lines as written in a module: without margin and outer line breaks."""
    return dedent(text).strip("\n")


LIST_NAMES = ("xs", "nums", "values", "seq", "data", "items")
OTHER_NAMES = ("ys", "others", "more", "second", "extra")
NUMBER_NAMES = ("n", "num", "value", "amount", "m")
STRING_NAMES = ("s", "msg", "title", "phrase", "line")
WORDS_NAMES = ("ws", "names", "labels", "terms", "tokens")
DICT_NAMES = ("d", "table", "scores", "stock", "mapping")

NUMBERS = Arg("xs", "ints", LIST_NAMES)
OTHERS = Arg("ys", "ints", OTHER_NAMES)
NUMBER = Arg("n", "int", NUMBER_NAMES)
NATURAL = NUMBER.of("natural")
POSITIVE = NUMBER.of("positive")
FIRST = Arg("a", "int", ("a", "p", "u"))
SECOND = Arg("b", "int", ("b", "q", "v"))
STRING = Arg("s", "word", STRING_NAMES)
SENTENCE = STRING.of("sentence")
WORDS = Arg("ws", "words", WORDS_NAMES)
DICT = Arg("d", "counts", DICT_NAMES)
