"""Where an answer ends: against one token at a time, alone and through the whole loop."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders.generate import Completion, Request, generate
from decoders.registry import build_decoder
from decoders.trimming import Ending, trim
from tests.fakes import ScriptedModel, decode_bytes, decode_pieces, script
from tests.oracles.trimming import cut

END = 256
# Pieces that make stop strings straddle tokens, begin inside one and end inside another.
PIECES = ["a", "b", "ab", "ba", "abc", "c", "bc", "ca", "\n", "b\n", "é", ""]
decode = decode_pieces(PIECES)


def decode_with_end(ids: Sequence[int]) -> str:
    assert END not in ids, "the end token is no text"
    return decode(ids)


tokens = st.lists(
    st.one_of(st.integers(0, len(PIECES) - 1), st.just(END)), min_size=1, max_size=24
)
stops = st.lists(st.text("abc\né", min_size=1, max_size=4), max_size=3).map(tuple)


@st.composite
def endings(draw: st.DrawFn) -> Ending:
    return Ending(
        budget=draw(st.integers(1, 20)),
        eos_token_ids=frozenset({END} if draw(st.booleans()) else {END, 5}),
        stop=draw(stops),
        decode=decode_with_end,
    )


@given(tokens, endings(), st.lists(st.integers(1, 6), min_size=24, max_size=24))
@settings(max_examples=300)
def test_however_the_tokens_come_the_answer_ends_in_the_same_place(
    generated: list[int], ending: Ending, steps: list[int]
):
    """Step by step, as the loop does it, and all at once: as token by token."""
    expected = cut(generated, ending)
    assert trimmed(generated, ending) == expected
    soonest = next(
        length
        for length in range(1, len(generated) + 1)
        if expected.finish is None or cut(generated[:length], ending).finish is not None
    )
    done = 0
    for step in steps:
        seen, done = done, min(done + step, len(generated))
        got = trim(generated[:done], ending, seen=seen)
        if got.finish is not None or done == len(generated):
            break
    assert (list(got.ids), got.finish, got.text) == expected
    assert expected.finish is None or done - step < soonest


def trimmed(generated: Sequence[int], ending: Ending) -> tuple[list[int], str | None, str | None]:
    got = trim(generated, ending)
    return list(got.ids), got.finish, got.text


@given(
    st.text("aé€😀b", max_size=8), st.text("aé€😀b", min_size=1, max_size=2), st.integers(1, 30)
)
@settings(max_examples=100)
def test_characters_of_several_bytes(text: str, stop: str, budget: int):
    """A character cut by a step's end is no text yet, and no stop string begins inside one."""
    generated = list((text + stop + "b").encode())
    ending = Ending(budget=budget, stop=(stop,), decode=decode_bytes)
    assert trimmed(generated, ending) == cut(generated, ending)
    for length in range(len(generated)):
        assert trimmed(generated[:length], ending) == cut(generated[:length], ending)


def test_what_ends_an_answer_must_make_sense():
    with pytest.raises(ValueError, match="max_new_tokens is 0"):
        Ending(budget=0)
    with pytest.raises(ValueError, match="tokenizer"):
        Ending(budget=1, stop=("x",))
    with pytest.raises(ValueError, match="stop string is empty"):
        Ending(budget=1, stop=("x", ""), decode=decode)


VOCAB, BLOCK = 300, 6
DECODERS = {
    "ar": "ar",
    "block-ar": "block-ar",
    "self-speculative": "self-speculative",
    "self-speculative-causal": "self-speculative(verify=causal)",
    "greedy-confidence": "greedy-confidence(tau=0.5)",
    "entropy": "entropy(tau=0.5)",
}
everywhere = pytest.mark.parametrize("spec", DECODERS.values(), ids=DECODERS.keys())


def run(
    spec: str,
    scripts: Sequence[Sequence[int]],
    ending: Ending,
    *,
    prompt: Sequence[int] = (),
    sure: Callable[[int], bool] = lambda index: True,
) -> list[Completion]:
    """Scripted answers, a row each, all in one batch. A prompt is the row's number, then `prompt`.

    sure(i): whether the model is confident of answer token i, and so may keep it in one step with
    those before it.
    """
    endless = [[*tokens, *[ord("~")] * 60] for tokens in scripts]

    def probability(index: int) -> float:
        return 0.9999 if sure(index) else 0.2

    model = ScriptedModel(script(endless, 1 + len(prompt), probability), vocab_size=VOCAB)
    decoder = build_decoder(spec, default_block=BLOCK, mask_token_id=VOCAB - 1)
    requests = [Request(key=str(i), ids=(i, *prompt)) for i in range(len(scripts))]
    done = list(generate(model, decoder, requests, ending, batch_size=len(scripts)))
    for completion in done:
        assert sum(completion.kept) == len(completion.ids), "what is counted is what is kept"
    return sorted(done, key=lambda completion: int(completion.key))


@given(
    st.sampled_from(list(DECODERS.values())),
    st.lists(tokens, min_size=1, max_size=3),
    endings(),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
@settings(max_examples=80)
def test_through_the_whole_loop(
    spec: str, scripts: list[list[int]], ending: Ending, surely: list[bool]
):
    """Every decoder, whatever it keeps at a time, answers as one token at a time would."""
    ending = replace(ending, decode=lambda ids: decode([token % len(PIECES) for token in ids]))
    done = run(spec, scripts, ending, sure=lambda index: surely[index % 8])
    for completion, tokens_ in zip(done, scripts, strict=True):
        expected = cut([*tokens_, *[ord("~")] * 60], ending)
        assert (list(completion.ids), completion.finish, completion.text) == expected


@everywhere
def test_an_end_token_within_a_step(spec: str):
    ending = Ending(budget=50, eos_token_ids=frozenset({END}))
    (got,) = run(spec, [[1, 2, END, 4, 5]], ending)
    assert (got.ids, got.finish, got.text) == ((1, 2), "eos", None)
    if spec.startswith("greedy"):
        assert got.kept == (2,), "not the six of the step"


@everywhere
def test_an_end_token_at_once(spec: str):
    (got,) = run(spec, [[END, 1]], Ending(budget=5, eos_token_ids=frozenset({END})))
    assert (got.ids, got.finish, sum(got.kept)) == ((), "eos", 0)


@everywhere
def test_a_stop_within_the_budget_beats_the_budget(spec: str):
    """Each step brings six tokens; the stop string is complete at the third, or at the sixth."""
    ending = Ending(budget=5, stop=("ab",), decode=decode_bytes)
    (got,) = run(spec, [list(b"xabyzz")], ending)
    assert (got.ids, got.text, got.finish) == (tuple(b"x"), "x", "stop")
    (got,) = run(spec, [list(b"xyzzab")], ending)
    assert (got.ids, got.text, got.finish) == (tuple(b"xyzza"), None, "length")
    (got,) = run(spec, [list(b"xyzab")], ending)
    assert (got.ids, got.text, got.finish) == (tuple(b"xyz"), "xyz", "stop")
    end = Ending(budget=5, eos_token_ids=frozenset({END}))
    (got,) = run(spec, [[1, 2, 3, 4, 5, END]], end)
    assert (got.ids, got.finish) == ((1, 2, 3, 4, 5), "length")


@everywhere
def test_a_stop_string_over_three_tokens_and_two_steps(spec: str):
    """It begins within the last token of one step and ends within the next step's second."""
    pieces = ["x", "y#", "#", "#A", "z"]
    ending = Ending(
        budget=40,
        stop=("###",),
        decode=lambda ids: decode_pieces(pieces)([token % 5 for token in ids]),
    )
    (got,) = run(spec, [[0, 1, 2, 3, 4]], ending, sure=lambda index: index != 2)
    assert (got.text, got.finish) == ("xy", "stop")
    assert got.ids == (0, 1), "the token that the text ends in is the last"


@everywhere
def test_of_two_stop_strings_the_first_complete_ends_it(spec: str):
    """ "cd" is complete one token before "bcde", which begins earlier."""
    for step in (1, 2, 3, 6):
        ending = Ending(budget=40, stop=("bcde", "cd"), decode=decode_bytes)
        (got,) = run(
            spec, [list(b"abcdef")], ending, sure=lambda index, step=step: index % step > 0
        )
        assert (got.text, got.finish, got.ids) == ("ab", "stop", tuple(b"ab"))


@everywhere
def test_the_prompt_is_not_searched(spec: str):
    """It holds the stop string and the end token, and ends in a stop string's beginning."""
    prompt = (*b"###", END, *b"##")
    ending = Ending(budget=8, stop=("###",), eos_token_ids=frozenset({END}), decode=decode_bytes)
    (got,) = run(spec, [list(b"#bcd")], ending, prompt=prompt)
    assert (got.ids, got.finish) == (tuple(b"#bcd~~~~"), "length")


@everywhere
def test_tokens_are_counted_alike(spec: str):
    """Answers of 10, 20, 30 and 40 tokens: a hundred, without padding, prompts or what follows."""
    scripts = [[i + 1] * length + [END] for i, length in enumerate((10, 20, 30, 40))]
    ending = Ending(budget=64, eos_token_ids=frozenset({END}))
    done = run(spec, scripts, ending, prompt=b"prompt")
    assert [len(completion.ids) for completion in done] == [10, 20, 30, 40]
    assert sum(sum(completion.kept) for completion in done) == 100
    assert {completion.prompt_tokens for completion in done} == {7}
