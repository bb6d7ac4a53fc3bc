"""The command line: `python -m harness run | decode | score | figures | lm-eval | …`."""

import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer import Option

from harness import options
from harness.asking import (
    EngineChoice,
    Wish,
    asked_tasks,
    check_batch_size,
    check_least,
    check_together,
    split_option,
    wish_of,
)
from harness.json_lines import check_target, read_lines, shown, write_rows
from harness.run_config import DEFAULT_LIMIT, DEFAULT_TAUS, DEFAULT_TRACES, Setup
from harness.score_report import print_report
from harness.scoring import read_answers, score_answers
from harness.stopping import end, exit_code
from harness.terminal import print_summary, progress_bar
from results import SummaryRow
from results.gate import DEFAULT_TOLERANCE, Rules
from sdlm.command_line import user_errors
from sdlm.model_names import with_adapter
from tasks import EMBEDDED_ITEMS, TaskOptions, resolve_task

# What loads torch or matplotlib is imported by the command that needs it: mistakes are said at
# once, and `score` needs neither.

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Benchmark speculative and diffusion decoding of language models.",
)


@app.command(
    epilog="Exit code 1: some samples failed. 2: a mistake in what was asked for. 130, 143:"
    " stopped by SIGINT (Ctrl-C) or SIGTERM, with everything done until then kept."
)
def run(
    model: options.Model = "nano",
    adapter: options.Adapter = None,
    baseline_model: options.BaselineModel = None,
    tasks: options.Tasks = "gsm8k",
    decoders: options.Decoders = "all",
    tau: options.Taus = DEFAULT_TAUS,
    block: options.Block = None,
    limit: options.Limit = DEFAULT_LIMIT,
    batch_size: options.AutoBatchSize = None,
    batch_sizes: options.BatchSizes = None,
    order: options.PromptOrder = "given",
    dtype: options.NumberType = "auto",
    attention: options.Attends = None,
    compile: options.Compile = False,
    quantize: options.Quantized = "none",
    tensor_parallel: options.TensorParallel = 1,
    max_new_tokens: options.TaskBudget = None,
    fixed_length: options.FixedLength = None,
    repeats: options.Repeats = 1,
    repeat_noisy: options.RepeatNoisy = False,
    traces: options.Traces = DEFAULT_TRACES,
    seed: options.Seed = 0,
    data: options.Data = "auto",
    embedded_items: options.EmbeddedItems = EMBEDDED_ITEMS,
    data_dir: options.DataDir = None,
    include_path: options.IncludePath = None,
    apply_chat_template: options.ChatTemplate = False,
    protocol: options.Protocol = "paper",
    unsafe_execution: options.Unsafe = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    ray_address: options.RayAddress = None,
    out: options.RunFolder = None,
    resume: options.Resume = False,
    retry_failed: options.RetryFailed = False,
    as_json: options.AsJson = False,
) -> None:
    """Decode tasks with several decoders; score and time the same generations."""
    # Every option, under its name above.
    given = dict(locals()) | {"model": with_adapter(model, adapter)}
    with user_errors():
        wish = wish_of(given)
        chosen = EngineChoice(name=engine, workers=workers, ray_address=ray_address)
        run_and_show(wish, chosen, out, resume=resume, retry_failed=retry_failed, as_json=as_json)


def run_and_show(
    wish: Wish,
    engine: EngineChoice,
    out: Path | None,
    *,
    resume: bool,
    retry_failed: bool,
    as_json: bool,
) -> None:
    check_together(wish, engine)
    asked = asked_tasks(wish)
    from harness.running import run as run_wish

    folder, rows, stopped = run_wish(
        wish, asked, engine, out, resume=resume, retry_failed=retry_failed
    )
    show_run(folder, rows, as_json=as_json)
    if stopped is not None:
        raise typer.Exit(exit_code(stopped))
    if any(row.failed for row in rows):
        raise typer.Exit(1)


def show_run(folder: Path, rows: list[SummaryRow], *, as_json: bool) -> None:
    """The table and what was written, or the rows as JSON."""
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    elif rows:
        print_summary(rows, Console())
        written = ("report.html", "manifest.json", "samples", "summary.json", "plots")
        tables = sorted((folder / "tables").iterdir())
        print(*(folder / name for name in written), *tables, sep="\n")


@app.command()
def decode(
    model: options.Model,
    decoder: Annotated[list[str], Option(help="a decoder's spec; may be repeated")],
    source: Annotated[str, Option("--input", help="JSON lines, or - for standard input")],
    adapter: options.Adapter = None,
    max_new_tokens: options.Budget = 256,
    eos_ids: Annotated[str | None, Option(help="1,2 or none; default: the model's own")] = None,
    block: options.Block = None,
    batch_size: options.BatchSize = 1,
    dtype: options.NumberType = "auto",
    attention: options.Attends = None,
    compile: options.Compile = False,
    quantize: options.Quantized = "none",
    tensor_parallel: options.TensorParallel = 1,
    raw: Annotated[bool, Option("--raw", help="feed prompts without a chat template")] = False,
    out: options.LinesOut = "-",
) -> None:
    """Decode prompts or token ids; report tokens and what each forward kept.

    Exit code 1: some answers failed. 2: a mistake in what was asked for.
    """
    errors: list[str] = []
    with user_errors():
        check_least("--max-new-tokens", max_new_tokens, 1)
        check_batch_size("--batch-size", batch_size)
        check_target(out)
        from harness.decoding import decode as decode_prompts
        from harness.decoding import parse_eos_ids, read_prompts
        from harness.models import default_device, open_model
        from harness.planning import build_decoders
        from sdlm.merging import find_model

        name = with_adapter(model, adapter)
        folder = find_model(name)
        decoders = build_decoders(decoder, folder, block)
        loaded = open_model(
            name,
            folder,
            dtype=dtype,
            attention=attention,
            device=default_device(),
            need_tokenizer=False,
            setup=Setup(compile=compile, quantize=quantize, tensor_parallel=tensor_parallel),
        )
        rows = decode_prompts(
            loaded,
            decoders,
            read_prompts(source, loaded, raw=raw),
            max_new_tokens=max_new_tokens,
            eos_token_ids=parse_eos_ids(eos_ids, loaded),
            batch_size=batch_size,
            on_error=errors.append,
        )
        write_rows(rows, out)
    if errors:
        print(f"{len(errors)} answers failed; the first: {errors[0]}", file=sys.stderr)
        raise typer.Exit(1)


@app.command("self-distil")
def self_distil(
    model: options.Model,
    data: Annotated[Path, Option(help="JSONL of chat messages, or prompt and response")],
    out: options.LinesOut,
    adapter: options.Adapter = None,
    decoder: Annotated[str, Option(help="whose answers: a decoder's spec")] = "ar",
    judge: options.Judge = None,
    on_mismatch: options.OnMismatch = "data",
    max_new_tokens: options.Budget = 256,
    batch_size: options.BatchSize = 32,
    dtype: options.NumberType = "auto",
    resume: options.ResumeAnswers = False,
) -> None:
    """Replace each conversation's last answer by the model's own: data for a retrofit of it.

    Answers are kept in OUT.answers until OUT is written.
    """
    with user_errors():
        check_least("--max-new-tokens", max_new_tokens, 1)
        check_batch_size("--batch-size", batch_size)
        check_target(out)
        if on_mismatch == "drop" and judge is None:
            raise ValueError("--on-mismatch drop is for what a judge finds; add --judge TASK")
        from harness.distilling import self_distil as write_own_answers
        from harness.kept_answers import check_answers

        check_answers(out, resume=resume)
        write_own_answers(
            data,
            out,
            model=with_adapter(model, adapter),
            decoder=decoder,
            judge=None if judge is None else resolve_task(judge),
            on_mismatch=on_mismatch,
            max_new_tokens=max_new_tokens,
            batch_size=batch_size,
            dtype=dtype,
        )


@app.command()
def export(
    model: options.Model,
    adapter: Annotated[str, Option(help=options.ADAPTER_HELP)],
    out: Annotated[Path, Option(help="folder for the merged checkpoint")],
) -> None:
    """Write a model with its adapter merged as one checkpoint, which the SDLM code can read."""
    with user_errors():
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ValueError(f"--out {out} exists already; give a new folder")
        from sdlm.merging import merge_adapter
        from sdlm.model_names import adapter_folder, model_folder

        merge_adapter(model_folder(model), adapter_folder(adapter), out)
        print(*sorted(out.iterdir()), sep="\n")


@app.command()
def score(
    task: Annotated[str, Option(help="name of the task, or module:Class")],
    answers: Annotated[str, Option(help="JSON lines, or - for standard input")],
    data_dir: options.DataDir = None,
    include_path: options.IncludePath = None,
    unsafe_execution: options.Unsafe = False,
    embedded_items: options.EmbeddedItems = EMBEDDED_ITEMS,
    out: options.LinesOut = "-",
) -> None:
    """Score stored answers of any engine, without a model."""
    with user_errors():
        check_target(out)
        check_least("--embedded-items", embedded_items, 1)
        chosen = TaskOptions(
            unsafe_execution=unsafe_execution,
            include_path=include_path,
            embedded_items=embedded_items,
        )
        scorer = resolve_task(task, chosen)
        lines = read_lines("--answers", answers)
        given = read_answers(lines, shown(answers), scorer, data_dir)
        with progress_bar("scoring", total=len(given), done=0) as advance:
            scored = score_answers(scorer, given, advance)
        write_rows((one.row() for one in scored), out)
        print_report(
            scorer.name,
            scored,
            Console(stderr=True, highlight=False, markup=False, soft_wrap=True),
        )


@app.command()
def losses(
    log: Annotated[Path, typer.Argument(help="log.jsonl of a training run")],
    out: Annotated[Path, Option(help="where to draw, without an ending")],
    title: Annotated[str, Option(help="title of the figure")] = "",
) -> None:
    """Draw a training run's loss and accuracy as PNG and SVG."""
    with user_errors():
        from sdlm.retrofit.loss_plot import loss_plot
        from sdlm.retrofit.run_log import read_log

        for path in loss_plot(read_log(log), title, out):
            print(path)


@app.command(epilog="Exit code 1: a regression. 2: a mistake, or runs that are not alike.")
def compare(
    base: options.BaseRun,
    new: options.NewRun,
    tolerance: options.Tolerance = DEFAULT_TOLERANCE,
    strict_ids: options.StrictIds = False,
    allow_different: options.AllowDifferent = "",
    markdown: options.MarkdownOut = None,
    as_json: options.AsJson = False,
) -> None:
    """Judge a run against an earlier one: speed, accuracy, ids. The regression gate."""
    with user_errors():
        from harness.comparing import compare_runs

        allowed = split_option(allow_different, "--allow-different") if allow_different else []
        rules = Rules(tolerance=tolerance, strict_ids=strict_ids, allow_different=tuple(allowed))
        well = compare_runs(base, new, rules, markdown_target=markdown, as_data=as_json)
    if not well:
        raise typer.Exit(1)


@app.command()
def report(runs: options.ReportedRuns, out: options.ReportFolder = None) -> None:
    """Write tables, plots and one page, report.html, of finished runs."""
    with user_errors():
        from harness.reporting import report_runs

        for path in report_runs(runs, out):
            print(path)


@app.command()
def figures(
    out: Annotated[Path, Option(help="folder for the figures and tables")],
    runs: Annotated[list[Path] | None, typer.Argument(help="run folders")] = None,
    ablation: Annotated[
        list[str] | None, Option(help="NAME=RUN, a bar's name and its run; may be repeated")
    ] = None,
) -> None:
    """Draw paper-style figures and tables of runs, published points beside them."""
    with user_errors():
        if not (runs or ablation):
            raise ValueError("nothing to draw: give run folders, or --ablation NAME=RUN")
        from results.figure_rows import ablations, rows_of_runs
        from results.figures import write_figures

        written = write_figures(rows_of_runs(runs or []), ablations(ablation or []), out)
        for path in written.paths:
            print(path)
        for line in written.not_drawn:
            print(f"not drawn: {line}", file=sys.stderr)
        if not written.paths:
            raise ValueError("nothing could be drawn")


@app.command(
    "lm-eval",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def lm_eval(context: typer.Context) -> None:
    """lm-eval's own command line, with --model sdlm for this project's models and decoders."""
    with user_errors():
        from harness.lm_eval_model import run_lm_eval

        run_lm_eval(context.args)


@app.command("sandbox-check")
def check_sandbox() -> None:
    """Attack the sandbox for generated programs; print what held. Exit code 1: not all did."""
    from harness.sandbox_check import sandbox_check

    if not sandbox_check(Console()):
        raise typer.Exit(1)


@app.command("list")
def show_list(
    as_json: options.AsJson = False,
) -> None:
    """Show models, decoders with their parameters, and tasks."""
    with user_errors():
        from harness.listing import print_listing

        print_listing(as_json=as_json)


def main() -> None:
    # Else it would end the process where it stands, and drafts of files would stay behind.
    signal.signal(signal.SIGTERM, end)
    # As standard error does: names of files may hold what has no UTF-8.
    stdout: Any = sys.stdout
    stdout.reconfigure(errors="backslashreplace")
    app()
