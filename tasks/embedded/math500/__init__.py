"""Short competition problems in the shape of MATH-500: LaTeX, worked steps, a boxed answer."""

from tasks.embedded.math500.generator import FAMILIES, eval_items, problems

__all__ = ["FAMILIES", "eval_items", "problems"]
