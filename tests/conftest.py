"""Settings of all tests."""

import signal

from hypothesis import settings

# The first call of a kernel compiles it, which no deadline survives; the seed is fixed in CI.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("default")

# A shell that starts the tests in the background makes them deaf to interrupts, which some send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
