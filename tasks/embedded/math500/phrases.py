"""Ways to ask that many kinds of problem share."""

from __future__ import annotations

FIND = "[Find|Compute|Determine|Calculate|Work out|Give|State]"

EXPRESSION = (
    f"{FIND} [|the value of ]$<e>$.",
    "What is [|the value of |the result of |the value of the expression ]$<e>$?",
    "[Evaluate|Simplify] [|the expression ]$<e>$[|. Give a single number].",
    "[Write|Express|Give] $<e>$ as a single [number|integer].",
    "What [number|integer] [is equal to|does one get from|equals] $<e>$?",
)

LOWEST = (
    "[| Express your answer as a common fraction.| Give your answer in lowest terms."
    "| Simplify your answer.]"
)
FRACTION = (
    f"{FIND} [|the value of ]$<e>$.{LOWEST}",
    f"What is [|the value of ]$<e>$?{LOWEST}",
    "[Evaluate|Simplify] [|the expression ]$<e>$[| completely].",
    "[Write|Express] $<e>$ as a [common|simplified|reduced] fraction.",
)

EQUATION = (
    "Solve [|the equation ]$<left> = <right>$[| for $<x>$].",
    "[Find|Determine] [|the value of ]$<x>$ [if|when|given that] $<left> = <right>$.",
    "If $<left> = <right>$, [what is $<x>$?|what is the value of $<x>$?|find $<x>$.]",
    "[Suppose|Assume] that $<right> = <left>$. [Find $<x>$.|What is $<x>$?|Compute $<x>$.]",
    "What [value of|number] $<x>$ [satisfies|solves] [|the equation ]$<left> = <right>$?",
    "For [what|which] [value of|real number] $<x>$ [does $<left> = <right>$ hold|"
    "is $<right> = <left>$]?",
)
