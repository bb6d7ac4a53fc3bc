"""What a run does beside decoding, in seconds: the manifest's `overhead`.

    share = (scoring + writing + progress) / (decoding + scoring + writing + progress)

is what samples cost beside their decoding, however many they are. `summary` is paid once, when the
run ends; `share_with_summary` counts it in. Loading and warm-ups belong to neither. Where workers
are many, their seconds add up.
"""

import time
from collections.abc import Mapping
from typing import Any, Self

PARTS = ("scoring", "writing", "progress", "summary")


class Stopwatch:
    """Adds up the seconds that pass inside it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._began_s = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began_s

    def take(self) -> float:
        """The seconds since this was last asked."""
        taken, self.seconds = self.seconds, 0.0
        return taken


class Overhead:
    """A stopwatch for each part, which goes on from what earlier invocations have stored."""

    def __init__(self, stored: Mapping[str, float]) -> None:
        self.decoding_s = stored.get("decoding_s", 0.0)
        self.parts = {name: Stopwatch() for name in PARTS}
        for name, watch in self.parts.items():
            watch.seconds = stored.get(f"{name}_s", 0.0)

    def as_json(self) -> dict[str, Any]:
        """The shares, and the seconds."""
        seconds = {name: watch.seconds for name, watch in self.parts.items()}
        whole_s = sum(seconds.values())
        return {
            "share": self._share(whole_s - seconds["summary"]),
            "share_with_summary": self._share(whole_s),
            "decoding_s": round(self.decoding_s, 6),
            **{f"{name}_s": round(value, 6) for name, value in seconds.items()},
        }

    def _share(self, beside_s: float) -> float | None:
        """None where nothing was done."""
        whole_s = self.decoding_s + beside_s
        return round(beside_s / whole_s, 5) if whole_s else None
