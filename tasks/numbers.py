"""Finding the number that an answer declares, exactly (fractions, never floats).

Order: the last box, then the first `####` marker, then the last number of the text. The last
is a guess and is labelled `fallback`: in "18 per day (see step 2)" it takes 2. A box or marker
without a readable number declares nothing, and the next way is tried. Of a calculation in either,
`10 - 3 = 7`, the result counts.

Read as one number: `$1,250.00`, `\\$1{,}250`, `-3`, `−3`, `.5`, `3/4`, `1 1/2`, `\\frac{3}{4}`,
`50%` (as 50: a percent sign is a unit here). A dash is a sign only where nothing that it could
join or subtract from stands before it, so "10-3", "10 - 3" and "grade-3" hold no negative number.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from tasks.boxes import has_box, last_box
from tasks.item import Extraction

MARKER = re.compile(r"(?<!#)####(?!#)")
MARKED = re.compile(MARKER.pattern + r"\s*(?P<line>[^\n#]*)")
#: What stands between `####` and the number it declares: no word, or "Total:", "x =", "answer is".
#: In the heading "#### Step 1: eggs" it is "Step".
DECLARES = re.compile(r"(?:[^a-z]*|.*(?:[:=]|\bis|\banswer)[^a-z]*)", re.I | re.S)
COMMAND = re.compile(r"\\[a-zA-Z]+")
#: A question that a model goes on to ask itself. Numbered ones are parts of its answer.
FURTHER_QUESTION = re.compile(r"\n[ \t#>*_]*(?:Question|Problem|Q|Human|User)[*_]*[ \t]*:", re.I)
#: What stands before a calculation's result: "10 - 3 =", "2 * $5 + $7 = $10 + $7 =". There is
#: an operator right after its first quantity, which there isn't in "18. Check: 9 + 9 = 18".
QUANTITY = r"[($\s]*(?:\\[dt]?frac\{\d+\}\{\d+\}|\d+\s\d+/\d+|[\d.,]*\d)[a-zA-Z%$)\s]*"
CALCULATION = re.compile(
    rf"[-+]?{QUANTITY}(?:(?:[-+*/×·÷=x]|\\times|\\cdot|\\div){QUANTITY})+=", re.ASCII
)
LEADING_SIGN = re.compile(r"^\s*([-+])\s+")
FRACTION = r"\\[dt]?frac\s*\{\s*(?P<upper>-?\d+)\s*\}\s*\{\s*(?P<lower>\d+)\s*\}"
DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
NO_MORE = r"(?![\d.,]*\d|\s?/)"
NUMBER = re.compile(
    r"(?P<sign>[-+]\s*)?(?:\$\s*)?(?P<inner>[-+])?"
    rf"(?:(?:(?P<mixed>\d+)\s*)?{FRACTION}"
    rf"|(?P<ones>\d+)\s(?P<over>\d+)/(?P<under>\d+){NO_MORE}"
    rf"|(?P<whole>{DIGITS})(?P<decimals>\.\d+)?(?:\s?/\s?(?P<below>\d+){NO_MORE})?"
    r"|(?<![\w.])(?P<point>\.\d+))",
    re.ASCII,
)
DASHES = str.maketrans(dict.fromkeys("−–—‐‑﹣－", "-") | {"，": ",", "＄": "$"})
ESCAPED = re.compile(r"\\([$%#&_])")
THIN_SPACE = re.compile(r"\\[!,]")
WIDE_SPACE = re.compile(r"\\[;: ]|[\u00a0\u202f\u2009]")
#: Longer runs of digits are no answer; they come from a model that repeats itself.
MAX_DIGITS = 400


class Found(NamedTuple):
    """An extracted answer: its text, its exact value, and how it was found."""

    answer: str | None
    value: Fraction | None
    extracted_by: Extraction


def extract(text: str) -> Found:
    """The number an answer declares, or the last number of the text, or nothing."""
    box = last_box(text)
    if box is not None:
        inside = numbers_in(LEADING_SIGN.sub(r"\1", box.rpartition("=")[2]))
        if inside:
            return Found(render(inside[0]), inside[0], "boxed")
    marked = _marked(text)
    if marked is not None:
        return Found(render(marked), marked, "marker")
    anywhere = numbers_in(text)
    if anywhere:
        return Found(render(anywhere[-1]), anywhere[-1], "fallback")
    return Found(None, None, "none")


def _marked(text: str) -> Fraction | None:
    """The number that the first `####` declares which declares one."""
    for marked in MARKED.finditer(text):
        line = plain(LEADING_SIGN.sub(r"\1", marked["line"]))
        first = NUMBER.search(line)
        inside = numbers_in(line)
        if first and inside and DECLARES.fullmatch(COMMAND.sub("", line[: first.start()])):
            calculation = CALCULATION.match(line, first.start())
            rest = line[calculation.end() :] if calculation else ""
            results = numbers_in(LEADING_SIGN.sub(r"\1", rest))
            return (results or inside)[0]
    return None


def before_next_question(text: str) -> str:
    """What a text says before it runs on into a question of its own, if that declares an answer.

    Without a box or a marked number before it, the question may be the one that was asked, told
    again.
    """
    before = FURTHER_QUESTION.split(text, maxsplit=1)[0]
    return before if has_box(before) or _marked(before) is not None else text


def plain(text: str) -> str:
    """The text with LaTeX spacing and escapes, and unusual dashes, made plain."""
    text = text.translate(DASHES).replace("{,}", ",")
    text = WIDE_SPACE.sub(" ", THIN_SPACE.sub("", ESCAPED.sub(r"\1", text)))
    return text


def numbers_in(text: str) -> list[Fraction]:
    """All numbers of a text, in order."""
    return [
        value for found in NUMBER.finditer(plain(text)) if (value := _value(found)) is not None
    ]


def parse_number(text: str) -> Fraction | None:
    """The value of a text that is one number and nothing else."""
    found = NUMBER.fullmatch(plain(text).strip())
    return _value(found) if found else None


def _value(found: re.Match[str]) -> Fraction | None:
    """The value of a match; None for a division by zero or an endless run of digits."""
    if found.end() - found.start() > MAX_DIGITS:
        return None
    size = _size(found)
    if size is None:
        return None
    negative = _is_negative(found) != (found["inner"] == "-")
    return -size if negative else size


def _size(found: re.Match[str]) -> Fraction | None:
    if found["upper"] is not None:
        whole, upper, lower = found["mixed"] or "0", found["upper"], found["lower"]
    elif found["ones"] is not None:
        whole, upper, lower = found["ones"], found["over"], found["under"]
    elif found["point"] is not None:
        return Fraction("0" + found["point"])
    else:
        value = Fraction(found["whole"].replace(",", "") + (found["decimals"] or ""))
        below = int(found["below"] or 1)
        return value / below if below else None
    return int(whole) + Fraction(int(upper), int(lower)) if int(lower) else None


def _is_negative(found: re.Match[str]) -> bool:
    """Whether the dash before a number is its sign, and no hyphen, range, bullet or minus."""
    sign = found["sign"]
    if not sign or sign[0] != "-":
        return False
    before = found.string[: found.start()].rpartition("\n")[2]
    if before and (before[-1].isalnum() or before[-1] in ")]}%."):
        return False
    last = before.rstrip()[-1:]
    if last.isdigit() or last in (")", "]", "}", "%"):
        return False
    return len(sign) == 1 or last == "="


def render(value: Fraction) -> str:
    """A number as text: an integer, a finite decimal, or a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    places, rest = 0, value.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
