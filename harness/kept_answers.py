"""Answers that outlast whatever ends the process, for a file that is made of all of them.

They are appended to `FILE.answers` as they come, and it is removed once FILE is written.
"""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple


class OwnAnswer(NamedTuple):
    """A model's answer: its text, None where it did not end within the budget, or its error."""

    text: str | None
    error: str | None = None


Keep = Callable[[str, OwnAnswer], None]


def answers_path(out: str) -> Path:
    return Path(f"{out}.answers")


def check_answers(out: str, *, resume: bool) -> None:
    """Raise ValueError where there is nothing to go on with, or something to lose."""
    if out == "-":
        if resume:
            raise ValueError("--resume goes on with a file; name it with --out")
        return
    path = answers_path(out)
    if resume and not path.exists():
        raise ValueError(f"{path} does not exist: nothing to go on with; leave out --resume")
    if path.exists() and not resume:
        raise ValueError(
            f"{path} holds the answers of an unfinished command; go on with it by --resume, or"
            " remove the file"
        )


@contextmanager
def kept_answers(
    out: str, settings: Mapping[str, Any]
) -> Generator[tuple[dict[str, OwnAnswer], Keep]]:
    """The answers that are there already, and a function that adds one to them and to the file.

    settings: what the answers depend on; ValueError where the file's are others. The file goes
    once the block ends without an error.
    """
    found: dict[str, OwnAnswer] = {}
    if out == "-":
        yield found, found.__setitem__
        return
    path = answers_path(out)
    with _writing(path):
        # Unbuffered, so that each line is written, or refused, when it is kept.
        file = path.open("a+b", buffering=0)
    with file:
        with _writing(path):
            # Only a command that goes on finds lines here; a line that a kill has torn is cut off.
            file.seek(0)
            whole = file.read().split(b"\n")[:-1]
            file.truncate(sum(len(line) + 1 for line in whole))
            if not whole:
                _write_line(file, settings)
        if whole:
            found |= _stored(path, whole, settings)

        def keep(place: str, answer: OwnAnswer) -> None:
            found[place] = answer
            with _writing(path):
                _write_line(file, {"place": place, **answer._asdict()})

        yield found, keep
    path.unlink()


@contextmanager
def _writing(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path} can't be written: {error.strerror or error}") from None


def _write_line(file: FileIO, row: Mapping[str, Any]) -> None:
    line = json.dumps(row).encode() + b"\n"
    if file.write(line) < len(line):
        raise OSError("there was room for a part of a line only")


def _stored(path: Path, lines: list[bytes], settings: Mapping[str, Any]) -> dict[str, OwnAnswer]:
    """The answers of whole lines, the first of which holds the settings they were made with."""
    try:
        begun, *rows = map(json.loads, lines)
        answers = {row["place"]: OwnAnswer(row["text"], row["error"]) for row in rows}
        differing = [name for name in settings if begun.get(name) != settings[name]]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is damaged; remove it, and the command begins anew") from None
    if differing:
        name = differing[0]
        raise ValueError(
            f"{path} was begun with {name} {begun.get(name)}, and now it is {settings[name]}; give"
            " what it was begun with, or remove the file"
        )
    return answers
