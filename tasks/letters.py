"""Which of the letters A to D an answer chooses.

Emphasis and LaTeX around letters are dropped, and the text is read up to where the model begins a
further question of its own. Then, in this order:

1. The last box, if it holds one letter: `\\boxed{B}`, `\\boxed{\\text{(B) 4}}`.
2. A declaration: "answer: B", "the correct answer is **B**", "I choose option B"; the last one
   counts. "A or B" chooses nothing, and neither does "whether the answer is B". In "B, and A is
   wrong" the second letter begins a clause of its own.
3. The form that was asked for, a letter at the very start: `B`, `(b)`, `B. 4`, `B) 4`. Text whose
   lines begin with several letters is a list and not an answer. A first line that is nothing but a
   letter and contradicts a declaration further down makes the answer ambiguous.
4. As a guess, labelled `fallback`: the one letter of which it is said that it "is right" (as in
   "A is tempting but B is right"); else the one letter that is named as an option at all.

A small letter counts only where it can't be a word, and a capital A only where it can't be the
article. What is left, or names several letters, is no answer. The wording of the options is not
looked at: an answer that repeats an option's text without its letter is no answer either.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tasks.boxes import last_box
from tasks.item import Extraction

LETTERS = "ABCD"
REACH = 60

FURTHER_QUESTION = re.compile(r"\n[ \t#>]*(?:Question|Q|Problem|Human|User) ?\d* ?:", re.I)
LETTER = re.compile(r"(?<![A-Za-z'’])[A-D](?![A-Za-z'’])")
WRAPPER = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mathsf)\s*\{([^{}]*)\}")
EMPHASIS = re.compile(r"[*`$]|\\[()\[\]]|(?<!\w)_+|_+(?!\w)")
CHOICE = (
    r"(?i:(?:option|choice|letter)\s+)?[(\[\"'“‘]?(?<![A-Za-z'’-])"
    r"(?:(?P<big>[A-D])(?![\w'’+-])|(?P<small>[a-d])(?=[)\].,;:\"'”’]|\s*$))"
)
DECLARED = re.compile(
    r"(?i:\b(?:answer|choice|option)\b(?:\s+(?:to|for)\s[^.:\n]{1,60}?)?"
    r"\s*(?:\b(?:is|would be|should be|must be|will be)\b|[:=]|\n)\s*:?\s*"
    r"|\b(?:i|we)(?:['’](?:d|ll))?\s+(?:would\s+|will\s+)?(?:choose|pick|select|go with)\s+)"
    rf"(?i:(?:therefore|thus|clearly|indeed|probably|most likely),?\s+)?{CHOICE}",
    re.M,
)
SURELY = "clearly|definitely|indeed|therefore|thus|actually"
#: What says that a letter is right.
RIGHT = r"(?:the\s+)?(?:most\s+)?(?:right|correct|best|accurate|appropriate|answer)\b"
VERDICT = re.compile(
    rf"{CHOICE}[)\]\"'”’.]*\s+(?i:(?:is|must be|would be|has to be|seems)\s+"
    rf"(?:(?:{SURELY})\s+)?{RIGHT})(?![^.\n]*\?)",
    re.M,
)
HEAD = re.compile(rf"\s*{CHOICE}(?P<end>[)\].,;:\"'”’]+|\s*$)", re.M)
BARE_LINE = re.compile(r"[)\].,;:\"'”’\s]*(?:\n|$)")
LISTED = re.compile(r"^[-(\[]* ?([A-D])[)\].:]", re.M)
NAMED = re.compile(
    r"(?i:\b(?:option|choice|letter)\s+)[(\[]?([A-D])(?!\w)|[(\[]([A-D])[)\]]"
    r"|(?:(?i:\b(?:so|thus|hence|therefore))[,:]?\s|^)([A-D]) ?[.!]?\Z",
    re.M,
)
LONE = re.compile(r"(?<![\w'’-])([A-D])(?![\w'’+-])")
ALSO = re.compile(r"[)\]\"'”’.]*\s*(?:,|/|&|\bor\b|\band\b)\s*(?:(?:or|and)\s+)?[(\[]?[A-D](?!\w)")
ANOTHER = r"[(\[]?[A-D](?!\w)[)\]\"'”’]*"
SINGULAR = r"is|was|has|does|seems|means|describes|refers"
VERB = rf"{SINGULAR}|are|were|have|do|did|can|could|would|will|wo|must|may|might|should"
#: The rest of a verb that denies, or that nothing comes after which says "right as well".
APART = (
    r"(?:(?:n?['’]t|not)\b|\b(?!\s+(?:be\s+)?"
    rf"(?:(?:both|all|{SURELY})\s+)*"
    rf"(?:also\b|equally\b|likewise\b|just\s+as\b|true\b|{RIGHT})))"
)
NEXT = r"[)\]\"'”’.]*\s*(?:,\s*(?:and\s+)?|and\s+)"
#: "B, and A is wrong", "B, A and C are too large" after a declaration of B. At the start of a text
#: B would be one of the letters that "are".
CLAUSE = re.compile(
    rf"{NEXT}{ANOTHER}(?:(?:,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+){ANOTHER})*\s+(?:{VERB}){APART}"
)
CLAUSE_OF_ONE = re.compile(rf"{NEXT}{ANOTHER}\s+(?:{SINGULAR}){APART}")
NOT_AN_ANSWER = re.compile(
    r"(?i:\b(?:if|whether|suppose|assum\w+|unless|wrong|incorrect|not|no)\s+|n['’]t\s+)"
    r"(?i:(?:that|the|a|correct|right)\s+)*$"
)
NOT_A_VERDICT = re.compile(
    r"(?i:(?:\bnot\b|\bnever\b|n['’]t\b)[^.,;\n]{0,25}$|\b(?:if|whether|unless|suppose)\s+(?:that\s+)?$)"
)
ARTICLE = re.compile(r"\s+(?!(?:because|since|as|for|due|is|or|and|but|which|based)\b)[a-z]")


class Choice(NamedTuple):
    """The chosen letter, and how it was found."""

    letter: str | None
    extracted_by: Extraction


NONE = Choice(None, "none")


def choose(text: str) -> Choice:
    """The letter an answer chooses, by the rule above."""
    text = plain_letters(text)
    before = FURTHER_QUESTION.split(text, maxsplit=1)[0]
    if LETTER.search(before):
        # Without a letter before it, the question is the one that was asked, told again.
        text = before
    boxed = _boxed(text)
    if boxed is not None:
        return boxed
    declared = _declared(text)
    head, bare = _head(text)
    if declared is not None:
        contradicted = bare and head not in (None, declared.letter)
        return NONE if contradicted else declared
    if head is not None:
        return Choice(head, "marker")
    for letters in (_verdicts(text), _named(text)):
        if letters:
            return Choice(letters.pop(), "fallback") if len(letters) == 1 else NONE
    return NONE


def plain_letters(text: str) -> str:
    """The text without emphasis, formula signs, text commands, empty lines and wide spaces."""
    text = EMPHASIS.sub("", WRAPPER.sub(r"\1", text))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def before(found: re.Match[str]) -> str:
    """The words before a match, as many as can turn its meaning."""
    return found.string[max(0, found.start() - REACH) : found.start()]


def _boxed(text: str) -> Choice | None:
    """The letter of the last box; None where the box holds something else."""
    box = last_box(text)
    if box is None:
        return None
    found = re.match(r"[\s(\[\"']*([A-Da-d])(?P<rest>[)\].:,\"']*(?:\s.*)?)$", box, re.DOTALL)
    if found is None:
        return None
    if ALSO.match(found["rest"]):
        return NONE
    return Choice(found[1].upper(), "boxed")


def _declared(text: str) -> Choice | None:
    """The last declaration; None where there is none."""
    for found in reversed(list(DECLARED.finditer(text))):
        if NOT_AN_ANSWER.search(before(found)) or _is_article(found):
            continue
        if text[found.end() :].lstrip(")]\"'").startswith("?"):
            continue
        if _joined(text, found.end(), CLAUSE):
            return NONE
        return Choice(_letter(found), "marker")
    return None


def _joined(text: str, place: int, clause: re.Pattern[str]) -> bool:
    """Whether the letter that ends there is named with another, and not before a clause on it."""
    return ALSO.match(text, place) is not None and clause.match(text, place) is None


def _head(text: str) -> tuple[str | None, bool]:
    """The letter a text begins with, and whether its first line is nothing else."""
    found = HEAD.match(text)
    if found is None or len(set(LISTED.findall(text))) > 1:
        return None, False
    if _joined(text, found.start("end"), CLAUSE_OF_ONE):
        return None, False
    bare = BARE_LINE.match(text, found.start("end")) is not None
    if _letter(found) == "A" and found["end"].startswith(":") and not bare:
        return None, False  # "A:" mostly stands for "answer:".
    return _letter(found), bare


def _verdicts(text: str) -> set[str]:
    return {
        _letter(found)
        for found in VERDICT.finditer(text)
        if not NOT_A_VERDICT.search(before(found))
    }


def _named(text: str) -> set[str]:
    """The letters named as options, with any others that stand alone beside them."""
    named = {
        next(filter(None, found.groups()))
        for found in NAMED.finditer(text)
        if not NOT_AN_ANSWER.search(before(found))
    }
    if not named:
        return set()
    alone = [found for found in LONE.finditer(text) if not _is_article(found)]
    return named | {found[1] for found in alone}


def _is_article(found: re.Match[str]) -> bool:
    """Whether a letter is the word "A", as in "a dog": no option is named by it."""
    return found[0][-1] == "A" and ARTICLE.match(found.string, found.end()) is not None


def _letter(found: re.Match[str]) -> str:
    return (found["big"] or found["small"]).upper()
