"""Where answers part from the reference's: how close its two likeliest tokens were there.

Asked of the reference decoder's own view of the model, once more and untimed: it is given the
prompt with what both answers have in common, and its first forward's logits are looked at.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from decoders.generate import Request, generate
from decoders.protocol import Decoder, Step
from decoders.trimming import Ending
from harness.planning import Plan
from harness.terminal import progress_bar
from results import SampleRecord
from results.divergence import Disagreement, Divergence, disagreements, divergence_of
from sdlm.model import SDLM

# A sum of products is made in fp32 whatever the type of its terms; this many of its roundings.
SUM_ROUNDINGS = 32


class Margin(NamedTuple):
    """Distance of the two largest logits, and what rounding can make of it."""

    margin: float
    bound: float


def find_divergences(
    plan: Plan, records: Sequence[SampleRecord], stopped: Callable[[], bool]
) -> list[Divergence] | None:
    """Every item whose ids are not the reference decoder's, with the margin at the first
    differing place; None if `stopped` before the last."""
    found = disagreements(records, plan.references)
    if not found:
        return []
    prompts = {
        (task.task.name, request.key): request.ids
        for task in plan.tasks
        for request in task.requests
    }
    capacities = {task.task.name: plan.capacity_of(task) for task in plan.tasks}
    known: dict[tuple[str, tuple[int, ...]], Margin] = {}
    rows: list[Divergence] = []
    with progress_bar("comparing ids", total=len(found), done=0) as advance:
        for each in found:
            if stopped():
                return None
            context = _context(each, prompts)
            place = (each.reference.decoder, context)
            if place not in known:
                known[place] = margin_after(
                    plan.loaded.model,
                    plan.decoders[each.reference.decoder],
                    context,
                    capacities[each.record.task],
                )
            rows.append(divergence_of(each, *known[place]))
            advance(each.record.decoder)
    return rows


def _context(
    found: Disagreement, prompts: dict[tuple[str, str], tuple[int, ...]]
) -> tuple[int, ...]:
    """The prompt and what both answers begin with."""
    assert found.reference.ids is not None, "only answers disagree"
    prompt = prompts[found.record.task, found.record.item_id]
    return prompt + tuple(found.reference.ids[: found.position])


def margin_after(
    model: SDLM, decoder: Decoder, context: tuple[int, ...], capacity: int | None = None
) -> Margin:
    """Of the logits by which a reference decoder chooses what follows `context`: those of the
    first slot that it wants."""
    seen: list[Margin] = []

    def look(step: Step) -> None:
        logits_V = step.logits_BNV[0, 0].float()
        top_2 = logits_V.topk(2).values
        largest = logits_V[logits_V.isfinite()].abs().max().item()
        seen.append(Margin((top_2[0] - top_2[1]).item(), rounding(step.logits_BNV.dtype, largest)))

    request = Request(key="context", ids=context)
    for _ in generate(
        model, decoder, [request], Ending(budget=1), capacity=capacity, on_step=look
    ):
        pass
    return seen[0]


def rounding(dtype: torch.dtype, largest: float) -> float:
    """How far two logits of this type may move apart by rounding, where the largest has this size.

    Each is off by one rounding of a stored value and by those of a sum in fp32, in proportion to
    its size. That is the order of what kernels differ by, not a proof for every model.
    """
    relative = torch.finfo(dtype).eps + SUM_ROUNDINGS * torch.finfo(torch.float32).eps
    return 2 * relative * largest
