"""Settings of all tests."""

from hypothesis import settings

# The first call of a kernel compiles it, which no deadline survives; the seed is fixed in CI.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("default")
