import numpy as np
import pytest

from reidrisk import InvalidInput, Observations, TooLarge, TopicsApi, data
from reidrisk.information import pair_information


def test_counts_by_hand():
    """Three of four pairs agree: H = 1 bit each, joint 1.5 bits or so, by the definition."""
    known, shown = [[0], [1], [0], [1]], [[0], [1], [0], [0]]
    found = pair_information(Observations(known, shown, [0, 1, 2, 3], tokens=2))
    joint = np.array([[2, 0], [1, 1]]) / 4
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    expected = sum(
        joint[place] * np.log2(joint[place] / product[place])
        for place in np.ndindex(2, 2)
        if joint[place]
    )
    assert found.entropy == pytest.approx(1)
    assert found.shared_as_counted == pytest.approx(expected)
    assert found.pairs == 4


def test_the_two_ends_hold_the_exact_bits():
    """40 topics, 20,000 users, one epoch: exact bits of the population; the seed is fixed."""
    people = data.synthetic_topics(users=20_000, topics=40, epochs=1, types=6, seed=1)
    seen = TopicsApi(topics=40).observe(people, seed=7)
    found, exact = pair_information(seen), people.interests.information(0.05)
    assert found.entropy == pytest.approx(exact.entropy, abs=0.02)
    assert found.shared_corrected - 0.02 < exact.mutual_information < found.shared_as_counted + 0.02
    assert found.unrelated < 0.1


def test_unrelated_rows_share_nothing():
    random = np.random.default_rng(1)
    known, shown = random.integers(0, 5, (2, 4_000, 3))
    found = pair_information(Observations(known, shown, np.arange(4_000), tokens=5))
    assert found.shared_corrected < 0.002


def test_missing_slots_are_left_out():
    known, shown = [[0, -1], [1, 1], [-1, 1]], [[0, 1], [1, -1], [1, 1]]
    assert pair_information(Observations(known, shown, [0, 1, 2], tokens=2)).pairs == 3


@pytest.mark.parametrize(
    ("known", "shown", "tokens", "error", "message"),
    [
        ([[0]], [[0]], 2, InvalidInput, "at least two targets"),
        ([[0], [-1]], [[-1], [0]], 2, InvalidInput, "nothing to count"),
        ([[[0, 1]], [[1, 0]]], [[0], [1]], 2, TooLarge, "2 a slot"),
        ([[0], [1]], [[0], [1]], 5_001, TooLarge, "5,001 tokens"),
    ],
)
def test_bad_input(known, shown, tokens, error, message):
    seen = Observations(known, shown, np.arange(len(shown)), tokens=tokens)
    with pytest.raises(error, match=message):
        pair_information(seen)
