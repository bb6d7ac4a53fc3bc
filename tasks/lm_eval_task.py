# lm_eval has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Any generation task of lm-eval as `lm_eval:NAME`: its prompts, examples, filters and metrics.

Prompts are what lm-eval itself would send, few-shot examples drawn with its seeds included, and
answers go through its filters and metrics. A record's `correct` is full marks in the task's first
metric under its first filter; its `details` hold every metric of the item, named
`metric,filter` as lm-eval names them. `metrics` aggregates as lm-eval does.

Tasks that score likelihoods generate nothing, so decoders make no difference to them: those run
under `python -m harness lm-eval`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from tasks.item import Item, Message, Metric, Score, Source, TaskOptions
from tasks.registry import LM_EVAL

#: lm-eval's default seed of few-shot examples.
FEWSHOT_SEED = 1234
#: lm-eval's budget for a task that names none.
MAX_GEN_TOKS = 256
BUDGET_NAMES = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
#: What lm-eval's extracting filters give where they find nothing.
NOTHING_FOUND = "[invalid]"
SOURCE: Source = "lm_eval"


class _Values(NamedTuple):
    """An answer's value in each `metric,filter`, and what the first filter found."""

    metrics: dict[str, Any]
    found: str | None


class LmEvalTask:
    """One task of lm-eval. Its data is loaded when first asked for, not before.

    Raises ValueError for an unknown name, a group of tasks, a task that generates nothing, one
    that wants several samples an item, and code that would run without containment.
    """

    sources: tuple[Source, ...] = (SOURCE,)

    def __init__(self, name: str, options: TaskOptions) -> None:
        self.name = LM_EVAL + name
        self._lm_eval_name = name
        self._options = options
        self._values_of: dict[tuple[str, str], _Values] = {}
        self._check_name()

    @property
    def max_new_tokens(self) -> Mapping[Source, int]:
        """lm-eval's budget."""
        given = [self._generation[name] for name in BUDGET_NAMES if name in self._generation]
        return {SOURCE: int(given[0]) if given else MAX_GEN_TOKS}

    @property
    def stop_strings(self) -> Mapping[Source, Sequence[str]]:
        """The strings that end an answer."""
        until = self._generation.get("until") or []
        return {SOURCE: [text for text in ([until] if isinstance(until, str) else until) if text]}

    def count(self, source: Source) -> int:
        """How many items the task has; reads its data."""
        return len(self._task.eval_docs)

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items in the task's order, from wherever lm-eval loads them."""
        items = [self._item(instance) for instance in self._instances]
        self._check_metric(items[0])
        return items

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """lm-eval's filters and metrics on one answer."""
        values = self._values(item, text)
        numbers = {
            name: number
            for name, value in values.metrics.items()
            if (number := _number(value)) is not None
        }
        first = next(iter(values.metrics))
        return Score(
            correct=numbers.get(first) == 1.0,
            answer=values.found,
            extracted_by="none" if values.found is None else "filter",
            finished=finished,
            details=numbers,
        )

    def template_hash(self, source: Source) -> str:
        """The sha256 of the task's whole configuration."""
        config = json.dumps(self._task.dump_config(), sort_keys=True, default=_stable)
        # Text of functions without source has an address in it, another one in every process.
        config = re.sub(r" at 0x[0-9a-f]+", "", config)
        return hashlib.sha256(config.encode()).hexdigest()

    def metrics(self, answers: Iterable[tuple[Item, str]]) -> list[Metric]:
        """All answers of a decoder aggregated as lm-eval does, means with its standard errors."""
        from lm_eval.api.metrics import mean, mean_stderr

        columns: dict[str, list[Any]] = {}
        for item, text in answers:
            for name, value in self._values(item, text).metrics.items():
                columns.setdefault(name, []).append(value)
        metrics: list[Metric] = []
        for name, values in columns.items():
            aggregate = self._task.aggregation().get(name.partition(",")[0], mean)
            simple = aggregate is mean and len(values) > 1
            metrics.append(
                Metric(
                    name=name,
                    items=len(values),
                    value=float(aggregate(values)),
                    stderr=float(mean_stderr(values)) if simple else None,
                )
            )
        return metrics

    def _check_name(self) -> None:
        name, manager = self._lm_eval_name, self._manager
        if name in manager.all_subtasks:
            return
        if name in manager.all_tasks:
            raise ValueError(
                f"{self.name} is a group of tasks; name its tasks, each as {LM_EVAL}NAME"
                " (lm-eval ls groups shows them)"
            )
        near = get_close_matches(name, manager.all_subtasks, n=1, cutoff=0.0)
        raise ValueError(
            f"unknown task {self.name!r}: lm-eval has no task {name!r}; the nearest is"
            f" {LM_EVAL + near[0]!r}. Tasks of your own: --include-path DIR"
        )

    @property
    def _manager(self) -> Any:
        return _manager(self._options.include_path, self._options.only_included)

    @cached_property
    def _task(self) -> Any:
        try:
            with _silence():
                task = self._manager.load(self._lm_eval_name)["tasks"][self._lm_eval_name]
        except Exception as error:  # the libraries that load data have no common error
            raise ValueError(
                f"{self.name} can't be loaded ({type(error).__name__}: {error}); connect, fill the"
                " cache, or give a copy with local data by --include-path DIR"
            ) from error
        self._check_kind(task)
        if task.get_config("num_fewshot") is None:
            task.set_config(key="num_fewshot", value=0)
        task.set_fewshot_seed(seed=FEWSHOT_SEED)
        return task

    def _check_kind(self, task: Any) -> None:
        kind, repeats = task.get_config("output_type"), task.get_config("repeats")
        if kind != "generate_until":
            raise ValueError(
                f"{self.name} generates nothing (it is of the kind {kind}), so decoders make no"
                " difference; run it with python -m harness lm-eval --model sdlm"
            )
        if getattr(task, "MULTIMODAL", False):
            raise ValueError(f"{self.name} shows pictures or sound, and models here read text")
        if repeats != 1:
            raise ValueError(
                f"{self.name} wants {repeats} samples of each item; run it with python -m harness"
                " lm-eval --model sdlm"
            )
        if task.get_config("unsafe_code") and not self._options.unsafe_execution:
            raise ValueError(
                f"{self.name} runs generated code without a sandbox; allow that with"
                " --unsafe-execution, or use humaneval_plus, which has one"
            )
        generation = task.get_config("generation_kwargs") or {}
        if generation.get("do_sample") and generation.get("temperature"):
            warnings.warn(
                f"{self.name} samples at temperature {generation['temperature']} in lm-eval; here"
                " the decoder's own temperature counts, and none is greedy",
                stacklevel=2,
            )

    def _check_metric(self, item: Item) -> None:
        """Accuracy needs a first metric that says of each item how right it is."""
        first, value = next(iter(self._values(item, "").metrics.items()))
        higher = self._task.higher_is_better().get(first.partition(",")[0], True)
        if _number(value) is None or not higher:
            raise ValueError(
                f"{self.name} has no accuracy: its first metric, {first}, is not one of right and"
                " wrong items; run it with python -m harness lm-eval --model sdlm"
            )

    @property
    def _generation(self) -> dict[str, Any]:
        return self._task.get_config("generation_kwargs") or {}

    @cached_property
    def _instances(self) -> list[Any]:
        chat = self._options.apply_chat_template
        with _silence():
            self._task.build_all_requests(
                apply_chat_template=chat,
                fewshot_as_multiturn=chat,
                chat_template=_turns_as_json if chat else None,
            )
        instances = self._task.instances
        kinds = {instance.request_type for instance in instances}
        if kinds != {"generate_until"}:
            names = " and ".join(sorted(kinds))
            raise ValueError(
                f"{self.name} asks for {names}; run it with python -m harness lm-eval --model sdlm"
            )
        return instances

    @cached_property
    def _instance_of(self) -> dict[str, Any]:
        return {self._item_id(instance): instance for instance in self._instances}

    def _item_id(self, instance: Any) -> str:
        return f"{self.name}/{instance.doc_id:05d}"

    def _item(self, instance: Any) -> Item:
        prompt: str = instance.args[0]
        messages: tuple[Message, ...] = ()
        if self._options.apply_chat_template:
            messages = tuple(Message(**turn) for turn in json.loads(prompt))
        return Item(
            id=self._item_id(instance),
            messages=messages,
            prompt=None if messages else prompt,
            gold=str(self._task.doc_to_target(instance.doc)),
        )

    def _values(self, item: Item, text: str) -> _Values:
        known = self._values_of.get((item.id, text))
        if known is not None:
            return known
        if item.id not in self._instance_of:
            raise ValueError(
                f"{self.name} has no item {item.id!r}; its metrics need lm-eval's own rows, so a"
                " reference of one's own won't do"
            )
        instance = replace(self._instance_of[item.id], resps=[text], filtered_resps={})
        for filters in self._task._filters:
            filters.apply([instance])
        found = next(iter(instance.filtered_resps.values()))
        values = _Values(
            metrics={
                f"{metric},{name}": value
                for name, filtered in instance.filtered_resps.items()
                for metric, value in self._task.process_results(instance.doc, [filtered]).items()
            },
            found=None if found in (None, NOTHING_FOUND) else str(found),
        )
        self._values_of[item.id, text] = values
        return values


@cache
def _manager(include_path: Path | None, only_included: bool) -> Any:
    """lm-eval's index of tasks, which takes seconds to make of all of its own."""
    from lm_eval.tasks import TaskManager

    if include_path is not None and not include_path.is_dir():
        raise ValueError(f"--include-path {include_path} is not a folder")
    return TaskManager(
        include_path=None if include_path is None else str(include_path),
        include_defaults=not only_included,
    )


def _number(value: Any) -> float | None:
    """A metric of one item as a number; None where it is something else, such as a pair that is
    aggregated later."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


@contextlib.contextmanager
def _silence() -> Generator[None]:
    """Progress bars of lm-eval and datasets are not this command's output."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _turns_as_json(messages: list[dict[str, str]], **_: object) -> str:
    """In place of a chat template, which is the model's affair."""
    return json.dumps(messages)


def _stable(value: object) -> str:
    """A function of the configuration by its name, which unlike its address is the same in every
    process."""
    return cast("str", getattr(value, "__qualname__", type(value).__name__))
