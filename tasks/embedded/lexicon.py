"""Names, number words and plurals for the generated stories."""

from __future__ import annotations

import re
from functools import cache

_GIRLS = (
    "Ada Alice Amara Amy Anna Anya Aria Bella Beth Bianca Carla Carmen Cathy Chloe Clara Daisy "
    "Dana Diana Elena Ella Emily Emma Erin Esther Eva Fatima Fiona Gina Grace Greta Hana Hannah "
    "Helen Holly Ida Ines Irene Iris Isla Ivy Jade Jane Jasmine Jenna Joan Julia Karen Kate Kira "
    "Lara Laura Leah Lena Lila Lily Linda Lucy Maria Marta Maya Megan Mia Mila Mina Molly Nadia "
    "Naomi Nina Nora Olga Olivia Paula Petra Priya Rachel Rita Rosa Ruby Ruth Sara Selma Sofia "
    "Stella Susan Tanya Tara Tessa Tina Uma Vera Wendy Yara Yuki Zoe"
)
_BOYS = (
    "Aaron Adam Ahmed Alan Albert Amir Andre Arthur Ben Bill Boris Brian Bruno Caleb Carl Carlos "
    "Chen Cole Colin Dan David Dennis Derek Diego Dylan Eddie Elias Eric Ethan Evan Felix Finn "
    "Frank Fred Gabriel George Glen Hans Harry Henry Hugo Ian Isaac Ivan Jack Jacob James Jamal "
    "Jason Joel John Jonas Juan Karim Keith Ken Kevin Kofi Lars Leo Liam Louis Lucas Luke Marco "
    "Mark Martin Max Miguel Mike Milo Nathan Neil Nick Noah Oliver Omar Oscar Otto Pablo Paul "
    "Pedro Peter Phil Ravi Ray Robert Rohan Ryan Sam Samir Scott Simon Steve Theo Tim Tom Tony "
    "Victor Walter Will Yusuf"
)

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
GIRLS, BOYS, WORDS = tuple(_GIRLS.split()), tuple(_BOYS.split()), tuple(_WORDS.split())
TIMES = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}
IRREGULAR = {
    "shelf": "shelves", "loaf": "loaves", "child": "children", "mouse": "mice", "goose": "geese",
    "sheep": "sheep", "fish": "fish", "leaf": "leaves", "person": "people",
    "man": "men", "foot": "feet",
}  # fmt: skip
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU8])")
STRAY = re.compile(r" +([,.?;])")
SPACES = re.compile(r"  +")
SENTENCE = re.compile(r"(^|[.?!:]\s+)([a-z])")


@cache
def plural(noun: str) -> str:
    """The plural of a noun; the last word of a compound is the one that changes."""
    first, of, rest = noun.partition(" of ")
    if of:
        return plural(first) + of + rest
    head, _, last = noun.rpartition(" ")
    lead = head + " " if head else ""
    if last in IRREGULAR:
        return lead + IRREGULAR[last]
    if last.endswith("y") and last[-2] not in "aeiou":
        return lead + last[:-1] + "ies"
    if last.endswith(("s", "x", "ch", "sh")) or last in ("tomato", "potato", "mango"):
        return lead + last + "es"
    return lead + last + "s"


def tidy(text: str) -> str:
    """Single spaces, `an` before vowels, capitals at the start of sentences."""
    text = SPACES.sub(" ", STRAY.sub(r"\1", text))
    text = ARTICLE.sub(r"\1n ", text)
    return SENTENCE.sub(lambda found: found[1] + found[2].upper(), text)
