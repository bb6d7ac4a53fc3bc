"""Four-choice questions in the shape of MMLU, and the facts they ask for told in other words."""

from tasks.embedded.mmlu.questions import eval_items, problems
from tasks.embedded.mmlu.statements import statements

__all__ = ["eval_items", "problems", "statements"]
