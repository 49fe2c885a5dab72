"""What networks find on the embedded population, of which everything is known exactly.

Table 1 of the paper again, by models of sequences, and its third attack. Nothing here is told the
types of users; seeds are fixed. How long it takes is in `benchmarks`.
"""

import pytest

import reidrisk as rr
from reidrisk.attacks import Neural
from reidrisk.information.sequence_model import learn_information

pytestmark = pytest.mark.torch

API = rr.TopicsApi()


def learned(users, weeks):
    people = rr.data.synthetic_topics(users=users, epochs=weeks, seed=1)
    return learn_information(API.observe(people, targets=users, seed=7))


@pytest.mark.parametrize(
    ("users", "weeks", "exact", "within"),
    [
        (2_000_000, 1, (7.59, 6.66, 0.93), 0.02),
        (250_000, 8, (6.546, 5.442, 1.104), 0.05),
    ],
)
def test_table_1_by_the_laptops_model(users, weeks, exact, within):
    """A fifth of the users are tested; the standard error of a figure is below 0.006 bits."""
    bits = learned(users, weeks)
    found = (bits.entropy, bits.conditional_entropy, bits.mutual_information)
    for mean, figure in zip(found, exact, strict=True):
        assert mean.error < 0.006
        assert mean.value == pytest.approx(figure, abs=within)


def test_the_third_attack_is_the_best_of_the_three():
    """From scratch, and without knowing the release, which weights do know.

    3,000 targets among 100,000: an interval of 95 % is 1.5 points to each side.
    """
    seen = API.observe(rr.data.synthetic_topics(users=100_000, seed=1), targets=3_000, seed=7)
    others = rr.data.synthetic_topics(users=100_000, seed=2)
    panel = API.observe(others, targets=100_000, seed=8)
    attacks = [rr.Hamming(), rr.WeightedHamming(API), Neural(panel, begin="scratch")]
    hamming, weighted, neural = (curve[8] for curve in rr.measure(seen, attacks, slots=8))
    assert hamming.value < weighted.value
    assert weighted.high < neural.low
    assert neural.value > 0.155
