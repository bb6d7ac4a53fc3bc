"""Files that are either the old ones or the new ones, whatever kills the process."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def write_atomic(path: Path, text: str) -> None:
    """Write `text` to a file beside `path` and rename it over `path`. What has no UTF-8, as file
    names may hold, is written as its escape."""
    with drafted(path) as draft, draft.open("wb") as file:
        file.write(text.encode(errors="backslashreplace"))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


@contextmanager
def drafted(path: Path) -> Generator[Path]:
    """A file beside `path` to write, renamed over it at the end, or removed after an error."""
    draft = draft_of(path)
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """The file that is written first; a kill can leave it behind."""
    return path.with_name(path.name + ".tmp")


def sync_folder(folder: Path) -> None:
    """Make new and renamed entries of `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
