"""Settings that all tests share.

Property tests draw the same examples on every run, so a failure is a change in the code. For new
examples: `HYPOTHESIS_PROFILE=explore pytest`.
"""

import os
import shutil
from collections.abc import Iterator

# Before torch is imported, and for the processes that tests start: on models this small, threads
# only wait for each other, and beside another busy process they wait ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", settings.get_profile("same"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; without it tests are skipped, unless SDLM_REQUIRE_BROWSER is set (`.ci/run`)."""
    path = shutil.which("chromium")
    if path is None:
        reason = "Chromium is not installed: apt-get install chromium"
        if os.environ.get("SDLM_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        # Its own sandbox does not work for root, which a container's user often is.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()
