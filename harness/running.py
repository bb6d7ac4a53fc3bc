"""`harness run`: plan, measure, summarise; every step of it can be killed and resumed."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.asking import AskedTask, Wish
from harness.machine import hardware, invocation, software
from harness.measuring import measure, work_list
from harness.planning import BASELINE, Plan, make_plan
from harness.terminal import progress_bar
from results import RunStore, SampleRecord, SummaryRow, summarise, write_summary
from results.breakdown import MetricRow, Place, break_down, write_rows
from results.plots import trade_off_plot
from results.sample_files import file_name
from tasks import data_files


def run(
    wish: Wish, asked: Sequence[AskedTask], out: Path | None, *, resume: bool
) -> tuple[Path, list[SummaryRow]]:
    """Measure what `wish` asks for into a run folder; returns the folder and its table."""
    if resume and out is None:
        raise ValueError("--resume continues the run in --out; name its folder")
    plan = make_plan(wish, asked)
    folder = default_folder(wish.model) if out is None else out
    machine = {"software": software(), "hardware": hardware(plan.config.device)}
    with RunStore.create(
        folder,
        plan.config.as_json(),
        resume=resume,
        invocation=invocation(sys.argv[1:]) | machine,
        facts=machine
        | {
            "model_config": asdict(plan.loaded.model.config),
            "data_files": read_files(plan, wish.data_dir),
        },
    ) as store:
        print(f"run folder {folder}; go on after a stop: --resume --out {folder}", file=sys.stderr)
        if BASELINE not in plan.decoders:
            print(f"no speedups: they are against {BASELINE}, which is left out", file=sys.stderr)
        total = sum(len(work.numbers) for work in work_list(plan))
        with progress_bar("decoding", total=total, done=len(store.records)) as advance:

            def on_record(record: SampleRecord) -> None:
                advance(record.decoder)

            measure(plan, store, on_record)
        tell_failures(store.records)
        return folder, write_results(plan, folder, store.records)


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
        for spec in plan.decoders:
            answers = [
                (items[record.item_id], record.text)
                for record in records
                if (record.task, record.decoder) == (task.task.name, spec)
                and record.text is not None
            ]
            rows += [
                MetricRow(
                    task=task.task.name,
                    decoder=spec,
                    batch_size=plan.config.batch_size,
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
