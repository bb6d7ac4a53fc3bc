"""What the two training commands share: the options of `TrainConfig`, and the run itself."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from sdlm.model import SDLM
from sdlm.retrofit.batches import Batches, RowSource
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.export import command_line, export_model
from sdlm.retrofit.loop import train
from sdlm.retrofit.run_state import Progress
from sdlm.retrofit.samples import Samples
from sdlm.tokenizer import PreTrainedTokenizerFast, end_token_ids

Data = Annotated[Path, typer.Option(help="JSONL of chat messages, or prompt and response")]
Out = Annotated[Path, typer.Option(help="the run's folder; the trained model is written to it")]
MaxLength = Annotated[int, typer.Option(help="most slots that one sample may take")]
Threads = Annotated[int, typer.Option(help="CPU threads; 0 leaves the choice to torch")]
Resume = Annotated[bool, typer.Option("--resume", help="continue the run in --out")]
Device = Annotated[str, typer.Option(help="cpu, cuda, …")]


def with_train_options(
    main: Callable[..., None], *, leave_out: tuple[str, ...] = ()
) -> Callable[..., None]:
    """A command with the options of `main` and, in place of its `config`, those of TrainConfig."""

    def command(**values: Any) -> None:
        config = {name: values.pop(name) for name in names}
        main(config=TrainConfig(**config), **values)

    settings = [field for field in fields(TrainConfig) if field.name not in leave_out]
    names = [field.name for field in settings]
    own = [p for name, p in inspect.signature(main).parameters.items() if name != "config"]
    added = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[field.type, _option(field.metadata)],
        )
        for field in settings
    ]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
    # Both, because typer reads names and defaults from the one and types from the other.
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    command.__doc__ = main.__doc__
    return command


def _option(metadata: Any) -> Any:
    names = (metadata["name"],) if metadata["name"] else ()
    return typer.Option(*names, help=metadata["help"])


def run_training(
    model: SDLM,
    source: RowSource,
    samples: Samples,
    tokenizer: PreTrainedTokenizerFast,
    config: TrainConfig,
    out: Path,
    *,
    facts: dict[str, Any],
    record: dict[str, Any],
    resume: bool,
) -> None:
    """Train, export at every checkpoint, and say how it ended; exit code 130 after a signal.

    facts: what a resumed run must share. record: what else `training.json` tells.
    """
    batches = Batches(
        source,
        batch_tokens=config.batch_tokens,
        pack_length=config.pack_length,
        # Padding is neither attended to nor learnt, so any token will do.
        pad_id=min(end_token_ids(tokenizer), default=0),
        seed=config.seed,
        device=model.device,
    )
    facts = {"data_sha256": samples.sha256} | facts
    record = {"command": command_line(), "seed": config.seed} | record | facts

    def export(progress: Progress) -> None:
        export_model(model, tokenizer, out, progress, record)

    outcome = train(model, batches, config, out, facts=facts, resume=resume, export=export)
    minutes = outcome.elapsed_s / 60
    totals = f"{outcome.steps:,} steps, {outcome.tokens:,} tokens, {minutes:.1f} minutes"
    if outcome.finished:
        print(f"{out}: done after {totals}", file=sys.stderr)
        return
    print(f"{out}: stopped after {totals}; go on with --resume", file=sys.stderr)
    raise SystemExit(130)


def set_up(threads: int, device: str) -> torch.device:
    """Apply --threads, and check --device before anything is read."""
    if threads < 0:
        raise ValueError(f"--threads is {threads}; it must not be negative")
    if threads:
        torch.set_num_threads(threads)
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"--device {device} can't be used: {reason}") from None
