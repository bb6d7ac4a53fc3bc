"""What a run measures. Two runs with equal configurations may share a folder; others may not."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from tasks import PromptProtocol

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Attention = Literal["dense", "flex"]
SourceChoice = Literal["auto", "embedded", "official"]
Quantize = Literal["none", "int8"]
Order = Literal["given", "longest-first"]
#: What becomes of a conversation whose own answer comes to another result than the data's.
Mismatch = Literal["data", "drop"]
EngineName = Literal["local", "ray"]

DEFAULT_TAUS = "0.98,0.9,0.8,0.6"
DEFAULT_LIMIT = 100
DEFAULT_TRACES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What is done to a model to make it faster, or to make it fit.

    compile: the decoding steps. tensor_parallel: processes that share it.
    """

    compile: bool = False
    quantize: Quantize = "none"
    tensor_parallel: int = 1

    def __post_init__(self) -> None:
        ranks = self.tensor_parallel
        if ranks < 1:
            raise ValueError(f"--tensor-parallel is {ranks}; it must be at least 1")
        if ranks > 1 and (self.compile or self.quantize != "none"):
            other = "--compile" if self.compile else "--quantize"
            raise ValueError(f"--tensor-parallel {ranks} and {other} don't go together; leave one")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One run, with every choice made: nothing is filled in later.

    model: as given; model_sha256: which weights, settings, tokenizer and chat template that were.
    baseline_model: the autoregressive twin and its hash, or None.
    tasks and the source of each one's items; limit: how many of each, drawn with `seed`; 0 is all.
    decoders: full specs, in the order of the table.
    order: in which a chunk's prompts are admitted.
    compile, quantize, tensor_parallel: what was done to the model, as in `Setup`.
    max_new_tokens: budget of an answer for each task. fixed_length: the one length of all answers,
    or None. repeats: how often each sample is measured.
    """

    model: str
    model_sha256: str
    baseline_model: str | None
    baseline_model_sha256: str | None
    tasks: tuple[str, ...]
    sources: dict[str, str]
    protocol: PromptProtocol
    decoders: tuple[str, ...]
    limit: int
    batch_sizes: tuple[int, ...]
    order: Order
    dtype: str
    attention: Attention
    compile: bool
    quantize: Quantize
    tensor_parallel: int
    device: str
    max_new_tokens: dict[str, int]
    fixed_length: int | None
    repeats: int
    seed: int
    data_sha256: dict[str, str]
    template_sha256: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
