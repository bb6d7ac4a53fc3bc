"""A–A test on this machine: one decoder under two names, in many runs, and each run against the
one before. What is found between them is found wrongly.

    python -m tests.benchmarks.same_decoder --runs 20 --limit 40 --out runs/same

Within a run nothing should be found in 19 of 20: intervals are at 95 %. Between runs `harness
compare` should find nothing, since its tolerance covers what the machine does.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from decoders.ar import Autoregressive

SPEC = "tests.benchmarks.same_decoder:Again"
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Again(Autoregressive):
    """`ar` under another name."""

    name: ClassVar[str] = "again"


class Found(NamedTuple):
    """What one run says of the two names, and its comparison with the run before."""

    speedup: float
    lo: float
    hi: float
    p_value: float
    agreement: float
    noisy: float
    gate: int | None

    @property
    def significant(self) -> bool:
        return not self.lo <= 1 <= self.hi or self.p_value < ALPHA


def harness(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def measure(model: str, limit: int, folder: Path) -> dict[str, float]:
    """The row of the second name in a run of both."""
    options = ["--decoders", f"ar,{SPEC}", "--traces", 0, "--limit", limit, "--data", "embedded"]
    done = harness("run", "--model", model, *options, "--out", folder, "--json")
    if done.returncode:
        raise SystemExit(done.stderr)
    return next(row for row in json.loads(done.stdout) if row["decoder"] != "ar")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    args = parser.parse_args()
    found: list[Found] = []
    for number in range(args.runs):
        folder = args.out / f"{number:02d}"
        row = measure(args.model, args.limit, folder)
        gate = None
        if number:
            gate = harness("compare", args.out / f"{number - 1:02d}", folder).returncode
            if gate > 1:
                raise SystemExit(f"compare ended with exit code {gate}")
        found.append(
            Found(
                speedup=row["speedup"],
                lo=row["speedup_lo"],
                hi=row["speedup_hi"],
                p_value=row["p_value"],
                agreement=row["agreement"],
                noisy=row["noisy_share"],
                gate=gate,
            )
        )
        print(number, found[-1], flush=True)
    significant = sum(each.significant for each in found)
    failed = sum(each.gate == 1 for each in found)
    print(f"significant within a run: {significant} of {len(found)}")
    print(f"failed by compare: {failed} of {len(found) - 1}")
    rows = [each._asdict() for each in found]
    (args.out / "found.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
