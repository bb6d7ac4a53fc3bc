"""The command line: `python -m harness run | decode | self-distil | score | lm-eval | …`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from typer import Option

from harness.asking import Wish, asked_tasks, check_least
from harness.json_lines import check_target, read_lines, shown, write_rows
from harness.run_config import DEFAULT_LIMIT, DEFAULT_TAUS, Attention, Dtype, SourceChoice
from harness.score_report import print_report
from harness.scoring import read_answers, score_answers
from harness.terminal import print_summary, progress_bar
from results import SummaryRow
from sdlm.command_line import user_errors
from tasks import PromptProtocol, TaskOptions, resolve_task

# What loads torch or matplotlib is imported by the command that needs it: mistakes are said at
# once, and `score` needs neither.

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Benchmark speculative and diffusion decoding of language models.",
)
ATTENTION_HELP = "default: flex on CUDA, dense on CPU"
CHAT_HELP = "lm-eval's prompts as chat turns"
DTYPE_HELP = "auto: float32 for nano, the checkpoint's own for other models"
TASKS_HELP = "task names, separated by commas; lm_eval:NAME for lm-eval's"
UNSAFE_HELP = "run generated programs even where no sandbox works"
MODEL_HELP = "nano, nano-ar, a checkpoint folder, or a Hugging Face hub id"


@app.command()
def run(
    model: Annotated[str, Option(help=MODEL_HELP)] = "nano",
    tasks: Annotated[str, Option(help=TASKS_HELP)] = "gsm8k",
    decoders: Annotated[str, Option(help="all, or specs such as entropy(tau=0.9)")] = "all",
    tau: Annotated[str, Option(help="thresholds for decoders that take one")] = ",".join(
        str(tau) for tau in DEFAULT_TAUS
    ),
    block: Annotated[int | None, Option(help="window slots; default: the model's own")] = None,
    limit: Annotated[int, Option(help="items of each task, drawn by --seed; 0: all")] = (
        DEFAULT_LIMIT
    ),
    batch_size: Annotated[int, Option(help="rows decoded at once")] = 1,
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto",
    attention: Annotated[Attention | None, Option(help=ATTENTION_HELP)] = None,
    max_new_tokens: Annotated[int | None, Option(help="default: the task's own")] = None,
    seed: Annotated[int, Option(help="which items --limit draws")] = 0,
    data: Annotated[
        SourceChoice, Option(help="auto: embedded for nano, official for other models")
    ] = "auto",
    data_dir: Annotated[Path | None, Option(help="folder of the official test sets")] = None,
    include_path: Annotated[Path | None, Option(help="folder of further lm-eval tasks")] = None,
    apply_chat_template: Annotated[bool, Option("--apply-chat-template", help=CHAT_HELP)] = False,
    protocol: Annotated[PromptProtocol, Option(help="whose prompts ask official items")] = "paper",
    unsafe_execution: Annotated[bool, Option("--unsafe-execution", help=UNSAFE_HELP)] = False,
    out: Annotated[Path | None, Option(help="run folder; default: runs/TIME-MODEL")] = None,
    resume: Annotated[bool, Option("--resume", help="go on with the run in --out")] = False,
    as_json: Annotated[bool, Option("--json", help="print the table as JSON")] = False,
) -> None:
    """Decode tasks with several decoders; score and time the same generations.

    Exit code 1: some samples failed. 2: a mistake in what was asked for.
    """
    wish = Wish(
        model=model,
        tasks=tasks,
        decoders=decoders,
        tau=tau,
        block=block,
        limit=limit,
        batch_size=batch_size,
        dtype=dtype,
        attention=attention,
        max_new_tokens=max_new_tokens,
        seed=seed,
        data=data,
        data_dir=data_dir,
        task_options=TaskOptions(
            unsafe_execution=unsafe_execution,
            include_path=include_path,
            apply_chat_template=apply_chat_template,
            protocol=protocol,
        ),
    )
    with user_errors():
        asked = asked_tasks(wish)
        from harness.running import run as run_wish

        folder, rows = run_wish(wish, asked, out, resume=resume)
    show_run(folder, rows, as_json=as_json)


def show_run(folder: Path, rows: list[SummaryRow], *, as_json: bool) -> None:
    """The table and what was written, or the rows as JSON. Exit code 1 if a sample failed."""
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        print_summary(rows, Console())
        written = [folder / name for name in ("manifest.json", "samples", "summary.json", "plots")]
        for path in [*written, *sorted((folder / "tables").iterdir())]:
            print(path)
    if any(row.failed for row in rows):
        raise typer.Exit(1)


@app.command()
def decode(
    model: Annotated[str, Option(help=MODEL_HELP)],
    decoder: Annotated[list[str], Option(help="a decoder's spec; may be repeated")],
    source: Annotated[str, Option("--input", help="JSON lines, or - for standard input")],
    max_new_tokens: Annotated[int, Option(help="budget of an answer")] = 256,
    eos_ids: Annotated[str | None, Option(help="1,2 or none; default: the model's own")] = None,
    block: Annotated[int | None, Option(help="window slots; default: the model's own")] = None,
    batch_size: Annotated[int, Option(help="rows decoded at once")] = 1,
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto",
    attention: Annotated[Attention | None, Option(help=ATTENTION_HELP)] = None,
    raw: Annotated[bool, Option("--raw", help="feed prompts without a chat template")] = False,
    out: Annotated[str, Option(help="JSON lines, or - for standard output")] = "-",
) -> None:
    """Decode prompts or token ids; report tokens and what each forward kept.

    Exit code 1: some answers failed. 2: a mistake in what was asked for.
    """
    errors: list[str] = []
    with user_errors():
        check_least("--max-new-tokens", max_new_tokens, 1)
        check_least("--batch-size", batch_size, 1)
        check_target(out)
        from harness.decoding import decode as decode_prompts
        from harness.decoding import parse_eos_ids, read_prompts
        from harness.models import default_device, model_folder, open_model
        from harness.planning import build_decoders

        folder = model_folder(model)
        decoders = build_decoders(decoder, folder, block)
        loaded = open_model(
            model,
            folder,
            dtype=dtype,
            attention=attention,
            device=default_device(),
            need_tokenizer=False,
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
    model: Annotated[str, Option(help=MODEL_HELP)],
    data: Annotated[Path, Option(help="JSONL of chat messages, or prompt and response")],
    out: Annotated[str, Option(help="JSON lines, or - for standard output")],
    judge: Annotated[
        Literal["gsm8k", "math500"] | None,
        Option(help="the task that compares results: where they differ the data's answer stays"),
    ] = None,
    max_new_tokens: Annotated[int, Option(help="budget of an answer")] = 256,
    batch_size: Annotated[int, Option(help="rows decoded at once")] = 32,
    dtype: Annotated[Dtype, Option(help=DTYPE_HELP)] = "auto",
) -> None:
    """Replace each conversation's last answer by the model's own: data for a retrofit of it."""
    with user_errors():
        check_least("--max-new-tokens", max_new_tokens, 1)
        check_least("--batch-size", batch_size, 1)
        check_target(out)
        from harness.distilling import distil, read_conversations
        from harness.models import default_device, model_folder, open_model

        loaded = open_model(
            model,
            model_folder(model),
            dtype=dtype,
            attention=None,
            device=default_device(),
            need_tokenizer=True,
        )
        conversations = read_conversations(data, loaded)
        rows = distil(
            loaded,
            conversations,
            None if judge is None else resolve_task(judge),
            max_new_tokens=max_new_tokens,
            batch_size=batch_size,
        )
        write_rows(rows, out)


@app.command()
def score(
    task: Annotated[str, Option(help="name of the task, or module:Class")],
    answers: Annotated[str, Option(help="JSON lines, or - for standard input")],
    data_dir: Annotated[Path | None, Option(help="folder of the official test sets")] = None,
    include_path: Annotated[Path | None, Option(help="folder of further lm-eval tasks")] = None,
    unsafe_execution: Annotated[bool, Option("--unsafe-execution", help=UNSAFE_HELP)] = False,
    out: Annotated[str, Option(help="JSON lines, or - for standard output")] = "-",
) -> None:
    """Score stored answers of any engine, without a model."""
    with user_errors():
        check_target(out)
        options = TaskOptions(unsafe_execution=unsafe_execution, include_path=include_path)
        scorer = resolve_task(task, options)
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
        from results.plots import loss_plot
        from sdlm.retrofit.run_log import read_log

        for path in loss_plot(read_log(log), title, out):
            print(path)


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
    as_json: Annotated[bool, Option("--json", help="print as JSON")] = False,
) -> None:
    """Show models, decoders with their parameters, and tasks."""
    with user_errors():
        from harness.listing import print_listing

        print_listing(as_json=as_json)


def main() -> None:
    app()
