"""Where an answer ends: one function for every decoder, on token ids.

The first end token ends the answer and is not counted. A stop string ends it where it first
appears in the generated text, however its letters are spread over tokens and steps. The budget is
never exceeded, and an end inside the budget beats the budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Finish = Literal["eos", "stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What ends an answer. `decode` turns ids into text; needed only with stop strings."""

    budget: int
    eos_token_ids: frozenset[int] = frozenset()
    stop: tuple[str, ...] = ()
    decode: Callable[[Sequence[int]], str] | None = None

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise ValueError(f"max_new_tokens is {self.budget}; it must be at least 1")
        if self.stop and self.decode is None:
            raise ValueError("stop strings need a tokenizer that turns ids into text")
        if "" in self.stop:
            raise ValueError("a stop string is empty; it would end every answer at once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """The answer so far: its ids, why it is finished (None: it is not), and, where a stop string
    ended it, its text, which may end inside the last token."""

    ids: tuple[int, ...]
    finish: Finish | None
    text: str | None = None


def trim(generated: Sequence[int], ending: Ending, *, seen: int = 0) -> Trimmed:
    """Cut all tokens generated so far, prompt excluded, where the answer ends.

    The first `seen` are known to hold no end token.
    """
    within = tuple(generated[: ending.budget])
    new = range(seen, len(within))
    end = next((index for index in new if within[index] in ending.eos_token_ids), None)
    ids = within if end is None else within[:end]
    if ending.stop and ending.decode is not None:
        text = ending.decode(ids)
        found = [(at + len(stop), at) for stop in ending.stop if (at := text.find(stop)) >= 0]
        if found:
            # The one that is complete first: text after it, of the same step or not, can't matter.
            kept = text[: min(found)[1]]
            return Trimmed(ids=_ids_of(kept, ids, ending.decode), finish="stop", text=kept)
    if end is not None:
        return Trimmed(ids=ids, finish="eos")
    return Trimmed(ids=ids, finish="length" if len(ids) == ending.budget else None)


def _ids_of(
    text: str, ids: tuple[int, ...], decode: Callable[[Sequence[int]], str]
) -> tuple[int, ...]:
    """The fewest leading ids whose text begins with `text`."""
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if decode(ids[:middle]).startswith(text):
            high = middle
        else:
            low = middle + 1
    return ids[:low]
