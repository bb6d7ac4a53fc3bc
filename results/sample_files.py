"""Sample files: one JSON line per record, only ever appended to.

A line is handed to the operating system in one write before `append_record` returns, so a kill can
cost at most an unfinished last line, which no caller was told about: reading drops it. A power cut
can cost what `sync_file` has not been called for. Every line
ends with a checksum of its record. Damage or an edit anywhere else is an error, not a shorter
file, since a score that no longer belongs to its text must not be used.
"""

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from results.atomic import sync_folder
from results.records import SampleRecord
from results.stored_json import parse_json

_MAX_NAME = 200  # bytes; file systems stop at 255, the suffix comes on top


class SampleFile(NamedTuple):
    """What a sample file holds."""

    records: list[SampleRecord]
    whole_bytes: int
    """Length of the file without its unfinished last line."""


def samples_path(folder: Path, task: str, decoder: str) -> Path:
    return folder / "samples" / file_name(task) / f"{file_name(decoder)}.jsonl"


def file_name(name: str) -> str:
    """`name` percent-encoded where a file name needs it, so that different names never meet.

    Names too long for a file keep their beginning and gain a hash.
    """
    encoded = quote(name, safe="(),=+-_.")
    if encoded.startswith("."):
        encoded = "%2E" + encoded[1:]
    if len(encoded) <= _MAX_NAME:
        return encoded
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{encoded[: _MAX_NAME - 40]}%{digest}"


def append_record(path: Path, record: SampleRecord) -> None:
    """Add one line; when this returns, the record survives a kill. After an OSError the file is
    what it was."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    line = encode_line(record)
    with path.open("ab", buffering=0) as file:
        before = file.tell()
        try:
            if file.write(line) != len(line):
                raise OSError("the record was written in part only, is the disk full?")
        except BaseException:
            file.truncate(before)
            raise
    if is_new:
        sync_folder(path.parent)
        sync_folder(path.parent.parent)


def sync_file(path: Path) -> None:
    """Make what was appended survive a power cut."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def read_samples(path: Path) -> SampleFile:
    """All whole records of a file. Fails with file and line on anything else but a cut-off end."""
    *lines, tail = path.read_bytes().split(b"\n")
    records: list[SampleRecord] = []
    whole_bytes = 0
    for number, line in enumerate(lines, start=1):
        try:
            data = parse_json(line)
        except ValueError:
            if number == len(lines) and not tail:
                break
            raise ValueError(
                f"{path}, line {number}: not valid JSON; remove the line to have its sample redone"
            ) from None
        try:
            records.append(_decode(data))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        whole_bytes += len(line) + 1
    return SampleFile(records, whole_bytes)


def encode_line(record: SampleRecord) -> bytes:
    data = record.to_json()
    return json.dumps({**data, "check": _checksum(data)}, allow_nan=False).encode() + b"\n"


def _decode(data: object) -> SampleRecord:
    if not isinstance(data, dict):
        raise ValueError(f"expected a sample record, got {data!r:.80}")
    fields = dict(cast("dict[str, Any]", data))
    found = fields.pop("check", None)
    record = SampleRecord.from_json(fields)
    if found != _checksum(fields):
        raise ValueError(
            f"checksum is {found!r}, expected {_checksum(fields)!r}: the line was changed after "
            "it was scored; remove it to have its sample redone"
        )
    return record


def _checksum(data: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(data, sort_keys=True, allow_nan=False).encode()):08x}"
