"""Products in steps that a small model can do."""

from __future__ import annotations


def by_tens(left: int, right: int) -> str:
    """`250 + 35 = ` for 57 times 5: the product of the tens and of the ones.

    Nothing for what is done in one go: up to 12 times 9, twice a number, multiples of 10, and
    whatever is negative or has three digits.
    """
    small, large = sorted((left, right))
    if small < 3 or not 12 < large < 100 or small % 10 == 0 or large % 10 == 0:
        return ""
    split, other = (small, large) if small > 9 else (large, small)
    return f"{split // 10 * 10 * other} + {split % 10 * other} = "
