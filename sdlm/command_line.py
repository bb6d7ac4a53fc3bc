"""How a command ends for a mistake its user can mend: one line on standard error, exit code 2.

Loads nothing heavy, so that a mistake is said at once.
"""

import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import typer


@contextmanager
def user_errors() -> Generator[None]:
    """What a user can mend, full disks and memory too, ends in one line and exit code 2."""
    try:
        yield
    except BrokenPipeError:  # a reader that went away, `| head`, is for typer to end quietly
        raise
    except Exception as error:
        said = str(error)
        if out_of_memory(error):
            # Some go on for pages.
            reason = said.partition("\n")[0] or type(error).__name__
            said = f"out of memory ({reason}); take smaller batches, or a smaller model"
        elif not isinstance(error, ValueError | OSError):
            raise
        print("error:", " ".join(said.splitlines()), file=sys.stderr)
        raise SystemExit(2) from None


def out_of_memory(error: Exception) -> bool:
    """Whether Python, torch on an accelerator, or torch's CPU allocator found no memory."""
    # By its name, since torch isn't loaded here.
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    # Which has no class of its own.
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)


def run_command(command: Callable[..., None]) -> None:
    """Run a function as a command of its own; its parameters are the options. SIGINT and SIGTERM
    end it with exit code 130, where it does not see to them itself."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command)
    previous = {each: signal.signal(each, _stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with user_errors():
            app()
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)


def _stop(number: int, frame: object) -> None:
    raise SystemExit(128 + signal.SIGINT)
