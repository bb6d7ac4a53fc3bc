"""Files of training rows: kinds of rows mixed by weights, written whole or not at all."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from tasks.item import Message
from tasks.part_file import part_file

PROGRESS_EVERY = 10_000


def chat_row(
    task: str, turns: Iterable[Message], answer: str, decided: Mapping[str, str] | None = None
) -> str:
    """One JSON line: chat messages, the last one the answer, and what decided the split."""
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    messages.append({"role": "assistant", "content": answer})
    fields = {"task": task, "messages": messages} | dict(decided or {})
    return json.dumps(fields, ensure_ascii=False)


def parse_mix(text: str, names: Iterable[str]) -> dict[str, float]:
    """`gsm8k=4,mmlu=1` as weights; a name alone has weight 1. ValueError if it is no mix."""
    mix: dict[str, float] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        if name not in names or name in mix:
            raise ValueError(
                f"--mix {text!r}: got {name!r}; each of {', '.join(names)} may stand once"
            )
        try:
            mix[name] = float(weight) if equals else 1.0
        except ValueError:
            mix[name] = 0.0
        if not 0 < mix[name] < float("inf"):
            raise ValueError(f"--mix {text!r}: the weight of {name} must be a number above 0")
    return mix


def mixed(
    sources: Mapping[str, Iterator[str]], mix: Mapping[str, float], seed: int
) -> Iterator[str]:
    """Rows, each of a kind drawn with the weights of `mix`, until the kind drawn has no more."""
    rng = random.Random(f"rows/{seed}")
    while True:
        (name,) = rng.choices(list(mix), list(mix.values()))
        line = next(sources[name], None)
        if line is None:
            return
        yield line


def write_rows(path: Path, rows: Iterator[str], count: int) -> int:
    """Write at most `count` rows, with progress on stderr; how many there were."""
    started = time.perf_counter()
    done = 0
    with part_file(path) as part, part.open("w", encoding="utf-8") as out:
        for done, line in enumerate(islice(rows, count), 1):
            out.write(line + "\n")
            if done % PROGRESS_EVERY == 0 or done == count:
                rate = done / (time.perf_counter() - started)
                left = (count - done) / rate
                print(f"{done:,} of {count:,} ({rate:,.0f}/s, {left:.0f} s left)", file=sys.stderr)
    return done
