"""Shards on their way through workers that may get lost."""

import sys
from dataclasses import dataclass

from harness.shards import Shard

# So many workers lost one after the other, without a sample between them, end the run.
MOST_LOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A shard, or what is left of it. lost: workers lost on it since its last sample."""

    shard: Shard
    lost: int = 0

    def again(self, left: Shard, reason: str) -> "Job":
        """The job after its worker was lost; ChildProcessError after too many of them."""
        lost = 1 if left.samples < self.shard.samples else self.lost + 1
        if lost == MOST_LOST:
            raise ChildProcessError(
                f"{lost} workers in a row were lost on the same {left.samples} samples of"
                f" {left.task} at batch size {left.batch_size} (the last: {reason}); try fewer"
                " --workers or a smaller batch size, or go on later with --resume"
            )
        print(f"a worker was lost, what its shard lacks is done again: {reason}", file=sys.stderr)
        return Job(shard=left, lost=lost)
