"""Made-up test sets in the layout of the official ones, and where the real ones are."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SDLM_SHARED", ROOT.parent / "shared")) / "data"
needs_official = pytest.mark.skipif(
    not (DATA / "mmlu" / "test.jsonl").is_file(),
    reason="official test sets not found: set SDLM_SHARED",
)
SUBJECTS = [f"subject_{number:02d}" for number in range(57)]


def math_solutions() -> list[str]:
    """The worked solutions of the official MATH-500, in the file's order."""
    rows = (DATA / "math500" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["solution"] for row in rows]


def write(path: Path, rows: list[dict[str, object]], zipped: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = path.with_name(path.name + ".gz") if zipped else path
    path.write_bytes(gzip.compress(text) if zipped else text)
    return path


def math_rows() -> list[dict[str, object]]:
    return [
        {
            "problem": f"Find $x$ when $x = {n} + 1$.",
            "solution": f"It is $\\boxed{{{n + 1}}}$.",
            "answer": str(n + 1),
            "subject": ("Algebra", "Geometry", "Number Theory")[n % 3],
            "level": n % 5 + 1,
            "unique_id": f"test/{n}.json",
        }
        for n in range(500)
    ]


def mmlu_rows(count: int) -> list[dict[str, object]]:
    return [
        {
            "question": f"What is {n} + 1?",
            "subject": SUBJECTS[n * len(SUBJECTS) // count],
            "choices": [str(n), str(n + 1), str(n + 2), str(n + 3)],
            "answer": 1,
        }
        for n in range(count)
    ]


def write_all(root: Path) -> Path:
    """Made-up files of all text tasks."""
    gsm8k = [{"question": f"{n} + {n}?", "answer": f"#### {2 * n:,}"} for n in range(1319)]
    write(root / "gsm8k" / "test.jsonl", [dict(row) for row in gsm8k])
    write(root / "math500" / "test.jsonl", math_rows(), zipped=True)
    write(root / "mmlu" / "test.jsonl", mmlu_rows(14042))
    write(root / "mmlu" / "dev.jsonl", mmlu_rows(285))
    return root
