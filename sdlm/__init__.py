"""The Sequential Diffusion Language Model: mask rule, model, cache, checkpoints, retrofit."""
