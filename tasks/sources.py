"""Official test sets: from a data folder, or from the Hugging Face hub at a pinned revision.

Files of a data folder lie under `<data_dir>/<task>/`, as `.jsonl` or `.jsonl.gz`. With a data
folder given (`--data-dir`, or the variable `SDLM_DATA_DIR`) no connection is ever opened. Row
counts must be right; rows that differ from the published ones are read with a warning, and the
hash of what was read goes into the manifest.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import warnings
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from tasks.hub import Unavailable, check_access, fetch, read_parquet
from tasks.item import Item, PromptProtocol
from tasks.published import LM_EVAL_EXAMPLES, OFFICIAL, OfficialFile

DATA_DIR_VARIABLE = "SDLM_DATA_DIR"
WAYS = f"give its folder as --data-dir DIR or in the variable {DATA_DIR_VARIABLE}"


class NotFound(ValueError):
    """Official data is nowhere to be had; what is there and faulty is another ValueError."""


class Row(NamedTuple):
    """A row of a file and the words that say where it stands, for errors."""

    place: str
    record: Mapping[str, object]

    def text(self, name: str) -> str:
        """The field `name`, which must be text."""
        value = self.record.get(name)
        if not isinstance(value, str):
            raise ValueError(f"{self.place}: expected text in the field {name!r}")
        return value

    def whole(self, name: str) -> int:
        """The field `name`, which must be a whole number."""
        value = self.record.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{self.place}: expected a whole number in the field {name!r}")
        return value

    def texts(self, name: str, count: int) -> list[str]:
        """The field `name`, which must be a list of `count` texts."""
        value = self.record.get(name)
        words = cast("list[object]", value) if isinstance(value, list) else []
        texts = [word for word in words if isinstance(word, str)]
        if len(texts) != count or len(words) != count:
            raise ValueError(f"{self.place}: expected {count} texts in the field {name!r}")
        return texts


class DataFile(NamedTuple):
    """What was read of an official file, for manifests: `published` is whether it is that set."""

    name: str
    origin: str
    sha256: str
    published: bool


def official_rows(file: OfficialFile, data_dir: Path | None) -> list[Row]:
    """The rows of an official file, as many as were published."""
    rows, data = _read(file, data_dir)
    if not data.published:
        warnings.warn(
            f"{rows[0].place.rpartition(',')[0]}: these are not the published rows of {file.name}"
            f" (sha256 of the rows {data.sha256}, published {file.sha256});"
            " scores on them can't be compared",
            stacklevel=2,
        )
    return rows


def data_files(task: str, protocol: PromptProtocol, data_dir: Path | None) -> list[DataFile]:
    """What stands behind a task's official items; nothing for a task that isn't ours."""
    return [_read(file, data_dir)[1] for file in _files(task, protocol)]


def check_data(task: str, protocol: PromptProtocol, data_dir: Path | None) -> None:
    """Raise NotFound if a task's official data is nowhere to be had, without reading it.

    Nothing is known of the data of a task that isn't ours.
    """
    for file in _files(task, protocol):
        if data_root(data_dir) is not None or file.hub is None:
            official_file(data_dir, file.name)
            continue
        try:
            check_access(file.hub)
        except Unavailable as reason:
            raise _not_found(file, reason) from reason


def _files(task: str, protocol: PromptProtocol) -> tuple[OfficialFile, ...]:
    examples = LM_EVAL_EXAMPLES.get(task, ()) if protocol == "lm-eval" else ()
    return OFFICIAL.get(task, ()) + examples


def official_file(data_dir: Path | None, name: str) -> Path:
    """The file `name` (such as `gsm8k/test.jsonl`), plain or gzipped, in the data folder."""
    root = data_root(data_dir)
    if root is None:
        raise NotFound(f"official data {name} not found: no data folder is set; {WAYS}")
    for path in (root / name, root / f"{name}.gz"):
        if path.is_file():
            return path
    raise NotFound(f"official data {root / name} (or .gz) not found; {WAYS}")


def data_root(data_dir: Path | None) -> Path | None:
    """The data folder: as given, else as the variable says, else none."""
    named = os.environ.get(DATA_DIR_VARIABLE)
    return Path(named) if data_dir is None and named else data_dir


def data_hash(items: Iterable[Item]) -> str:
    """The sha256 of ids, prompts and reference answers, for manifests."""
    digest = hashlib.sha256()
    for item in items:
        turns = [[message.role, message.content] for message in item.messages]
        record = [item.id, turns, item.gold, item.subject, item.level]
        if item.prompt is not None:
            record.append(item.prompt)
        digest.update(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def rows_hash(rows: Iterable[Row]) -> str:
    """The sha256 of the rows' contents; see `tasks.published`."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row.record, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _read(file: OfficialFile, data_dir: Path | None) -> tuple[list[Row], DataFile]:
    if data_root(data_dir) is None and file.hub is not None:
        rows = _from_hub(file)
        origin = f"{file.hub.repo}@{file.hub.revision}"
        return rows, DataFile(file.name, origin, rows_hash(rows), published=True)
    path = official_file(data_dir, file.name)
    rows = _json_lines(path)
    _check_count(str(path), len(rows), file.count)
    sha256 = rows_hash(rows)
    return rows, DataFile(file.name, "data folder", sha256, published=sha256 == file.sha256)


def _from_hub(file: OfficialFile) -> list[Row]:
    assert file.hub is not None, "only files with a copy on the hub are fetched"
    copy = file.hub
    try:
        path = fetch(copy)
        if path.suffix != ".parquet":
            rows = _json_lines(path)
        else:
            place = f"{copy.repo}/{copy.path}"
            rows = [Row(f"{place}, row {n}", row) for n, row in enumerate(read_parquet(path))]
    except Unavailable as reason:
        raise _not_found(file, reason) from reason
    _check_count(f"{copy.repo}/{copy.path}", len(rows), file.count)
    return rows


def _not_found(file: OfficialFile, reason: Unavailable) -> NotFound:
    assert file.hub is not None, "asked for"
    return NotFound(
        f"official data {file.name} not found: no data folder is set and {reason}; {WAYS}, or let"
        f" {file.hub.repo} (revision {file.hub.revision[:12]}) be downloaded from the hub"
    )


def _json_lines(path: Path) -> list[Row]:
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as UTF-8 JSON lines ({error})") from error
    lines = enumerate(text.split("\n"), 1)
    return [_row(f"{path}, line {number}", line) for number, line in lines if line.strip()]


def _row(place: str, line: str) -> Row:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"{place}: expected an object, got {type(value).__name__}")
    return Row(place, cast("dict[str, object]", value))


def _check_count(place: str, got: int, expected: int) -> None:
    if got != expected:
        raise ValueError(f"{place}: expected {expected:,} items, got {got:,}")
