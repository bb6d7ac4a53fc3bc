"""What the two training commands share: the options of `TrainConfig`, and the run itself."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from sdlm.allocator import keep_freed_memory
from sdlm.attention import check_compiler
from sdlm.model import ModelConfig
from sdlm.retrofit.base_model import Base
from sdlm.retrofit.batches import Batches, RowSource
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.export import Lora, command_line, export_model
from sdlm.retrofit.loop import Outcome, train
from sdlm.retrofit.lora import add_lora
from sdlm.retrofit.ranks import Ranks, device_of_rank, open_ranks
from sdlm.retrofit.run_state import Progress, alone_in, check_folder
from sdlm.retrofit.samples import Samples, tokenizer_sha256
from sdlm.tokenizer import PreTrainedTokenizerFast, end_token_ids

# With many thousands the tokenizer's own threads crash the process.
MOST_THREADS = 1024
Data = Annotated[Path, typer.Option(help="JSONL of chat messages, or prompt and response")]
Out = Annotated[Path, typer.Option(help="the run's folder; the trained model is written to it")]
MaxLength = Annotated[int, typer.Option(help="most slots that one sample may take")]
Threads = Annotated[int, typer.Option(help="CPU threads; 0 leaves the choice to torch")]
Resume = Annotated[bool, typer.Option("--resume", help="continue the run in --out")]
Device = Annotated[str, typer.Option(help="cpu, cuda, …")]
Fsdp = Annotated[
    bool, typer.Option("--fsdp", help="share the model among the processes of torchrun")
]


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
    base: Base,
    source: RowSource,
    samples: Samples,
    tokenizer: PreTrainedTokenizerFast,
    config: TrainConfig,
    out: Path,
    *,
    ranks: Ranks,
    facts: dict[str, Any],
    record: dict[str, Any],
    resume: bool,
) -> None:
    """Train, export at every checkpoint, and say how it ended; exit code 130 after a signal.

    facts: what a resumed run must share. record: what else `training.json` tells.
    """
    lora = _adapted(base, config, facts["base"]) if config.lora_rank else None
    model = ranks.place(base.model)
    batches = Batches(
        source,
        batch_tokens=config.batch_tokens,
        pack_length=config.pack_length,
        # Padding is neither attended to nor learnt, so any token will do.
        pad_id=min(end_token_ids(tokenizer), default=0),
        seed=config.seed,
        device=ranks.device,
        impl=base.model.impl,
        accumulation=config.grad_accumulation,
        rank=ranks.rank,
        ranks=ranks.size,
    )
    hashes = {"data_sha256": samples.sha256, "tokenizer_sha256": tokenizer_sha256(tokenizer)}
    facts = hashes | facts
    lengths = {
        "samples": len(samples),
        "samples_cut": source.num_cut,
        "samples_without_room": int((source.lengths == 0).sum()),
    }
    record = {"command": command_line(), "seed": config.seed} | record | lengths | facts

    def export(progress: Progress) -> None:
        export_model(model, tokenizer, out, progress, record, ranks=ranks, lora=lora)

    with alone_in(out) if ranks.is_first else nullcontext():
        outcome = train(
            model, batches, config, out, ranks=ranks, facts=facts, resume=resume, export=export
        )
    if ranks.is_first:
        print(f"{out}: {_ending(outcome)}{_shortened(lengths, source)}", file=sys.stderr)
    if not outcome.finished:
        raise SystemExit(130)


def _adapted(base: Base, config: TrainConfig, name: str) -> Lora:
    """Put adapters into the model; `name` is what they will say they belong to."""
    lora = Lora(config.lora_rank, config.lora_alpha, base.new_token, name)
    add_lora(
        base.model,
        rank=lora.rank,
        alpha=lora.alpha,
        new_token=lora.new_token,
        seed=config.seed,
    )
    return lora


def check_compile(model: ModelConfig, device: torch.device) -> None:
    """Raise ValueError, before data is read, where --compile can't work."""
    check_compiler("--compile", device, "leave it out")
    if model.num_kv_heads == 1 and device.type == "cpu":
        raise ValueError(
            "--compile on a CPU needs two key/value heads or more: with one, torch fails at the"
            " second shape of batches; leave it out"
        )


def _ending(outcome: Outcome) -> str:
    minutes = outcome.elapsed_s / 60
    totals = f"{outcome.steps:,} steps, {outcome.tokens:,} tokens, {minutes:.1f} minutes"
    if outcome.finished:
        return f"done after {totals}"
    return f"stopped after {totals}; go on with --resume"


def _shortened(lengths: dict[str, int], source: RowSource) -> str:
    counts = {
        "cut to --max-length": lengths["samples_cut"],
        f"left out, where {source.no_room}": lengths["samples_without_room"],
    }
    told = [f"{count:,} were {what}" for what, count in counts.items() if count]
    return f"; of {lengths['samples']:,} samples {' and '.join(told)}" if told else ""


@contextmanager
def set_up(out: Path, *, resume: bool, threads: int, device: str, fsdp: bool) -> Generator[Ranks]:
    """Check --out and --device before anything is read, apply --threads, join the other processes.

    A device without memory for what is done meanwhile is a ValueError.
    """
    check_folder(out, resume=resume)
    if not 0 <= threads <= MOST_THREADS:
        raise ValueError(f"--threads is {threads}; it lies in 0…{MOST_THREADS}")
    if threads:
        torch.set_num_threads(threads)
    try:
        place = device_of_rank(device, fsdp=fsdp)
        # Made and read, because only then a device is known to work.
        torch.zeros(1, device=place).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"--device {device} can't be used: {reason}") from None
    if place.type == "cpu":
        # What one step frees the next needs again.
        keep_freed_memory()
    with open_ranks(place, fsdp=fsdp) as ranks:
        try:
            yield ranks
        except torch.OutOfMemoryError as error:
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"--device {device} has too little memory ({reason}); lower --batch-tokens or"
                " --max-length, train adapters (--lora-rank), or share the model (--fsdp)"
            ) from None
