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


MACHINE_FACTS = {
    "other_load": "share of the usable cores that other programs took, within 0-1",
    "cpu_mhz": "clock of the usable cores, their mean",
    "gpu_mhz": "clock of the GPU",
    "gpu_celsius": "temperature of the GPU",
    "peak_memory_bytes": "most memory that tensors took on the GPU, the model included",
    "energy_j": "energy that the GPU, else the processor packages, used for this sample",
}


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
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRecord:
    """One item under one decoder. Everything after `error` is None exactly when `error` is set,
    but for `answer`, which is also None when the text holds no answer."""

    task: str
    """Task name, such as `gsm8k` or `lm_eval:NAME`."""
    source: str
    """Where the item comes from: `embedded`, `official` or `lm_eval`."""
    model: str
    """The model as named on the command line. A decoder `ar(model=…)` is that model's, which the
    run has measured beside its own."""
    item_id: str
    """The item's name within its task."""
    decoder: str
    """Full decoder spec, such as `entropy(tau=0.9,rule=per-token,block=4)`."""
    batch_size: int
    """Rows the engine decodes at once."""
    repeat: int = 0
    """Which of several measurements of the same sample this is, from 0."""
    fixed_length: int | None = None
    """The number of ids that every answer was decoded to, whatever ended in it; such answers are
    not scored, so `correct` and `extracted_by` are None. Else None."""
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
    prefill_s: float | None = None
    """The part of `compute_s` that went into prefill. None in records of before it was kept."""
    machine: dict[str, float] | None = None
    """What the machine said meanwhile, under the names of `MACHINE_FACTS`, as far as it says such
    things. None in records of before it was kept."""
    details: dict[str, bool | float | str] | None = None
    """What else the scorer said: verdicts on parts, further metrics."""

    def __post_init__(self) -> None:
        for name, rule in _IDENTITY.items():
            _check(name, getattr(self, name), rule)
        if self.error is not None:
            _check("error", self.error, _STRING)
            names = [*_MEASURED, *_MEASURED_IF_KNOWN]
            filled = [name for name in names if getattr(self, name) is not None]
            if filled or self.answer is not None:
                got = ", ".join(filled) or "answer"
                raise ValueError(f"a failed sample has no measurements, got {got}: leave them out")
            return
        unscored = _SCORED if self.fixed_length is not None else ()
        for name, rule in _MEASURED.items():
            if name not in unscored:
                _check(name, getattr(self, name), rule)
        for name, rule in _MEASURED_IF_KNOWN.items():
            if getattr(self, name) is not None:
                _check(name, getattr(self, name), rule)
        if self.answer is not None:
            _check("answer", self.answer, _STRING)
        _check_consistent(self)

    @property
    def key(self) -> SampleKey:
        return SampleKey(self.task, self.item_id, self.decoder, self.batch_size, self.repeat)

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SampleRecord":
        """The record of a JSON object; a missing, unknown or ill-typed key is an error.
        Keys that records did not always have may be missing."""
        expected = {field.name for field in fields(cls)}
        if missing := sorted(expected - data.keys() - _LATER):
            raise ValueError(f"sample record lacks {', '.join(missing)}")
        if unknown := sorted(data.keys() - expected):
            raise ValueError(f"sample record has unknown {', '.join(unknown)}")
        return cls(**data)


# Far beyond what is ever measured, so that no sum or ratio of such numbers is infinite.
_LEAST, _MOST = 1e-15, 1e18


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
    got = [name for name in _SCORED if getattr(record, name) is not None]
    if record.fixed_length is not None and (got or record.answer is not None):
        raise ValueError(
            f"sample record: {got[0] if got else 'answer'} is set with fixed_length "
            f"{record.fixed_length}, expected None: an answer that nothing ended is not scored"
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
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_size(value: object) -> bool:
    return _is_count(value) and value != 0


def _is_optional_size(value: object) -> bool:
    return value is None or _is_size(value)


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


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == 0 or _LEAST <= value <= _MOST


def _is_facts(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    given = cast("dict[object, object]", value)
    return all(name in MACHINE_FACTS and _is_amount(said) for name, said in given.items())


def _one_of(choices: tuple[str, ...]) -> _Rule:
    def accepts(value: object) -> bool:
        return value in choices

    return _Rule(accepts, f"one of {', '.join(choices)}")


_STRING = _Rule(_is_string, "a string")
_BOOL = _Rule(_is_bool, "true or false")
_COUNT = _Rule(_is_count, "a whole number, 0 to 1e18")
_COUNTS = _Rule(_is_counts, "a list of whole numbers, 0 to 1e18")
_SECONDS = _Rule(_is_amount, "a number of seconds, 0 or 1e-15 to 1e18")
_NAME = _Rule(_is_name, "a non-empty string")

_IDENTITY = {
    **dict.fromkeys(("task", "source", "model", "item_id", "decoder"), _NAME),
    "batch_size": _Rule(_is_size, "a whole number above 0"),
    "repeat": _COUNT,
    "fixed_length": _Rule(_is_optional_size, "None or a whole number above 0"),
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
_MEASURED_IF_KNOWN = {
    "prefill_s": _SECONDS,
    "machine": _Rule(_is_facts, f"numbers, 0 or 1e-15 to 1e18, under {', '.join(MACHINE_FACTS)}"),
}
_SCORED = ("correct", "extracted_by")
_LATER = {"repeat", "fixed_length", *_MEASURED_IF_KNOWN}
