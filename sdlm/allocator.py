"""Keeping memory that tensors have freed, on a CPU.

glibc hands large blocks back to the system as they are freed and gets them anew for the next
tensor, page by page, which can take longer than what is computed in it.
"""

import ctypes

# Parameters of mallopt(3).
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
KEPT_BYTES = 2**31 - 1
PADDED_BYTES = 1 << 26


def keep_freed_memory() -> None:
    """For the whole process, from now on; where there is no glibc, nothing changes."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(M_TOP_PAD, PADDED_BYTES)
