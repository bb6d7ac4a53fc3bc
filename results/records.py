"""What is kept of one sample: who produced it, how it was scored, what it cost.

A record is one line of `samples/<task>/<decoder>.jsonl` and the only source of every number in a
summary. A sample that failed is a record too: it carries its `error` and no measurement at all, so
nothing of it can enter an average as a zero.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypedDict, cast, get_args

SCHEMA = 1

ExtractedBy = Literal["boxed", "marker", "filter", "fallback", "none"]
Finish = Literal["eos", "stop", "length"]


class Forwards(TypedDict):
    """How many forwards a sample took part in, by kind."""

    prefill: int
    decode: int


class SampleKey(NamedTuple):
    """What makes a record unique within a run."""

    task: str
    item_id: str
    decoder: str
    batch_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRecord:
    """One item under one decoder. Everything after `error` is None exactly when `error` is set,
    but for `answer`, which is also None when the text holds no answer."""

    task: str
    """Task name, such as `gsm8k` or `lm_eval:NAME`."""
    source: str
    """Where the item comes from: `embedded`, `official` or `lm_eval`."""
    model: str
    """The model as named on the command line."""
    item_id: str
    """The item's name within its task."""
    decoder: str
    """Full decoder spec, such as `entropy(tau=0.9,rule=per-token,block=4)`."""
    batch_size: int
    """Rows the engine decodes at once."""
    error: str | None = None
    """Why there is no result, or None."""
    correct: bool | None = None
    """Whether the task's scorer accepts the answer."""
    answer: str | None = None
    """The answer extracted from the text."""
    extracted_by: ExtractedBy | None = None
    """The rule that found the answer."""
    finished: bool | None = None
    """Whether generation ended by itself rather than by the budget."""
    finish: Finish | None = None
    """Why generation ended."""
    text: str | None = None
    """The generated text."""
    ids: list[int] | None = None
    """The generated ids, trimmed: no end token, nothing past a stop string or the budget."""
    prompt_tokens: int | None = None
    """Tokens of the prompt."""
    kept: list[int] | None = None
    """Tokens kept by each forward, in order; the prefill comes first, a long one in several."""
    forwards: Forwards | None = None
    """Forwards this sample took part in."""
    query_slots: int | None = None
    """Every query slot fed for this sample, those of the prompt included."""
    wall_s: float | None = None
    """Latency from admission to the last id."""
    compute_s: float | None = None
    """Its share of the forwards' time: each step's time divided among the rows active in it.
    At batch size 1 this is `wall_s`."""
    first_token_s: float | None = None
    """From admission to the first id."""
    details: dict[str, bool | float | str] | None = None
    """What else the scorer said: verdicts on parts, further metrics."""

    def __post_init__(self) -> None:
        for name, rule in _IDENTITY.items():
            _check(name, getattr(self, name), rule)
        if self.error is not None:
            _check("error", self.error, _STRING)
            filled = [name for name in _MEASURED if getattr(self, name) is not None]
            if filled or self.answer is not None:
                got = ", ".join(filled) or "answer"
                raise ValueError(f"a failed sample has no measurements, got {got}: leave them out")
            return
        for name, rule in _MEASURED.items():
            _check(name, getattr(self, name), rule)
        if self.answer is not None:
            _check("answer", self.answer, _STRING)
        _check_consistent(self)

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.task, self.item_id, self.decoder, self.batch_size)

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SampleRecord":
        """The record of a JSON object; a missing, unknown or ill-typed key is an error."""
        expected = {field.name for field in fields(cls)}
        if missing := sorted(expected - data.keys()):
            raise ValueError(f"sample record lacks {', '.join(missing)}")
        if unknown := sorted(data.keys() - expected):
            raise ValueError(f"sample record has unknown {', '.join(unknown)}")
        return cls(**data)


class _Rule(NamedTuple):
    accepts: Callable[[Any], bool]
    words: str


def _check(name: str, value: object, rule: _Rule) -> None:
    if not rule.accepts(value):
        raise ValueError(f"sample record: {name} is {value!r:.80}, expected {rule.words}")


def _check_consistent(record: SampleRecord) -> None:
    """The counts that statistics take from different fields must tell the same story."""
    assert record.ids is not None, "checked by the caller"
    assert record.kept is not None, "checked by the caller"
    assert record.forwards is not None, "checked by the caller"
    if sum(record.kept) != len(record.ids):
        raise ValueError(
            f"sample record: kept sums to {sum(record.kept)} for {len(record.ids)} ids, "
            "expected the same number: trim kept with the ids"
        )
    forwards = record.forwards["prefill"] + record.forwards["decode"]
    if len(record.kept) != forwards:
        raise ValueError(
            f"sample record: kept has {len(record.kept)} entries for {forwards} forwards, "
            "expected one each"
        )
    if record.finished != (record.finish != "length"):
        raise ValueError(
            f"sample record: finished is {record.finished} but finish is {record.finish!r}, "
            "expected finished to be False exactly for 'length'"
        )


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_size(value: object) -> bool:
    return _is_count(value) and value != 0


def _is_counts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_count, cast("list[object]", value)))


def _is_forwards(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    counts = cast("dict[object, object]", value)
    return counts.keys() == {"prefill", "decode"} and all(map(_is_count, counts.values()))


def _is_details(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    given = cast("dict[object, object]", value)
    return all(isinstance(name, str) and _is_detail(said) for name, said in given.items())


def _is_detail(value: object) -> bool:
    return isinstance(value, bool | str | int) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _is_seconds(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0


def _one_of(choices: tuple[str, ...]) -> _Rule:
    def accepts(value: object) -> bool:
        return value in choices

    return _Rule(accepts, f"one of {', '.join(choices)}")


_STRING = _Rule(_is_string, "a string")
_BOOL = _Rule(_is_bool, "true or false")
_COUNT = _Rule(_is_count, "a whole number, 0 or more")
_COUNTS = _Rule(_is_counts, "a list of whole numbers, 0 or more")
_SECONDS = _Rule(_is_seconds, "a finite number of seconds, 0 or more")
_NAME = _Rule(_is_name, "a non-empty string")

_IDENTITY = {
    **dict.fromkeys(("task", "source", "model", "item_id", "decoder"), _NAME),
    "batch_size": _Rule(_is_size, "a whole number above 0"),
}
_MEASURED = {
    "correct": _BOOL,
    "extracted_by": _one_of(get_args(ExtractedBy)),
    "finished": _BOOL,
    "finish": _one_of(get_args(Finish)),
    "text": _STRING,
    "ids": _COUNTS,
    "prompt_tokens": _COUNT,
    "kept": _COUNTS,
    "forwards": _Rule(_is_forwards, 'counts {"prefill": n, "decode": n}'),
    "query_slots": _COUNT,
    "wall_s": _SECONDS,
    "compute_s": _SECONDS,
    "first_token_s": _SECONDS,
    "details": _Rule(_is_details, "names with truth values, finite numbers or strings"),
}
