"""The model by definition: fp64, one sequence, any mask, no cache; slow and plain.

`fp32_tolerance` is the error that fp32 arithmetic may make against it.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from sdlm.model import SDLM, ModelConfig

# Roundings (each 2^-24 of the largest value) that errors of a whole forward stay below: they grow
# like the square root of the length of the sums, and each layer amplifies what it gets.
ROUNDINGS_PER_FORWARD = 100


def fp32_tolerance(exact: Tensor, roundings: int = ROUNDINGS_PER_FORWARD) -> float:
    """The absolute error allowed to an fp32 computation of `exact`."""
    return roundings * 2.0**-24 * float(exact.abs().max())


class ReferenceModel:
    def __init__(self, model: SDLM) -> None:
        self.config: ModelConfig = model.config
        self.weights = {name: tensor.double() for name, tensor in model.state_dict().items()}

    def logits(
        self, ids: Sequence[int], positions: Sequence[int], visible: Sequence[Sequence[bool]]
    ) -> Tensor:
        """fp64 [slots, vocabulary]; visible[t][s]: slot t may attend to slot s."""
        w = self.weights
        mask = torch.tensor(visible)
        x = w["embedding.weight"][list(ids)]
        for layer in range(self.config.num_layers):
            prefix = f"blocks.{layer}."
            normed = self._norm(x, prefix + "attention_norm.weight")
            x = x + self._attention(normed, prefix + "attention.", positions, mask)
            normed = self._norm(x, prefix + "mlp_norm.weight")
            gate, up = (normed @ w[prefix + "mlp.gate_up_proj.weight"].T).tensor_split(2, dim=-1)
            x = x + (gate / (1 + torch.exp(-gate)) * up) @ w[prefix + "mlp.down_proj.weight"].T
        return self._norm(x, "norm.weight") @ w["head.weight"].T

    def _norm(self, x: Tensor, name: str) -> Tensor:
        mean_square = (x * x).sum(-1, keepdim=True) / x.shape[-1]
        return x / torch.sqrt(mean_square + self.config.rms_norm_eps) * self.weights[name]

    def _attention(self, x: Tensor, prefix: str, positions: Sequence[int], mask: Tensor) -> Tensor:
        config = self.config
        shared_by = config.num_heads // config.num_kv_heads
        heads = self._heads(x, prefix)
        q, k = heads[:, : config.num_heads], heads[:, config.num_heads : -config.num_kv_heads]
        v = heads[:, -config.num_kv_heads :]
        if config.qk_norm:
            q = self._norm(q, f"{prefix}q_norm.weight")
            k = self._norm(k, f"{prefix}k_norm.weight")
        q, k = self._rotate(q, positions), self._rotate(k, positions)
        outputs = []
        for head in range(config.num_heads):
            keys, values = k[:, head // shared_by], v[:, head // shared_by]
            scores = q[:, head] @ keys.T / math.sqrt(config.head_dim)
            weights = torch.exp(scores - scores.max()) * mask
            outputs.append(weights / weights.sum(-1, keepdim=True) @ values)
        return torch.cat(outputs, dim=-1) @ self.weights[f"{prefix}o_proj.weight"].T

    def _heads(self, x: Tensor, prefix: str) -> Tensor:
        """Query heads, then key heads, then value heads: [slots, heads, head width]."""
        out = x @ self.weights[f"{prefix}qkv_proj.weight"].T
        if self.config.qkv_bias:
            out = out + self.weights[f"{prefix}qkv_proj.bias"]
        return out.reshape(len(x), -1, self.config.head_dim)

    def _rotate(self, x: Tensor, positions: Sequence[int]) -> Tensor:
        """Component i and its partner half a head further on are one complex number."""
        half = self.config.head_dim // 2
        speeds = [self.config.rope_theta ** (-i / half) for i in range(half)]
        angles = torch.tensor(
            [[p * speed for speed in speeds] for p in positions], dtype=torch.float64
        )
        turn = torch.polar(torch.ones_like(angles), angles)[:, None]
        turned = torch.complex(x[..., :half], x[..., half:]) * turn
        return torch.cat((turned.real, turned.imag), dim=-1)
