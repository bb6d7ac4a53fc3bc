"""`harness sandbox-check`: attacks each way of containing programs and prints what held."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from tasks.sandbox import METHODS, find_sandbox
from tasks.sandbox_attacks import Held, run_attacks


def sandbox_check(console: Console) -> bool:
    """Run the attack list against every sandbox that works here; true if one works and all held.

    The first that works is the one that judges generated programs.
    """
    working = 0
    sound = True
    for method in METHODS:
        try:
            sandbox = find_sandbox(methods=(method,))
        except ValueError as error:
            console.print(escape(str(error)))
            continue
        used = "" if working else ", used for generated programs"
        working += 1
        console.print(f"{method}: works here{used}")
        for held in run_attacks(sandbox):
            console.print("  " + _line(held), highlight=False)
            sound &= not held.breaches
    if not working:
        console.print("no sandbox works here: humaneval_plus is refused")
    return sound and working > 0


def _line(held: Held) -> str:
    outcome = "held" if not held.breaches else "BROKEN: " + "; ".join(held.breaches)
    ending = f"{held.ending.status}: {held.ending.reason}"
    return escape(f"{held.name:<46} {outcome:<6} {held.wall_s:5.1f} s  ({ending})")
