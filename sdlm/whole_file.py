"""Files that are either the old ones or the new ones, whatever stops the process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, renamed over it at the end; removed after an error.

    A link is written through: what it points to changes, and it stays a link.
    """
    path = path.resolve()
    draft = path.with_name(path.name + ".tmp")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
