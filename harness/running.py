"""`harness run`: plan, measure, summarise; every step of it can be killed and resumed."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

from harness.asking import AskedTask, EngineChoice, Wish
from harness.engine import Engine, Event, Joined, check_engine, open_engine
from harness.machine import LoadMeter, invocation, load_warning, software
from harness.measuring import WarmUp
from harness.planning import BASELINE, Plan, make_plan
from harness.shards import all_shards, what_is_left
from harness.terminal import progress_bar
from results import RunStore, SampleRecord, SummaryRow, stored_config, summarise, write_summary
from results.breakdown import MetricRow, Place, break_down, write_rows
from results.plots import trade_off_plot
from results.sample_files import file_name
from tasks import data_files


def run(
    wish: Wish,
    asked: Sequence[AskedTask],
    choice: EngineChoice,
    out: Path | None,
    *,
    resume: bool,
) -> tuple[Path, list[SummaryRow]]:
    """Measure what `wish` asks for into a run folder; returns the folder and its table."""
    if resume and out is None:
        raise ValueError("--resume continues the run in --out; name its folder")
    check_engine(choice)
    meter = LoadMeter()
    if resume and out is not None:
        wish = with_stored_batch_size(wish, out)
    # Ray's workers load the model, and this process only plans.
    plan = make_plan(wish, asked, weights=choice.name == "local")
    other_load = meter.share()
    folder = default_folder(wish.model) if out is None else out
    with open_engine(choice, wish, plan) as engine:
        plan = engine.plan
        machine = {"software": software(), "hardware": engine.hardware}
        with RunStore.create(
            folder,
            plan.config.as_json(),
            resume=resume,
            invocation=invocation(sys.argv[1:])
            | machine
            | {"engine": choice.name, "workers": engine.workers, "threads": engine.threads}
            | {"other_load": other_load},
            facts=machine
            | {
                "model_config": asdict(plan.loaded.model.config),
                "data_files": read_files(plan, wish.data_dir),
            },
        ) as store:
            tell_start(plan, folder, wish, other_load)
            measure(engine, store)
            tell_failures(store.records)
            return folder, write_results(plan, folder, store.records)


def with_stored_batch_size(wish: Wish, folder: Path) -> Wish:
    """For `auto`, the size that the run in `folder` has found: memory may give another today."""
    stored = stored_config(folder).get("batch_sizes", ())
    if wish.batch_sizes != "auto" or len(stored) != 1:
        return wish
    return replace(wish, batch_sizes=tuple(stored))


def tell_start(plan: Plan, folder: Path, wish: Wish, other_load: float | None) -> None:
    """What is worth knowing while the run goes on, on standard error."""
    lines = [f"run folder {folder}; go on after a stop: --resume --out {folder}"]
    if BASELINE not in plan.decoders:
        lines.append(f"no speedups: they are against {BASELINE}, which is left out")
    if wish.batch_sizes == "auto":
        lines.append(f"batch size {plan.config.batch_sizes[0]}: what memory has room for")
    if warning := load_warning(other_load):
        lines.append(warning)
    print(*lines, sep="\n", file=sys.stderr)


def measure(engine: Engine, store: RunStore) -> None:
    """Do what is missing from the store."""
    shards = [
        left
        for shard in all_shards(engine.plan)
        if (left := what_is_left(engine.plan, shard, store))
    ]
    done = len(store.records)
    total = done + sum(shard.samples for shard in shards)
    with progress_bar("decoding", total=total, done=done) as advance:
        keep = keeper(store, lambda record: advance(record.decoder))
        engine.run(shards, keep, lambda shard: what_is_left(engine.plan, shard, store))


def keeper(store: RunStore, on_record: Callable[[SampleRecord], None]) -> Callable[[Event], None]:
    """What puts into the store whatever workers have to say."""
    warmup_s: dict[str, float] = dict(store.manifest.get("warmup_s", {}))
    hosts: dict[str, Any] = dict(store.manifest.get("hosts", {}))

    def keep(event: Event) -> None:
        match event:
            case SampleRecord():
                store.append(event)
                on_record(event)
            case WarmUp(spec, seconds):
                warmup_s[spec] = round(warmup_s.get(spec, 0.0) + seconds, 3)
                store.add_facts({"warmup_s": warmup_s})
            case Joined(host=host, hardware=hardware):
                hosts[host] = hardware
                store.add_facts({"hosts": hosts})

    return keep


def tell_failures(records: list[SampleRecord]) -> None:
    """Say on standard error how many samples failed, and why the first one did."""
    errors: dict[tuple[str, str], list[str]] = {}
    for record in records:
        if record.error is not None:
            errors.setdefault((record.task, record.decoder), []).append(record.error)
    for (task, spec), found in errors.items():
        first = " ".join(found[0].splitlines())
        print(f"{task}: {len(found)} failed under {spec}; the first: {first}", file=sys.stderr)


def read_files(plan: Plan, data_dir: Path | None) -> dict[str, list[dict[str, Any]]]:
    """The files behind the official items of each task: where from, which hash, whether that is
    the published one."""
    return {
        name: [file._asdict() for file in data_files(name, plan.config.protocol, data_dir)]
        for name, source in plan.config.sources.items()
        if source == "official"
    }


def write_results(plan: Plan, folder: Path, records: list[SampleRecord]) -> list[SummaryRow]:
    """Summary, tables, and a speed-accuracy plot for each task."""
    references = {spec: decoder.reference for spec, decoder in plan.decoders.items()}
    rows = summarise(records, references, BASELINE)
    write_summary(folder, rows, BASELINE)
    places = {
        (task.task.name, item.id): Place(item.subject, item.level)
        for task in plan.tasks
        for item in task.items
    }
    write_rows(folder / "tables" / "breakdown", break_down(records, places))
    write_rows(folder / "tables" / "metrics", own_metrics(plan, records))
    for task in plan.tasks:
        name = task.task.name
        of_task = [row for row in rows if row.task == name]
        (folder / "plots").mkdir(exist_ok=True)
        trade_off_plot(of_task, folder / "plots" / file_name(name), BASELINE)
    return rows


def own_metrics(plan: Plan, records: list[SampleRecord]) -> list[MetricRow]:
    """What tasks with measures of their own say about each decoder's answers."""
    rows: list[MetricRow] = []
    for task in plan.tasks:
        metrics = getattr(task.task, "metrics", None)
        if metrics is None:
            continue
        items = {item.id: item for item in task.items}
        for batch_size, spec in product(plan.config.batch_sizes, plan.decoders):
            answers = [
                (items[record.item_id], record.text)
                for record in records
                if (record.task, record.decoder) == (task.task.name, spec)
                and record.batch_size == batch_size
                and record.text is not None
            ]
            rows += [
                MetricRow(
                    task=task.task.name,
                    decoder=spec,
                    batch_size=batch_size,
                    metric=metric.name,
                    items=metric.items,
                    value=metric.value,
                    stderr=metric.stderr,
                )
                for metric in metrics(answers)
            ]
    return rows


def default_folder(model: str) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{stamp}-{Path(model).name}"
