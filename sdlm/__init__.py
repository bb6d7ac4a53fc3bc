"""The Sequential Diffusion Language Model: layout, attention, model, cache, checkpoint, retrofit."""
