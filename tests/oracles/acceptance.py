"""How much of a window is kept, and how sure it is, by definition and in plain Python."""

import math
from collections.abc import Sequence

import numpy as np


def prefix_length(confidences: Sequence[float], tau: float, rule: str) -> int:
    """The longest confident prefix, at least 1, in fp32 throughout."""
    threshold, product, length = np.float32(tau), np.float32(1), 0
    for confidence in confidences:
        product = np.float32(product * np.float32(confidence))
        sure = np.float32(confidence) > threshold if rule == "per-token" else product >= threshold
        if not sure:
            break
        length += 1
    return max(1, length)


def verified_length(draft: Sequence[int], answers: Sequence[int]) -> int:
    """The longest prefix of the draft in which each token is the answer to the one before."""
    length = 1
    while length < len(draft) and draft[length] == answers[length - 1]:
        length += 1
    return length


def softmax(logits: Sequence[float]) -> list[float]:
    largest = max(logits)
    weights = [math.exp(value - largest) for value in logits]
    return [weight / sum(weights) for weight in weights]


def entropy_confidence(probabilities: Sequence[float]) -> float:
    entropy = -sum(p * math.log(p + 1e-9) for p in probabilities)
    return 1 - entropy / math.log(len(probabilities))
