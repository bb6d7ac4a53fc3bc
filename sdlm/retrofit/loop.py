"""The one training loop, for pretraining and for retrofit.

fp32 weights, bf16 autocast, gradient clipping, a warm-up and a schedule that follow the
run's progress towards its nearest limit. It logs, checkpoints and resumes: given the same limits
in epochs, steps or tokens, an interrupted run continues with identical losses. An update's loss is
the mean over all its labelled slots, however many batches and ranks share them.
"""

import math
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

from sdlm.model import SDLM
from sdlm.retrofit.adapter import FOLDER as ADAPTER
from sdlm.retrofit.batches import Batches
from sdlm.retrofit.config import TrainConfig, learning_rate, run_fraction
from sdlm.retrofit.display import progress_display
from sdlm.retrofit.loss import Counts, count_labels, training_loss
from sdlm.retrofit.optimiser import make_optimisers
from sdlm.retrofit.ranks import Ranks
from sdlm.retrofit.run_log import cut_log, log_step
from sdlm.retrofit.run_state import Progress, load_state, save_state
from sdlm.retrofit.training_rows import Batch
from sdlm.whole_file import remove_drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended: at a limit (`finished`), or at a signal."""

    finished: bool
    steps: int
    tokens: int
    elapsed_s: float


class StopSignal:
    """SIGINT and SIGTERM ask the loop to stop after its step, for as long as this is entered."""

    def __enter__(self) -> "StopSignal":
        self.asked = False
        self.previous = {s: signal.signal(s, self._ask) for s in (signal.SIGINT, signal.SIGTERM)}
        return self

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True

    def __exit__(self, *error: object) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)


def train(
    model: SDLM,
    batches: Batches,
    config: TrainConfig,
    out: Path,
    *,
    ranks: Ranks,
    facts: dict[str, Any],
    resume: bool,
    export: Callable[[Progress], None],
) -> Outcome:
    """Train until a limit is reached or a signal arrives; leave a checkpoint either way.

    model: where `ranks` has placed it. facts: further settings (data, model) that a resumed run
    must share. export: called at every checkpoint, to write the model in its current state.
    """
    optimisers = make_optimisers(model, config)
    settings = facts | config.fixed()
    if resume:
        progress = load_state(out, model, optimisers, settings)
    else:
        num_slots = batches.source.num_slots
        progress = Progress(sums_3D=torch.zeros(3, num_slots, dtype=torch.float64))
    if ranks.is_first:
        remove_drafts(out)
        remove_drafts(out / ADAPTER)
        cut_log(out, progress.step)
    model.train()
    if config.compile:
        model.compile_blocks()
    begin_s = time.monotonic() - progress.elapsed_s
    saved_s = progress.elapsed_s

    def save() -> None:
        check_weights(model, progress, ranks)
        save_state(out, model, optimisers, progress, settings, ranks)
        export(progress)

    with StopSignal() as stop, progress_display(visible=ranks.is_first) as show:
        for update in batches.start_at(progress.position):
            fraction = _fraction(config, progress)
            if ranks.any(stop.asked) or fraction >= 1:
                break
            lr = learning_rate(config, fraction)
            progress.step += 1
            sums = train_step(
                model, optimisers, update.batches, config, ranks=ranks, lr=lr, step=progress.step
            )
            progress.tokens += sums.tokens
            progress.position, progress.epochs = update.position, update.epochs
            progress.sums_3D += sums.sums_3D
            progress.elapsed_s = ranks.of_first(time.monotonic() - begin_s)
            done = _fraction(config, progress)
            if ranks.is_first and (progress.step % config.log_every == 0 or done >= 1):
                show(log_step(out, progress, lr), done)
            if progress.elapsed_s - saved_s >= 60 * config.checkpoint_minutes:
                save()
                saved_s = progress.elapsed_s
        save()
    return _outcome(config, progress)


def _outcome(config: TrainConfig, progress: Progress) -> Outcome:
    return Outcome(
        finished=_fraction(config, progress) >= 1,
        steps=progress.step,
        tokens=progress.tokens,
        elapsed_s=progress.elapsed_s,
    )


def _fraction(config: TrainConfig, progress: Progress) -> float:
    return run_fraction(
        config,
        epochs=progress.epochs,
        steps=progress.step,
        tokens=progress.tokens,
        elapsed_s=progress.elapsed_s,
    )


def check_weights(model: SDLM, progress: Progress, ranks: Ranks) -> None:
    """Raise ValueError, before anything is written, where an update has left a weight not finite:
    the loss and the gradient that led to it were."""
    trained = (p.detach() for p in model.parameters() if p.requires_grad)
    shares = (p.to_local() if isinstance(p, DTensor) else p for p in trained)
    ruined = any(not share.isfinite().all() for share in shares)
    if ranks.any(ruined):
        raise ValueError(
            f"after step {progress.step} a weight is not finite; training stops, and the last"
            " checkpoint, if there is one, is kept. Try a lower --lr"
        )


class StepSums(NamedTuple):
    """What an update was made of, over all its batches and ranks; sums_3D: see `loss.Loss`."""

    sums_3D: Tensor
    tokens: int


def train_step(
    model: SDLM,
    optimisers: Sequence[Optimizer],
    batches: Sequence[Batch],
    config: TrainConfig,
    *,
    ranks: Ranks,
    lr: float,
    step: int,
) -> StepSums:
    """One update; ValueError, before any weight changes, if loss or gradient is not finite."""
    for group in (group for optimiser in optimisers for group in optimiser.param_groups):
        group["lr"] = lr
    counts = Counts(*ranks.sum(torch.tensor(count_labels(batches))).tolist())
    parts: list[Tensor] = []
    for batch in batches:
        loss = training_loss(
            model, batch, clean_weight=config.clean_weight, bf16=config.bf16, counts=counts
        )
        # FSDP takes the mean of the ranks' gradients where their sum is meant.
        (loss.total * ranks.size).backward()
        tokens = torch.tensor([batch.num_tokens], dtype=torch.float64)
        total = loss.total.detach().reshape(1).double().cpu()
        parts.append(torch.cat([loss.sums_3D.flatten(), total, tokens]))
    *sums, total, tokens = ranks.sum(torch.stack(parts).sum(0)).tolist()
    norm_tensor = torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_clip)
    if isinstance(norm_tensor, DTensor):
        norm_tensor = norm_tensor.full_tensor()
    norm = norm_tensor.item()
    if not (math.isfinite(total) and math.isfinite(norm)):
        raise ValueError(
            f"at step {step} the loss is {total} and the gradient's norm {norm}; training stops,"
            " and the last checkpoint, if there is one, is kept. Try a lower --lr"
        )
    for optimiser in optimisers:
        optimiser.step()
        optimiser.zero_grad()
    return StepSums(torch.tensor(sums, dtype=torch.float64).view(3, -1), int(tokens))
