"""Low-rank adapters (LoRA, arXiv 2106.09685): all weights frozen, W x + alpha / rank * B A x.

Every projection of attention and MLP has a pair of its own, as on a transformers model, though
q, k, v and gate, up are one weight here: the pairs of a fused weight lie one above the other, like
its parts. An embedding row that is new, the mask token's, is trained whole; so is the head's.
`sdlm.retrofit.adapter` writes both as peft reads them.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdlm.checkpoint import hf_names, hf_tensors
from sdlm.linear import Linear
from sdlm.model import SDLM, ModelConfig

TARGETS = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")
# Ends of the names of what is trained.
ADAPTERS = (".lora_a", ".lora_b", ".row")


class LoraLinear(Linear):
    """A frozen linear layer and a low-rank sum for each of the projections in it.

    heights: rows of each projection. lora_a: [projections * rank, in]; lora_b: [out, rank].
    """

    def __init__(
        self,
        base: Linear,
        heights: list[int],
        rank: int,
        alpha: float,
        generator: torch.Generator,
    ) -> None:
        has_bias = base.bias is not None
        super().__init__(base.in_features, base.out_features, bias=has_bias, device="meta")
        self.weight, self.bias = base.weight, base.bias
        self.heights, self.scale = heights, alpha / rank
        bound = base.in_features**-0.5
        first = torch.empty(len(heights) * rank, base.in_features)
        self.lora_a = nn.Parameter(first.uniform_(-bound, bound, generator=generator))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, input: Tensor) -> Tensor:
        low = F.linear(input, self.lora_a).chunk(len(self.heights), dim=-1)
        parts = zip(low, self.lora_b.split(self.heights), strict=True)
        added = torch.cat([F.linear(x, b_OR) for x, b_OR in parts], dim=-1)
        return super().forward(input) + self.scale * added


class RowEmbedding(nn.Embedding):
    """A frozen embedding of which one token's row is trained."""

    def __init__(self, base: nn.Embedding, token: int) -> None:
        super().__init__(base.num_embeddings, base.embedding_dim, device="meta")
        self.weight, self.token = base.weight, token
        self.row = nn.Parameter(base.weight[token].detach().clone())

    def forward(self, input: Tensor) -> Tensor:
        return torch.where((input == self.token)[..., None], self.row, super().forward(input))


class RowLinear(Linear):
    """A frozen head of which one token's row is trained."""

    def __init__(self, base: Linear, token: int, row: nn.Parameter) -> None:
        super().__init__(base.in_features, base.out_features, bias=False, device="meta")
        self.weight, self.token, self.row = base.weight, token, row

    def forward(self, input: Tensor) -> Tensor:
        logits = super().forward(input)
        logits[..., self.token] = F.linear(input, self.row[None])[..., 0]
        return logits


def add_lora(model: SDLM, *, rank: int, alpha: float, new_token: int | None, seed: int) -> SDLM:
    """Freeze the model and put adapters into it, which leave its outputs as they were.

    new_token: the token whose embedding is trained too.
    """
    if rank > model.config.hidden_size:
        raise ValueError(
            f"--lora-rank is {rank}; above {model.config.hidden_size}, the model's width, it"
            " adds nothing"
        )
    model.requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for name, module in list(model.blocks.named_modules()):
        if not name.endswith(TARGETS):
            continue
        assert isinstance(module, Linear), "the targets are linear layers"
        rows = hf_tensors({f"blocks.{name}.weight": module.weight}, model.config)
        heights = [len(part) for part in rows.values()]
        parent, _, last = name.rpartition(".")
        lora = LoraLinear(module, heights, rank, alpha, generator)
        setattr(model.blocks.get_submodule(parent), last, lora)
    if new_token is not None:
        model.embedding = RowEmbedding(model.embedding, new_token)
        row = model.embedding.row
        if not model.config.tie_embeddings:
            row = nn.Parameter(model.head.weight[new_token].detach().clone())
        model.head = RowLinear(model.head, new_token, row)
    return model


class Pair(NamedTuple):
    """The low-rank sum of one projection: alpha / rank * b @ a is added to its weight."""

    a_RI: Tensor
    b_OR: Tensor


def lora_pairs(tensors: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Pair]:
    """The pairs in a model's tensors, under the Hugging Face names of their projections."""
    pairs: dict[str, Pair] = {}
    for name, b_OR in tensors.items():
        if name.endswith(".lora_b"):
            a = tensors[name.removesuffix("lora_b") + "lora_a"].chunk(len(hf_names(name)))
            b = hf_tensors({name: b_OR}, config)
            for (part, b_part), a_part in zip(b.items(), a, strict=True):
                pairs[part.removesuffix(".lora_b")] = Pair(a_part, b_part)
    return pairs


def new_rows(tensors: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Trained rows in a model's tensors, under the Hugging Face names of their modules."""
    tied = {"head.row"} if config.tie_embeddings else set()
    return {
        hf_names(name)[0].removesuffix(".row"): row
        for name, row in tensors.items()
        if name.endswith(".row") and name not in tied
    }


def rounded_lora(tensors: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """A model's tensors, the adapters among them rounded to `dtype`."""
    return {
        name: tensor.to(dtype).to(tensor.dtype) if name.endswith(ADAPTERS) else tensor
        for name, tensor in tensors.items()
    }


def merge_lora(
    tensors: Mapping[str, Tensor], config: ModelConfig, scale: float, new_token: int | None
) -> dict[str, Tensor]:
    """A model's tensors with the adapters added to the weights, as if it had none."""
    merged: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        module, _, kind = name.rpartition(".")
        if kind == "weight" and f"{module}.lora_b" in tensors:
            mine = {key: tensors[key] for key in (f"{module}.lora_a", f"{module}.lora_b")}
            sums = [b_OR @ a_RI for a_RI, b_OR in lora_pairs(mine, config).values()]
            merged[name] = tensor + scale * torch.cat(sums)
        elif kind == "weight" and f"{module}.row" in tensors:
            merged[name] = tensor.clone()
            merged[name][new_token] = tensors[f"{module}.row"]
        elif not name.endswith(ADAPTERS):
            merged[name] = tensor
    return merged
