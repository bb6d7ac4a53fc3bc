"""Where an answer ends, by definition: one token at a time, everything recomputed."""

from collections.abc import Sequence
from typing import NamedTuple

from decoders.trimming import Ending


class Cut(NamedTuple):
    ids: list[int]
    finish: str | None
    text: str | None = None


def cut(generated: Sequence[int], ending: Ending) -> Cut:
    ids: list[int] = []
    for token in generated:
        if token in ending.eos_token_ids:
            return Cut(ids, "eos")
        ids.append(token)
        kept_text = _before_stop(ids, ending)
        if kept_text is not None:
            return Cut(_covering(kept_text, ids, ending), "stop", kept_text)
        if len(ids) == ending.budget:
            return Cut(ids, "length")
    return Cut(ids, None)


def _before_stop(ids: Sequence[int], ending: Ending) -> str | None:
    """The text before the first stop string to be completed; of those completed by the same
    character, before the longest."""
    if not ending.stop or ending.decode is None:
        return None
    text = ending.decode(ids)
    for end in range(len(text) + 1):
        ends_here = [stop for stop in ending.stop if text[:end].endswith(stop)]
        if ends_here:
            return text[: end - max(len(stop) for stop in ends_here)]
    return None


def _covering(text: str, ids: Sequence[int], ending: Ending) -> list[int]:
    assert ending.decode is not None
    for length in range(len(ids) + 1):
        if ending.decode(ids[:length]).startswith(text):
            return list(ids[:length])
    raise AssertionError("the text before a stop string comes from the ids")
