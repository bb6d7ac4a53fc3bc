"""Reading what a sandboxed program told, as data: the inverse of `sandbox_runner.encode`.

The lines come from a hostile process. Reading one makes plain Python values and nothing else;
a line or an output that is not of the agreed form is a `ValueError`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, cast

#: What hostile values raise where they are read or compared.
FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError)


class Opaque:
    """An output without an encoding. It equals nothing, not even itself."""

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


class Output(NamedTuple):
    """A value and the full name of the type it had in the program."""

    type_name: str
    value: object


@dataclass(frozen=True, slots=True)
class Answer:
    """One output as it was told, or the error that came instead of it."""

    index: int
    cpu_s: float
    told: bytes
    error: str | None

    def output(self) -> Output:
        """The output; a `ValueError` if what was told is none."""
        return read_output(self.told)


def read_answer(line: bytes) -> Answer:
    """The answer in a line, its output not read yet."""
    index, cpu_s, told = line.split(b" ", 2)
    if cpu_s == b"error":
        return Answer(int(index), 0.0, told, told[:100].decode(errors="replace").strip('"'))
    return Answer(int(index), float(cpu_s), told, None)


def read_output(told: bytes) -> Output:
    """The output that was told."""
    try:
        name, value = json.loads(told)
        return Output(str(name), decode(value))
    except FAULTS as error:
        raise ValueError(f"unreadable output: {type(error).__name__}") from error


def decode(told: object) -> object:
    """The Python value that was told."""
    if isinstance(told, list):
        return [decode(part) for part in cast("list[object]", told)]
    if isinstance(told, dict):
        ((tag, content),) = cast("dict[str, Any]", told).items()
        if tag not in READERS:
            raise ValueError(f"unknown tag {tag!r}")
        return READERS[tag](content)
    return told


def _pairs(content: Any) -> dict[Any, Any]:
    return {decode(key): decode(value) for key, value in content}


READERS: dict[str, Callable[[Any], object]] = {
    "i": lambda content: int(content, 16),
    "t": lambda content: tuple(decode(part) for part in content),
    "s": lambda content: {decode(part) for part in content},
    "f": lambda content: frozenset(decode(part) for part in content),
    "d": _pairs,
    "c": lambda content: complex(float(content[0]), float(content[1])),
    "b": lambda content: bytes.fromhex(content),
    "q": lambda content: Fraction(int(content[0], 16), int(content[1], 16)),
    "o": lambda content: Opaque(),
}
