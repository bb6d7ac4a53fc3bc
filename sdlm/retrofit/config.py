"""How to train: the settings of a run, and the learning rate that follows from them."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Schedule = Literal["cosine", "constant"]
OptimiserName = Literal["adamw", "muon"]


ABOVE_ZERO = ("lr", "grad_clip", "log_every", "batch_tokens", "grad_accumulation", "lora_alpha")
NOT_NEGATIVE = (
    "weight_decay",
    "clean_weight",
    "pack_length",
    "seed",
    "checkpoint_minutes",
    "lora_rank",
)
# Where a run ends and what it tells may change when it is resumed.
FREE = {"epochs", "max_steps", "max_tokens", "max_minutes", "checkpoint_minutes", "log_every"}


def _option(text: str, name: str = "") -> dict[str, str]:
    """Help text of a command-line option, and its name where that is not the field's."""
    return {"help": text, "name": name}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The training loop's settings; each is a command-line option of the same name."""

    optimiser: OptimiserName = field(
        default="adamw",
        metadata=_option("of the matrices in the blocks; see sdlm.retrofit.optimiser"),
    )
    lr: float = field(default=1e-3, metadata=_option("peak learning rate"))
    schedule: Schedule = field(
        default="cosine", metadata=_option("how the learning rate goes on after the warm-up")
    )
    final_lr: float = field(
        default=0.0, metadata=_option("end of the cosine, as a share of the peak")
    )
    warmup: float = field(
        default=0.02, metadata=_option("share of the run over which the learning rate rises")
    )
    weight_decay: float = field(
        default=0.1, metadata=_option("AdamW weight decay, on matrices only")
    )
    beta1: float = field(default=0.9, metadata=_option("AdamW decay of the first moment"))
    beta2: float = field(default=0.95, metadata=_option("AdamW decay of the second moment"))
    grad_clip: float = field(default=1.0, metadata=_option("largest gradient norm"))
    clean_weight: float = field(
        default=0.0,
        metadata=_option("weight of the clean sequence's next-token loss", "--clean-loss-weight"),
    )
    batch_tokens: int = field(default=8192, metadata=_option("slots of a batch, padding included"))
    grad_accumulation: int = field(default=1, metadata=_option("batches of an update"))
    pack_length: int = field(
        default=0, metadata=_option("pack samples into rows this long; 0: one sample a row")
    )
    seed: int = field(
        default=0, metadata=_option("seed of order, block starts and initialisation")
    )
    bf16: bool = field(default=True, metadata=_option("autocast to bf16 (weights stay fp32)"))
    lora_rank: int = field(
        default=0, metadata=_option("train low-rank adapters of this rank; 0: all weights")
    )
    lora_alpha: float = field(default=16.0, metadata=_option("adapters count alpha / rank times"))
    compile: bool = field(
        default=False,
        metadata=_option("compile the blocks, which takes a while at the start"),
    )
    epochs: int | None = field(
        default=None, metadata=_option("stop after this many passes over the data")
    )
    max_steps: int | None = field(default=None, metadata=_option("stop after this many updates"))
    max_tokens: int | None = field(default=None, metadata=_option("stop after this many slots"))
    max_minutes: float | None = field(default=None, metadata=_option("stop after this long"))
    checkpoint_minutes: float = field(default=10.0, metadata=_option("time between checkpoints"))
    log_every: int = field(default=10, metadata=_option("updates between lines of the log"))

    def __post_init__(self) -> None:
        limits = (self.epochs, self.max_steps, self.max_tokens, self.max_minutes)
        names = "--epochs, --max-steps, --max-tokens and --max-minutes"
        if all(limit is None for limit in limits):
            raise ValueError(f"give at least one of {names}")
        if any(limit is not None and limit <= 0 for limit in limits):
            raise ValueError(f"{names} must be above 0")
        for name in ABOVE_ZERO:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be above 0")
        for name in NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must not be negative")
        for name in ("warmup", "final_lr", "beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it lies in 0…1, 1 excluded")

    def fixed(self) -> dict[str, Any]:
        """The settings that a resumed run must share."""
        return {name: value for name, value in asdict(self).items() if name not in FREE}


def default_settings() -> dict[str, Any]:
    """What a run had of every setting that is younger than its checkpoint."""
    return {field.name: field.default for field in fields(TrainConfig) if field.name not in FREE}


def run_fraction(
    config: TrainConfig, *, epochs: float, steps: int, tokens: int, elapsed_s: float
) -> float:
    """How much of the run is done: the largest share used up of any limit."""
    shares = [
        done / limit
        for done, limit in (
            (epochs, config.epochs),
            (steps, config.max_steps),
            (tokens, config.max_tokens),
            (elapsed_s / 60, config.max_minutes),
        )
        if limit is not None
    ]
    return max(shares)


def learning_rate(config: TrainConfig, fraction: float) -> float:
    if fraction < config.warmup:
        # Never 0, or the first step would be for nothing.
        return config.lr * max(fraction / config.warmup, 0.005)
    if config.schedule == "constant":
        return config.lr
    done = min((fraction - config.warmup) / (1 - config.warmup), 1.0)
    cosine = (1 + math.cos(math.pi * done)) / 2
    return config.lr * (config.final_lr + (1 - config.final_lr) * cosine)
