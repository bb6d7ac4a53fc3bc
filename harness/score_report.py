"""What `harness score` tells a person: accuracy with its interval, how answers were found, and the
breakdown by subject and level. Shares that should make one look twice are named as warnings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from harness.scoring import Scored
from results.statistics import wilson

#: More answers than this without one found, overall or in a subject, point at the extraction.
NO_ANSWER_BOUND = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts over some answers; `guessed` were scored by fallback."""

    items: int
    correct: int
    guessed: int
    guessed_correct: int
    no_answer: int
    cut_off: int
    cut_off_undeclared: int

    @property
    def accuracy(self) -> float:
        return self.correct / self.items


def tally(scored: Iterable[Scored]) -> Tally:
    """Counts over at least one answer."""
    scores = [one.score for one in scored]
    guessed = [score for score in scores if score.extracted_by == "fallback"]
    cut_off = [score for score in scores if not score.finished]
    return Tally(
        items=len(scores),
        correct=sum(score.correct for score in scores),
        guessed=len(guessed),
        guessed_correct=sum(score.correct for score in guessed),
        no_answer=sum(score.extracted_by == "none" for score in scores),
        cut_off=len(cut_off),
        cut_off_undeclared=sum(score.extracted_by in ("fallback", "none") for score in cut_off),
    )


def by_subject(scored: Iterable[Scored]) -> dict[str, Tally]:
    """Tallies by subject, where items have one, in alphabetical order."""
    return _grouped(scored, lambda one: one.answer.item.subject)


def by_level(scored: Iterable[Scored]) -> dict[str, Tally]:
    """Tallies by level, where items have one, easiest first."""
    return _grouped(scored, lambda one: one.answer.item.level)


def print_report(task: str, scored: Sequence[Scored], console: Console) -> None:
    """The accuracy, the shares, the breakdown and the warnings."""
    whole = tally(scored)
    subjects, levels = by_subject(scored), by_level(scored)
    lo, hi = wilson(whole.correct, whole.items)
    average = "accuracy, micro average" if len(subjects) > 1 else "accuracy"
    console.print(
        f"{task} {average}: {whole.accuracy:.1%} ({whole.correct:,} of {whole.items:,};"
        f" 95 % interval {lo:.1%} to {hi:.1%})"
    )
    if len(subjects) > 1:
        mean = fmean(part.accuracy for part in subjects.values())
        console.print(f"{task} accuracy, mean over {len(subjects)} subjects: {mean:.1%}")
    console.print(
        f"guessed (fallback): {whole.guessed / whole.items:.1%} of the answers, which make"
        f" {whole.guessed_correct / whole.items:.1%} of the accuracy;"
        f" no answer found: {whole.no_answer / whole.items:.1%}"
    )
    console.print(
        f"cut off: {whole.cut_off / whole.items:.1%};"
        f" unfinished, cut off without a declared answer: {whole.cut_off_undeclared:,}"
    )
    for title, parts in (("subject", subjects), ("level", levels)):
        if len(parts) > 1:
            console.print(_table(title, parts))
    for warning in warnings_about(whole, subjects):
        console.print(f"warning: {warning}")


def warnings_about(whole: Tally, subjects: dict[str, Tally]) -> list[str]:
    """Where so many answers hold none that the score says little about the model."""
    parts = {"all answers": whole} | {f"subject {name}": part for name, part in subjects.items()}
    return [
        f"no answer was found in {part.no_answer / part.items:.0%} of {name}"
        f" ({part.no_answer:,} of {part.items:,}); look at the texts before trusting the score"
        for name, part in parts.items()
        if part.no_answer / part.items > NO_ANSWER_BOUND
    ]


def _grouped(scored: Iterable[Scored], name: Callable[[Scored], str]) -> dict[str, Tally]:
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(name(one), []).append(one)
    # Levels are numbers, and 10 comes after 9.
    order = sorted(groups, key=lambda key: key.zfill(4) if key.isdigit() else key)
    return {key: tally(groups[key]) for key in order if key}


def _table(title: str, parts: dict[str, Tally]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(title, no_wrap=True)
    for heading in ("items", "accuracy, %", "95 % interval", "no answer, %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, part in parts.items():
        lo, hi = wilson(part.correct, part.items)
        table.add_row(
            name,
            f"{part.items:,}",
            f"{100 * part.accuracy:.1f}",
            f"{100 * lo:.1f}–{100 * hi:.1f}",
            f"{100 * part.no_answer / part.items:.1f}",
        )
    return table
