"""A training run's state on disk: one safetensors file, replaced atomically, never unpickled.

Trained weights and optimiser moments are its tensors; counters and settings its metadata. Tensors
are whole, so that any number of ranks can go on. No generator has a state to keep: order and
blocks are drawn anew from the seed, the epoch and the sample (`batches`).
"""

import fcntl
import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn import Parameter
from torch.optim import Optimizer

from sdlm.checkpoint import write_tensors
from sdlm.model import SDLM
from sdlm.retrofit.batches import Position
from sdlm.retrofit.ranks import Ranks, share_like

FILE_NAME = "checkpoint.safetensors"
LOCK_NAME = ".lock"
BEGINNING = Position(0, 0)


@dataclass(slots=True, kw_only=True)
class Progress:
    """Counters of a run, carried over a resume.

    sums_3D: see `loss.Loss`, since the last line of the log; logged_tokens, logged_s likewise.
    """

    sums_3D: Tensor
    step: int = 0
    tokens: int = 0
    elapsed_s: float = 0.0
    position: Position = BEGINNING
    epochs: float = 0.0
    logged_tokens: int = 0
    logged_s: float = 0.0


def check_folder(out: Path, *, resume: bool) -> None:
    """Raise ValueError, before anything is read, where a run can't begin or go on in `out`."""
    nearest = next(path for path in (out, *out.parents) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise ValueError(f"--out {out} can't be used: {nearest} is no folder to be written to")
    begun = (out / FILE_NAME).exists()
    if resume and not begun:
        raise ValueError(f"{out / FILE_NAME} does not exist, so there is no run to resume")
    if begun and not resume:
        raise ValueError(f"{out} holds a run already; add --resume, or choose another --out")
    # A run's checkpoint comes before its model.
    if not begun and (out / "config.json").exists():
        raise ValueError(f"{out} holds a model, which would be replaced; choose another --out")


@contextmanager
def alone_in(out: Path) -> Generator[None]:
    """Hold a folder; ValueError where another process trains in it. The system lets go of it when
    the process ends, however it does."""
    with (out / LOCK_NAME).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{out} is in use by another training; wait for its end, or choose another --out"
            ) from None
        yield


def save_state(
    folder: Path,
    model: SDLM,
    optimisers: Sequence[Optimizer],
    progress: Progress,
    settings: dict[str, Any],
    ranks: Ranks,
) -> None:
    """All ranks call it; the first writes."""
    tensors = {f"model.{name}": p.detach() for name, p in _trained(model).items()}
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for parameter, state in (pair for one in optimisers for pair in one.state.items()):
        for key, value in state.items():
            tensors[f"optimiser.{names[id(parameter)]}|{key}"] = value
    tensors = ranks.gather(tensors)
    if not ranks.is_first:
        return
    tensors["sums_3D"] = progress.sums_3D
    counters = {
        "step": progress.step,
        "tokens": progress.tokens,
        "elapsed_s": progress.elapsed_s,
        "position": list(progress.position),
        "epochs": progress.epochs,
        "logged_tokens": progress.logged_tokens,
        "logged_s": progress.logged_s,
    }
    metadata = {"progress": json.dumps(counters), "settings": json.dumps(settings)}
    write_tensors(folder / FILE_NAME, {k: v.contiguous() for k, v in tensors.items()}, metadata)


def _trained(model: SDLM) -> dict[str, Parameter]:
    """What a checkpoint holds; frozen weights are the base model's."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def load_state(
    folder: Path, model: SDLM, optimisers: Sequence[Optimizer], settings: dict[str, Any]
) -> Progress:
    """Fill model and optimisers; ValueError if the run had other settings."""
    path = folder / FILE_NAME
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if not {"settings", "progress"} <= metadata.keys():
                raise ValueError(f"{path} is no run's checkpoint; choose another --out")
            _check_settings(json.loads(metadata["settings"]), settings, path)
            _fill(file, model, optimisers)
            sums_3D = file.get_tensor("sums_3D")
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole checkpoint: {error}") from None
    counters = json.loads(metadata["progress"])
    counters["position"] = Position(*counters["position"])
    return Progress(sums_3D=sums_3D, **counters)


def _check_settings(saved: dict[str, Any], given: dict[str, Any], path: Path) -> None:
    differing = [
        f"{name} was {saved.get(name)!r} and is now {given.get(name)!r}"
        for name in sorted(saved.keys() | given.keys())
        if saved.get(name) != given.get(name)
    ]
    if differing:
        raise ValueError(f"{path} belongs to another run: {'; '.join(differing)}")


def _fill(file: Any, model: SDLM, optimisers: Sequence[Optimizer]) -> None:
    parameters = _trained(model)
    states = {
        parameter: optimiser.state
        for optimiser in optimisers
        for group in optimiser.param_groups
        for parameter in group["params"]
    }
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(share_like(file.get_tensor(f"model.{name}"), parameter))
    for key in file.keys():  # noqa: SIM118 - not a mapping
        if key.startswith("optimiser."):
            name, _, field = key.removeprefix("optimiser.").partition("|")
            parameter, value = parameters[name], file.get_tensor(key)
            # Each rank has the whole of a step count, beside its share of the weight.
            value = value.to(parameter.device) if field == "step" else share_like(value, parameter)
            states[parameter][parameter][field] = value
