"""JSON lines from a file or standard input, to a file or standard output.

A file is written whole or not at all.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sdlm.whole_file import whole_file


def read_lines(option: str, source: str) -> list[str]:
    """The lines of a file, or of standard input for `-`."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{option} {source} can't be read: {error}") from None
    return text.split("\n")


def shown(source: str) -> str:
    """What errors call a file, or standard input."""
    return "standard input" if source == "-" else source


def check_target(target: str) -> None:
    """Refuse an output that can't be a file, before any work is done for it."""
    if target != "-" and Path(target).is_dir():
        raise ValueError(f"--out {target!r} is a folder; give a file, or - for standard output")
    if target != "-" and not Path(target).parent.is_dir():
        raise ValueError(f"--out {target!r} can't be written: its folder does not exist")


def write_rows(rows: Iterable[dict[str, Any]], target: str) -> None:
    """Write JSON lines to a file, once all are there, or to standard output for `-`."""
    if target == "-":
        for row in rows:
            print(json.dumps(row, ensure_ascii=False), flush=True)
        return
    with whole_file(Path(target)) as draft:
        try:
            file = draft.open("w", encoding="utf-8")
        except OSError as error:
            raise ValueError(f"--out {target} can't be written: {error}") from None
        with file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
