"""A training run's log: JSON lines with the means since the last one."""

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from sdlm.retrofit.run_state import Progress
from sdlm.whole_file import whole_file

LOG_NAME = "log.jsonl"
BEGINNING = '{"step": '
PLOTTED = ("tokens", "loss_per_slot", "accuracy_per_slot")


def log_step(folder: Path, progress: Progress, lr: float) -> dict[str, Any]:
    """Append the means since the last line, start new sums, and return the line."""
    loss_D, right_D, count_D = progress.sums_3D
    seconds = max(progress.elapsed_s - progress.logged_s, 1e-9)
    loss = (loss_D.sum() / count_D.sum()).item()
    tokens_per_s = (progress.tokens - progress.logged_tokens) / seconds
    line = {
        "step": progress.step,
        "tokens": progress.tokens,
        "loss": round(loss, 6),
        "loss_per_slot": _means(loss_D, count_D),
        "accuracy_per_slot": _means(right_D, count_D),
        "lr": lr,
        "tokens_per_s": round(tokens_per_s, 1),
        "elapsed_s": round(progress.elapsed_s, 3),
    }
    path = folder / LOG_NAME
    try:
        with path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
    except OSError as error:
        raise OSError(f"{path} can't be written: {error.strerror or error}") from error
    progress.sums_3D.zero_()
    progress.logged_tokens, progress.logged_s = progress.tokens, progress.elapsed_s
    return line


def _means(sums_D: Tensor, count_D: Tensor) -> list[float | None]:
    """None for a slot that had no label, such as the first where nothing is shifted."""
    pairs = zip(sums_D.tolist(), count_D.tolist(), strict=True)
    return [round(total / count, 6) if count else None for total, count in pairs]


def cut_log(folder: Path, last_step: int) -> None:
    """Drop lines past the checkpoint that is resumed from: those steps are done again."""
    path = folder / LOG_NAME
    if not path.exists():
        return
    kept: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        # A killed run can leave half a line, which is always past its last checkpoint.
        begun = BEGINNING.startswith(line[: len(BEGINNING)])
        if number == len(lines) and begun and not line.endswith("}"):
            break
        try:
            if json.loads(line)["step"] > last_step:
                break
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path}:{number} is not a training log's line; move the file away"
            ) from None
        kept.append(line + "\n")
    with whole_file(path) as draft:
        draft.write_text("".join(kept), encoding="utf-8")


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a run's log; ValueError, naming the line, for a file that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"log {path} can't be read: {error}") from None
    log: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            log.append({name: json.loads(line)[name] for name in PLOTTED})
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"log {path}, line {number}: not a training log's line, which has"
                f" {', '.join(PLOTTED)}"
            ) from None
    if not log:
        raise ValueError(f"log {path} is empty; train a few steps first")
    return log
