"""Made-up records: random but seeded, shaped like those of a real run."""

import random
from typing import Any

from results.records import SampleRecord

THRESHOLDS = ("0.98", "0.9", "0.8", "0.6")
SPECS = (
    "ar",
    "block-ar(block=4)",
    *(f"greedy-confidence(tau={tau},rule=per-token,block=4)" for tau in THRESHOLDS),
    *(f"entropy(tau={tau},rule=per-token,block=4)" for tau in THRESHOLDS),
    "self-speculative(verify=window,block=4)",
)
REFERENCES = dict.fromkeys(SPECS[1:], "block-ar(block=4)")


def record(item_id: str = "0", decoder: str = "ar", **changes: Any) -> SampleRecord:
    """A well-formed record of `tokens` ids in as many forwards, or with the given changes."""
    tokens: int = changes.pop("tokens", 3)
    kept: list[int] = changes.pop("kept", [1] * tokens)
    fields: dict[str, Any] = {
        "task": "gsm8k",
        "source": "embedded",
        "model": "nano",
        "item_id": item_id,
        "decoder": decoder,
        "batch_size": 1,
        "correct": True,
        "answer": "18",
        "extracted_by": "marker",
        "finished": True,
        "finish": "eos",
        "text": "#### 18 τ\u2028\ud800",
        "ids": list(range(sum(kept))),
        "prompt_tokens": 7,
        "kept": kept,
        "forwards": {"prefill": 1, "decode": len(kept) - 1},
        "query_slots": 7 + len(kept) - 1,
        "wall_s": 0.5,
        "compute_s": 0.5,
        "first_token_s": 0.1,
        "details": {"base": True, "plus_status": "passed", "f1": 0.5},
    }
    return SampleRecord(**{**fields, **changes})


def failed(item_id: str = "0", decoder: str = "ar", **changes: Any) -> SampleRecord:
    names = ("task", "source", "model", "batch_size")
    like = record()
    fields = {name: getattr(like, name) for name in names} | {"error": "boom"} | changes
    return SampleRecord(item_id=item_id, decoder=decoder, **fields)


def realistic_run(items: int = 200, seed: int = 0) -> list[SampleRecord]:
    """Eleven decoders on the same items: looser thresholds are faster and less accurate."""
    rng = random.Random(seed)
    hardness = [rng.random() for _ in range(items)]
    lengths = [rng.randint(60, 240) for _ in range(items)]
    return [
        _measured(str(item), spec, hardness[item], lengths[item], rng)
        for spec in SPECS
        for item in range(items)
    ]


def _measured(
    item_id: str, spec: str, hardness: float, length: int, rng: random.Random
) -> SampleRecord:
    per_step, loss, slots = _profile(spec)
    kept: list[int] = []
    while sum(kept) < length:
        step = min(4, max(1, round(rng.gauss(per_step, 0.8)))) if per_step > 1 else 1
        kept.append(min(step, length - sum(kept)))
    seconds = len(kept) * (0.01 + 0.0004 * slots) * rng.uniform(0.95, 1.05)
    capped = length > 236
    return record(
        item_id,
        spec,
        kept=kept,
        correct=hardness + rng.gauss(0, 0.03) < 0.74 - loss,
        extracted_by="fallback" if hardness > 0.9 else "marker",
        finish="length" if capped else "eos",
        finished=not capped,
        prompt_tokens=90,
        query_slots=90 + slots * len(kept),
        wall_s=seconds,
        compute_s=seconds,
    )


def _profile(spec: str) -> tuple[float, float, int]:
    """Tokens per step, accuracy lost, query slots per step."""
    if spec == "ar":
        return 1.0, 0.0, 1
    if spec.startswith("block-ar"):
        return 1.0, 0.005, 5
    if spec.startswith("self"):
        return 2.9, 0.005, 20
    tau = float(spec.split("tau=")[1].split(",")[0])
    looseness = (1 - tau) ** 0.5
    if spec.startswith("greedy"):
        return 1.8 + 2.2 * looseness, 0.01 + 0.45 * looseness**2, 6
    return 1.6 + 2.6 * looseness, 0.01 + 0.7 * looseness**2, 6
