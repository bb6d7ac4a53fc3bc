"""When an output counts as right: evalplus's rules for HumanEval+; nothing else imports evalplus.

Used of it: its constants, its notion of floats, and its oracle for `find_zero`, which has more
than one right answer. Its runner is not used: there the program shares an interpreter, and memory,
with the comparison and its verdict.

The rule: equal by Python's equality, or of the same type and length and close (relative 1e-7,
absolute the item's tolerance; 1e-6 from the first expected float on where the item has none).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from typing import Any, NamedTuple, cast

from tasks.sandbox_values import FAULTS, Answer, Output, read_output

RELATIVE_TOLERANCE = 1e-7
FLOAT_TOLERANCE = 1e-6
ORACLE_ENTRY_POINT = "find_zero"
OPAQUE = b'{"o": '
FLOAT_TYPES = (b'["float"', b'["list", [', b'["tuple"')
FLOAT_MARKS = (b".", b"e", b"N", b"I")
#: Outputs longer than this are kept compressed.
LONG_BYTES = 1 << 14


class Rules(NamedTuple):
    """What is taken from evalplus."""

    min_time_limit_s: float
    time_limit_factor: float
    is_floats: Callable[[Any], bool]
    polynomial: Callable[..., float]


def load_rules() -> Rules:
    """evalplus's rules. Importing evalplus opens no connection; its data is not asked for."""
    try:
        config = import_module("evalplus.config")
        judge = import_module("evalplus.eval")
        oracles = import_module("evalplus.eval._special_oracle")
    except ImportError as error:
        raise ValueError(
            f"humaneval_plus needs the package evalplus (pip install evalplus): {error}"
        ) from error
    return Rules(
        config.DEFAULT_MIN_TIME_LIMIT,
        config.DEFAULT_GT_TIME_LIMIT_FACTOR,
        judge.is_floats,
        oracles._poly,
    )


class Expected(NamedTuple):
    """The right output for one input, packed: a few items have outputs of many megabytes."""

    digest: bytes
    packed: bytes
    line_bytes: int
    atol: float
    cpu_s: float
    oracle: bool
    """Whether evalplus's oracle decides, and not equality."""

    def output(self) -> Output:
        """The output itself."""
        long = self.line_bytes > LONG_BYTES
        return read_output(zlib.decompress(self.packed) if long else self.packed)


def expect(rules: Rules, entry_point: str, atol: float, answer: Answer) -> Expected:
    """Keep a reference's answer; `atol` is the tolerance that held for the answer before."""
    if OPAQUE in answer.told:
        raise RuntimeError(f"the reference solution of {entry_point} returns no plain value")
    floats = _may_be_floats(answer.told) and rules.is_floats(answer.output().value)
    long = len(answer.told) > LONG_BYTES
    return Expected(
        digest=sha256(answer.told).digest(),
        packed=zlib.compress(answer.told, level=1) if long else answer.told,
        line_bytes=len(answer.told),
        atol=FLOAT_TOLERANCE if atol == 0 and floats else atol,
        cpu_s=answer.cpu_s,
        oracle=entry_point == ORACLE_ENTRY_POINT,
    )


def _may_be_floats(told: bytes) -> bool:
    """Whether it is worth reading an output to see if it is a float, or floats only."""
    return told.startswith(FLOAT_TYPES) and any(mark in told for mark in FLOAT_MARKS)


def is_right(rules: Rules, inputs: Sequence[Any], expected: Expected, answer: Answer) -> bool:
    """Whether an output is right. An output that breaks the comparison is not."""
    if not expected.oracle and sha256(answer.told).digest() == expected.digest:
        return True
    try:
        return _matches(rules, inputs, expected, answer)
    except FAULTS:
        return False


def _matches(rules: Rules, inputs: Sequence[Any], expected: Expected, answer: Answer) -> bool:
    import numpy

    got, wanted = answer.output(), expected.output()
    value, right = cast("Any", got.value), cast("Any", wanted.value)
    if expected.oracle:
        return abs(rules.polynomial(*inputs, value)) <= expected.atol
    if bool(value == right):
        return True
    if expected.atol == 0 or got.type_name != wanted.type_name:
        return False
    if isinstance(wanted.value, list | tuple) and len(value) != len(cast("list[Any]", right)):
        return False
    return bool(numpy.allclose(value, right, rtol=RELATIVE_TOLERANCE, atol=expected.atol))
