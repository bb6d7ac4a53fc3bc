"""Whether two greedy answers are the same, and if not, whether rounding explains it."""

from collections.abc import Callable, Sequence

NEAR_TIE = 1e-4


def assert_same_ids(
    got: Sequence[int], expected: Sequence[int], gap_at: Callable[[int], float]
) -> None:
    """gap_at(i): distance of the two largest logits where expected token i was chosen."""
    if list(got) == list(expected):
        return
    shorter = min(len(got), len(expected))
    first = next((i for i in range(shorter) if got[i] != expected[i]), shorter)
    gap = gap_at(first)
    kind = "near tie" if gap < NEAR_TIE else "real"
    raise AssertionError(
        f"ids differ first at {first} ({kind}: top-2 gap {gap:.3g}):"
        f" got {list(got)}, expected {list(expected)}"
    )
