"""Settings of tests in which the machine fails."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _bits_are_worked_out_once():
    """Not here: every allocation of a run fails in turn, so that all runs must make the same."""
