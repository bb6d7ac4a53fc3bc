"""Turning an autoregressive model into a Sequential Diffusion Language Model, by training."""
