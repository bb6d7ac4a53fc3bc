"""Do training data hold test items? Runs of words that both have, as in GPT-3's decontamination
(Brown et al. 2020, appendix C: there runs of 8 to 13 words).

    python -m tasks.overlap --data train.jsonl --data-dir DIR --clean-out clean.jsonl

All four official test sets are looked at, but for those whose data can't be found: these are
named. Sets asked for with `--tasks` must be there.

Words are runs of letters and digits, in lower case; a test item shorter than a run counts where
all of it stands in the data. How the questions of a set are put (`Please reason step by step`)
says nothing: what all items begin or end with is left out, and runs that many share are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

from tasks.item import Item
from tasks.part_file import check_target, part_file
from tasks.registry import TASKS, resolve_task
from tasks.sources import WAYS, NotFound

NGRAM = 10
#: A run that more items than these share is wording.
WORDING_FROM = 10
WORD = re.compile(r"[^\W_]+")
Run = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A training text and a test item that share a run of words."""

    line: int
    task: str
    item_id: str
    words: str


class Overlaps:
    """The runs of words of the test items of several tasks, to look texts up in."""

    def __init__(self, items: Mapping[str, Sequence[Item]], ngram: int = NGRAM) -> None:
        if ngram < 2:
            raise ValueError(f"a run has {ngram} words; it must have at least 2")
        self.ngram = ngram
        self._owners: dict[Run, list[tuple[str, str]]] = {}
        for task, each in items.items():
            words = without_wording([words_of(question(item)) for item in each])
            texts = {item.id: runs(own, ngram) for item, own in zip(each, words, strict=True)}
            counts = Counter(run for found in texts.values() for run in found)
            for item_id, found in texts.items():
                for run in found:
                    if counts[run] <= WORDING_FROM:
                        self._owners.setdefault(run, []).append((task, item_id))
        self._lengths = sorted({len(run) for run in self._owners})

    def hits(self, line: int, texts: Iterable[str]) -> list[Hit]:
        """The first run that a training sample shares with each test item."""
        found: dict[tuple[str, str], Hit] = {}
        for text in texts:
            words = words_of(text)
            for length in self._lengths:
                for start in range(len(words) - length + 1):
                    run = tuple(words[start : start + length])
                    for task, item_id in self._owners.get(run, ()):
                        hit = Hit(line=line, task=task, item_id=item_id, words=" ".join(run))
                        found.setdefault((task, item_id), hit)
        return list(found.values())


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def without_wording(texts: Sequence[list[str]]) -> list[list[str]]:
    """The words of each text without those that all begin or end with."""
    if len(texts) <= WORDING_FROM:
        return [*texts]
    first = num_shared(texts)
    rests = [text[first:][::-1] for text in texts]
    last = num_shared(rests)
    return [rest[last:][::-1] for rest in rests]


def num_shared(texts: Sequence[list[str]]) -> int:
    """With how many words all texts begin."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, columns))


def runs(words: Sequence[str], ngram: int) -> set[Run]:
    """Every run of `ngram` words; all words of a text that has no more."""
    if len(words) <= ngram:
        return {tuple(words)} if words else set()
    return {tuple(words[start : start + ngram]) for start in range(len(words) - ngram + 1)}


def question(item: Item) -> str:
    """What an item asks, without examples before it."""
    return item.messages[-1].content if item.messages else item.prompt or ""


def texts_of(line: str, place: str) -> list[str]:
    """All turns of a training sample: chat messages, or prompt and response."""
    try:
        row: Any = json.loads(line)
        if "messages" in row:
            texts = [turn["content"] for turn in row["messages"] if turn["role"] != "system"]
        else:
            texts = [row["prompt"], row["response"]]
    except (ValueError, KeyError, TypeError):
        texts = None
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise ValueError(f'{place}: expected {{"messages": […]}} or {{"prompt", "response"}}')
    return cast("list[str]", texts)


def find(data: Path, overlaps: Overlaps) -> Iterator[tuple[str, list[Hit]]]:
    """Every line of a file of training data with its hits. ValueError names a faulty line."""
    with data.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            yield line, overlaps.hits(number, texts_of(line, f"{data}:{number}"))


def report(hits: Sequence[Hit], lines: int, items: Mapping[str, Sequence[Item]]) -> str:
    """One line for each test set, and the first hit of each."""
    told: list[str] = []
    for task, each in items.items():
        mine = [hit for hit in hits if hit.task == task]
        told.append(
            f"{task}: {len({hit.item_id for hit in mine})} of {len(each):,} items share a run of"
            f" words with {len({hit.line for hit in mine})} of {lines:,} samples"
        )
        if mine:
            told.append(f"  line {mine[0].line}, {mine[0].item_id}: {mine[0].words}")
    return "\n".join(told)


def found_sets(names: Sequence[str] | None, data_dir: Path | None) -> dict[str, list[Item]]:
    """The items of the official test sets that are named; of all that can be had where none is,
    the others being told. An error for a named one that is not found, and where there is none."""
    items: dict[str, list[Item]] = {}
    for name in names or TASKS:
        task = resolve_task(name)
        read = getattr(task, "questions", task.items)
        try:
            items[name] = read("official", data_dir)
        except NotFound as reason:
            if names:
                raise
            print(f"{name} is left out: {reason}")
    if not items:
        raise NotFound(f"there is no test set to compare with; {WAYS}")
    return items


def task_names(text: str) -> list[str]:
    """The names in `--tasks`."""
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in TASKS]:
        raise argparse.ArgumentTypeError(f"unknown {unknown[0]!r}: choose from {', '.join(TASKS)}")
    return names


def main(argv: list[str] | None = None) -> int:
    """Print the overlap with each official test set. Exit code 1: there is some, and it was not
    left out with `--clean-out`."""
    parser = argparse.ArgumentParser(prog="python -m tasks.overlap", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="JSONL of training samples")
    parser.add_argument("--tasks", type=task_names, help="test sets; default: all that are found")
    parser.add_argument("--data-dir", type=Path, help="folder of the official test sets")
    parser.add_argument("--ngram", type=int, default=NGRAM, help="words of a run")
    parser.add_argument("--clean-out", type=Path, help="the data without samples that overlap")
    args = parser.parse_args(argv)
    clean: list[str] = []
    hits: list[Hit] = []
    lines = 0
    try:
        if args.clean_out is not None:
            check_target("--clean-out", args.clean_out)
        items = found_sets(args.tasks, args.data_dir)
        for line, found in find(args.data, Overlaps(items, args.ngram)):
            lines += 1
            hits += found
            if args.clean_out is not None and not found:
                clean.append(line)
        print(report(hits, lines, items))
        if args.clean_out is not None:
            with part_file(args.clean_out) as part:
                part.write_text("".join(clean), encoding="utf-8")
            print(f"{len(clean):,} of {lines:,} samples written to {args.clean_out}")
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return 1 if hits and args.clean_out is None else 0


if __name__ == "__main__":
    sys.exit(main())
