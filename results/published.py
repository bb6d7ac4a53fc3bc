"""What the paper printed (arXiv 2509.24007), to lay beside what was measured.

Facts from its tables and figures, with a word on how sure each is; data/published.csv holds them.
Its speeds are tokens per forward, never seconds, and its items are the official ones.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast, get_args

Certainty = Literal["printed", "quoted", "read-off", "uncertain"]
"""printed: by the paper, of its own measurement. quoted: by the paper, of others' measurements.
read-off: the speed is the place of a marker. uncertain: whose setting it is, is not said."""

# The columns of Table 1, in its order.
TABLE_TASKS = (
    *("gsm8k", "math500", "gpqa", "humaneval", "humaneval_plus", "mbpp", "mbpp_plus"),
    "ifeval",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPoint:
    """One score. Accuracy is within 0-1; what the paper leaves open is None or empty."""

    source: str
    """Table or figure."""
    model: str
    decoder: str
    """Our name for it, or `diffusion` or `unstated`."""
    block: int | None
    tau: str | None
    variant: str
    """Of an ablation: baseline, no shift, causal, unassigned."""
    task: str
    accuracy: float
    tokens_per_forward: float | None
    certainty: Certainty
    note: str


@cache
def published_points() -> tuple[PublishedPoint, ...]:
    """All of them, in the order of the file."""
    text = files("results").joinpath("data", "published.csv").read_text(encoding="utf-8")
    return tuple(_point(row) for row in csv.DictReader(text.splitlines()))


def counterpart(model: str) -> str:
    """The published model to compare one with: of its size if that is 32B, else the small one."""
    return "SDLM-32B" if "32b" in model.lower() else "SDLM-3B"


def _point(row: dict[str, str]) -> PublishedPoint:
    assert row["certainty"] in get_args(Certainty), row
    speed = row["tokens_per_forward"]
    return PublishedPoint(
        source=row["source"],
        model=row["model"],
        decoder=row["decoder"],
        block=int(row["block"]) if row["block"] else None,
        tau=row["tau"] or None,
        variant=row["variant"],
        task=row["task"],
        accuracy=round(float(row["accuracy_pct"]) / 100, 6),
        tokens_per_forward=float(speed) if speed else None,
        certainty=cast("Certainty", row["certainty"]),
        note=row["note"],
    )
