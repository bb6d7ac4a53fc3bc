"""Decoders by name, and the text form of a decoder with its parameters.

`greedy-confidence(tau=0.9,rule=cumulative,block=8)` names a decoder fully; what it leaves out
takes the default, and `block` the run's. A decoder of your own is `package.module:Class(...)`: a
frozen dataclass with the methods of `decoders.protocol.Decoder`.
"""

import dataclasses
import difflib
import importlib
import re
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from decoders.protocol import Decoder
from decoders.sampling import Sampling

DECODERS = {
    "ar": "decoders.ar:Autoregressive",
    "block-ar": "decoders.block_ar:BlockAutoregressive",
    "greedy-confidence": "decoders.confidence:GreedyConfidence",
    "entropy": "decoders.confidence:Entropy",
    "self-speculative": "decoders.self_speculative:SelfSpeculative",
}
SPEC = re.compile(r"\s*([\w.:-]+)\s*(?:\((.*)\))?\s*")
# Filled in from the model, never from a spec.
FROM_MODEL = "mask_token_id"
# What the loop asks of a decoder, in the order of the protocol.
MEMBERS = (
    *get_type_hints(Decoder),
    *(member for member in vars(Decoder) if not member.startswith("_")),
)
# Shown in a spec only where they differ from the default.
OPTIONAL = ("temperature", "top_p", "top_k", "seed", "draft_tau", "slot_budget")


def split_specs(text: str) -> list[str]:
    """`ar,entropy(tau=0.9,block=8)` -> its specs: commas inside parentheses don't separate."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def decoder_class(name: str) -> type[Any]:
    """The class behind a name; an unknown one is a ValueError that offers the nearest."""
    target = DECODERS.get(name, name if ":" in name else "")
    if not target:
        near = difflib.get_close_matches(name, DECODERS, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown decoder {name!r}; known are {', '.join(DECODERS)}{hint}")
    if re.fullmatch(r"\w+(\.\w+)*:\w+", target) is None:
        raise ValueError(f"decoder {name!r} is malformed; one of your own is package.module:Class")
    module, _, attribute = target.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    # A user's module may raise anything.
    except Exception as error:
        raise ValueError(
            f"decoder {name!r} can't be imported: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(found, type) or not dataclasses.is_dataclass(found):
        raise ValueError(f"decoder {name!r} is not a dataclass with the methods of a Decoder")
    return found


def parameters(cls: type[Any]) -> dict[str, Any]:
    """The parameters that a spec may give, with their defaults (`...` for the run's block);
    those of sampling come last."""
    of_sampling = {field.name for field in dataclasses.fields(Sampling)}
    return {
        field.name: ... if field.default is dataclasses.MISSING else field.default
        for field in sorted(dataclasses.fields(cls), key=lambda field: field.name in of_sampling)
        if field.name != FROM_MODEL
    }


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """A spec's name and its parameters as text."""
    match = SPEC.fullmatch(text)
    if match is None:
        raise ValueError(f"decoder {text!r} is malformed; write name(parameter=value,...)")
    given: dict[str, str] = {}
    for part in filter(None, (match[2] or "").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key in given:
            raise ValueError(f"decoder {text!r}: {part.strip()!r} must be parameter=value, once")
        given[key] = value
    return match[1], given


def build_decoder(spec: str, *, default_block: int, mask_token_id: int | None) -> Decoder:
    """The decoder that a spec names.

    mask_token_id: the model's, None for an autoregressive model (which only decoders without
        windows run on; `generate` refuses the others).
    Raises ValueError for an unknown name, parameter or value.
    """
    name, given = parse_spec(spec)
    cls = decoder_class(name)
    known = parameters(cls)
    types = get_type_hints(cls)
    for key in given:
        if key not in known:
            greedy = " (it is greedy)" if key == "temperature" else ""
            takes = ", ".join(known) or "none"
            raise ValueError(f"{name} has no parameter {key!r}{greedy}; its parameters: {takes}")
    values = {key: _converted(spec, key, text, types[key]) for key, text in given.items()}
    if "block" in known:
        values.setdefault("block", default_block)
        if values["block"] < 2:
            raise ValueError(f"{name}: block is {values['block']}; it must be at least 2")
    if missing := [key for key, default in known.items() if default is ... and key not in values]:
        raise ValueError(f"decoder {spec!r} must give {', '.join(missing)}")
    if FROM_MODEL in types:
        values[FROM_MODEL] = -1 if mask_token_id is None else mask_token_id
    try:
        decoder = cls(**values)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    # A user's class may raise anything.
    except Exception as error:
        raise ValueError(f"{name}: {type(error).__name__}: {error}") from None
    for member in MEMBERS:
        if not _has(decoder, member):
            raise ValueError(
                f"decoder {name!r} has no {member!r}; a decoder has {', '.join(MEMBERS)}:"
                " see decoders/protocol.py"
            )
    return decoder


def spec_of(decoder: Decoder) -> str:
    """The full, canonical spec: every parameter but those of OPTIONAL left at their default."""
    cls = type(decoder)
    target = f"{cls.__module__}:{cls.__qualname__}"
    name = next((name for name, known in DECODERS.items() if known == target), target)
    shown = [
        f"{key}={getattr(decoder, key)}"
        for key, default in parameters(cls).items()
        if key not in OPTIONAL or getattr(decoder, key) != default
    ]
    return f"{name}({','.join(shown)})" if shown else name


def expand(specs: Iterable[str], taus: Iterable[float]) -> list[str]:
    """`all` and sweeps spelled out: every decoder, and every tau for those that take one and for
    which the spec gives none."""
    taus = list(taus)
    expanded: list[str] = []
    for spec in specs:
        for single in DECODERS if spec == "all" else [spec]:
            name, given = parse_spec(single)
            takes_tau = "tau" in parameters(decoder_class(name)) and "tau" not in given
            if not (takes_tau and taus):
                expanded.append(single)
                continue
            for tau in taus:
                shown = {"tau": f"{tau}"} | given
                pairs = ",".join(f"{key}={value}" for key, value in shown.items())
                expanded.append(f"{name}({pairs})")
    return list(dict.fromkeys(expanded))


def _has(decoder: object, member: str) -> bool:
    """Whether a decoder has a member of its own, not just what the protocol leaves empty."""
    left_empty = vars(Decoder).get(member)
    own = left_empty is None or getattr(type(decoder), member, None) is not left_empty
    return own and hasattr(decoder, member)


def _converted(spec: str, key: str, text: str, kind: Any) -> Any:
    """A parameter's text as its declared type."""
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            choices = ", ".join(get_args(kind))
            raise ValueError(f"decoder {spec!r}: {key} is {text!r}; it must be one of {choices}")
        return text
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"decoder {spec!r}: {key} is {text!r}; it must be true or false")
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError:
        wanted = "an integer" if kind is int else "a number" if kind is float else kind.__name__
        raise ValueError(f"decoder {spec!r}: {key} is {text!r}; it must be {wanted}") from None
