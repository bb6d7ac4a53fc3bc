"""From what the user asked for to a `Plan`: everything checked before the first forward.

Names and settings are checked first, then the data is read, and only then is the model fetched
and loaded, so that a mistake costs seconds and leaves nothing behind.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from decoders.generate import Request, check_request, check_windows, needed_capacity
from decoders.protocol import Decoder
from decoders.registry import build_decoder, expand, spec_of, split_specs
from harness.answers import prompt_ids
from harness.asking import AskedTask, Wish, check_least, split_option
from harness.batch_memory import Prompts, auto_batch_size
from harness.models import LoadedModel, default_device, open_model
from harness.run_config import RunConfig
from harness.twin import (
    as_option,
    check_same_prompts,
    open_twin,
    twin_decoder,
    twin_folder,
    twin_spec,
)
from sdlm.attention import Impl, check_impl, default_impl
from sdlm.checkpoint import model_sha256
from sdlm.hf_config import read_config
from sdlm.merging import find_model
from sdlm.tensor_shares import check_ranks
from tasks import Item, Source, Task, data_hash, limit

BASELINE = "ar"

MOST_REPEATS = 1000
MOST_ITEMS = 1_000_000

# Memory grows with the slots of a forward, those of self-speculation with the block's square.
MAX_SLOTS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItems:
    """A task, its items of one source, each item's prompt as token ids, and the budget of an
    answer."""

    task: Task
    source: Source
    items: list[Item]
    requests: list[Request]
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A checked run. decoders: spec -> decoder, in the order of the table. twin: the baseline
    model, which answers under the decoder `twin_spec` and no other."""

    config: RunConfig
    loaded: LoadedModel
    decoders: dict[str, Decoder]
    tasks: list[TaskItems]
    twin: LoadedModel | None = None

    @property
    def twin_spec(self) -> str | None:
        return None if self.twin is None else twin_spec(self.twin.name)

    def model_of(self, spec: str) -> LoadedModel:
        """The model that a decoder decodes with."""
        return self.twin if self.twin is not None and spec == self.twin_spec else self.loaded

    @property
    def references(self) -> dict[str, str]:
        """For each decoder that has one, the decoder whose ids its own are compared with."""
        return {
            spec: decoder.reference for spec, decoder in self.decoders.items() if decoder.reference
        }

    def capacity_of(self, task: TaskItems) -> int:
        """Cache slots a row: the same for all items of a task under all decoders, since shapes
        are compiled for it."""
        return needed_capacity(
            self.loaded.model, self.decoders.values(), task.requests, task.budget
        )


def make_plan(
    wish: Wish, asked: Sequence[AskedTask], *, weights: bool = True, sharing: int = 1
) -> Plan:
    """The plan of a wish; without `weights`, for others to carry out.

    sharing: how many processes share the memory that a batch size is found from. Without weights
    none is found, and the plan has no batch size.
    Raises ValueError, naming the value got and what is accepted, for any wrong wish.
    """
    specs = expand(split_specs(wish.decoders), parse_taus(wish.tau))
    if not specs:
        raise ValueError("--decoders names no decoder; give all, or specs separated by commas")
    _check_numbers(wish)
    device = default_device()
    default = default_impl(torch.device(device))
    attention = default if wish.attention is None else Impl(wish.attention)
    check_impl(attention, torch.device(device))
    drawn = [_draw(each, wish) for each in asked]
    folder, other = find_model(wish.model), twin_folder(wish)
    if wish.setup.tensor_parallel > 1:
        check_ranks(read_config(folder), wish.setup.tensor_parallel)
    decoders = build_decoders(specs, folder, wish.block)
    loaded = open_model(
        wish.model,
        folder,
        dtype=wish.dtype,
        attention=attention.value,
        device=device,
        need_tokenizer=True,
        setup=wish.setup,
        weights=weights,
    )
    prepared = [
        _prepare(each, items, wish.fixed_length or wish.max_new_tokens, loaded)
        for each, items in zip(asked, drawn, strict=True)
    ]
    twin = None
    if other is not None:
        twin = open_twin(wish, other, loaded, weights=weights)
        for each in prepared:
            check_same_prompts(twin, each.items, each.requests)
        decoders[twin_spec(twin.name)] = twin_decoder()
    if wish.fixed_length is not None:
        models = [each.model for each in (loaded, twin) if each is not None]
        _check_room(wish.fixed_length, prepared, min(each.config.max_context for each in models))
    sizes = wish.batch_sizes
    if sizes == "auto" and not weights:
        sizes = ()
    elif sizes == "auto":
        prompts = [Prompts(each.requests, each.budget) for each in prepared]
        sizes = (auto_batch_size(loaded.model, decoders.values(), prompts, sharing),)
    config = _config(wish, sizes, prepared, loaded, twin, tuple(decoders), device)
    return Plan(config=config, loaded=loaded, decoders=decoders, tasks=prepared, twin=twin)


def _config(
    wish: Wish,
    batch_sizes: tuple[int, ...],
    tasks: Sequence[TaskItems],
    loaded: LoadedModel,
    twin: LoadedModel | None,
    decoders: tuple[str, ...],
    device: str,
) -> RunConfig:
    return RunConfig(
        model=wish.model,
        model_sha256=model_sha256(loaded.folder),
        baseline_model=None if twin is None else twin.name,
        baseline_model_sha256=None if twin is None else model_sha256(twin.folder),
        tasks=tuple(each.task.name for each in tasks),
        sources={each.task.name: each.source for each in tasks},
        protocol=wish.task_options.protocol,
        decoders=decoders,
        limit=wish.limit,
        batch_sizes=batch_sizes,
        order=wish.order,
        dtype=as_option(loaded),
        attention=loaded.model.impl.value,
        compile=wish.setup.compile,
        quantize=wish.setup.quantize,
        tensor_parallel=wish.setup.tensor_parallel,
        device=device,
        max_new_tokens={each.task.name: each.budget for each in tasks},
        fixed_length=wish.fixed_length,
        repeats=wish.repeats,
        seed=wish.seed,
        data_sha256={each.task.name: data_hash(each.items) for each in tasks},
        template_sha256={each.task.name: each.task.template_hash(each.source) for each in tasks},
    )


def build_decoders(specs: Sequence[str], folder: Path, block: int | None) -> dict[str, Decoder]:
    """Canonical spec -> decoder. Block None is the model's own block size."""
    config = read_config(folder)
    default_block = (config.block_size or 2) if block is None else block
    decoders: dict[str, Decoder] = {}
    for spec in specs:
        decoder = build_decoder(
            spec, default_block=default_block, mask_token_id=config.mask_token_id
        )
        if decoder.needs_windows:
            try:
                check_windows(config, decoder)
            except ValueError as error:
                raise ValueError(f"{folder}: {error}") from None
        if decoder.block > config.max_context:
            raise ValueError(
                f"{decoder.name}: block is {decoder.block}; it must lie in 2..."
                f"{config.max_context}, the model's context"
            )
        if decoder.max_slots > MAX_SLOTS:
            raise ValueError(
                f"{decoder.name}: a block of {decoder.block} feeds {decoder.max_slots:,} slots a"
                f" forward; at most {MAX_SLOTS:,} are accepted, so give a smaller block"
            )
        decoders.setdefault(spec_of(decoder), decoder)
    return decoders


def parse_taus(text: str) -> list[float]:
    """`0.98,0.9` -> its thresholds, each in 0...1."""
    taus: list[float] = []
    for part in split_option(text, "--tau"):
        try:
            tau = float(part)
        except ValueError:
            tau = math.nan
        if not 0 <= tau <= 1:
            raise ValueError(f"--tau has {part!r}; thresholds are numbers in 0...1")
        taus.append(tau)
    return taus


def _check_numbers(wish: Wish) -> None:
    check_least("--limit", wish.limit, 0)
    check_least("--embedded-items", wish.task_options.embedded_items, 1)
    if wish.task_options.embedded_items > MOST_ITEMS:
        raise ValueError(
            f"--embedded-items is {wish.task_options.embedded_items:,}; it must be at most"
            f" {MOST_ITEMS:,}"
        )
    if wish.block is not None:
        check_least("--block", wish.block, 2)
    if wish.max_new_tokens is not None:
        check_least("--max-new-tokens", wish.max_new_tokens, 1)
    if wish.fixed_length is not None:
        check_least("--fixed-length", wish.fixed_length, 1)
        if wish.max_new_tokens is not None:
            raise ValueError(
                f"--fixed-length {wish.fixed_length} and --max-new-tokens {wish.max_new_tokens}"
                " are both given; the fixed length is the budget, so leave the other out"
            )
    check_least("--repeats", wish.repeats, 1)
    if wish.repeats > MOST_REPEATS:
        raise ValueError(f"--repeats is {wish.repeats:,}; it must be at most {MOST_REPEATS:,}")
    check_least("--traces", wish.traces, 0)


def _check_room(fixed_length: int, tasks: Sequence[TaskItems], context: int) -> None:
    """An answer that the context cut short would not be of the length that the run says."""
    longest = max(
        (request for each in tasks for request in each.requests), key=lambda r: len(r.ids)
    )
    room = context - len(longest.ids)
    if fixed_length > room:
        raise ValueError(
            f"--fixed-length is {fixed_length:,}, but prompt {longest.key!r} of"
            f" {len(longest.ids):,} tokens leaves room for {room:,} in the context of {context:,};"
            f" give at most {room:,}"
        )


def _draw(asked: AskedTask, wish: Wish) -> list[Item]:
    every = asked.task.items(asked.source, wish.data_dir)
    items = limit(every, wish.limit or 10**9, wish.seed)
    ids = Counter(item.id for item in items)
    if twice := [name for name, count in ids.items() if count > 1]:
        raise ValueError(
            f"task {asked.task.name} has several items {twice[0]!r}; each needs an id of its own"
        )
    return items


def _prepare(
    asked: AskedTask, items: list[Item], max_new_tokens: int | None, loaded: LoadedModel
) -> TaskItems:
    requests: list[Request] = []
    for item in items:
        requests.append(Request(key=item.id, ids=prompt_ids(loaded, item)))
        check_request(loaded.model, requests[-1])
    return TaskItems(
        task=asked.task,
        source=asked.source,
        items=items,
        requests=requests,
        budget=max_new_tokens or asked.task.max_new_tokens[asked.source],
    )
