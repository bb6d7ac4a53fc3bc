"""`--protocol lm-eval`: our official items asked in lm-eval's words, scored by our own rules.

What changes against the paper's protocol is the prompt alone (examples, wording, stop strings,
budget, no chat template unless asked for), so a difference in accuracy is the prompt's. lm-eval
itself makes the prompts, from our rows. `lm_eval:NAME` also scores as lm-eval does.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import yaml

from tasks.item import Item, Message, Score, Source, Task, TaskOptions
from tasks.lm_eval_task import SOURCE, LmEvalTask
from tasks.published import (
    GSM8K_TEST,
    GSM8K_TRAIN,
    HUMANEVAL_PLUS,
    MATH500_TEST,
    MMLU_DEV,
    MMLU_TEST,
)
from tasks.sources import Row, official_rows

#: lm-eval's own settings for HumanEval. They stand here because its file can only be read with a
#: connection: it fetches the code that runs the programs.
HUMANEVAL_STOP = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
HUMANEVAL_BUDGET = 1024
#: As everybody reports it; lm-eval's own file leaves the number to the command line.
MMLU_SHOTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How items are asked. items: with lm-eval's prompts, in the order they were given."""

    items: list[Item]
    stop: tuple[str, ...]
    max_new_tokens: int


class LmEvalProtocol:
    """One of our tasks under lm-eval's prompts.

    Raises ValueError for a task that lm-eval doesn't have as we do, and for embedded items.
    """

    sources: tuple[Source, ...] = ("official",)

    def __init__(self, task: Task, options: TaskOptions) -> None:
        if task.name not in ("gsm8k", "math500", "mmlu", "humaneval_plus"):
            raise ValueError(
                f"--protocol lm-eval is for gsm8k, math500, mmlu and humaneval_plus; {task.name}"
                " has prompts of its own only"
            )
        self.name = task.name
        self._task = task
        self._options = options
        self._wording: Wording | None = None

    @property
    def max_new_tokens(self) -> Mapping[Source, int]:
        """lm-eval's budget; known once there are items."""
        return {"official": self._asked.max_new_tokens}

    @property
    def stop_strings(self) -> Mapping[Source, Sequence[str]]:
        """lm-eval's stop strings; known once there are items."""
        return {"official": self._asked.stop}

    def count(self, source: Source) -> int:
        """How many items there are."""
        return self._task.count(source)

    def items(self, source: Source, data_dir: Path | None) -> list[Item]:
        """Our items, under the same ids, with lm-eval's prompts."""
        if source != "official":
            raise ValueError(
                f"--protocol lm-eval asks official items, and {self.name}'s would be {source};"
                " give --data official"
            )
        ours = self._task.items(source, data_dir)
        self._wording = self._worded(ours, data_dir)
        return self._wording.items

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Our own verdict."""
        return self._task.score(item, text, finished)

    def template_hash(self, source: Source) -> str:
        """The sha256 of the first item's prompt, examples included; known once there are items."""
        first = self._asked.items[0]
        return hashlib.sha256(f"{first.messages}{first.prompt}".encode()).hexdigest()

    @property
    def _asked(self) -> Wording:
        assert self._wording is not None, "items come first"
        return self._wording

    def _worded(self, ours: list[Item], data_dir: Path | None) -> Wording:
        if self.name == "humaneval_plus":
            codes = [row.text("prompt") for row in official_rows(HUMANEVAL_PLUS, data_dir)]
            chat = self._options.apply_chat_template
            return Wording(
                items=[
                    replace(
                        item,
                        messages=(Message(role="user", content=code),) if chat else (),
                        prompt=None if chat else code,
                    )
                    for item, code in zip(ours, codes, strict=True)
                ],
                # They end a function's body; an answer in chat is a fence with all of it.
                stop=() if chat else HUMANEVAL_STOP,
                max_new_tokens=HUMANEVAL_BUDGET,
            )
        if self.name == "gsm8k":
            splits = {
                "test": official_rows(GSM8K_TEST, data_dir),
                "train": official_rows(GSM8K_TRAIN, data_dir),
            }
            return self._by_lm_eval({"gsm8k/gsm8k.yaml": splits}, ours)
        if self.name == "math500":
            splits = {"test": official_rows(MATH500_TEST, data_dir)}
            return self._by_lm_eval({"minerva_math/minerva_math500.yaml": splits}, ours)
        test = _by_subject(official_rows(MMLU_TEST, data_dir))
        dev = _by_subject(official_rows(MMLU_DEV, data_dir))
        subjects = [*test]
        return self._by_lm_eval(
            {
                f"mmlu/generative/mmlu_{subject}.yaml": {"test": rows, "dev": dev[subject]}
                for subject, rows in test.items()
            },
            sorted(ours, key=lambda item: subjects.index(item.subject)),
            num_fewshot=MMLU_SHOTS,
        )

    def _by_lm_eval(
        self,
        parts: Mapping[str, Mapping[str, Sequence[Row]]],
        ours: Sequence[Item],
        **changes: int,
    ) -> Wording:
        """lm-eval's prompts for our rows: files of its configurations, each with the rows of its
        splits, whose test rows together are those of `ours`. changes: settings of theirs."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            names = [_write_task(folder, base, splits, changes) for base, splits in parts.items()]
            options = replace(self._options, include_path=folder, only_included=True)
            tasks = [LmEvalTask(name, options) for name in names]
            theirs = [item for task in tasks for item in task.items(SOURCE)]
        asked = {
            item.id: replace(item, messages=other.messages, prompt=other.prompt)
            for item, other in zip(ours, theirs, strict=True)
        }
        return Wording(
            items=[asked[key] for key in sorted(asked)],
            stop=tuple(tasks[0].stop_strings[SOURCE]),
            max_new_tokens=tasks[0].max_new_tokens[SOURCE],
        )


def _by_subject(rows: Sequence[Row]) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row.text("subject"), []).append(row)
    return parts


def _write_task(
    folder: Path, base: str, splits: Mapping[str, Sequence[Row]], changes: Mapping[str, int]
) -> str:
    """A task that is lm-eval's `base` on our rows; its name."""
    package = find_spec("lm_eval")
    assert package is not None, "lm-eval is a dependency"
    assert package.submodule_search_locations, "a package has a folder"
    name = Path(base).stem
    files: dict[str, str] = {}
    for split, rows in splits.items():
        path = folder / f"{name}-{split}.jsonl"
        path.write_text("".join(json.dumps(row.record) + "\n" for row in rows), encoding="utf-8")
        files[split] = str(path)
    config = {
        "include": str(Path(package.submodule_search_locations[0]) / "tasks" / base),
        "task": name,
        "dataset_path": "json",
        "dataset_name": None,
        # Not the user's cache: the next run has other files.
        "dataset_kwargs": {"data_files": files, "cache_dir": str(folder / "cache")},
        **changes,
    }
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return name
