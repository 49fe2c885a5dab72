"""Table 1 of the paper, one epoch, from counts of the embedded population alone.

The population is made so that its closed form is 7.59, 6.66 and 0.93 bits. Counts know nothing of
that: they find the same figures again.
"""

import pytest

from reidrisk import TopicsApi, data
from reidrisk.information import count_information


def test_table_1_one_epoch():
    """50,000 users, 8 weeks taken together; seeds are fixed, noise is 0.006 bits at most."""
    people = data.synthetic_topics(users=50_000, seed=1)
    bits = count_information(TopicsApi().observe(people, seed=7)).pooled
    published = {"entropy": 7.59, "conditional_entropy": 6.66, "mutual_information": 0.93}
    for name, figure in published.items():
        found = getattr(bits, name)
        assert found.value == pytest.approx(figure, abs=0.02), name
        assert found.low <= figure <= found.high, name
    assert not bits.too_few
