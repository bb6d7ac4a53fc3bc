"""What workers have to say, on its way into the store, and what a user has to know of it."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from harness.engine import Event, Joined
from harness.measuring import Scoring, WarmUp
from harness.overhead import Overhead
from harness.resuming import unlike_machines
from harness.retrying import ROWS, Halved
from harness.terminal import as_a_line
from results import RunStore, SampleRecord


def keeper(
    store: RunStore, overhead: Overhead, on_record: Callable[[SampleRecord], None]
) -> Callable[[Event], None]:
    """What puts every event of an engine to its place."""
    warmup_s: dict[str, float] = dict(store.manifest.get("warmup_s", {}))
    hosts: dict[str, Any] = dict(store.manifest.get("hosts", {}))
    told: set[Halved] = set()

    def keep(event: Event) -> None:
        match event:
            case SampleRecord():
                with overhead.parts["writing"]:
                    store.append(event)
                with overhead.parts["progress"]:
                    on_record(event)
                overhead.decoding_s += event.compute_s or 0.0
            case Scoring(seconds):
                overhead.parts["scoring"].seconds += seconds
            case WarmUp(spec, seconds):
                warmup_s[spec] = round(warmup_s.get(spec, 0.0) + seconds, 3)
                store.add_facts({"warmup_s": warmup_s})
            case Joined(host=host, hardware=hardware):
                hosts[host] = hardware
                store.add_facts({"hosts": hosts})
            case Halved() if event not in told:
                told.add(event)
                print(_halved(event), file=sys.stderr)
            case Halved():
                # Another worker's.
                pass

    return keep


def _halved(event: Halved) -> str:
    return (
        f"{event.task}: memory has no room for batches of {event.batch_size} under {event.spec};"
        f" from here on {event.rows} rows are decoded at once"
    )


def tell_failures(records: Sequence[SampleRecord]) -> None:
    """Say on standard error how many samples failed, and why the first one did."""
    errors: dict[tuple[str, str], list[str]] = {}
    for record in records:
        if record.error is not None:
            errors.setdefault((record.task, record.decoder), []).append(record.error)
    for (task, spec), found in errors.items():
        first = as_a_line(found[0])
        print(f"{task}: {len(found)} failed under {spec}; the first: {first}", file=sys.stderr)


def fewer_rows(records: Sequence[SampleRecord]) -> list[dict[str, Any]]:
    """The settings with samples that were decoded in fewer rows than the batch size."""
    counts = Counter(
        (record.task, record.decoder, record.batch_size)
        for record in records
        if ROWS in (record.details or {})
    )
    return [
        {"task": task, "decoder": decoder, "batch_size": size, "samples": samples}
        for (task, decoder, size), samples in counts.items()
    ]


def speed_warnings(store: RunStore) -> list[str]:
    """What makes the run's speeds other than they look, a line each."""
    unlike = unlike_machines(store, begun=False)
    lines = [] if unlike is None else [unlike]
    for found in fewer_rows(store.records):
        lines.append(
            f"{found['task']}: {found['samples']} samples of {found['decoder']} were decoded in"
            f" fewer rows than the batch size of {found['batch_size']}, after an error or for lack"
            " of memory; its speed there is not that of the batch size"
        )
    return lines
