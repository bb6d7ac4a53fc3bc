"""A sandbox for the tests that run programs."""

import pytest

from tasks.sandbox import Sandbox, find_sandbox


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return find_sandbox()
    except ValueError as error:
        pytest.skip(str(error))
