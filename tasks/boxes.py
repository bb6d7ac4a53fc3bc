"""Finding the answer that a text puts in a box, `\\boxed{…}` or `\\boxed 5`.

The last box counts, with braces balanced; a box inside a box belongs to the outer one. A last box
that is never closed declares nothing, and neither does a complete one in the same paragraph after
an unclosed one: an earlier box may be a step on the way, and half an answer is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BOX = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*")
BARE = re.compile(r"\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\}|[^\s{}]+")
PARAGRAPH = re.compile(r"\n\s*\n")


class Box(NamedTuple):
    """Where a box begins and ends, and what is in it; `content` is None where it isn't closed."""

    start: int
    end: int
    content: str | None


def last_box(text: str) -> str | None:
    """The content of the last box, or None where there is none or it can't be trusted."""
    last, broken = None, None
    for box in outer_boxes(text):
        if box.content is None:
            broken = box
        elif last is None or box.content.strip():
            last = box
    if last is None or last.content is None:
        return None
    if broken is not None and (
        broken.start > last.start or not PARAGRAPH.search(text, broken.end, last.start)
    ):
        return None
    return inside_out(last.content)


def has_box(text: str) -> bool:
    """Whether a text begins any box, closed or not."""
    return BOX.search(text) is not None


def outer_boxes(text: str) -> list[Box]:
    """The boxes of a text from left to right, without those inside a complete one."""
    ends = _closing_braces(text)
    boxes: list[Box] = []
    done = 0
    for found in BOX.finditer(text):
        if found.start() < done:
            continue
        begin = found.end()
        if text.startswith("{", begin):
            close = ends.get(begin)
            if close is None:
                boxes.append(Box(found.start(), begin, None))
                continue
            boxes.append(Box(found.start(), close + 1, text[begin + 1 : close]))
        elif bare := BARE.match(text, begin):
            boxes.append(Box(found.start(), bare.end(), bare[0]))
        else:
            continue
        done = boxes[-1].end
    return boxes


def inside_out(content: str) -> str:
    """A box's content without the boxes inside it, whose own contents stay."""
    ends = _closing_braces(content)
    dropped: set[int] = set()
    for found in BOX.finditer(content):
        close = ends.get(found.end())
        dropped.update(range(found.start(), found.end()))
        if close is not None:
            dropped.update((found.end(), close))
    return "".join(char for place, char in enumerate(content) if place not in dropped)


def _closing_braces(text: str) -> dict[int, int]:
    """Place of each opening brace -> place of its closing one; `\\{` and `\\}` are no braces."""
    ends: dict[int, int] = {}
    open_at: list[int] = []
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if found[0] == "{":
            open_at.append(found.start())
        elif found[0] == "}" and open_at:
            ends[open_at.pop()] = found.start()
    return ends
