"""Decoders by name: what a spec says, what it leaves out, and every way to get one wrong."""

import dataclasses
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders.protocol import Decoder
from decoders.registry import (
    DECODERS,
    build_decoder,
    decoder_class,
    expand,
    parameters,
    parse_spec,
    spec_of,
    split_specs,
)
from tests.fakes import SomeDecoder

MASK = 47


def build(spec: str) -> Decoder:
    return build_decoder(spec, default_block=4, mask_token_id=MASK)


FULL = {
    "ar": "ar",
    "block-ar": "block-ar(block=4)",
    "greedy-confidence": "greedy-confidence(tau=0.98,rule=per-token,block=4)",
    "entropy": "entropy(tau=0.98,rule=per-token,block=4)",
    "self-speculative": "self-speculative(verify=window,block=4)",
}


def test_the_full_specs():
    assert {name: spec_of(build(name)) for name in DECODERS} == FULL


def test_names_are_the_classes_own():
    for name in DECODERS:
        assert decoder_class(name).name == name


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_has_what_the_loop_asks_of_it(name: str):
    decoder = build(name)
    assert decoder.block == (1 if name == "ar" else 4)
    assert decoder.needs_windows == (name != "ar")
    most = {"ar": (1, 1), "block-ar": (1, 5), "self-speculative": (4, 20)}
    assert (decoder.keeps_most, decoder.max_slots) == most.get(name, (4, 8))
    assert decoder.samples_with is None
    assert decoder.promises_equal == (name not in ("greedy-confidence", "entropy"))
    assert decoder.reference == ("ar" if name == "ar" else "block-ar(block=4)")
    build(decoder.reference)


def test_causal_verification_is_compared_with_ar():
    assert build("self-speculative(verify=causal)").reference == "ar"


def test_a_spec_says_everything_and_the_run_fills_in_the_rest():
    spec = " greedy-confidence ( tau = 0.9 , rule=cumulative,block=8 ) "
    decoder = build(spec)
    assert spec_of(decoder) == "greedy-confidence(tau=0.9,rule=cumulative,block=8)"
    assert decoder.mask_token_id == MASK
    # Sampling shows where it is asked for.
    assert spec_of(build("entropy(seed=3,tau=0.5,temperature=0.7)")) == (
        "entropy(tau=0.5,rule=per-token,block=4,temperature=0.7,seed=3)"
    )


def test_an_autoregressive_model_has_no_mask_token():
    """`generate` refuses what needs one; naming it is no error."""
    decoder = build_decoder("block-ar", default_block=4, mask_token_id=None)
    assert decoder.mask_token_id == -1


def text_of(name: str, chosen: dict[str, Any]) -> str:
    pairs = ",".join(f"{key}={value}" for key, value in chosen.items())
    return f"{name}({pairs})" if pairs else name


VALUES = {
    "tau": st.floats(0, 1),
    "rule": st.sampled_from(["per-token", "cumulative"]),
    "verify": st.sampled_from(["window", "causal"]),
    "block": st.integers(2, 16),
    "temperature": st.just(0.0) | st.floats(1e-4, 5),
    "top_p": st.floats(0.01, 1),
    "top_k": st.integers(0, 50),
    "seed": st.integers(0, 10**9),
    "draft_tau": st.floats(0, 1),
    "slot_budget": st.integers(0, 10**4),
    "stride": st.integers(1, 9),
    "loud": st.booleans(),
}


@st.composite
def specs(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from([*DECODERS, "tests.fakes:SomeDecoder"]))
    known = list(parameters(decoder_class(name)))
    chosen = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    return text_of(name, {key: draw(VALUES[key]) for key in chosen})


@given(specs())
@settings(max_examples=100)
def test_specs_survive_the_round_trip(spec: str):
    decoder = build(spec)
    full = spec_of(decoder)
    assert build(full) == decoder
    assert spec_of(build(full)) == full
    # A full spec owes nothing to the run.
    assert build_decoder(full, default_block=9, mask_token_id=MASK) == decoder


@given(st.lists(specs(), max_size=4))
@settings(max_examples=50)
def test_a_list_of_specs_is_split_between_them(several: list[str]):
    assert split_specs(",".join(several)) == several
    assert split_specs(" , ".join([*several, ""])) == several


def test_parsing_a_spec():
    assert parse_spec("ar") == ("ar", {})
    assert parse_spec("ar()") == ("ar", {})
    assert parse_spec(" a.b:C( x = 1 ) ") == ("a.b:C", {"x": "1"})


def test_sweeps_are_spelled_out():
    assert expand(["all"], []) == list(DECODERS)
    assert expand(["ar", "entropy"], [0.5, 0.98]) == [
        "ar",
        "entropy(tau=0.5)",
        "entropy(tau=0.98)",
    ]
    assert expand(["all"], [0.5]) == [
        "ar",
        "block-ar",
        "greedy-confidence(tau=0.5)",
        "entropy(tau=0.5)",
        "self-speculative",
    ]
    assert expand(["entropy(tau=0.9)", "entropy(block=8)"], [0.5]) == [
        "entropy(tau=0.9)",
        "entropy(tau=0.5,block=8)",
    ]
    assert expand(["ar", "all", "ar"], []) == list(DECODERS)
    for spec in expand(["all"], [0.1, 0.25, 1]):
        build(spec)


def test_a_decoder_of_ones_own():
    decoder = build("tests.fakes:SomeDecoder(stride=5,loud=true,block=8)")
    assert isinstance(decoder, SomeDecoder)
    assert (decoder.stride, decoder.loud, decoder.block) == (5, True, 8)
    assert build("tests.fakes:SomeDecoder(loud=false)").loud is False
    full = spec_of(decoder)
    assert full.startswith("tests.fakes:SomeDecoder(")
    assert build(full) == decoder
    # A built-in one by its class is the built-in one.
    assert spec_of(build("decoders.ar:Autoregressive")) == "ar"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("entrpy", ["unknown decoder 'entrpy'", *DECODERS, "did you mean 'entropy'"]),
        ("self-spec", ["did you mean 'self-speculative'"]),
        ("zzz", ["unknown decoder 'zzz'", "ar, block-ar"]),
        ("entropy(tau=0.9", ["malformed", "name(parameter=value,...)"]),
        ("", ["malformed"]),
        ("a b", ["malformed"]),
        ("entropy(0.9)", ["'0.9' must be parameter=value"]),
        ("entropy(tau=0.9,tau=0.8)", ["'tau=0.8'", "once"]),
        ("entropy(gamma=1)", ["no parameter 'gamma'", "tau, rule, block, temperature"]),
        ("block-ar(tau=0.5)", ["no parameter 'tau'", "block"]),
        ("ar(block=4)", ["no parameter 'block'", "temperature"]),
        ("entropy(mask_token_id=3)", ["no parameter 'mask_token_id'"]),
        ("entropy(tau=high)", ["tau is 'high'", "a number"]),
        ("entropy(tau=1.5)", ["entropy", "tau is 1.5", "0...1"]),
        ("entropy(tau=nan)", ["tau is nan"]),
        ("entropy(rule=strict)", ["rule is 'strict'", "per-token, cumulative"]),
        ("entropy(block=4.5)", ["block is '4.5'", "an integer"]),
        ("entropy(block=1)", ["block is 1", "at least 2"]),
        ("entropy(temperature=-1)", ["temperature is -1.0"]),
        ("ar(temperature=1e-40)", ["temperature is 1e-40", "at least 0.0001"]),
        ("entropy(top_p=0)", ["top_p is 0.0"]),
        ("ar(top_k=-2)", ["top_k is -2"]),
        ("self-speculative(temperature=0.7)", ["no parameter 'temperature'", "it is greedy"]),
        ("block-ar(temperature=0.7)", ["no parameter 'temperature'", "it is greedy"]),
        ("self-speculative(verify=both)", ["verify is 'both'", "window, causal"]),
        ("tests.fakes:Missing", ["'tests.fakes:Missing' can't be imported", "Missing"]),
        ("no.such.module:X", ["'no.such.module:X' can't be imported", "no"]),
        ("tests.broken_module:X", ["can't be imported: ZeroDivisionError: division"]),
        ("tests.fakes:BrokenDecoder", ["BrokenDecoder: TypeError: no such thing"]),
        (":X", ["':X' is malformed", "package.module:Class"]),
        ("tests.fakes:", ["malformed"]),
        (".fakes:X", ["malformed"]),
        ("tests.fakes:NOT_A_DECODER", ["not a dataclass"]),
        ("tests.fakes:ScriptedModel", ["not a dataclass"]),
        ("tests.fakes:NeedyDecoder", ["must give width"]),
        ("tests.fakes:SomeDecoder(loud=loudly)", ["loud is 'loudly'", "true or false"]),
    ],
)
def test_what_is_wrong_with_a_spec_is_said(spec: str, words: list[str]):
    with pytest.raises(ValueError, match=r"\S") as caught:
        build(spec)
    for word in words:
        assert word in str(caught.value)


WHOLE: dict[str, Any] = {
    "name": "partial",
    "needs_windows": True,
    "block": 4,
    "keeps_most": 4,
    "max_slots": 8,
    "samples_with": None,
    "reference": "ar",
    "promises_equal": False,
    "propose": lambda self, rows: None,
    "accept": lambda self, rows, logits_BNV: None,
}


@pytest.mark.parametrize("bases", [(), (Decoder,)])
@pytest.mark.parametrize("member", WHOLE)
def test_a_class_that_lacks_a_member_of_a_decoder(
    member: str, bases: tuple[type, ...], monkeypatch: pytest.MonkeyPatch
):
    """A class that names the protocol as its base inherits no member from it."""
    members = {name: value for name, value in WHOLE.items() if name != member}
    for left, lacks in [(members, member), ({}, "name"), (WHOLE, None)]:
        partial = dataclasses.dataclass(type("Partial", bases, dict(left)))
        monkeypatch.setattr("tests.fakes.Partial", partial, raising=False)
        if lacks is None:
            assert isinstance(build("tests.fakes:Partial"), partial)
        else:
            words = f"'tests.fakes:Partial' has no '{lacks}'; a decoder has {', '.join(WHOLE)}"
            with pytest.raises(ValueError, match=re.escape(words)):
                build("tests.fakes:Partial")


def test_a_decoder_is_a_class_and_no_object_of_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.fakes.made", build("block-ar"), raising=False)
    with pytest.raises(ValueError, match="made' is not a dataclass"):
        build("tests.fakes:made")


def test_a_class_is_checked_where_it_is_made():
    with pytest.raises(ValueError, match="verify is 'both'"):
        dataclasses.replace(build("self-speculative"), verify="both")
