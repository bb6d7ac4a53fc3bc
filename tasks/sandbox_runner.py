"""Runs inside the sandbox: loads one program, calls it on every input, tells the outputs.

Nothing here decides anything. This process belongs to the program, which may change all of it;
what it writes are outputs and no verdicts, and the process outside compares them with outputs
that never enter the sandbox. Standard library only: the source is handed to a bare interpreter.

Standard input holds two lines of JSON: the settings, then the list of inputs. Standard output
gets lines: `ready`, then per input `INDEX CPU_S [TYPE, OUTPUT]`, or `INDEX error NAME` and no
more (index -1: the program did not load). Type, output and name are JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from types import ModuleType
from typing import Any, cast

FLUSH_AFTER_S = 0.01
#: Python writes no longer integers in decimal.
LONG_INT = 10**4000
QUICK: set[type] = {str, float, bool, type(None)}
NUMBERS: set[type] = {int, float, bool}
BASES: tuple[type, ...] = (str, int, float, complex, bytes, list, tuple, dict, set, frozenset)


def encode(value: Any) -> object:
    """An output as JSON that keeps apart what Python's equality keeps apart.

    An instance of a subclass is told as its base; what has no encoding equals nothing.
    """
    kind = cast("type[Any]", type(value))
    if value is None or kind in (bool, str, float):
        return value
    if kind is int:
        return value if -LONG_INT < value < LONG_INT else {"i": hex(value)}
    if kind is list:
        return _encode_all(value)
    if kind in (tuple, set, frozenset):
        return {kind.__name__[0]: _encode_all(list(value))}
    if kind is dict:
        return {"d": [[encode(key), encode(part)] for key, part in value.items()]}
    if kind is complex:
        return {"c": [value.real, value.imag]}
    if kind in (bytes, bytearray):
        return {"b": value.hex()}
    return _encode_other(value, kind)


def _encode_all(values: list[Any]) -> list[object]:
    """The encoding of each value; quick where all are plain, as in lists of a million numbers."""
    kinds = set(map(type, values))
    if kinds <= QUICK:
        return values
    if kinds <= NUMBERS and min(values) > -LONG_INT and max(values) < LONG_INT:
        return values
    return [encode(value) for value in values]


def _encode_other(value: Any, kind: type[Any]) -> object:
    for base in BASES:
        if isinstance(value, base):
            return encode(cast("Callable[[Any], Any]", base)(value))
    if kind.__module__ == "fractions" or (
        kind.__module__ == "decimal" and value.is_finite() and abs(value.adjusted()) < 400
    ):
        upper, lower = value.as_integer_ratio()
        return {"q": [hex(upper), hex(lower)]}
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == () and kind is not object:
        return encode(value.item())
    return {"o": kind.__name__}


def type_name(value: object) -> str:
    """The full name of an output's own type."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


class Teller:
    """Writes lines to the answer pipe, late by a hundredth of a second at most."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: list[str] = []
        self._flushed = perf_counter()

    def tell(self, line: str, now: bool = False) -> None:
        self._lines.append(line + "\n")
        if now or perf_counter() - self._flushed > FLUSH_AFTER_S:
            self.flush()

    def flush(self) -> None:
        rest = "".join(self._lines).encode()
        self._lines.clear()
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self._flushed = perf_counter()


def confine(settings: dict[str, Any]) -> None:
    """Become the powerless user, if there is one to become, and take on the limits for good."""
    if settings["uid"] is not None:
        os.setgroups([])
        os.setresgid(settings["uid"], settings["uid"], settings["uid"])
        os.setresuid(settings["uid"], settings["uid"], settings["uid"])
    for name, value in settings["limits"].items():
        number = getattr(resource, "RLIMIT_" + name, None)
        if number is not None:
            _, most = resource.getrlimit(number)
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(number, (value, value))


def load(settings: dict[str, Any]) -> Callable[..., object]:
    """The entry point of the program, run as a module of its own."""
    module = ModuleType("program")
    sys.modules["program"] = module
    exec(compile(settings["program"], "<program>", "exec"), module.__dict__)
    return module.__dict__[settings["entry_point"]]


def work(settings: dict[str, Any], inputs: list[list[object]], teller: Teller) -> None:
    """Tell the output of every input, up to the first that fails."""
    index = -1
    try:
        function = load(settings)
        for index, arguments in enumerate(inputs):
            began_s = process_time()
            output = function(*arguments)
            told = json.dumps([type_name(output), encode(output)])
            teller.tell(f"{index} {process_time() - began_s:.6f} {told}")
    except BaseException as error:
        teller.tell(f"{index} error {json.dumps(type(error).__name__[:100])}")
    teller.flush()


def main() -> None:
    with open(0, "rb", closefd=False) as stream:
        settings, inputs = (json.loads(line) for line in stream)
    teller = Teller(os.dup(1))
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    sys.path.extend(settings["path"])
    confine(settings)
    teller.tell("ready", now=True)
    try:
        work(settings, inputs, teller)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
