"""Some answers decoded once more, step by step, to be looked at: `traces/` of a run folder.

Nothing is timed here, and decoding for real has no part in it: `generate` shows its steps to
whoever asks.
"""

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from decoders.generate import Completion, generate
from decoders.protocol import NO_TOKEN, Decoder, Step
from decoders.self_speculative import SelfSpeculative
from harness.answers import text_of
from harness.measuring import ending_for
from harness.planning import Plan, TaskItems
from harness.retrying import described
from harness.terminal import as_a_line
from results import SampleRecord
from results.measured import outcomes
from results.store import kept_whole
from results.traces import Proposed, StepKind, Trace, read_traces, traces_path, write_traces
from results.traces import Step as TracedStep
from sdlm.team import TeamLost
from sdlm.tokenizer import decode_ids, shown_ids


class _Seen(NamedTuple):
    """What one forward of a single row proposed, and how sure it was of each token."""

    kind: StepKind
    ids: list[int]
    scores: list[float]


class Watcher:
    """Notes what the loop shows of one row's steps."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._draft_scores: list[float] = []
        self.steps: list[_Seen] = []

    def __call__(self, step: Step) -> None:
        kind: StepKind = "prefill" if step.state.prefill else "decode"
        ids = _numbers(step.accepted.ids_BK[0])
        if isinstance(self._decoder, SelfSpeculative):
            # What it verifies was drafted, and judged, a step before; a prefill verifies nothing.
            chain = [*filter(NO_TOKEN.__ne__, ids[: self._decoder.chain_length(step.state)])]
            verified = self._draft_scores[: len(chain)]
            self.steps.append(_Seen(kind, chain[: len(verified)], verified))
            self._draft_scores = _numbers(self._decoder.draft_scores(step)[0])
            return
        self.steps.append(_Seen(kind, ids, scores_of(step)))


def scores_of(step: Step) -> list[float]:
    """How sure the first row was of each id: the decoder's own score, where it has one."""
    if step.accepted.scores_BK is not None:
        return _numbers(step.accepted.scores_BK[0])
    ids_K = step.accepted.ids_BK[0]
    probs_KV = step.logits_BNV[0, : len(ids_K)].float().softmax(dim=-1)
    return _numbers(probs_KV.gather(-1, ids_K[: len(probs_KV), None])[:, 0])


def _numbers(values: Tensor) -> list[Any]:
    # Its own type says nothing of what is in the list.
    untyped: Any = values
    return untyped.tolist()


def trace_tasks(
    plan: Plan,
    folder: Path,
    records: Sequence[SampleRecord],
    num_items: int,
    stopped: Callable[[], bool],
) -> None:
    """Write the traces of each task's first `num_items` items under every decoder, unless the
    folder has them. A file is written whole or, once `stopped`, not at all.

    What can't be traced, and an answer that has become another, is said on standard error.
    """
    answers = {
        (record.task, record.item_id, record.decoder): record.ids
        for record in outcomes(records)
        if record.batch_size == plan.config.batch_sizes[0]
    }
    for task in plan.tasks:
        path = traces_path(folder, task.task.name)
        wanted = [
            (number, spec)
            for number in range(min(num_items, len(task.items)))
            for spec in plan.decoders
            # What failed has no answer to be traced.
            if answers.get((task.task.name, task.items[number].id, spec)) is not None
        ]
        keys = [(task.task.name, task.items[number].id, spec) for number, spec in wanted]
        if not keys or _keys(path) == keys:
            continue
        traces: list[Trace] = []
        for (number, spec), key in zip(wanted, keys, strict=True):
            if stopped():
                return
            try:
                trace, ids = trace_of(plan, task, number, spec)
            except TeamLost:
                raise
            except Exception as error:
                # The run is measured; a user's own decoder must not cost it its end.
                reason = as_a_line(described(error))
                print(f"no trace of {key[1]} under {spec}: {reason}", file=sys.stderr)
                continue
            traces.append(trace)
            if list(ids) != answers[key]:
                _tell(key[1], spec)
        with kept_whole(folder):
            write_traces(path, traces)


def trace_of(plan: Plan, task: TaskItems, number: int, spec: str) -> tuple[Trace, tuple[int, ...]]:
    """One item's trace under one decoder, and the ids of its answer."""
    decoder, request, loaded = plan.decoders[spec], task.requests[number], plan.model_of(spec)
    watcher = Watcher(decoder)
    (completion,) = generate(
        loaded.model,
        decoder,
        [request],
        ending_for(plan, task, spec),
        capacity=plan.capacity_of(task),
        on_step=watcher,
    )
    tokenizer = loaded.tokenizer
    assert tokenizer is not None, "runs need a tokenizer"
    trace = Trace(
        task=task.task.name,
        item_id=task.items[number].id,
        decoder=spec,
        prompt=shown_ids(tokenizer, request.ids),
        steps=traced_steps(
            completion,
            text_of(loaded, completion),
            watcher.steps,
            lambda ids: decode_ids(tokenizer, ids),
            lambda ids: shown_ids(tokenizer, ids),
        ),
    )
    return trace, completion.ids


def traced_steps(
    completion: Completion,
    text: str,
    seen: Sequence[_Seen],
    decode: Callable[[Sequence[int]], str],
    decode_all: Callable[[Sequence[int]], str],
) -> list[TracedStep]:
    """Steps with the text that each token adds; what was kept adds up to the answer's text.

    decode_all: the same with special tokens, which no answer shows, though one may be proposed.
    """
    # Chunks of a long prompt propose nothing, and are shown to nobody.
    chunks = len(completion.kept) - len(seen)
    steps = [TracedStep(kind="prefill", proposed=[], kept=0)] * chunks
    kept_text = iter(pieces(completion.ids, text, decode))
    done: list[int] = []
    for (kind, ids, scores), kept in zip(seen, completion.kept[chunks:], strict=True):
        texts = [next(kept_text) for _ in range(kept)]
        proposed = [*done, *ids]
        texts += pieces(proposed, decode_all(proposed), decode_all, first=len(done) + kept)
        steps.append(
            TracedStep(
                kind=kind,
                proposed=[
                    Proposed(text=piece, confidence=min(1.0, max(0.0, score)))
                    for piece, score in zip(texts, scores, strict=True)
                ],
                kept=kept,
            )
        )
        done += ids[:kept]
    return steps


def pieces(
    ids: Sequence[int], text: str, decode: Callable[[Sequence[int]], str], first: int = 0
) -> list[str]:
    """What each id from `first` on adds to `text`, which decoding all ids gives; together they
    are the text from there on.

    A character spread over several ids belongs to the last of them. `text` may end before the
    last ids do, which then add nothing.
    """
    ends = [_agreed(decode(ids[:count]), text) for count in range(first, len(ids))]
    ends.append(len(text))
    # Text may lose an end again, such as a space before what follows it.
    for place in reversed(range(len(ends) - 1)):
        ends[place] = min(ends[place], ends[place + 1])
    return [text[start:end] for start, end in pairwise(ends)]


def _agreed(begun: str, text: str) -> int:
    """How far a text that has only begun is as the whole one has it."""
    shorter = min(len(begun), len(text))
    differing = (place for place in range(shorter) if begun[place] != text[place])
    agreed = shorter if text.startswith(begun) else next(differing, shorter)
    # An unfinished character shows as this one; the whole text may have it from another place.
    while agreed and agreed == len(begun) and begun[agreed - 1] == "\ufffd":
        agreed -= 1
        begun = begun[:agreed]
    return agreed


def _keys(path: Path) -> list[tuple[str, str, str]] | None:
    """What the file has traces of; None where it can't be read and has to be written."""
    try:
        return [(trace.task, trace.item_id, trace.decoder) for trace in read_traces(path)]
    except (OSError, ValueError):
        return None


def _tell(item_id: str, spec: str) -> None:
    print(
        f"the trace of {item_id} under {spec} is of another answer than was measured: near ties of"
        " logits fall either way, as batch sizes or kernels round",
        file=sys.stderr,
    )
