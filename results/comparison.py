"""Is one decoder more often right than another on the same items? Size, test, and what could have
been seen."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from results.bootstrap import Estimate, paired_bootstrap_difference
from results.statistics import holm, mcnemar_exact, minimum_detectable_difference


class Comparison(NamedTuple):
    """Two decoders' correctness on the items both completed."""

    items: int
    better: int
    """Items that only the decoder got right."""
    worse: int
    """Items that only the baseline got right."""
    difference: Estimate
    """Accuracy minus the baseline's, with its 95 % bootstrap interval."""
    p_value: float
    """McNemar's exact test."""
    detectable: float | None
    """Smallest difference that test finds four times in five at 5 %, with as many items differing
    as here. None when the items are too few to ever find one."""


class Tested(NamedTuple):
    comparison: Comparison
    p_holm: float
    """p-value adjusted for the number of decoders compared with the same baseline."""


def compare(pairs: Sequence[tuple[bool, bool]]) -> Comparison | None:
    """`pairs` are the decoder's and the baseline's correctness, item by item. None without
    items."""
    difference = paired_bootstrap_difference([a for a, _ in pairs], [b for _, b in pairs])
    if difference is None:
        return None
    better = sum(ours and not theirs for ours, theirs in pairs)
    worse = sum(theirs and not ours for ours, theirs in pairs)
    return Comparison(
        items=len(pairs),
        better=better,
        worse=worse,
        difference=difference,
        p_value=mcnemar_exact(better, worse),
        detectable=minimum_detectable_difference(better + worse, len(pairs)),
    )


def compare_all(pairs: Mapping[str, Sequence[tuple[bool, bool]]]) -> dict[str, Tested]:
    """Every decoder against one baseline on one task, which is the family of tests that Holm's
    adjustment is for. Decoders without an item in common with the baseline are left out."""
    found = {name: found for name, each in pairs.items() if (found := compare(each)) is not None}
    adjusted = holm([each.p_value for each in found.values()])
    return {name: Tested(each, p) for (name, each), p in zip(found.items(), adjusted, strict=True)}
