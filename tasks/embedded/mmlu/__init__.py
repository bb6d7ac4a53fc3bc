"""Four-choice questions in the shape of MMLU, the facts they ask for told in other words, and
options to be found among others."""

from tasks.embedded.mmlu.lookups import lookups
from tasks.embedded.mmlu.questions import eval_items, problems
from tasks.embedded.mmlu.statements import statements

__all__ = ["eval_items", "lookups", "problems", "statements"]
