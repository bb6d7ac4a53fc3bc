"""SIGINT and SIGTERM while a run measures: the first asks it to end in order, a second ends it.

A run that was ended anywhere can be resumed. What order adds is the answer at hand, a summary, and
a line that says how to go on.
"""

import os
import signal
from contextlib import suppress
from types import FrameType
from typing import NoReturn, Self

ASKED = b"\nstopping after the answers at hand; once more stops at once\n"


class Stop:
    """For as long as this is entered, the first signal only asks; `number` says which it was."""

    def __init__(self) -> None:
        self.number: int | None = None

    @property
    def asked(self) -> bool:
        return self.number is not None

    def __enter__(self) -> Self:
        self._before = {each: signal.signal(each, self._hear) for each in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            # Should that hang, a third one is the system's.
            signal.signal(number, signal.SIG_DFL)
            end(number, frame)
        self.number = number
        with suppress(OSError):
            # Not by print, in whose middle the signal may have come.
            os.write(2, ASKED)


def end(number: int, _: FrameType | None) -> NoReturn:
    """What a signal does that ends the process at once, but not before what it holds is let go."""
    raise SystemExit(exit_code(number))


def exit_code(number: int) -> int:
    """A shell's for a process that a signal ended: 130 for SIGINT, 143 for SIGTERM."""
    return 128 + number


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
