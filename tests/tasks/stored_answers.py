"""A real model's answers, stored, half of them mutated; ours and other judges' verdicts on them.

    python -m tests.tasks.stored_answers RUN...

makes tests/tasks/stored/TASK.jsonl.gz from the samples of runs of `gsm8k`, `math500` and
`humaneval_plus`. For HumanEval+, evalplus's verdicts are stored too: its `evaluate` runs here on
the programs that this project assembles, so run this where generated code may run.
Needs the official data: SDLM_DATA_DIR. Docstrings, which are the data's own words, are dropped.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from results import SampleRecord, read_run
from tasks import resolve_task
from tasks.boxes import last_box
from tasks.humaneval_plus import read_problem
from tasks.programs import assemble
from tests.tasks.official_files import DATA

STORED = Path(__file__).parent / "stored"
ANSWERS = 100
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An answer: its item, how it came to be, and, for programs, what evalplus says of it."""

    id: str
    kind: str
    text: str
    finished: bool
    base: bool | None = None
    plus: bool | None = None


Mutation = Callable[[str, random.Random], str]


def _other_digit(text: str, dice: random.Random) -> str:
    """Another digit in place of the last one."""
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    if not places:
        return text
    digit = dice.choice([d for d in "0123456789" if d != text[places[-1]]])
    return text[: places[-1]] + digit + text[places[-1] + 1 :]


def _unboxed(text: str, _: random.Random) -> str:
    box = last_box(text)
    return text if box is None else text.replace(f"\\boxed{{{box}}}", box)


def _marked(text: str, _: random.Random) -> str:
    return f"{text}\n#### {last_box(text) or 7}"


def _cut(text: str, dice: random.Random) -> str:
    return text[: int(len(text) * dice.uniform(0.3, 0.98))]


RUN_ON = "\n\nQuestion: Ann has 3 pens and buys 4. How many?\n\\boxed{7}"
PROSE: dict[str, Mutation] = {
    "other digit": _other_digit,
    "unboxed": _unboxed,
    "marker added": _marked,
    "run-on": lambda text, _: (
        f"{text}\n\nQuestion: Ann has 3 pens and buys 4. How many?\n\\boxed{{7}}"
    ),
    "cut off": _cut,
    "afterword": lambda text, _: f"{text}\n\nThis took 2 steps.",
    "bold": lambda text, _: text.replace("\\boxed{", "**\\boxed{").replace("}$", "}**$"),
    "no text": lambda _text, _dice: "I can't solve this.",
}


def _swapped(pairs: dict[str, str]) -> Mutation:
    """One of the keys that the text holds, somewhere, becomes its value."""

    def mutate(text: str, dice: random.Random) -> str:
        pattern = "|".join(re.escape(key) for key in pairs)
        if not (found := list(re.finditer(pattern, text))):
            return text
        one = dice.choice(found)
        return text[: one.start()] + pairs[one[0]] + text[one.end() :]

    return mutate


PROGRAMS: dict[str, Mutation] = {
    "other digit": _other_digit,
    "operator": _swapped({" < ": " <= ", " > ": " >= ", " == ": " != ", " + ": " - "}),
    "constant": _swapped({"True": "False", "False": "True", "[]": "[0]", '""': '" "', "1": "2"}),
    "name": _swapped(
        {"return ": "return not ", "len(": "sum(", "sorted(": "list(", "in ": "not in "}
    ),
    "unfenced": lambda text, _: re.sub(r"(?m)^```.*\n?", "", text),
    "cut off": _cut,
    "last line lost": lambda text, _: "\n".join(text.rstrip("` \n").split("\n")[:-1]),
    "tuple": lambda text, _: re.sub(r"(?m)return (.+)$", r"return (\1,)", text, count=1),
}
DOCSTRING = re.compile(r'[ \t]*("""|\'\'\')(?:.*?\1[ \t]*\n?|.*\Z)', re.DOTALL)


def make(task: str, records: list[SampleRecord]) -> Iterator[Stored]:
    """The answers as they are, then mutated."""
    dice = random.Random(SEED)
    records = sorted(records, key=lambda record: record.item_id)
    code = task == "humaneval_plus"
    real = [
        Stored(
            id=record.item_id,
            kind="model",
            text=DOCSTRING.sub("", record.text) if code else record.text,
            finished=record.finish != "length",
        )
        for record in records
    ]
    yield from real if code else real[:ANSWERS]
    mutations = PROGRAMS if code else PROSE
    for turn, answer in enumerate(dice.sample(real, ANSWERS)):
        kind = list(mutations)[turn % len(mutations)]
        yield replace(
            answer,
            kind=kind,
            text=mutations[kind](answer.text, dice),
            finished=answer.finished and kind != "cut off",
        )


def judged_by_evalplus(answers: list[Stored]) -> Iterator[Stored]:
    """The answers with evalplus's verdicts; one without a program is wrong there too."""
    data = DATA / "humaneval_plus" / "HumanEvalPlus.jsonl.gz"
    os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(data)
    from evalplus.evaluate import evaluate

    items = {item.id: item for item in resolve_task("humaneval_plus").items("official", DATA)}
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples.jsonl"
        with samples.open("w") as file:
            for answer in answers:
                problem = read_problem(items[answer.id])
                program = assemble(problem.prompt, problem.entry_point, answer.text).source
                line = {"task_id": evalplus_id(answer.id), "solution": program or "pass"}
                file.write(json.dumps(line) + "\n")
        # One at a time: its limits are wall-clock ones.
        evaluate("humaneval", str(samples), parallel=1, i_just_wanna_run=True)
        verdicts: dict[str, list[dict[str, Any]]] = json.loads(
            (Path(folder) / "samples_eval_results.json").read_text()
        )["eval"]
    for answer in answers:
        verdict = verdicts[evalplus_id(answer.id)].pop(0)
        base = verdict["base_status"] == "pass"
        yield replace(answer, base=base, plus=base and verdict["plus_status"] == "pass")


def evalplus_id(item_id: str) -> str:
    return f"HumanEval/{int(item_id.rpartition('/')[2])}"


def read_stored(task: str) -> list[Stored]:
    with gzip.open(STORED / f"{task}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [Stored(**json.loads(line)) for line in file]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    records = [r for run in parser.parse_args().runs for r in read_run(run).records]
    for task in sorted({record.task for record in records}):
        answers = list(make(task, [r for r in records if r.task == task and r.error is None]))
        if task == "humaneval_plus":
            answers = list(judged_by_evalplus(answers))
        STORED.mkdir(exist_ok=True)
        text = "".join(json.dumps(asdict(answer)) + "\n" for answer in answers)
        path = STORED / f"{task}.jsonl.gz"
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{path}: {len(answers)} answers, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
