"""The subjects of the suite, in the order of their modules."""

from __future__ import annotations

from tasks.embedded.mmlu import animals, language, numbers, order, places, science, society
from tasks.embedded.mmlu.subject import Subject

SUBJECTS: tuple[Subject, ...] = (
    *places.SUBJECTS,
    *science.SUBJECTS,
    *animals.SUBJECTS,
    *language.SUBJECTS,
    *society.SUBJECTS,
    *numbers.SUBJECTS,
    *order.SUBJECTS,
)
