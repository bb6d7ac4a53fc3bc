"""Decoders: one strategy a file, and the one loop that drives them all."""
