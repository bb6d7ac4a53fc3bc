"""Every decoder by definition: one sequence, no cache, everything recomputed, Python loops.

What is fed for one window is just the kept tokens but the last, then the window; its mask comes
from `tests.oracles.masks`, its logits from the fp64 model of `tests.oracles.model`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from sdlm.model import SDLM
from tests.oracles.acceptance import entropy_confidence, prefix_length, verified_length
from tests.oracles.masks import Slot, kept, mask_of, window
from tests.oracles.model import ReferenceModel


class Choice(NamedTuple):
    """A slot's argmax, the gap to the second largest logit, and its logits."""

    token: int
    gap: float
    logits: Tensor


@dataclass
class Answer:
    """ids and gaps: as long as each other. kept: per forward, after trimming, as for real.

    margin: the least distance of a confidence that mattered from its threshold.
    """

    ids: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    query_slots: int = 0
    margin: float = 1.0

    def add(self, choices: Sequence[Choice]) -> None:
        self.ids += [choice.token for choice in choices]
        self.gaps += [choice.gap for choice in choices]
        self.kept.append(len(choices))


class ReferenceDecoder:
    def __init__(self, model: SDLM) -> None:
        self.model = ReferenceModel(model)
        self.mask_token_id = model.config.mask_token_id
        self.causal_attn = model.config.causal_attn

    def causal(self, tokens: Sequence[int]) -> Choice:
        """The plain causal answer to what follows `tokens`."""
        return self._choices(tokens, kept(0, len(tokens)), last=1)[0]

    def window(self, tokens: Sequence[int], block: int) -> list[Choice]:
        """The answers of the window after `tokens`."""
        n = len(tokens)
        fed = [*tokens, *[self.mask_token_id] * (block - 1)]
        return self._choices(fed, kept(0, n - 1) + window(n, block), last=block)

    def _choices(self, ids: Sequence[int], slots: list[Slot], *, last: int) -> list[Choice]:
        positions = [slot.position for slot in slots]
        logits = self.model.logits(ids, positions, mask_of(slots, slots, self.causal_attn))
        choices = []
        for row in logits[-last:]:
            (first, second), (token, _) = (part.tolist() for part in row.topk(2))
            choices.append(Choice(token, first - second, row))
        return choices

    def ar(self, prompt: Sequence[int], budget: int, eos: frozenset[int]) -> Answer:
        answer = Answer()
        while not _ended(answer, budget, eos):
            answer.query_slots += 1 if answer.ids else len(prompt)
            answer.add([self.causal([*prompt, *answer.ids])])
        return _trimmed(answer, budget, eos)

    def block_ar(
        self, prompt: Sequence[int], budget: int, eos: frozenset[int], *, block: int
    ) -> Answer:
        answer = Answer()
        while not _ended(answer, budget, eos):
            answer.query_slots += block + (1 if answer.ids else len(prompt))
            answer.add(self.window([*prompt, *answer.ids], block)[:1])
        return _trimmed(answer, budget, eos)

    def confidence(
        self,
        prompt: Sequence[int],
        budget: int,
        eos: frozenset[int],
        *,
        block: int,
        tau: float,
        rule: str,
        entropy: bool,
    ) -> Answer:
        answer = Answer()
        while not _ended(answer, budget, eos):
            answer.query_slots += block + (answer.kept[-1] if answer.kept else len(prompt))
            choices = self.window([*prompt, *answer.ids], block)
            scores = [_score(choice, entropy) for choice in choices]
            count = prefix_length(scores, tau, rule)
            answer.margin = min(answer.margin, _margin(scores, tau, rule))
            answer.add(choices[:count])
        return _trimmed(answer, budget, eos)

    def self_speculation(
        self,
        prompt: Sequence[int],
        budget: int,
        eos: frozenset[int],
        *,
        block: int,
        verify: str,
        draft_tau: float,
    ) -> Answer:
        answer = Answer(kept=[0], query_slots=len(prompt) + block)
        while not _ended(answer, budget, eos):
            draft = self._draft([*prompt, *answer.ids], block, verify)
            if draft_tau > 0:
                scores = [_score(choice, entropy=False) for choice in draft]
                answer.margin = min(answer.margin, _margin(scores, draft_tau, "per-token"))
                draft = draft[: prefix_length(scores, draft_tau, "per-token")]
            answer.query_slots += len(draft) * (1 + block)
            tokens = [*prompt, *answer.ids]
            verdicts = []
            for choice in draft:
                tokens.append(choice.token)
                causal = verify == "causal"
                verdicts.append(self.causal(tokens) if causal else self.window(tokens, block)[0])
            count = verified_length(
                [choice.token for choice in draft], [verdict.token for verdict in verdicts]
            )
            # A token kept has the gap of the verdict that confirmed it.
            answer.add(draft[:1] + verdicts[: count - 1])
        return _trimmed(answer, budget, eos)

    def _draft(self, tokens: Sequence[int], block: int, verify: str) -> list[Choice]:
        draft = self.window(tokens, block)
        return [self.causal(tokens), *draft[1:]] if verify == "causal" else draft


def _score(choice: Choice, entropy: bool) -> float:
    probabilities = choice.logits.softmax(-1).tolist()
    return entropy_confidence(probabilities) if entropy else max(probabilities)


def _margin(scores: Sequence[float], tau: float, rule: str) -> float:
    """The least distance to the threshold among the comparisons up to the first that fails."""
    margin, product = 1.0, 1.0
    for score in scores:
        product *= score
        compared = score if rule == "per-token" else product
        margin = min(margin, abs(compared - tau))
        if compared < tau:
            break
    return margin


def _ended(answer: Answer, budget: int, eos: frozenset[int]) -> bool:
    return len(answer.ids) >= budget or any(token in eos for token in answer.ids)


def _trimmed(answer: Answer, budget: int, eos: frozenset[int]) -> Answer:
    ids: list[int] = []
    for token in answer.ids[:budget]:
        if token in eos:
            break
        ids.append(token)
    counts, room = [], len(ids)
    for count in answer.kept:
        counts.append(min(count, room))
        room -= counts[-1]
    return Answer(ids, answer.gaps, counts, answer.query_slots, answer.margin)
