"""The contract of a task: items to ask, and scores that say how they were reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Role = Literal["system", "user", "assistant"]
Source = Literal["embedded", "official", "lm_eval"]
PromptProtocol = Literal["paper", "lm-eval"]
Detail = bool | float | str
#: Generated items of each of our own tasks, unless another number is asked for.
EMBEDDED_ITEMS = 200
Extraction = Literal["boxed", "marker", "filter", "fallback", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat turn."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question of a task with its reference answer; `id` names task, source and place.

    `messages` go through the model's chat template. `prompt`, where given, is fed as it stands
    instead, and there are no messages.
    """

    id: str
    messages: tuple[Message, ...]
    gold: str
    subject: str = ""
    level: str = ""
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The verdict on one answer.

    `answer` is what was extracted, `extracted_by` says how: `boxed` and `marker` are declared
    answers, `filter` is what a rule of lm-eval's found, `fallback` is a guess from the text.
    `finished` is false where the token cap cut the text off. `details` is what else a task has to
    say, such as verdicts on parts.
    """

    correct: bool
    answer: str | None
    extracted_by: Extraction
    finished: bool
    details: Mapping[str, Detail] = field(default_factory=dict[str, Detail], hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A task's own measure of all answers of one decoder; `stderr` where the task knows it."""

    name: str
    items: int
    value: float
    stderr: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What a user can ask of some tasks.

    unsafe_execution: generated programs may run without a sandbox. include_path: folder with
    further lm-eval tasks, or with `only_included` all there are. apply_chat_template: lm-eval's
    prompts become chat turns. protocol: whose prompts ask our own official items. embedded_items:
    how many generated items each of our own tasks has; the first ones are always the same.
    """

    unsafe_execution: bool = False
    include_path: Path | None = None
    only_included: bool = False
    apply_chat_template: bool = False
    protocol: PromptProtocol = "paper"
    embedded_items: int = EMBEDDED_ITEMS


class Task(Protocol):
    """What the harness needs of a task.

    A task may have more: `stop_strings`, a mapping from sources to strings that end an answer;
    `score_all`, which judges many answers side by side (`harness score` uses it); `item_id`, the
    id of an item by another of its names; `metrics`, the task's own summary of all answers of a
    decoder; `questions`, the same as `items` for who won't score, where `items` needs more.
    """

    @property
    def name(self) -> str:
        """The task's name in tables and on the command line."""
        ...

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where items can come from."""
        ...

    @property
    def max_new_tokens(self) -> Mapping[Source, int]:
        """The token cap of an answer for each source."""
        ...

    def count(self, source: Source) -> int:
        """How many items a source has, without reading it."""
        ...

    def items(self, source: Source, data_dir: Path | None) -> list[Item]:
        """All items of a source in their order."""
        ...

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """The verdict on the generated text of one item: the same for the same text, which is
        judged once however many decoders give it."""
        ...

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording, for manifests."""
        ...
