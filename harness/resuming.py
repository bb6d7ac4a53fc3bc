"""A run that goes on: how that is asked for, and what of it no longer fits together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.asking import Wish
from harness.planning import Plan
from results import RunStore, SampleRecord, stored_config
from results.sample_files import samples_path

_HARDWARE = ("cpu", "gpu", "cuda", "usable_cores")


def check_resume(out: Path | None, *, resume: bool, retry_failed: bool) -> None:
    if resume and out is None:
        raise ValueError("--resume continues the run in --out; name its folder")
    if retry_failed and not resume:
        raise ValueError("--retry-failed goes on with a run; add --resume and name it with --out")


def with_stored_batch_size(wish: Wish, folder: Path) -> Wish:
    """For `auto`, the size that the run in `folder` has found: memory may give another today."""
    stored = stored_config(folder).get("batch_sizes", ())
    if wish.batch_sizes != "auto" or len(stored) != 1:
        return wish
    return replace(wish, batch_sizes=tuple(stored))


def in_plan_order(plan: Plan, records: Sequence[SampleRecord]) -> list[SampleRecord]:
    """By task, batch size, decoder, item and repeat: an order that doesn't tell when which sample
    was made, so that no table depends on where a run was interrupted."""
    tasks = {name: place for place, name in enumerate(plan.config.tasks)}
    sizes = {size: place for place, size in enumerate(plan.config.batch_sizes)}
    decoders = {spec: place for place, spec in enumerate(plan.decoders)}
    items = {
        (each.task.name, item.id): place
        for each in plan.tasks
        for place, item in enumerate(each.items)
    }

    def place(record: SampleRecord) -> tuple[int, ...]:
        return (
            tasks[record.task],
            sizes[record.batch_size],
            decoders[record.decoder],
            items[record.task, record.item_id],
            record.repeat,
        )

    return sorted(records, key=place)


def check_records(plan: Plan, store: RunStore) -> None:
    """Raise ValueError for a record that is none of this run's, as of a file that was copied into
    its folder."""
    config = plan.config
    items = {(each.task.name, item.id) for each in plan.tasks for item in each.items}
    for record in store.records:
        known = (
            (record.task, record.item_id) in items
            and record.decoder in plan.decoders
            and record.batch_size in config.batch_sizes
        )
        settings = (record.source, record.model, record.fixed_length)
        if not known or settings != (
            config.sources[record.task],
            config.model,
            config.fixed_length,
        ):
            path = samples_path(store.folder, record.task, record.decoder)
            raise ValueError(
                f"{path} holds {record.item_id} of {record.task} ({record.source}) by"
                f" {record.model} at batch size {record.batch_size}, which is no sample of this"
                " run: move the file away to have its own samples done again"
            )


def how_to_go_on(folder: Path) -> str:
    return f"the same command with --resume --out {folder}"


def unlike_machines(store: RunStore, *, begun: bool) -> str | None:
    """What decides how fast a run is and differs between those of its invocations that completed
    any sample, as one line; None where nothing does. begun: the last one is about to."""
    invocations: list[dict[str, Any]] = store.manifest["invocations"]
    completed = sum(record.error is None for record in store.records)
    counts = [int(each.get("samples_before", 0)) for each in invocations] + [completed + begun]
    told = [
        _speed_facts(each)
        for each, before, after in zip(invocations, counts, counts[1:], strict=False)
        if after > before
    ]
    found = {
        name: list(dict.fromkeys(str(facts[name]) for facts in told))
        for name in (told[0] if told else ())
    }
    unlike = [f"{name} {' and '.join(said)}" for name, said in found.items() if len(said) > 1]
    if not unlike:
        return None
    return (
        f"times of unlike machines are mixed: {', '.join(unlike)}; accuracies hold, but measure"
        " speeds in one go"
    )


def _speed_facts(invocation: Mapping[str, Any]) -> dict[str, Any]:
    hardware = invocation.get("hardware", {})
    packages = invocation.get("software", {}).get("packages", {})
    return {
        **{name: invocation.get(name) for name in ("engine", "workers", "threads")},
        **{name: hardware.get(name) for name in _HARDWARE},
        "torch": packages.get("torch"),
    }
