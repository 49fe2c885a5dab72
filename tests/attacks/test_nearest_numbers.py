"""Numbers that are near: what the attack finds, and its score against one computed by hand."""

import math

import numpy as np
import pytest

from reidrisk import BagRows, LocalEngine, Observations
from reidrisk.attacks import Hamming, NearestNumbers, View
from reidrisk.errors import InvalidInput
from reidrisk.scores import ComparedNumbers, in_units
from reidrisk.scores.compared_numbers import NumberSlot
from reidrisk.testing import check_attack

PEOPLE = 200
RANDOM = np.random.default_rng(4)
TRUE = np.column_stack([
    RANDOM.normal(45, 15, PEOPLE), RANDOM.lognormal(10, 1, PEOPLE),
    RANDOM.normal(1_700, 100, PEOPLE),
])  # fmt: skip
SPREAD = TRUE.std(axis=0)
WORDS = np.array(["red", "green", "blue", "white", "black"], object)


def wrong(table, share):
    """A table some of whose cells hold the values of other people."""
    others = np.column_stack([RANDOM.permutation(column) for column in table.T])
    return np.where(RANDOM.random(table.shape) < share, others, table)


def tables(known, shown):
    """Observations of two tables of texts, and what tokens stand for; None is a gap."""
    texts = [[[None if x is None else str(x) for x in row] for row in side.tolist()]
             for side in (known, shown)]  # fmt: skip
    values = sorted({x for side in texts for row in side for x in row if x is not None})
    number = {value: at for at, value in enumerate(values)} | {None: -1}
    known, shown = (np.array([[number[x] for x in row] for row in side]) for side in texts)
    seen = Observations(known, shown, np.arange(len(known)), tokens=len(values))
    return seen, np.array(values, object)


def credit(attack, known, shown):
    seen, labels = tables(known, shown)
    return LocalEngine().credit(seen, attack.fit(View.of(seen, labels=labels))).mean()


def whole(table):
    return np.rint(table).astype(int)


NOISY = {
    "sums": (whole(TRUE), whole(TRUE + RANDOM.normal(0, 0.03, TRUE.shape) * SPREAD)),
    "factors": (whole(TRUE * 10), whole(TRUE * 10 * RANDOM.lognormal(0, 0.03, TRUE.shape))),
    "another unit": (
        whole(TRUE * 100), whole((TRUE + RANDOM.normal(0, 0.03, TRUE.shape) * SPREAD) * 254 + 999),
    ),
    "order": (
        whole(TRUE * 100), whole(np.sqrt(TRUE) * 10_000 + RANDOM.integers(-99, 99, TRUE.shape)),
    ),
    "gross errors": (
        whole(TRUE), wrong(whole(TRUE + RANDOM.normal(0, 0.01, TRUE.shape) * SPREAD), 0.1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("noise", NOISY)
def test_it_finds_people_whose_numbers_are_hardly_ever_the_same(noise):
    known, shown = NOISY[noise]
    assert credit(NearestNumbers(), known, shown) > 0.75
    assert credit(Hamming(), known, shown) < 0.5


def test_gaps_and_values_that_are_no_numbers_cost_little():
    known, shown = (table.astype(object) for table in NOISY["sums"])
    shown[RANDOM.random(shown.shape) < 0.1] = None
    known[RANDOM.random(known.shape) < 0.03] = "unknown"
    assert credit(NearestNumbers(), known, shown) > 0.7


def test_dates_are_days():
    days = RANDOM.integers(0, 20_000, (PEOPLE, 2))
    known, shown = (
        (np.datetime64("1950-01-01") + one).astype(str).astype(object)
        for one in (days, days + RANDOM.integers(-3, 4, days.shape))
    )
    assert credit(NearestNumbers(), known, shown) > 0.95


def test_words_count_too():
    colours = RANDOM.integers(0, 5, (PEOPLE, 2))
    known, shown = (table[:, :1].astype(object) for table in NOISY["sums"])
    alone = credit(NearestNumbers(), known, shown)
    both = credit(
        NearestNumbers(), np.hstack([known, WORDS[colours]]), np.hstack([shown, WORDS[colours]])
    )
    assert both > alone + 0.2


def test_without_anything_in_common_it_is_at_guessing():
    known, shown = NOISY["sums"]
    found = credit(NearestNumbers(), known, shown[RANDOM.permutation(PEOPLE)])
    assert found < 5 / PEOPLE


def test_the_order_of_rows_says_nothing():
    known, shown = NOISY["gross errors"]
    order = RANDOM.permutation(PEOPLE)
    fits = []
    for rows in (known, known[order]):
        seen, labels = tables(rows, shown)
        fits.append(NearestNumbers().fit(View.of(seen, labels=labels)))
        numbers = np.asarray(seen.known.block(0, PEOPLE))
    some, row = numbers[:50], np.asarray(seen.anonymous)[0]
    np.testing.assert_array_equal(*(fit.of(some, row) for fit in fits))


def test_a_distance_is_worth_the_logarithm_of_its_chances():
    ages = np.array([30.0, 33.0, 70.0, np.nan])
    likely = np.array([[1.0] * 9 + [0.5] * 8 + [0.0], [0.2] * 18])
    parts = np.array([[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, 0.5, 0.25]])
    score = ComparedNumbers([NumberSlot(ages, ages, likely, parts, 0.1, 1.0)] * 2)
    known = np.array([[0, 1], [1, 2], [2, 3], [-1, 0], [3, -1]])
    shown = np.array([[0, 0], [0, 2], [1, 1], [0, 1], [3, 1]])

    def worth(held, met):
        if held in {-1, 3} or met in {-1, 3}:
            return 0
        apart = abs(ages[held] - ages[met])
        # Steps end at 1, then at 8 steps to each power of 2: 3 lies in the fourth after 2.
        near = 1.0 if apart < 2 else 0.5 if apart < 4 else 0.0
        return math.log(parts[0][met] * near + parts[1][met] * 0.2 + 0.1)

    expected = [sum(map(worth, *pair)) for pair in zip(known, shown, strict=True)]
    np.testing.assert_allclose(in_units(score, score.of(known, shown)), expected, atol=1e-9)
    for row in shown:
        np.testing.assert_array_equal(
            score.of(known, row), score.of(known, np.broadcast_to(row, known.shape))
        )


def test_it_refuses_baskets():
    bags = BagRows.of([0, 1, 1], [0, 2, 3], tokens=2)
    seen = Observations(bags, bags[1:], [1], tokens=2)
    with pytest.raises(InvalidInput) as refused:
        NearestNumbers().fit(View.of(seen, labels=np.array(["1", "2"], object)))
    assert refused.value.code == "wrong-kind-of-rows"


def test_it_keeps_its_promises():
    known, shown = (table[:30] for table in NOISY["sums"])
    seen, labels = tables(known, shown)
    check_attack(NearestNumbers(), seen, labels=labels)
