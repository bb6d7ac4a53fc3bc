"""`harness run`: plan, measure, summarise; every step of it can be killed and resumed."""

import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from harness.asking import AskedTask, EngineChoice, Wish
from harness.divergence import find_divergences
from harness.engine import Engine, check_engine, open_engine
from harness.keeping import fewer_rows, keeper, speed_warnings, tell_failures
from harness.machine import LoadMeter, invocation, load_warning, software
from harness.overhead import Overhead
from harness.planning import BASELINE, Plan, make_plan
from harness.resuming import (
    check_records,
    check_resume,
    how_to_go_on,
    in_plan_order,
    unlike_machines,
    with_stored_batch_size,
)
from harness.retrying import described
from harness.shards import Shard, all_shards, noisy_shards, what_is_left
from harness.stopping import Stop
from harness.terminal import as_a_line, progress_bar
from harness.tracing import trace_tasks
from results import RunStore, SampleRecord, SummaryRow, summarise, write_summary
from results.breakdown import MetricRow, Place, break_down
from results.costs import accepted_lengths
from results.divergence import Divergence
from results.measured import outcomes
from results.plots import trade_off_plot
from results.reliability import reliability_warnings
from results.report.page import write_page
from results.report.runs import read_reported_runs
from results.sample_files import file_name
from results.store import check_folder, kept_whole
from results.text_tables import write_rows
from sdlm.model_names import public_name
from sdlm.team import TeamLost
from tasks import data_files

NOISY_REPEATS = 2


class Outcome(NamedTuple):
    """How a run ended: its folder and table, and the signal that left samples undone, or None."""

    folder: Path
    rows: list[SummaryRow]
    stopped: int | None


def run(
    wish: Wish,
    asked: Sequence[AskedTask],
    choice: EngineChoice,
    out: Path | None,
    *,
    resume: bool,
    retry_failed: bool,
) -> Outcome:
    """Measure what `wish` asks for into a run folder."""
    check_resume(out, resume=resume, retry_failed=retry_failed)
    check_engine(choice)
    folder = default_folder(wish.model) if out is None else out
    check_folder(folder, resume=resume)
    meter = LoadMeter()
    if resume and out is not None:
        wish = with_stored_batch_size(wish, out)
    # Ray's workers load the model, and this process only plans.
    plan = make_plan(wish, asked, weights=choice.name == "local")
    other_load = meter.share()
    with open_engine(choice, wish, plan) as engine:
        plan = engine.plan
        machine = {"software": software(), "hardware": engine.hardware}
        with (
            Stop() as stop,
            RunStore.create(
                folder,
                plan.config.as_json(),
                resume=resume,
                retry_failed=retry_failed,
                invocation=invocation(sys.argv[1:])
                | machine
                | {"engine": choice.name, "workers": engine.workers, "threads": engine.threads}
                | {"other_load": other_load},
                facts=machine
                | {
                    "model_config": asdict(plan.loaded.model.config),
                    "data_files": read_files(plan, wish.data_dir),
                    "references": plan.references,
                },
            ) as store,
        ):
            check_records(plan, store)
            tell_start(plan, store, wish, other_load)
            overhead = Overhead(store.manifest.get("overhead", {}))
            measure(engine, store, overhead, lambda: stop.asked)
            if wish.repeat_noisy:
                measure_noisy_again(engine, store, overhead, lambda: stop.asked)
            tell_failures(store.records)
            divergences = look_closer(plan, store, wish, choice, lambda: stop.asked)
            rows = finish(plan, store, overhead, divergences)
            stopped = stop.number if stop.asked and missing(plan, store) else None
            if stopped is not None:
                tell_stop(plan, store, stopped)
            return Outcome(folder, rows, stopped)


def tell_start(plan: Plan, store: RunStore, wish: Wish, other_load: float | None) -> None:
    """What is worth knowing while the run goes on, on standard error."""
    lines = [f"run folder {store.folder}; go on after a stop: {how_to_go_on(store.folder)}"]
    if BASELINE not in plan.decoders:
        lines.append(f"no speedups: they are against {BASELINE}, which is left out")
    if wish.batch_sizes == "auto":
        lines.append(f"batch size {plan.config.batch_sizes[0]}: what memory has room for")
    if warning := load_warning(other_load):
        lines.append(warning)
    if missing(plan, store) and (warning := unlike_machines(store, begun=True)):
        lines.append(warning)
    print(*lines, sep="\n", file=sys.stderr)


def tell_stop(plan: Plan, store: RunStore, number: int) -> None:
    total = sum(shard.samples for shard in all_shards(plan))
    done = total - sum(shard.samples for shard in missing(plan, store))
    print(
        f"stopped by {signal.Signals(number).name} with {done} of {total} samples done; go on:"
        f" {how_to_go_on(store.folder)}",
        file=sys.stderr,
    )


def missing(plan: Plan, store: RunStore) -> list[Shard]:
    """The shards of the run, without what the store has of them."""
    return [left for shard in all_shards(plan) if (left := what_is_left(plan, shard, store))]


def measure(
    engine: Engine, store: RunStore, overhead: Overhead, stopped: Callable[[], bool]
) -> None:
    """Do what is missing from the store, or as much of it as there is time for until `stopped`."""
    plan, shards = engine.plan, missing(engine.plan, store)
    total = sum(shard.samples for shard in all_shards(plan))
    done = total - sum(shard.samples for shard in shards)
    with progress_bar("decoding", total=total, done=done) as advance:
        keep = keeper(store, overhead, lambda record: advance(record.decoder))
        engine.run(shards, keep, lambda shard: what_is_left(plan, shard, store), stopped)


def measure_noisy_again(
    engine: Engine, store: RunStore, overhead: Overhead, stopped: Callable[[], bool]
) -> None:
    """Repeat what was never measured in quiet, `NOISY_REPEATS` times at most."""
    plan = engine.plan
    for extra in range(NOISY_REPEATS):
        if stopped():
            return
        shards = noisy_shards(plan, store, plan.config.repeats + extra)
        if not shards:
            continue
        total = sum(shard.samples for shard in shards)
        with progress_bar("once more, in quiet", total=total, done=0) as advance:
            keep = keeper(store, overhead, lambda record: advance(record.decoder))
            engine.run(shards, keep, lambda shard: what_is_left(plan, shard, store), stopped)


def look_closer(
    plan: Plan,
    store: RunStore,
    wish: Wish,
    choice: EngineChoice,
    stopped: Callable[[], bool],
) -> list[Divergence] | None:
    """Once all is measured: traces of some answers, and where ids part from the reference's."""
    if missing(plan, store):
        return None
    if choice.name != "local":
        # Its workers have the model.
        print("no traces, and no margins where ids differ, with --engine ray", file=sys.stderr)
        return None
    records = in_plan_order(plan, store.records)
    # The run is measured; neither a lost rank nor a user's own decoder must cost it its end.
    try:
        trace_tasks(plan, store.folder, records, wish.traces, stopped)
    except TeamLost as error:
        print(f"no more traces, and no margins where ids differ: {error}", file=sys.stderr)
        return None
    try:
        found = find_divergences(plan, records, stopped)
    except Exception as error:
        print(f"no margins where ids differ: {as_a_line(described(error))}", file=sys.stderr)
        return None
    if stopped():
        print(
            "not all traces and margins where ids differ were made; they are by"
            f" {how_to_go_on(store.folder)}",
            file=sys.stderr,
        )
    return found


def finish(
    plan: Plan,
    store: RunStore,
    overhead: Overhead,
    divergences: Sequence[Divergence] | None,
) -> list[SummaryRow]:
    """Summary, tables and plots of what the store has, and what the manifest says at the end."""
    warnings = [*speed_warnings(store), *reliability_warnings(store.records)]
    for line in warnings:
        print(f"warning: {line}", file=sys.stderr)
    store.add_facts({"fewer_rows": fewer_rows(store.records), "warnings": warnings})
    rows: list[SummaryRow] = []
    with overhead.parts["summary"], kept_whole(store.folder):
        if records := in_plan_order(plan, store.records):
            rows = write_results(plan, store.folder, records, warnings, divergences)
    store.add_facts({"overhead": overhead.as_json()})
    return rows


def read_files(plan: Plan, data_dir: Path | None) -> dict[str, list[dict[str, Any]]]:
    """The files behind the official items of each task: where from, which hash, whether that is
    the published one."""
    return {
        name: [file._asdict() for file in data_files(name, plan.config.protocol, data_dir)]
        for name, source in plan.config.sources.items()
        if source == "official"
    }


def write_results(
    plan: Plan,
    folder: Path,
    records: list[SampleRecord],
    warnings: Sequence[str],
    divergences: Sequence[Divergence] | None,
) -> list[SummaryRow]:
    """Summary, tables, a speed-accuracy plot for each task that has been begun, and the page."""
    rows = summarise(records, plan.references, BASELINE, divergences, plan.twin_spec)
    write_summary(folder, rows, BASELINE, warnings)
    places = {
        (task.task.name, item.id): Place(item.subject, item.level)
        for task in plan.tasks
        for item in task.items
    }
    answers = outcomes(records)
    tables = {
        "breakdown": break_down(answers, places),
        # Answers that nothing ended are not judged.
        "metrics": own_metrics(plan, answers) if plan.config.fixed_length is None else (),
        "accepted_lengths": accepted_lengths(records),
        "divergences": divergences or (),
    }
    for name, lines in tables.items():
        write_rows(folder / "tables" / name, lines)
    for task in plan.tasks:
        name = task.task.name
        of_task = [row for row in rows if row.task == name]
        if of_task:
            trade_off_plot(of_task, folder / "plots" / file_name(name), BASELINE)
    write_page(read_reported_runs([folder]), folder, BASELINE)
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
    """Named for the time and the model, without its adapter or who it is from."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    base = model if Path(model).is_dir() else model.rpartition("+")[0] or model
    return Path("runs") / f"{stamp}-{Path(public_name(base)).name}"
