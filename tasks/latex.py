"""Finding and tidying the answer of a mathematical text, of whatever kind it is.

Order: the last box; else a declared answer (`#### …`, "the final answer is …", "Answer: …"), the
last one; else, as a guess labelled `fallback`, the last formula, or the last number. A box that is
begun and not closed is no answer, and nothing else of that text is taken for one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tasks.boxes import has_box, last_box
from tasks.item import Extraction
from tasks.numbers import MARKER, NUMBER, numbers_in, plain, render


class Found(NamedTuple):
    """An extracted answer, as written, and how it was found."""

    answer: str | None
    extracted_by: Extraction


DECLARED = re.compile(
    r"\banswer\b(?:\s+(?:is|are|equals|will be|would be|must be)\b|(?=[*_\s]*:))"
    r"(?:\s+(?:therefore|thus|then|simply|just|exactly)\b)?[*_\s:]*",
    re.I,
)
FORMULA = re.compile(
    r"\$\$(.{1,800}?)\$\$|\\\[(.{1,800}?)\\\]|\\\((.{1,800}?)\\\)"
    r"|(?<![\\$])\$(?!\s)([^$\n]+?)(?<![\\\s])\$(?!\d)",
    re.DOTALL,
)
#: Longer ones are no answers, and looking further makes long texts slow to read.
LONGEST = 1000
SENTENCE_END = re.compile(r"(?<!\\)[.!?](?=\s|$)|\n")
JOINED = re.compile(r"\s*(?:,?\s*(?:and|or)\b|,)\s*")
UNIT_WORDS = re.compile(r"(?<=\d)\s*(?:\\[ ,;:!]\s*)*[A-Za-z][A-Za-z ./]*$")
NO_UNIT = re.compile(r"\b(?:sin|cos|tan|cot|sec|csc|log|exp|sqrt|mod|[a-zA-Z]{1,2})\b", re.I)
WITH_UNIT = re.compile(
    r"\s*%?\s+(?!(?:or|and|to|pi|plus|minus|times|over|root|square root|squared|cubed|divided)\b)"
    r"[A-Za-z]{2,}"
)
MATHEMATICAL = re.compile(r"\d|\\[A-Za-z]|\w\s*[-+=^]\s*\w")
COMMAND = re.compile(r"\\(?:text|mbox|mathrm|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+")
WORD = re.compile(r"[A-Za-z]{3}")
NO_ANSWER = frozenset({"not", "the", "a", "an", "as", "that", "unknown", "unclear", "below"})
THIN_SPACES = re.compile(r"(?<=\d)\\[,!;: ]\s?(?=\d{3}(?!\d))")
WRAPPED = re.compile(
    r"\$+(?P<dollars>[^$]*)(?<!\\)\$+|\\\((?P<round>.*)\\\)|\\\[(?P<square>.*)\\\]", re.DOTALL
)
SYMBOLS = {
    "−": "-",
    "–": "-",
    "×": r"\times ",
    "·": r"\cdot ",
    "÷": r"\div ",
    "√": r"\sqrt ",
    "π": r"\pi ",
    "∞": r"\infty ",
    "°": r"^\circ ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "∪": r"\cup ",
    "±": r"\pm ",
    "½": r"\frac{1}{2}",
    "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}",
    "，": ",",
    "＄": "$",
}


def find(text: str) -> Found:
    """The answer a text declares, or a guess at it, or nothing."""
    box = last_box(text)
    if box is not None and box.strip():
        return Found(box.strip(), "boxed")
    if box is None and has_box(text):
        return Found(None, "none")
    declared = _declared(text)
    if declared is not None:
        return Found(declared, "marker")
    formulas = [formula for formula in map(_formula, FORMULA.finditer(text)) if formula]
    if formulas:
        return Found(formulas[-1], "fallback")
    numbers = numbers_in(text)
    if numbers:
        return Found(render(numbers[-1]), "fallback")
    return Found(None, "none")


def tidy(latex: str) -> str:
    """An answer without what doesn't change its value: dollar signs around it, a full stop after
    it, thin spaces between thousands, words for a unit; unusual characters become LaTeX."""
    latex = latex.translate(str.maketrans(SYMBOLS)).strip().rstrip(" .;")
    while (wrapped := WRAPPED.fullmatch(latex)) is not None:
        latex = next(part for part in wrapped.groups() if part is not None).strip().rstrip(" .;")
    latex = THIN_SPACES.sub("", latex)
    unit = UNIT_WORDS.search(latex)
    if unit and not NO_UNIT.search(unit[0]):
        latex = latex[: unit.start()]
    return latex


def _declared(text: str) -> str | None:
    """What follows the `####` mark, else what follows the last "answer is" or "answer:"."""
    mark = MARKER.search(text)
    places = [mark.end()] if mark else []
    places += [found.end() for found in reversed(list(DECLARED.finditer(text)))]
    for place in places:
        answer = _stated(text[place : place + LONGEST].lstrip())
        if answer:
            return answer
    return None


def _stated(rest: str) -> str | None:
    """The answer that a text begins with: formulas, a number with its unit, or a single word."""
    formulas = _joined_formulas(rest)
    if formulas:
        return formulas
    end = SENTENCE_END.search(rest)
    phrase = rest[: end.start() if end else len(rest)].strip().strip("*_").strip()
    number = NUMBER.match(plain(phrase))
    if number is not None and WITH_UNIT.match(plain(phrase), number.end()):
        return plain(phrase)[: number.end()].strip()
    if phrase and len(phrase.split()) == 1 and phrase.lower() not in NO_ANSWER:
        return phrase
    if MATHEMATICAL.search(phrase) and not WORD.search(COMMAND.sub("", phrase)):
        return phrase
    return None


def _joined_formulas(text: str) -> str | None:
    """The formulas at the start of a text, `$1$ and $2$` being one list."""
    found = FORMULA.match(text)
    formulas: list[str] = []
    while found is not None:
        formulas.append(_formula(found))
        between = JOINED.match(text, found.end())
        found = FORMULA.match(text, between.end()) if between else None
    return ", ".join(formulas) or None


def _formula(found: re.Match[str]) -> str:
    return next(part for part in found.groups() if part is not None).strip()
