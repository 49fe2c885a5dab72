"""Rows of one person are not independent trials: no interval is made of them."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.attacks import Hamming, WeightedHamming
from reidrisk.core.observations import Observations
from reidrisk.data import Linked, synthetic_topics
from reidrisk.estimates import mean_of_credits
from reidrisk.releases import TopicsApi, repeat
from reidrisk.risk import (
    measure,
    measure_guesses,
    measure_sizes,
    measure_strangers,
    optimum,
    per_user,
    posterior,
    spectrum,
)
from reidrisk.study import Study

API = TopicsApi(topics=20, top=3, noise=0.1)
PEOPLE = synthetic_topics(200, topics=20, epochs=2, seed=1)
SEEN = API.observe(PEOPLE, targets=100, seed=1)
STRANGERS = np.random.default_rng(1).integers(0, 20, (30, 2))


def observations(truth, anonymous=SEEN.anonymous):
    return Observations(SEEN.known, anonymous, truth, tokens=20, strangers=STRANGERS)


TWICE = observations(np.where(np.arange(100) == 17, SEEN.truth[3], SEEN.truth))

ESTIMATES = {
    "risk": lambda seen: measure(seen, Hamming()),
    "precision": lambda seen: measure(seen, Hamming(), precision=0.1),
    "guesses": lambda seen: measure_guesses(seen, Hamming(), guesses=(2,)),
    "crowds": lambda seen: measure_sizes(seen, Hamming(), users=(50,)),
    "claims": lambda seen: posterior(seen, WeightedHamming(API)),
    "optimum": lambda seen: optimum(seen, WeightedHamming(API)),
    "spectrum": lambda seen: spectrum(seen, [Hamming()]),
    "strangers": lambda seen: measure_strangers(seen, Hamming()),
}


@pytest.mark.parametrize("estimate", ESTIMATES.values(), ids=ESTIMATES)
def test_no_estimate_takes_two_rows_of_one_user_for_two_people(estimate):
    estimate(observations(SEEN.truth))
    with refuses("duplicate-target"):
        estimate(TWICE)


def test_twenty_thousand_copies_of_one_row_are_refused():
    copies = Observations(SEEN.known, SEEN.anonymous[[0] * 20_000], [5] * 20_000, tokens=20)
    with refuses("duplicate-target"):
        measure(copies, Hamming())


def test_a_study_of_two_tables_refuses_them_too():
    tables = Linked(SEEN.known, TWICE.anonymous, TWICE.truth, np.arange(200), np.arange(20))
    with refuses("duplicate-target"):
        Study(attacks=(Hamming(),), targets=None).run(tables)


def test_equal_rows_of_different_people_are_no_repeats():
    alike = observations(SEEN.truth, SEEN.anonymous[[0] * 100])
    assert measure(alike, Hamming())[2].trials == 100


def test_single_users_are_named_once():
    again = repeat(API, PEOPLE, np.array([4, 4]), repeats=3, seed=1)
    with refuses("duplicate-target"):
        per_user(SEEN, np.array([4, 4]), again, Hamming())


def test_one_row_of_each_user_is_what_the_message_advises():
    one = TWICE.only(np.unique(TWICE.truth, return_index=True)[1])
    assert measure(one, Hamming())[2].trials == 99


def test_intervals_hold_for_one_row_of_each_user_and_not_for_all_rows():
    """Few people have most rows; whoever is found once is found again."""
    chance = np.random.default_rng(58)
    studies, users = 1_000, 100
    held = {"all rows": 0, "one of each": 0}
    for _ in range(studies):
        found = chance.random(users) < 0.3
        rows = np.minimum(chance.zipf(1.6, users), 400)
        credits_ = {"all rows": np.repeat(found, rows), "one of each": found}
        for how, credit in credits_.items():
            estimate = mean_of_credits(credit.astype(float))
            held[how] += estimate.low <= 0.3 <= estimate.high
    assert held["one of each"] >= 0.95 * studies
    assert held["all rows"] < 0.2 * studies
