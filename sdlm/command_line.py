"""How a command ends for a mistake its user can mend: one line on standard error, exit code 2.

Loads nothing heavy, so that a mistake is said at once.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import typer


@contextmanager
def user_errors() -> Generator[None]:
    """What a user can mend, a full disk too, ends in one line and exit code 2."""
    try:
        yield
    except BrokenPipeError:  # a reader that went away, `| head`, is for typer to end quietly
        raise
    except (ValueError, OSError) as error:
        print("error:", " ".join(str(error).splitlines()), file=sys.stderr)
        raise SystemExit(2) from None


def run_command(command: Callable[..., None]) -> None:
    """Run a function as a command of its own; its parameters are the options."""
    with user_errors():
        typer.run(command)
