"""How to train: the settings of a run, and the learning rate that follows from them."""

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Schedule = Literal["cosine", "constant"]
OptimiserName = Literal["adamw", "muon"]

LIMITS = ("epochs", "max_steps", "max_tokens", "max_minutes")
ABOVE_ZERO = (
    *LIMITS,
    "lr",
    "grad_clip",
    "log_every",
    "batch_tokens",
    "grad_accumulation",
    "lora_alpha",
)
NOT_NEGATIVE = (
    "weight_decay",
    "clean_weight",
    "pack_length",
    "seed",
    "checkpoint_minutes",
    "lora_rank",
)
BELOW_ONE = ("warmup", "final_lr", "beta1", "beta2")
# Where a run ends and what it tells may change when it is resumed.
FREE = {*LIMITS, "checkpoint_minutes", "log_every"}
# torch's generators take 64 bits.
LARGEST_SEED = 2**63 - 1


def _option(text: str, name: str = "") -> dict[str, str]:
    """Help text of a command-line option, and its name where that is not the field's."""
    return {"help": text, "name": name}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The training loop's settings; each is a command-line option, of the same name where its
    metadata has no other."""

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
    weight_decay: float = field(default=0.1, metadata=_option("weight decay, on matrices only"))
    beta1: float = field(default=0.9, metadata=_option("AdamW decay of the first moment"))
    beta2: float = field(default=0.95, metadata=_option("AdamW decay of the second moment"))
    grad_clip: float = field(default=1.0, metadata=_option("largest gradient norm"))
    clean_weight: float = field(
        default=0.0,
        metadata=_option("weight of the clean sequence's next-token loss", "--clean-loss-weight"),
    )
    assistant_only_loss: bool = field(
        default=False,
        metadata=_option("no next-token loss on what is not an assistant's"),
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
        if all(getattr(self, name) is None for name in LIMITS):
            raise ValueError(f"give at least one of {', '.join(map(_option_name, LIMITS))}")
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, int | float) and (fault := _fault(setting.name, value)):
                raise ValueError(f"{_option_name(setting.name)} is {value}; it {fault}")

    def fixed(self) -> dict[str, Any]:
        """The settings that a resumed run must share."""
        return {name: value for name, value in asdict(self).items() if name not in FREE}


def _option_name(name: str) -> str:
    """What a setting is called on the command line."""
    own = TrainConfig.__dataclass_fields__[name].metadata["name"]
    return own or f"--{name.replace('_', '-')}"


def _fault(name: str, value: float) -> str:
    """What a number must be and is not; empty where there is nothing to object to."""
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if name in ABOVE_ZERO and value <= 0:
        return "must be above 0"
    if name in NOT_NEGATIVE and value < 0:
        return "must not be negative"
    if name in BELOW_ONE and not 0 <= value < 1:
        return "lies in 0…1, 1 excluded"
    if name == "seed" and value > LARGEST_SEED:
        return f"must not be above {LARGEST_SEED}"
    return ""


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
