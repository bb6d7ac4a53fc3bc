"""Files that commands of `tasks` write whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def check_target(option: str, path: Path) -> None:
    """Raise ValueError where `path` can't be a file, before any work is done for it."""
    if (path.exists() and not path.is_file()) or not path.parent.is_dir():
        raise ValueError(f"{option} is {path}; it must be a file in a folder that exists")


@contextmanager
def part_file(path: Path) -> Generator[Path]:
    """A file beside `path` to write, renamed over it at the end, or removed after an error."""
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
