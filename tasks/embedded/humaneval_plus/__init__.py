"""Small Python functions to complete, in the shape of HumanEval+: a signature and a docstring."""

from tasks.embedded.humaneval_plus.generating import FAMILIES, eval_items, problems

__all__ = ["FAMILIES", "eval_items", "problems"]
