"""The fast engine equals the slow one, field by field."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.strategies import searches

from reidrisk.engines import LocalEngine, ReferenceEngine

FIELDS = ("best", "ties", "truth", "top_rows", "top_scores")


def assert_same(fast, slow):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), name)


@settings(deadline=None)
@given(searches(), st.sampled_from([0, 0, 1, 3, 100]))
def test_a_search_equals_the_reference(search, top):
    seen, score = search
    fast = LocalEngine().search(seen, score, top=top)
    assert_same(fast, ReferenceEngine().search(seen, score, top=top))
