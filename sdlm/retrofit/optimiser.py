"""The optimisers of a training run.

`muon` trains the matrices of the transformer blocks with Muon (momentum, orthogonalised; Jordan
et al., 2024) at the update size of AdamW, so that one learning rate serves both; embeddings,
biases and norms stay with AdamW.
"""

from torch.optim import AdamW, Muon, Optimizer

from sdlm.model import SDLM
from sdlm.retrofit.config import TrainConfig

MUON_MOMENTUM = 0.95


def make_optimisers(model: SDLM, config: TrainConfig) -> list[Optimizer]:
    """One optimiser for every parameter that is trained; their states hold no others."""
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    blocks = [p for name, p in named if p.ndim >= 2 and name.startswith("blocks.")]
    matrices = [p for name, p in named if p.ndim >= 2 and not name.startswith("blocks.")]
    vectors = [p for _, p in named if p.ndim < 2]
    optimisers: list[Optimizer] = []
    if config.optimiser == "muon":
        optimisers.append(
            Muon(
                blocks,
                lr=config.lr,
                weight_decay=config.weight_decay,
                momentum=MUON_MOMENTUM,
                adjust_lr_fn="match_rms_adamw",
            )
        )
    else:
        matrices += blocks
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    betas = (config.beta1, config.beta2)
    optimisers.append(AdamW(groups, lr=config.lr, betas=betas, fused=True))
    return optimisers
