"""A run folder as a run leaves it: four tasks, eleven decoders, made-up but seeded, with answers
that try to break the page."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from results_fakes import REFERENCES, SPECS, realistic_run

from results import RunStore, SampleRecord, summarise, write_summary
from results.breakdown import Place, break_down
from results.measured import outcomes
from results.sample_files import encode_line, samples_path
from results.text_tables import write_rows
from results.traces import Proposed, Step, Trace, traces_path, write_traces

TASKS = ("gsm8k", "math500", "humaneval_plus", "mmlu")
HOSTILE = (
    '</script><script>document.title="broken"</script>',
    "<!--<script>",
    "\"'&<b>bold</b> <img src=x onerror=alert(1)>",
    "line\u2028ends\u2029here \ud800 \u202etfel",
    "see https://example.org/x.js",
)
WORDS = [
    *("so", "the", "total", "is", "then", "Ann", "has", "3", "more", "pens", "12", "left"),
    *("after", "that", "we", "add", "x", "=", "5", "and\n\n"),
]
MANIFEST: dict[str, Any] = {
    "software": {
        "python": "3.11.7",
        "packages": {"torch": "2.13.0", "ray": None},
        "git_commit": "0123456789abcdef+",
    },
    "hardware": {
        "cpu": "Made-up CPU", "cores": 2, "usable_cores": 2, "threads": 2, "memory_bytes": 2**33
    },
    "references": REFERENCES,
    "warnings": ["a made-up reason to doubt"],
}  # fmt: skip
CONFIG = {
    "model": "nano",
    "model_sha256": "ab" * 32,
    "tasks": list(TASKS),
    "sources": dict.fromkeys(TASKS, "embedded"),
    "decoders": list(SPECS),
    "dtype": "float32",
    "attention": "dense",
    "device": "cpu",
    "seed": 0,
}


def report_records(
    items: int, tasks: tuple[str, ...] = TASKS, seed: int = 0
) -> list[SampleRecord]:
    """`items` of each task under each decoder; decoders as sure as the reference say the same."""
    rng = random.Random(seed)
    found: list[SampleRecord] = []
    for number, task in enumerate(tasks):
        texts: dict[str, str] = {}
        for record in realistic_run(items, seed + number):
            assert record.ids is not None
            text = texts.setdefault(record.item_id, answer(rng, len(record.ids)))
            ids = record.ids
            if "tau=0.6" in record.decoder and rng.random() < 0.4:
                text, ids = answer(rng, len(ids)), [7, *ids[1:]]
            found.append(
                replace(
                    record,
                    task=task,
                    item_id=f"{task}/embedded/{int(record.item_id):04}",
                    text=text,
                    ids=ids,
                    answer=str(rng.randint(1, 99)),
                )
            )
    return found


def answer(rng: random.Random, tokens: int) -> str:
    words = " ".join(rng.choice(WORDS) for _ in range(tokens * 3 // 4))
    return f"{words}\n#### 18" if rng.random() > 0.2 else words + rng.choice(HOSTILE)


def write_run(folder: Path, records: list[SampleRecord], traced: int = 2, **changes: Any) -> Path:
    """The records as a finished run of `folder`, with traces of the first items of each task."""
    arguments = ["run", "--tasks", ",".join(TASKS), "--decoders", "all"]
    started = {"started": "2026-11-30T09:00:00+00:00", "other_load": 0.4}
    # The store would sync each record; a hundred thousand of them take minutes.
    with RunStore.create(
        folder, CONFIG | changes, invocation={"arguments": arguments, **started}, facts=MANIFEST
    ):
        pass
    for record in records:
        path = samples_path(folder, record.task, record.decoder)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(encode_line(record))
    write_summary(folder, summarise(records, REFERENCES, "ar"), "ar", MANIFEST["warnings"])
    write_rows(folder / "tables" / "breakdown", break_down(outcomes(records), places(records)))
    for task in dict.fromkeys(record.task for record in records) if traced else ():
        write_traces(traces_path(folder, task), traces(records, task, traced))
    return folder


def places(records: list[SampleRecord]) -> dict[tuple[str, str], Place]:
    """mmlu has subjects and math500 levels, as in the real ones."""
    found: dict[tuple[str, str], Place] = {}
    for record in records:
        number = int(record.item_id.rpartition("/")[2])
        subject = ("algebra", "<logic>", "history")[number % 3] if record.task == "mmlu" else ""
        level = str(1 + number % 5) if record.task == "math500" else ""
        found[record.task, record.item_id] = Place(subject, level)
    return found


def traces(records: list[SampleRecord], task: str, items: int) -> list[Trace]:
    """Steps that make up the records' texts, four proposals each."""
    wanted = sorted({record.item_id for record in records if record.task == task})[:items]
    return [
        Trace(
            task=task,
            item_id=record.item_id,
            decoder=record.decoder,
            prompt=f"Ann has {record.item_id} <b>pens</b>.\nHow many?",
            steps=steps_of(record),
        )
        for record in records
        if record.task == task and record.item_id in wanted and record.batch_size == 1
    ]


def steps_of(record: SampleRecord) -> list[Step]:
    assert record.kept is not None
    assert record.text is not None
    rng = random.Random(f"{record.key}")
    # About as many pieces as ids; what is left over goes into the last.
    tokens = sum(record.kept)
    size = max(1, len(record.text) // tokens)
    cuts = [record.text[at * size : (at + 1) * size] for at in range(tokens - 1)]
    pieces = [*cuts, record.text[(tokens - 1) * size :]]
    found: list[Step] = []
    at = 0
    for number, kept in enumerate(record.kept):
        width = 1 if record.decoder == "ar" else 4
        kept = min(kept, width)
        own = pieces[at : at + kept]
        rejected = [rng.choice(WORDS) for _ in range(width - len(own))]
        found.append(
            Step(
                kind="prefill" if number == 0 else "decode",
                proposed=[
                    Proposed(text=text, confidence=round(rng.uniform(0.2, 1), 4))
                    for text in [*own, *rejected]
                ],
                kept=len(own),
            )
        )
        at += kept
    return found
