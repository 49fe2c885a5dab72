"""Settings of all tests."""

import functools
import signal

import pytest
from hypothesis import settings

from reidrisk.engines.strategies import dense
from reidrisk.releases.topics import api

# The first call of a kernel compiles it, which no deadline survives; the seed is fixed in CI.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("default")

# A shell that starts the tests in the background makes them deaf to interrupts, which some send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _small_worlds_are_searched_like_large_ones():
    """Kernels are tested on few people: in these tests there are never too few for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "MOST_CELLS", 0)
        yield


@pytest.fixture(autouse=True, scope="session")
def _bits_are_worked_out_once():
    """Hundreds of small studies share a population, and its bits take half of the time of each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "sequence_information", functools.cache(api.sequence_information))
        yield
