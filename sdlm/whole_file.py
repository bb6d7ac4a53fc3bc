"""Files that are either the old ones or the new ones, whatever stops the process."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = ".draft-"


def remove_drafts(folder: Path) -> None:
    """Remove what processes that were killed have left; none may be writing to the folder."""
    for draft in folder.glob(f"{PREFIX}*.tmp"):
        draft.unlink()


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A new file beside `path` to write to, renamed over it at the end; removed after an error.

    A link is written through: what it points to changes, and it stays a link. OSError names
    `path`, which the system's own message about a full disk does not.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        # A device would be replaced, by whoever may.
        raise OSError(f"{path} can't be written: it is no file")
    draft = None
    try:
        # Never another's file, and short however long the name is.
        number, name = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=path.parent)
        os.close(number)
        draft = Path(name)
        yield draft
        # As if opened anew, and not for the owner's eyes only.
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        # Or a power cut could leave the new name with nothing behind it.
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise OSError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)
