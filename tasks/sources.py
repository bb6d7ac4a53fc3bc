"""Reading official test sets from disk, and drawing seeded subsets of items.

Official files lie under `<data_dir>/<task>/`, as `.jsonl` or `.jsonl.gz`. Nothing here opens a
connection.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from tasks.item import Item

DATA_DIR_VARIABLE = "SDLM_DATA_DIR"


def official_file(data_dir: Path | None, name: str) -> Path:
    """The file `name` (such as `gsm8k/test.jsonl`), plain or gzipped, in the data folder."""
    root = data_dir
    if root is None and os.environ.get(DATA_DIR_VARIABLE):
        root = Path(os.environ[DATA_DIR_VARIABLE])
    ways = f"give its folder as --data-dir DIR or in the variable {DATA_DIR_VARIABLE}"
    if root is None:
        raise ValueError(f"official data {name} not found: no data folder is set; {ways}")
    for path in (root / name, root / f"{name}.gz"):
        if path.is_file():
            return path
    raise ValueError(f"official data {root / name} (or .gz) not found; {ways}")


def read_rows(path: Path, fields: Sequence[str], count: int) -> list[dict[str, str]]:
    """The rows of a JSON-lines file, each with the text `fields`; exactly `count` are expected."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as UTF-8 JSON lines ({error})") from error
    rows = [
        _row(path, number, line, fields)
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if len(rows) != count:
        raise ValueError(f"{path}: expected {count:,} items, got {len(rows):,}")
    return rows


def _row(path: Path, number: int, line: str, fields: Sequence[str]) -> dict[str, str]:
    try:
        value: object = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path}, line {number}: expected an object, got {type(value).__name__}")
    record = cast(dict[str, object], value)
    row: dict[str, str] = {}
    for name in fields:
        content = record.get(name)
        if not isinstance(content, str):
            raise ValueError(f"{path}, line {number}: expected text in the field {name!r}")
        row[name] = content
    return row


def limit(items: Sequence[Item], n: int, seed: int) -> list[Item]:
    """A seeded sample of n items without replacement, in their original order."""
    if n < 0:
        raise ValueError(f"the number of items must not be negative, got {n}")
    if n >= len(items):
        return list(items)
    chosen = random.Random(seed).sample(range(len(items)), n)
    return [items[k] for k in sorted(chosen)]


def data_hash(items: Iterable[Item]) -> str:
    """The sha256 of ids, prompts and reference answers, for manifests."""
    digest = hashlib.sha256()
    for item in items:
        turns = [[message.role, message.content] for message in item.messages]
        record = [item.id, turns, item.gold, item.subject, item.level]
        digest.update(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()
