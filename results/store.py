"""A run folder: `manifest.json` and `samples/`, safe against kills, mix-ups and second writers.

    with RunStore.create(folder, config, resume=True) as store:
        for key in keys:
            if key not in store:
                store.append(measure(key))

`manifest.json` holds `schema`, `config`, `invocations` and whatever facts the caller adds. A run
is continued only under the very same config. One process at a time may write; the lock is held by
the operating system (flock), so a killed writer leaves none behind. On network file systems it is
only as good as their flock.
"""

import fcntl
import json
import time
from collections.abc import Generator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, cast

from results.atomic import draft_of, write_atomic
from results.manifest_shape import manifest_fault
from results.records import SCHEMA, SampleKey, SampleRecord
from results.sample_files import append_record, read_samples, samples_path, sync_file
from results.stored_json import parse_json

_MANIFEST = "manifest.json"
_LOCK = ".lock"
# Syncing a file takes milliseconds, often tens of them; every sample to wait for that would cost
# more than all else that is stored of it.
_SYNC_S = 5.0
_RESERVED = ("schema", "config", "invocations")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run as read from disk, for reports and comparisons."""

    folder: Path
    manifest: dict[str, Any]
    records: list[SampleRecord]


def read_run(folder: Path) -> StoredRun:
    """Read a run without changing or locking it; a writer may be at work meanwhile."""
    try:
        manifest = _read_manifest(folder)
        if manifest is None:
            raise ValueError(f"{folder} is not a run folder: it has no {_MANIFEST}")
        return StoredRun(folder=folder, manifest=manifest, records=_read_all(folder, repair=False))
    except OSError as error:
        raise ValueError(f"{folder} can't be read: {error}") from None


def stored_config(folder: Path) -> dict[str, Any]:
    """The configuration of the run in a folder; empty where there is none."""
    manifest = _read_manifest(folder)
    return {} if manifest is None else manifest["config"]


class RunStore:
    """The one writer of a run folder. Made by `RunStore.create`."""

    def __init__(
        self,
        folder: Path,
        manifest: dict[str, Any],
        records: list[SampleRecord],
        lock: IO[bytes],
        again: Set[SampleKey],
    ) -> None:
        self.folder = folder
        self._manifest = manifest
        self._records = {record.key: record for record in records}
        self._lock = lock
        # Failed samples that are to be done again, and have not been yet.
        self._again = {*again}
        self._unsynced: set[Path] = set()
        self._synced_s = time.monotonic()

    @classmethod
    def create(
        cls,
        folder: Path,
        config: Mapping[str, Any],
        *,
        resume: bool = False,
        retry_failed: bool = False,
        invocation: Mapping[str, Any] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> "RunStore":
        """Start a run in a new or empty folder, or with `resume` go on with the one in it.

        retry_failed: samples whose record is a failure count as missing. `invocation` is added to
        the manifest's list, with the number of samples that had been completed; `facts` to its
        free keys. Refused with a
        ValueError, leaving the disk as it was: a run with another config, a run without
        `resume`, a folder with other contents, a folder another process writes to.
        """
        plain_config = _as_json(config)
        try:
            _check_open(folder, plain_config, resume)
            folder.mkdir(parents=True, exist_ok=True)
            lock = _acquire_lock(folder)
            try:
                # Again, now that nobody else can change the answer.
                found = _check_open(folder, plain_config, resume)
                records = _read_all(folder, repair=True) if found else []
                manifest = found or {"schema": SCHEMA, "config": plain_config, "invocations": []}
                failed = {record.key for record in records if record.error is not None}
                before = {"samples_before": len(records) - len(failed)}
                manifest["invocations"].append(_as_json({**(invocation or {}), **before}))
                again = failed if retry_failed else set[SampleKey]()
                store = cls(folder, manifest, records, lock, again)
                store._add_facts(facts or {})
            except BaseException:
                lock.close()
                raise
        except OSError as error:
            raise ValueError(f"cannot use {folder}: {error}; choose another --out") from None
        return store

    @property
    def manifest(self) -> dict[str, Any]:
        return _as_json(self._manifest)

    @property
    def records(self) -> list[SampleRecord]:
        """Everything recorded so far, failed samples included."""
        return list(self._records.values())

    def __contains__(self, key: SampleKey) -> bool:
        """Whether a sample is done. A failed one is, unless `retry_failed` asked for it again."""
        return key in self._records and key not in self._again

    def append(self, record: SampleRecord) -> None:
        """Keep a record for good: once this returns, no kill can lose it, and after some seconds
        no power cut. It takes the place of a failure that is tried again."""
        assert not self._lock.closed, "the store is closed"
        if record.key in self:
            raise ValueError(f"{self.folder} already has a record of {record.key}")
        path = samples_path(self.folder, record.task, record.decoder)
        with kept_whole(self.folder):
            append_record(path, record)
            self._records.pop(record.key, None)
            self._records[record.key] = record
            self._again.discard(record.key)
            self._unsynced.add(path)
            if time.monotonic() - self._synced_s >= _SYNC_S:
                self._sync()

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        """Set free keys of the manifest (versions, hardware, hashes, …)."""
        with kept_whole(self.folder):
            self._add_facts(facts)

    def _add_facts(self, facts: Mapping[str, Any]) -> None:
        if taken := [name for name in facts if name in _RESERVED]:
            raise ValueError(f"manifest key {taken[0]!r} is reserved: choose another name")
        self._manifest = {**self._manifest, **_as_json(facts)}
        write_atomic(self.folder / _MANIFEST, json.dumps(self._manifest, indent=2) + "\n")

    def close(self) -> None:
        try:
            with kept_whole(self.folder):
                self._sync()
        finally:
            self._lock.close()

    def _sync(self) -> None:
        while self._unsynced:
            sync_file(self._unsynced.pop())
        self._synced_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def kept_whole(folder: Path) -> Generator[None]:
    """Say of a write that failed, as on a full disk, that the run is none the worse for it."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"{folder} can't be written: {error.strerror or error}; what it holds is whole: mend"
            f" that, then go on with --resume --out {folder}"
        ) from error


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise ValueError where no run can be, or where one is and `resume` is not asked for; whether
    it is this one shows once there is a configuration to compare."""
    _check_open(folder, None, resume)


def _check_open(
    folder: Path, config: dict[str, Any] | None, resume: bool
) -> dict[str, Any] | None:
    """The manifest of the run to go on with, or None for a new run; ValueError if refused."""
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if not nearest.is_dir():
        raise ValueError(
            f"{folder} can't be a run folder: {nearest} is a file; choose another --out"
        )
    if nearest != folder:
        return None
    manifest = _read_manifest(folder)
    if manifest is None:
        # What a kill before the first manifest can leave behind does not count as contents.
        leftovers = {_LOCK, draft_of(Path(_MANIFEST)).name}
        if others := sorted({path.name for path in folder.iterdir()} - leftovers):
            raise ValueError(
                f"{folder} is not empty and not a run (it holds {others[0]}): choose another --out"
            )
        return None
    if config and (difference := _first_difference(manifest["config"], config)):
        raise ValueError(
            f"{folder} was run with {difference.path} = {difference.old}, not {difference.new}: "
            "use the same setting or another --out"
        )
    if not resume:
        raise ValueError(f"{folder} already holds a run: use --resume or another --out")
    return manifest


def _acquire_lock(folder: Path) -> IO[bytes]:
    lock = (folder / _LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise ValueError(
            f"{folder} is in use by another process: wait for it or choose another --out"
        ) from None
    return lock


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    path = folder / _MANIFEST
    try:
        manifest = parse_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        raise ValueError(f"{path} is not valid JSON: restore it, or use another folder") from None
    if not isinstance(manifest, dict) or any(name not in manifest for name in _RESERVED):
        raise ValueError(f"{path} is not a run's manifest: it lacks {' or '.join(_RESERVED)}")
    found = cast("dict[str, Any]", manifest)
    if found["schema"] != SCHEMA:
        raise ValueError(f"{path} has schema {found['schema']!r}, this version reads {SCHEMA}")
    if fault := manifest_fault(found):
        raise ValueError(f"{path} is not a run's manifest: {fault}; restore it, or use another")
    return found


def _read_all(folder: Path, *, repair: bool) -> list[SampleRecord]:
    """Every record of the run. With `repair`, unfinished last lines are cut off the files."""
    records: dict[SampleKey, SampleRecord] = {}
    files = {path: read_samples(path) for path in sorted(folder.glob("samples/*/*.jsonl"))}
    for path, file in files.items():
        for record in file.records:
            if path != samples_path(folder, record.task, record.decoder):
                raise ValueError(f"{path} holds a record of {record.key}, which belongs elsewhere")
            known = records.get(record.key)
            if known is not None and known.error is None:
                raise ValueError(f"{path} holds {record.key} twice: remove one of the lines")
            # What follows a failure is another try, measured after all that came before.
            records.pop(record.key, None)
            records[record.key] = record
    for path, file in files.items():
        if repair and path.stat().st_size > file.whole_bytes:
            with path.open("r+b") as handle:
                handle.truncate(file.whole_bytes)
    return list(records.values())


class _Difference(NamedTuple):
    path: str
    old: str
    new: str


def _first_difference(old: Any, new: Any, path: str = "") -> _Difference | None:
    """The first place, in the old value's order, where two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        ours, theirs = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for name in dict.fromkeys([*ours, *theirs]):
            inner = f"{path}.{name}" if path else name
            if name not in ours or name not in theirs:
                return _Difference(inner, _shown(ours, name), _shown(theirs, name))
            if found := _first_difference(ours[name], theirs[name], inner):
                return found
        return None
    # Dumped, because 1 == True in Python.
    before, after = json.dumps(old), json.dumps(new)
    return None if before == after else _Difference(path or "config", before, after)


def _shown(value: dict[str, Any], name: str) -> str:
    return json.dumps(value[name]) if name in value else "(absent)"


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy as JSON would return it, so that what is compared is what is stored."""
    return json.loads(json.dumps(value, allow_nan=False))
