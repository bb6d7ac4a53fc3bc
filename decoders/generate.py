"""`generate`: any decoder over any requests; checks first, then `decoders.loop` does the work."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from decoders.loop import Loop, prompt_slots
from decoders.protocol import Decoder, Step
from decoders.requests import Completion, Forward, Request, check_request, check_windows
from decoders.trimming import Ending
from sdlm.model import SDLM

Order = Literal["given", "longest-first"]

# Capacities are rounded up to this many slots, so that a kernel compiled for one shape serves
# prompts of many lengths.
CAPACITY_STEP = 256


def generate(
    model: SDLM,
    decoder: Decoder,
    requests: Sequence[Request],
    ending: Ending,
    *,
    batch_size: int = 1,
    order: Order = "given",
    capacity: int | None = None,
    on_forward: Callable[[Forward], None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Iterator[Completion]:
    """Answer every request, in the order in which the answers finish.

    order: longest-first takes the longest prompts first, so that batches are of like lengths.
    capacity: slots of the cache; calls that share it share compiled shapes. None: what is needed.
    on_step: is shown every step's tensors, which it must not change or keep; its time counts as
    the step's, so it is for looking, not for timing.
    A row's ids and step counts depend on its own request alone (its step counts under a decoder's
    `slot_budget` excepted). Raises ValueError, before any
    forward, for an empty prompt, one that fills the context, an id outside the vocabulary, or a
    block decoder on a model without windows. The context also bounds the budget. A row whose
    logits are not finite ends with an error, and spoils no other.
    """
    if batch_size < 1:
        raise ValueError(f"batch size is {batch_size}; it must be at least 1")
    for request in requests:
        check_request(model, request)
    if decoder.needs_windows:
        check_windows(model.config, decoder)
    if order == "longest-first":
        requests = sorted(requests, key=lambda request: -len(request.ids))
    slots = max(needed_capacity(model, [decoder], requests, ending.budget), capacity or 0)
    return Loop(model, decoder, requests, ending, batch_size, slots, on_forward, on_step).run()


def needed_capacity(
    model: SDLM, decoders: Iterable[Decoder], requests: Iterable[Request], budget: int
) -> int:
    """Cache slots a row that any of the decoders may need for any of the requests."""
    lengths = {len(request.ids) for request in requests} or {1}
    kept = min(max(lengths) + budget, model.config.max_context)
    decoders, static = list(decoders), model.static_shapes
    # Padded, a prompt of one chunk may take more than a longer one of two.
    padded = [prompt_slots(n, each, static=static) for n in lengths for each in decoders]
    kept = max(kept, *padded)
    widest = max(max(decoder.max_slots, decoder.block) for decoder in decoders)
    return -(-(kept + widest) // CAPACITY_STEP) * CAPACITY_STEP
