"""JSON lines from a file or standard input, to a file or standard output.

A file is written whole or not at all.
"""

import json
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, cast

from sdlm.whole_file import whole_file


class Line(NamedTuple):
    """A line's number from 1, its checked id, and its whole object."""

    number: int
    id: str | int
    fields: dict[str, object]


def read_lines(option: str, source: str) -> list[str]:
    """The lines of a file, or of standard input for `-`."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{option} {source} can't be read: {error}") from None
    return text.split("\n")


def read_objects(lines: Iterable[str], shown: str, shape: str) -> Iterator[Line]:
    """The objects of lines that aren't blank, each with an id of its own.

    shown: names the lines' source in errors. shape: what a line should look like, for errors.
    Raises ValueError naming the line of the first fault.
    """
    numbers: dict[bytes, int] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        with naming_line(shown, number):
            fields = _object(text, shape)
            name = _id(fields)
            # As a file would hold it: halves of surrogate pairs are all question marks there.
            key = str(name).encode("utf-8", "replace")
            if key in numbers:
                raise ValueError(
                    f"id {name!r:.80} was given in line {numbers[key]} already;"
                    " ids must differ as text"
                )
        numbers[key] = number
        yield Line(number, name, fields)


@contextmanager
def naming_line(shown: str, number: int) -> Generator[None]:
    """Put the line's name before whatever a ValueError says about it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{shown}, line {number}: {error}") from None


def shown(source: str) -> str:
    """What errors call a file, or standard input."""
    return "standard input" if source == "-" else source


def check_target(target: str, option: str = "--out") -> None:
    """Refuse an output that can't be a file, before any work is done for it."""
    if target == "-":
        return
    try:
        path = Path(target).resolve()
    except (OSError, RuntimeError) as error:  # a link that points to itself
        raise ValueError(f"{option} {target!r} can't be written: {error}") from None
    if path.exists() and not path.is_file():
        kind = "folder" if path.is_dir() else "device, pipe or socket"
        raise ValueError(f"{option} {target!r} is a {kind}; give a file, or - for standard output")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {target!r} can't be written: its folder does not exist")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"{option} {target!r} can't be written: {error.strerror}") from None


def write_rows(rows: Iterable[dict[str, Any]], target: str) -> None:
    """Write JSON lines to a file, once all are there, or to standard output for `-`."""
    if target == "-":
        for row in rows:
            # In one go, so that an interrupt can't part a line from its end.
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            sys.stdout.flush()
        return
    # Made before the file is touched: what goes wrong in the making is no fault of the file's.
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with whole_file(Path(target)) as draft:
        draft.write_text(text, encoding="utf-8")


def _object(text: str, shape: str) -> dict[str, object]:
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise ValueError(f"not JSON to be read (nested too deeply); give {shape}") from None
    except ValueError as error:  # a number of too many digits is no JSONDecodeError
        reason = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise ValueError(f"not JSON ({reason}); give {shape}") from None
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__}; give {shape}")
    return cast("dict[str, object]", value)


def _id(fields: dict[str, object]) -> str | int:
    name = fields.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise ValueError(f"id is {name!r:.80}; it must be a string or an integer")
    return name
