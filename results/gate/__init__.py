"""The regression gate: is what one run measured worse than what an earlier run did? Imports no
torch."""

from results.gate.likeness import Difference
from results.gate.numbers import Change, RowNumbers
from results.gate.summary_text import as_json, markdown, verdict_line
from results.gate.verdict import DEFAULT_TOLERANCE, RowVerdict, Rules, Verdict, judge

__all__ = [
    "DEFAULT_TOLERANCE",
    "Change",
    "Difference",
    "RowNumbers",
    "RowVerdict",
    "Rules",
    "Verdict",
    "as_json",
    "judge",
    "markdown",
    "verdict_line",
]
