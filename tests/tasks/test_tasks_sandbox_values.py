"""What a sandboxed program tells: without loss, and never more than data."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.sandbox_runner import encode, type_name
from tasks.sandbox_values import READERS, Opaque, decode, read_answer, read_output

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 3).map(lambda n: (-3) ** (n * 5000)),
    st.floats(allow_nan=False),
    st.text(),
    st.complex_numbers(allow_nan=False),
    st.binary(),
    st.fractions(),
)
hashable = st.recursive(
    plain,
    lambda parts: st.lists(parts, max_size=3).map(tuple) | st.frozensets(parts, max_size=3),
    max_leaves=6,
)
values = st.recursive(
    hashable | st.sets(hashable, max_size=4),
    lambda parts: (
        st.lists(parts, max_size=4)
        | st.lists(parts, max_size=4).map(tuple)
        | st.dictionaries(hashable, parts, max_size=4)
    ),
    max_leaves=10,
)


def same(one: object, other: object) -> bool:
    """Equal with the same types all the way down."""
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, list | tuple):
        return all(same(a, b) for a, b in zip(one, other, strict=True))  # type: ignore[arg-type]
    if isinstance(one, dict):
        return all(same(part, other[key]) for key, part in one.items())  # type: ignore[index]
    return True


@given(values)
@settings(deadline=None)
def test_outputs_are_told_without_loss(value: object) -> None:
    assert same(decode(json.loads(json.dumps(encode(value)))), value)


def test_outputs_of_other_types() -> None:
    class Loose(list[int]):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    assert decode(encode(Loose([1]))) == [1] != decode(encode(Loose([2])))
    assert type_name(Loose()) == f"{__name__}.{Loose.__qualname__.rpartition('.')[2]}"
    assert math.isnan(decode(json.loads(json.dumps(encode(math.nan)))))  # type: ignore[arg-type]
    assert decode(encode(bytearray(b"x"))) == b"x"
    assert decode(encode(Fraction(1, 3))) == Fraction(1, 3)
    opaque = decode(encode(object()))
    assert isinstance(opaque, Opaque)
    assert opaque != opaque


forged = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(READERS)), parts, min_size=1, max_size=1)
        | st.dictionaries(st.text(max_size=2), parts, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.binary()
    | st.text().map(str.encode)
    | forged.map(lambda value: b"0 0.0 " + json.dumps(["complex", value]).encode())
)
@settings(max_examples=500)
def test_any_line_is_an_answer_or_a_value_error(line: bytes) -> None:
    with suppress(ValueError):
        read_answer(line).output()


@pytest.mark.parametrize(
    "told",
    [
        b"[" * 10**6,
        b'["int", {"i": "zz"}]',
        b'["int", {"q": ["1", "0"]}]',
        b'["set", {"s": [[]]}]',
        b'["complex", {"c": []}]',
        b'["complex", {"c": {"a": 1}}]',
        b'["x", {"q": []}]',
        b'["x", {"a": 1, "b": 2}]',
        b'["x", {}]',
        b'["x", {"__class__": "os"}]',
        b'["int", ' + b"9" * 10**5 + b"]",
        b"[1]",
        b"null",
    ],
)
def test_hostile_outputs_are_value_errors(told: bytes) -> None:
    with pytest.raises(ValueError, match="unreadable output"):
        read_output(told)
