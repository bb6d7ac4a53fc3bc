"""The decoder of the no-shift ablation against its definition, uncached, token by token."""

import pytest

from decoders.confidence import GreedyConfidence
from decoders.generate import Request, generate
from decoders.trimming import Ending
from tests.benchmarks.unshifted import Unshifted
from tests.fakes import TINY_MASK, tiny_model
from tests.oracles.acceptance import prefix_length
from tests.oracles.decoding import ReferenceDecoder


@pytest.mark.parametrize("tau", [0.0, 0.1, 1.0])
def test_each_slot_answers_for_its_own_token(tau: float):
    model = tiny_model(3, shift=False)
    prompt, budget, block = (5, 7, 11, 13), 14, 4
    oracle, ids, kept = ReferenceDecoder(model), [], []
    while len(ids) < budget:
        choices = oracle.window([*prompt, *ids], block)[1:]
        confidences = [choice.logits.softmax(-1).max().item() for choice in choices]
        count = min(prefix_length(confidences, tau, "per-token"), budget - len(ids))
        ids += [choice.token for choice in choices[:count]]
        kept.append(count)
    decoder = Unshifted(mask_token_id=TINY_MASK, tau=tau, block=block)
    (done,) = generate(
        model, decoder, [Request(key="0", ids=prompt)], Ending(budget=budget), batch_size=1
    )
    assert list(done.ids) == ids
    assert list(done.kept) == kept


@pytest.mark.parametrize("shift", [True, False])
def test_a_model_is_not_read_as_it_was_not_trained(shift: bool):
    other = Unshifted if shift else GreedyConfidence
    message = f"for models trained with{'out' if shift else ''} shift"
    with pytest.raises(ValueError, match=message):
        generate(
            tiny_model(shift=shift),
            other(mask_token_id=TINY_MASK, block=4),
            [Request(key="0", ids=(5,))],
            Ending(budget=2),
        )
