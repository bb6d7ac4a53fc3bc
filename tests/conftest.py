"""Settings that all tests share.

Property tests draw the same examples on every run, so a failure is a change in the code. For new
examples: `HYPOTHESIS_PROFILE=explore pytest`.
"""

import os

# Before torch is imported, and for the processes that tests start: on models this small, threads
# only wait for each other, and beside another busy process they wait ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
