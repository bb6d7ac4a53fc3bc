"""The block-mask language model: RMSNorm, RoPE, grouped-query attention, SwiGLU.

One file for the Qwen2, Qwen3, Llama and Mistral families; what differs between them is a field of
`ModelConfig`. A model with a `block_size` is a Sequential Diffusion Language Model (arXiv
2509.24007); one without is a plain autoregressive model. The weights and the forward are the same:
what a token sees is decided by the layout alone.

Shape suffixes: B rows, T query slots, S key slots, N slots whose logits are wanted, C hidden
width, H query heads, K key/value heads, A heads of all kinds, D head width, E half of it, F
feed-forward width, V vocabulary.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdlm.attention import Impl, Mask, attend, build_mask, ready_to_compile
from sdlm.cache import KVCache
from sdlm.layout import Layout
from sdlm.linear import Linear


def parameter_count(config: "ModelConfig") -> int:
    """Weights of a model of this shape; one that is packed has fewer parameters."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in SDLM(config).parameters())


@dataclass(frozen=True, slots=True, kw_only=True)
class Llama3Scaling:
    """Frequency scaling of the Llama 3.1 family (`rope_type: llama3`)."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int


SIZES = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_layers",
    "num_heads",
    "num_kv_heads",
    "head_dim",
    "max_context",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Shape and semantics of a model. `sdlm.hf_config` reads it from a Hugging Face config.

    max_context: longest sequence, in tokens, that the position encoding (or a sliding window
        that this project does not apply) allows.
    block_size, mask_token_id: set for an SDLM, both None for an autoregressive model.
    causal_attn: whether the slots of a window see only those before them.
    shift: whether slot k predicts the token after its own place (else its own), as SDLMs do.
    eos_token_ids: tokens that end an answer.
    """

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    max_context: int
    rope_scaling: Llama3Scaling | None = None
    qkv_bias: bool = False
    qk_norm: bool = False
    tie_embeddings: bool = False
    block_size: int | None = None
    mask_token_id: int | None = None
    causal_attn: bool = False
    shift: bool = True
    eos_token_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._check_numbers()
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"{self.num_heads} attention heads can't share {self.num_kv_heads} key/value heads"
            )
        if (self.block_size is None) != (self.mask_token_id is None):
            missing = "text_mask_token_id" if self.mask_token_id is None else "block_size"
            raise ValueError(
                f"the config names an SDLM but has no {missing}; an SDLM needs block_size and"
                " text_mask_token_id, an autoregressive model neither"
            )
        if self.mask_token_id is not None:
            self._check_mask_token(self.mask_token_id)
        block: object = self.block_size
        if block is not None and (type(block) is not int or block < 2):
            raise ValueError(f"block_size is {block!r}; a block has at least 2 slots")

    def _check_numbers(self) -> None:
        for name in SIZES:
            value: object = getattr(self, name)
            if type(value) is not int or not 1 <= value < 2**31:
                raise ValueError(f"{name} is {value!r}; it must be an integer of at least 1")
        if self.head_dim % 2:
            raise ValueError(f"head_dim is {self.head_dim}; rotary positions need an even one")
        for name in ("rms_norm_eps", "rope_theta"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value < 2**63:
                raise ValueError(f"{name} is {value!r}; it must be a positive number")

    def _check_mask_token(self, mask_token_id: int) -> None:
        if type(mask_token_id) is not int or not 0 <= mask_token_id < self.vocab_size:
            raise ValueError(
                f"text_mask_token_id {mask_token_id!r} lies outside the vocabulary of"
                f" {self.vocab_size} tokens"
            )
        if mask_token_id in self.eos_token_ids:
            raise ValueError(
                f"text_mask_token_id {mask_token_id} is also an end token; it must be a token of"
                " its own that no text contains"
            )


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        # The statistics are taken in fp32 and the result cast before the weight, as the
        # checkpoints of all four families were trained.
        if x.dtype == torch.float32:
            return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
        return self.weight * F.rms_norm(x.float(), self.weight.shape, None, self.eps).to(x.dtype)


class Rotary(nn.Module):
    """Rotary position embedding (halves rotated, as Hugging Face lays out q and k)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        exponent = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
        inverse = 1.0 / config.rope_theta**exponent
        if config.rope_scaling is not None:
            inverse = _llama3_frequencies(inverse, config.rope_scaling)
        self.register_buffer("inverse", inverse, persistent=False)
        self.inverse: Tensor

    def forward(self, positions_BT: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """cos and sin, each [B, 1, T, D], computed in fp32; see `rotate` for the sign of sin."""
        angle_BTE = positions_BT[..., None].float() * self.inverse.float()
        cos_BTE, sin_BTE = angle_BTE.cos().to(dtype), angle_BTE.sin().to(dtype)
        cos_BTD = torch.cat((cos_BTE, cos_BTE), dim=-1)
        sin_BTD = torch.cat((-sin_BTE, sin_BTE), dim=-1)
        return cos_BTD[:, None], sin_BTD[:, None]


def _llama3_frequencies(inverse: Tensor, scaling: Llama3Scaling) -> Tensor:
    """Slow frequencies divided by `factor`, fast ones kept, a ramp between."""
    turns = scaling.original_max_position_embeddings * inverse / (2 * math.pi)
    width = scaling.high_freq_factor - scaling.low_freq_factor
    keep = ((turns - scaling.low_freq_factor) / width).clamp(0, 1)
    return keep * inverse + (1 - keep) * inverse / scaling.factor


def rotate(x_BHTD: Tensor, cos_B1TD: Tensor, sin_B1TD: Tensor) -> Tensor:
    """x turned by its angle; `sin_B1TD` is negative in its first half."""
    first, second = x_BHTD.chunk(2, dim=-1)
    swapped_BHTD = torch.cat((second, first), dim=-1)
    return x_BHTD * cos_B1TD + swapped_BHTD * sin_B1TD


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardState:
    """What all layers of one forward share."""

    cos_B1TD: Tensor
    sin_B1TD: Tensor
    mask: Mask
    cache: KVCache | None
    places_N: Tensor | None


class Attention(nn.Module):
    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.config = config
        num_heads = config.num_heads + 2 * config.num_kv_heads
        bias = config.qkv_bias
        # Queries, keys and values of one product, one above the other.
        self.qkv_proj = Linear(config.hidden_size, num_heads * config.head_dim, bias=bias)
        self.o_proj = Linear(config.num_heads * config.head_dim, config.hidden_size, bias=False)
        if config.qk_norm:
            self.q_norm = RMSNorm(config.head_dim, config.rms_norm_eps)
            self.k_norm = RMSNorm(config.head_dim, config.rms_norm_eps)

    def forward(self, x_BTC: Tensor, state: ForwardState) -> Tensor:
        B, T, _ = x_BTC.shape
        H, K = self.config.num_heads, self.config.num_kv_heads
        heads_BTAD = self.qkv_proj(x_BTC).view(B, T, H + 2 * K, self.config.head_dim)
        qk_BTAD, v_BTKD = heads_BTAD.split((H + K, K), dim=2)
        if self.config.qk_norm:
            q_BTHD, k_BTKD = qk_BTAD.split((H, K), dim=2)
            qk_BTAD = torch.cat((self.q_norm(q_BTHD), self.k_norm(k_BTKD)), dim=2)
        # Under autocast the fp32 angles promote what they turn.
        qk_BATD = rotate(qk_BTAD.transpose(1, 2), state.cos_B1TD, state.sin_B1TD)
        q_BHTD, k_BKSD = qk_BATD.to(heads_BTAD.dtype).split((H, K), dim=1)
        v_BKSD = v_BTKD.transpose(1, 2)
        if state.cache is not None:
            assert state.places_N is not None, "made with the cache"
            k_BKSD, v_BKSD = state.cache.append(
                self.layer, k_BKSD, v_BKSD, state.places_N, state.mask.num_keys
            )
        out_BHTD = attend(q_BHTD, k_BKSD, v_BKSD, state.mask)
        return self.o_proj(out_BHTD.transpose(1, 2).reshape(B, T, -1))


class MLP(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up_proj = Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_proj = Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x_BTC: Tensor) -> Tensor:
        gate_BTF, up_BTF = self.gate_up_proj(x_BTC).chunk(2, dim=-1)
        return self.down_proj(F.silu(gate_BTF) * up_BTF)


class Block(nn.Module):
    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.attention_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.attention = Attention(config, layer)
        self.mlp_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def forward(self, x_BTC: Tensor, state: ForwardState) -> Tensor:
        x_BTC = x_BTC + self.attention(self.attention_norm(x_BTC), state)
        return x_BTC + self.mlp(self.mlp_norm(x_BTC))


class SDLM(nn.Module):
    """The model. `impl` chooses the attention implementation for every forward.

    share_config: of the weights and the cache that are in this process, which a tensor-parallel
        rank has a share of.
    """

    def __init__(self, config: ModelConfig, impl: Impl = Impl.DENSE) -> None:
        super().__init__()
        self.config = self.share_config = config
        self.impl = impl
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.num_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary = Rotary(config)
        self.head = Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.head.weight = self.embedding.weight
        self.compiled: Callable[..., Tensor] | None = None
        self.spare: KVCache | None = None

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.embedding.weight.dtype

    @property
    def static_shapes(self) -> bool:
        """Whether each number of rows or query slots costs a compilation: callers then keep to
        few of them."""
        return self.impl is Impl.FLEX or self.compiled is not None

    @property
    def static_keys(self) -> bool:
        """The same for the number of key slots."""
        dynamic = self.impl is Impl.DENSE and self.device.type == "cpu"
        return self.static_shapes and not dynamic

    def compile_forward(self) -> None:
        """Compile what `decode` runs: a graph for each number of rows and query slots, which on
        CUDA is replayed as a CUDA graph."""
        ready_to_compile(self.device)
        on_cpu = self.device.type == "cpu"
        for module in self.modules():
            if isinstance(module, Linear):
                module.swap()
        # In C++ a graph's own overhead is a third of that in Python.
        option = "cpp_wrapper" if on_cpu else "triton.cudagraphs"
        self.compiled = torch.compile(
            self.forward,
            dynamic=on_cpu and self.impl is Impl.DENSE,
            fullgraph=True,
            options={option: True},
        )

    def compile_blocks(self) -> None:
        """Compile what training runs, block by block, for batches of any shape."""
        ready_to_compile(self.device)
        for block in self.blocks:
            block.compile(dynamic=True)

    def pack(self) -> None:
        """Lay the weights out for inference on a CPU; they can't be saved or compiled after it."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.pack()

    def take_cache(self, rows: int, capacity: int) -> KVCache:
        """An empty cache of that size: the one in `spare`, if it fits, or a new one.

        A CUDA graph is bound to the memory that it was recorded with.
        """
        cache, self.spare = self.spare, None
        if cache is None or (cache.rows, cache.capacity) != (rows, capacity):
            # Let go first: both may not fit.
            cache = None
            cache = self.new_cache(rows, capacity)
            if self.compiled is not None and self.device.type == "cuda":
                for layer in cache.k_BKSD + cache.v_BKSD:
                    torch._dynamo.mark_static_address(layer)
        cache.lengths_B.zero_()
        return cache

    def new_cache(self, rows: int, capacity: int) -> KVCache:
        return KVCache(
            layers=self.share_config.num_layers,
            rows=rows,
            kv_heads=self.share_config.num_kv_heads,
            capacity=capacity,
            head_dim=self.share_config.head_dim,
            dtype=self.dtype,
            device=self.device,
        )

    def hidden(
        self, ids_BT: Tensor, positions_BT: Tensor, layout: Layout, cache: KVCache | None = None
    ) -> Tensor:
        """Final hidden states [B, T, C]; the head is applied to those that are wanted.

        ids_BT, positions_BT: int64. With a cache, `layout.offset_B` are its lengths and this
        forward's keys and values are written behind them (uncommitted).
        """
        x_BTC = self.embedding(ids_BT)
        cos_B1TD, sin_B1TD = self.rotary(positions_BT, x_BTC.dtype)
        slot_T = torch.arange(ids_BT.shape[1], device=ids_BT.device)
        heads_per_key = self.config.num_heads // self.config.num_kv_heads
        state = ForwardState(
            cos_B1TD=cos_B1TD,
            sin_B1TD=sin_B1TD,
            mask=build_mask(layout, self.impl, x_BTC.dtype, heads_per_key),
            cache=cache,
            places_N=None if cache is None else cache.places(layout.offset_B[:, None] + slot_T),
        )
        for block in self.blocks:
            x_BTC = block(x_BTC, state)
        return self.norm(x_BTC)

    def forward(
        self,
        ids_BT: Tensor,
        positions_BT: Tensor,
        layout: Layout,
        cache: KVCache | None = None,
        wanted_BN: Tensor | None = None,
    ) -> Tensor:
        """Logits [B, N, V] of the slots `wanted_BN` (int64; None means all of them)."""
        x_BTC = self.hidden(ids_BT, positions_BT, layout, cache)
        if wanted_BN is not None:
            x_BTC = x_BTC.gather(1, wanted_BN[..., None].expand(-1, -1, x_BTC.shape[-1]))
        return self.head(x_BTC)

    def decode(
        self,
        ids_BT: Tensor,
        positions_BT: Tensor,
        layout: Layout,
        cache: KVCache,
        wanted_BN: Tensor,
    ) -> Tensor:
        """`forward`, compiled if `compile_forward` was called: for the few shapes of decoding."""
        if self.compiled is None:
            return self(ids_BT, positions_BT, layout, cache, wanted_BN)
        if self.device.type == "cuda":
            # The last step's logits are no longer needed.
            torch.compiler.cudagraph_mark_step_begin()
        return self.compiled(ids_BT, positions_BT, layout, cache, wanted_BN)
