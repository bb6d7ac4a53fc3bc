"""Runs whose truth is known: answers of a known acceptance, a cost for each forward, and a machine
that drifts and has slow spells. `python -m tests.results.fake_clock` prints the shares of
docs/regression-gate.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from results.bootstrap import Timed, paired_bootstrap_ratio
from results.gate import Rules, judge
from results.gate.speed import ratio_over_time
from results.records import SampleRecord
from results.store import StoredRun
from tests.results.results_fakes import record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BASELINE, DECODER = "ar", "greedy-confidence(tau=0.9,rule=per-token,block=4)"
# Seconds of a forward, and the chance that it keeps 1, 2, 3 and 4 tokens.
COST_S = {BASELINE: 0.010, DECODER: 0.014}
CHANCES = {BASELINE: (1.0, 0.0, 0.0, 0.0), DECODER: (0.2, 0.3, 0.3, 0.2)}
TRUE_SPEEDUP = (0.2 + 0.6 + 0.9 + 0.8) * COST_S[BASELINE] / COST_S[DECODER]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moods:
    """How a machine's slowness varies over a run's samples, one after the other.

    jitter: standard deviation of each sample's own; drift: of one that is forgotten after some
    `memory` samples. Slow spells begin every `spell_every` samples, last `spell_length` and cost
    20 to 50 %, all on average. between: standard deviation of what a whole run is slower by.
    """

    jitter: float = 0.04
    drift: float = 0.0
    memory: float = 1.0
    spell_every: float = np.inf
    spell_length: float = 1.0
    between: float = 0.0

    def slowness(self, rng: np.random.Generator, samples: int) -> Floats:
        """Factors on the seconds of each sample."""
        kept = float(np.exp(-1 / self.memory))
        pushes = rng.normal(size=samples) * np.sqrt(1 - kept**2)
        pushes[0] = rng.normal()
        logs = self.jitter * rng.normal(size=samples) + self.between * rng.normal()
        logs += self.drift * lfilter([1.0], [1.0, -kept], pushes)
        # Some began before the run did.
        before = round(10 * self.spell_length)
        starts = np.flatnonzero(rng.random(samples + before) < 1 / self.spell_every) - before
        for start in starts:
            stop = start + rng.geometric(1 / self.spell_length)
            logs[max(start, 0) : max(stop, 0)] += rng.uniform(0.18, 0.41)
        return np.exp(logs)


MOODS = {
    "items apart": Moods(),
    "short spells": Moods(drift=0.02, memory=20, spell_every=150, spell_length=8),
    "long spells": Moods(drift=0.03, memory=60, spell_every=200, spell_length=24),
}
RUNNER = Moods(drift=0.02, memory=40, spell_every=150, spell_length=8, between=0.015)
"""What the gate has to stand: spells of two to three seconds every twenty, and another speed in
each run."""


def steps_of(items: int, seed: int) -> list[Ints]:
    """What each forward of the decoder kept, for each item: its answer and no machine's doing.
    Fewer items are the first of more."""
    ends = np.random.default_rng([seed, 0]).integers(3, 12, items).cumsum()
    kept = np.random.default_rng([seed, 1]).choice(4, ends[-1], p=CHANCES[DECODER]) + 1
    return np.split(kept, ends[:-1])


def timings(
    rng: np.random.Generator,
    steps: Sequence[Ints],
    moods: Moods,
    cost: Mapping[str, float] = COST_S,
) -> dict[str, Floats]:
    """Seconds of each item under each decoder; decoders take turns item by item."""
    slowness = moods.slowness(rng, len(steps) * len(cost)).reshape(len(steps), len(cost))
    turns = (np.arange(len(cost)) + np.arange(len(steps))[:, None]) % len(cost)
    slowness = np.take_along_axis(slowness, turns, axis=1)
    forwards = {
        BASELINE: np.array([kept.sum() for kept in steps]),
        DECODER: np.array([len(kept) for kept in steps]),
    }
    return {
        name: forwards[name] * each * slowness[:, column]
        for column, (name, each) in enumerate(cost.items())
    }


def fake_run(
    seed: int,
    *,
    items: int = 100,
    moods: Moods = RUNNER,
    slower: Mapping[str, float] | None = None,
) -> StoredRun:
    """A run under two decoders; `slower` takes that share off a decoder's speed. The answers are
    the same for every seed, which is the machine's."""
    steps = steps_of(items, 0)
    cost = {name: each / (1 - (slower or {}).get(name, 0.0)) for name, each in COST_S.items()}
    seconds = timings(np.random.default_rng(seed), steps, moods, cost)
    records: list[SampleRecord] = []
    for name in COST_S:
        for item, kept in enumerate(steps):
            counts = kept.tolist() if name == DECODER else [1] * int(kept.sum())
            took = float(seconds[name][item])
            records.append(
                record(
                    str(item),
                    name,
                    kept=counts,
                    correct=item % 5 != 0,
                    compute_s=took,
                    wall_s=took,
                )
            )
    return StoredRun(folder=Path(f"run-{seed}"), manifest=manifest(items), records=records)


def manifest(items: int, **config: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "config": {
            "model": "nano",
            "model_sha256": "ab" * 32,
            "tasks": ["gsm8k"],
            "sources": {"gsm8k": "embedded"},
            "protocol": "paper",
            "decoders": [*COST_S],
            "limit": items,
            "batch_sizes": [1],
            "dtype": "float32",
            "attention": "dense",
            "device": "cpu",
            "max_new_tokens": {"gsm8k": 256},
            "seed": 0,
            "data_sha256": {"gsm8k": "cd" * 32},
            "template_sha256": {"gsm8k": "ef" * 32},
            **config,
        },
        "invocations": [{"engine": "local", "workers": 1, "threads": 2}],
        "software": {"git_commit": "1234567", "packages": {"torch": "2.13.0"}},
        "hardware": {"cpu": "a CPU", "cores": 2, "usable_cores": 2, "memory_bytes": 2**30},
    }


def two_runs(rng: np.random.Generator, items: int, moods: Moods) -> tuple[list[Timed], ...]:
    """The decoder's tokens and seconds in two runs of the same items, equally fast in truth."""
    steps = steps_of(items, int(rng.integers(2**32)))
    tokens = [int(kept.sum()) for kept in steps]
    return tuple(
        [
            Timed(count, float(seconds))
            for count, seconds in zip(tokens, timings(rng, steps, moods)[DECODER], strict=True)
        ]
        for _ in range(2)
    )


def print_coverage(draws: int = 1000) -> None:
    """Share of intervals that hold the truth, by moods and items: over items, over time."""
    for name, moods in MOODS.items():
        for items in (100, 200):
            rng = np.random.default_rng(0)
            covered, widths = np.zeros(2), np.zeros(2)
            for draw in range(draws):
                new, base = two_runs(rng, items, moods)
                found = (
                    paired_bootstrap_ratio(new, base, resamples=199, seed=draw),
                    ratio_over_time([new], [base], [range(items)]),
                )
                for place, each in enumerate(found):
                    assert each is not None
                    assert each.lo is not None
                    assert each.hi is not None
                    covered[place] += each.lo <= 1 <= each.hi
                    widths[place] += (each.hi - each.lo) / 2
            shown = [
                f"{share:.1%} (± {width:.1%})"
                for share, width in zip(covered / draws, widths / draws, strict=True)
            ]
            print(f"| {name} | {items} | {' | '.join(shown)} |")


def print_found(trials: int = 200) -> None:
    """Share of pairs of runs in which the gate calls the decoder, and the baseline, slower."""
    bases = [fake_run(2 * trial) for trial in range(trials)]
    planted = [{DECODER: share} for share in (0.0, 0.03, 0.08, 0.1, 0.15)]
    planted += [{DECODER: 0.15, BASELINE: 0.15}, {BASELINE: 0.15}, {BASELINE: -0.15}]
    for slower in planted:
        verdicts = [
            judge(base, fake_run(2 * trial + 1, slower=slower), Rules())
            for trial, base in enumerate(bases)
        ]
        shares = [
            sum("slower" in each.rows[number].problems for each in verdicts) / trials
            for number in (1, 0)
        ]
        print(f"| {slower} | {' | '.join(f'{share:.1%}' for share in shares)} |")


if __name__ == "__main__":
    print_coverage()
    print_found()
