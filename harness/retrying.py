"""What becomes of a batch in which something raised: its items are tried again, fewer at a time.

One item that raises must not cost its neighbours their answers, and memory that has no room for a
batch may have room for half of it. Answers made so are as good as others, since a row's answer
doesn't depend on its neighbours; their times are those of smaller batches, which `ROWS` among
their details tells.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sdlm.command_line import out_of_memory

ROWS = "decoded_rows"

MOST_SAID = 4000
"""Letters that are kept of what an error says, which may hold a whole tensor."""


class Broken(NamedTuple):
    """A group of items that was ended early: why, whether memory was the reason, and the numbers
    of those that got no answer."""

    reason: str
    memory: bool
    numbers: tuple[int, ...]


class Halved(NamedTuple):
    """A setting whose batches memory had no room for; `rows` are decoded at once from now on."""

    task: str
    spec: str
    batch_size: int
    rows: int


def broken(error: Exception, numbers: Sequence[int]) -> Broken:
    """Without the error itself, which would keep the tensors of all frames that it passed."""
    return Broken(described(error), out_of_memory(error), tuple(numbers))


def described(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}"
    return text if len(text) <= MOST_SAID else text[: MOST_SAID - 1] + "…"


def fewer(rows: int, found: Broken) -> int:
    """Rows to try what is left with: half of those that memory had no room for, or one, with
    which only the culprit raises."""
    return max(1, min(rows, len(found.numbers)) // 2) if found.memory else 1


def groups(numbers: tuple[int, ...], rows: int) -> list[tuple[int, ...]]:
    """What is decoded in one go: with one row, each item alone, so that it fails alone."""
    return [numbers] if rows > 1 else [(number,) for number in numbers]
