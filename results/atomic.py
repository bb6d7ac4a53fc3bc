"""Files that are either the old ones or the new ones, whatever kills the process."""

import os
from pathlib import Path


def write_atomic(path: Path, text: str) -> None:
    """Write `text` to a file beside `path` and rename it over `path`."""
    draft = draft_of(path)
    with draft.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def draft_of(path: Path) -> Path:
    """The file `write_atomic` writes first; a kill can leave it behind."""
    return path.with_name(path.name + ".tmp")


def sync_folder(folder: Path) -> None:
    """Make new and renamed entries of `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
