"""Attackers who look at one row cannot beat the best of them; those who look at all rows may."""

import numpy as np
import pytest

from reidrisk import Observations, TokenWeights, TopicsApi, TypeAware, measure, optimum
from reidrisk.attacks import ATTACKS, View, attack_named, uses_of
from reidrisk.attacks.protocol import ONE_ROW
from reidrisk.data import synthetic_topics
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput

API = TopicsApi(topics=40)
PEOPLE = synthetic_topics(users=1_500, topics=40, epochs=2, seed=2)
SEEN = API.observe(PEOPLE, seed=5)
VIEW = View.of(SEEN, release=API, population=PEOPLE.interests)
BEST = optimum(SEEN, TypeAware(API, PEOPLE.interests), slots=2)
NOT_HERE = {"full-information", "neural", "pair-network"}
"""They know everybody's interests, or need torch."""

ALONE = sorted(
    name for name in ATTACKS if uses_of(attack_named(name)) == ONE_ROW and name not in NOT_HERE
)


@pytest.mark.parametrize("name", ALONE)
def test_no_attacker_of_one_row_beats_the_optimum_of_the_model(name):
    """The people are drawn from this very model: an attacker above its optimum has a leak."""
    try:
        found = measure(SEEN, attack_named(name), view=VIEW)[2]
    except InvalidInput as refused:
        pytest.skip(f"not for these rows: {refused.code}")
    assert found.low <= BEST.high


def test_the_check_sees_a_leak():
    """A score that knows which row is meant, as if order told: it names everybody."""
    rng = np.random.default_rng(1)
    known = rng.permutation(500)[:, None]
    seen = Observations(known, known, np.arange(500), tokens=500)
    credit = LocalEngine().credit(seen, TokenWeights(np.ones(500)))
    assert credit.mean() == 1.0 > BEST.high


def test_attackers_who_compare_all_rows_may_beat_whoever_sees_one():
    """A circle: each person shows one of two symbols, shared with the neighbours.

    From one row nobody can do better than a coin toss; who gives each person one row does.
    """
    from reidrisk import measure_assignment

    rng, users = np.random.default_rng(3), 300
    right, wrong = [], []
    for _ in range(20):
        sides = rng.integers(0, 2, users)
        shown = (np.arange(users) + sides) % users
        both = np.stack([np.arange(users), (np.arange(users) + 1) % users], axis=1)
        seen = Observations(
            both[:, None, :], shown[:, None], np.arange(users), tokens=users
        )  # known: both symbols of each person
        one = measure_assignment(seen, _Holds())
        right.append(one.right.value)
        wrong.append(one.alone.value)
    assert abs(np.mean(wrong) - 0.5) < 0.02
    assert np.mean(right) > 0.6


class _Holds:
    """Any known row that holds the symbol explains it alike."""

    name, knows, assumes = "holds", "which symbols each person may show", "Nothing."
    likelihood, needs = False, ()

    def fit(self, view):
        return TokenWeights(np.ones(view.tokens))
