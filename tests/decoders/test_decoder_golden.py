"""Every recorded answer of the released code: same ids, same tokens per forward, same forwards."""

from collections.abc import Iterable

import pytest
import torch

from decoders.confidence import Entropy, GreedyConfidence
from decoders.generate import Request, generate
from decoders.protocol import Rows
from decoders.sampling import choose
from decoders.self_speculative import SelfSpeculative
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.layout import Layout
from tests import golden

ALGORITHMS = list(golden.DECODER_OF)
# Each shape that flex meets costs a compilation, so the default suite has one prompt of seven
# tokens at the models' own widths and twice those. Left for the slow run: the widest
# self-speculation, which needs a shape of its own, and `ar`, which no window mask touches, on the
# second mask function (that of `causal_attn`).
FLEX_PROMPT = "p7"
FLEX_LEFT_FOR_LATER = {
    "d4-tied": set(),
    "d8-untied": {("self_speculative", 16)},
    "d4-causal": {("self_speculative", 8), ("plain_causal", 1)},
}


def mismatches(model_name: str, settings: Iterable[golden.Setting], impl: Impl) -> list[str]:
    # As the harness decodes.
    model = golden.load(model_name, impl, packed=True)
    wrong: list[str] = []
    for setting in settings:
        prompt = tuple(golden.prompts(model_name)[setting.prompt])
        ending = Ending(budget=setting.budget, eos_token_ids=setting.eos)
        (got,) = generate(model, setting.decoder(), [Request(key="", ids=prompt)], ending)
        forwards = got.prefill_forwards + got.decode_forwards
        for case in golden.cases(model_name)[setting]:
            assert got.finish == ("eos" if len(case.ids) < setting.budget else "length"), case.id
            if (got.ids, got.kept, forwards) != (case.ids, case.kept, case.forwards):
                wrong.append(f"{case.id}: {got.ids} {got.kept}, not {case.ids} {case.kept}")
    return wrong


def settings_of(model_name: str, algorithm: str) -> list[golden.Setting]:
    return [each for each in golden.cases(model_name) if each.algorithm == algorithm]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_dense_answers_are_the_recorded_ones(model_name: str, algorithm: str):
    assert not mismatches(model_name, settings_of(model_name, algorithm), Impl.DENSE)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_all_flex_answers_are_the_recorded_ones(model_name: str, algorithm: str):
    assert not mismatches(model_name, settings_of(model_name, algorithm), Impl.FLEX)


@pytest.mark.parametrize("model_name", golden.MODELS)
def test_flex_answers_are_the_recorded_ones(model_name: str):
    some: dict[tuple[str, int], golden.Setting] = {}
    for setting in golden.cases(model_name):
        if setting.prompt == FLEX_PROMPT:
            some[setting.algorithm, setting.block] = setting
    later = FLEX_LEFT_FOR_LATER[model_name]
    assert {algorithm for algorithm, _ in some} == set(ALGORITHMS)
    assert later <= some.keys()
    assert not mismatches(model_name, [some[key] for key in some if key not in later], Impl.FLEX)


@pytest.mark.parametrize("model_name", golden.MODELS)
def test_no_recorded_case_is_left_out(model_name: str):
    by_setting = golden.cases(model_name)
    assert sum(map(len, by_setting.values())) == golden.MODELS[model_name]
    assert {setting.algorithm for setting in by_setting} == set(ALGORITHMS)
    for case in (case for cases in by_setting.values() for case in cases):
        assert sum(case.kept) == len(case.ids) <= case.setting.budget
        assert len(case.kept) == case.forwards


class ByHand:
    """One row driven step by step, so that what happens inside a step can be looked at."""

    def __init__(self, model_name: str, decoder: GreedyConfidence | SelfSpeculative) -> None:
        prompt = golden.prompts(model_name)["p33"]
        self.model, self.decoder = golden.load(model_name), decoder
        self.cache = self.model.new_cache(rows=1, capacity=512)
        self.rows = Rows(
            pending_BP=torch.tensor([prompt]),
            num_pending_B=torch.tensor([len(prompt)]),
            cached_B=torch.tensor([0]),
            draft_BD=torch.zeros(1, decoder.block, dtype=torch.int64),
            prefill=True,
        )

    @torch.inference_mode()
    def step(self) -> tuple[torch.Tensor, int]:
        """The logits the decoder gets, and how many tokens it keeps."""
        query = self.decoder.propose(self.rows)
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=self.rows.cached_B,
            num_keys=self.cache.capacity,
            causal_attn=self.model.config.causal_attn,
        )
        logits = self.model(query.ids_BT, query.positions_BT, layout, self.cache, query.wanted_BN)
        accepted = self.decoder.accept(self.rows, logits)
        self.cache.commit(accepted.commit_B)
        self.rows = Rows(
            pending_BP=accepted.ids_BK[:, : accepted.num_pending_B.item()],
            num_pending_B=accepted.num_pending_B,
            cached_B=self.cache.lengths_B.clone(),
            draft_BD=accepted.draft_BD,
            prefill=False,
        )
        return logits[0], int(accepted.count_B)


@pytest.mark.parametrize("model_name", golden.MODELS)
def test_confidence_steps_are_the_recorded_ones(model_name: str):
    traces = golden.read(model_name, "traces.json")["traces"]
    traces = [trace for trace in traces if "_conf/" in trace["id"]]
    assert traces
    for trace in traces:
        _, algorithm, block, tau, _ = trace["id"].split("/")
        kind = GreedyConfidence if algorithm == "prob_conf" else Entropy
        decoder = kind(mask_token_id=golden.MASK, block=int(block[1:]), tau=float(tau[1:]))
        by_hand = ByHand(model_name, decoder)
        for step in trace["steps"]:
            logits, count = by_hand.step()
            chosen = choose(logits[None], decoder)
            assert chosen.ids_BN[0].tolist() == step["x0"]
            scores = type(decoder).score(chosen)[0].tolist()
            assert scores == pytest.approx(step["conf"], rel=0, abs=1e-5)
            assert count == step["accepted"]


@pytest.mark.parametrize("model_name", ["d4-tied", "d8-untied"])
def test_self_speculation_steps_are_the_recorded_ones(model_name: str):
    traces = golden.read(model_name, "traces.json")["traces"]
    traces = [trace for trace in traces if "/self_speculative/" in trace["id"]]
    assert traces
    for trace in traces:
        block = int(trace["id"].split("/")[2][1:])
        by_hand = ByHand(model_name, SelfSpeculative(mask_token_id=golden.MASK, block=block))
        _, kept_by_prefill = by_hand.step()
        assert kept_by_prefill == 0
        for step in trace["steps"]:
            assert by_hand.rows.draft_BD[0].tolist() == step["draft"]
            logits, count = by_hand.step()
            windows = logits.view(block, block, -1)
            assert windows[:, 0].argmax(-1).tolist() == step["verify"]
            assert count == step["accepted"]
