"""Item samples and randomised response: what they show is what they say."""

import itertools
import math

import numpy as np
import pytest
from tests.releases.worlds import RARE, Fixed, p_value
from tests.snapshots import refuses

from reidrisk import ItemSamples, RandomisedResponse
from reidrisk.data import make_profiles, synthetic_topics
from reidrisk.releases import observe, repeat, reveal
from reidrisk.scores import GRID

BASKETS = make_profiles(
    [0, 0, 0, 1, 1, 2], [0] * 6, [0, 1, 2, 1, 3, 3], [4, 1, 1, 2, 2, 1], taxonomy=range(5)
)


@pytest.mark.parametrize("by_count", [True, False])
@pytest.mark.parametrize("replacement", [True, False])
def test_samples_follow_the_exact_rows(by_count, replacement):
    release = ItemSamples(samples=2, by_count=by_count, replacement=replacement)
    exact = release.rows(BASKETS)
    rows = repeat(release, BASKETS, np.arange(3), repeats=3_000, seed=3).astype(np.int64)
    for user in range(3):
        columns = exact.column_of(rows[user])
        assert p_value(columns, exact.chances.toarray()[user]) > RARE


def test_exact_rows_of_a_basket_by_hand():
    exact = ItemSamples(samples=2, replacement=False).rows(BASKETS)
    chances = dict(
        zip(map(tuple, exact.outcomes.tolist()), exact.chances.toarray().T.tolist(), strict=True)
    )
    assert chances[0, 1] == pytest.approx([4 / 6 * 1 / 2, 0, 0])
    assert chances[1, 0] == pytest.approx([1 / 6 * 4 / 5, 0, 0])
    assert chances[1, 3] == pytest.approx([0, 1 / 2, 0])
    assert chances[3, -1] == pytest.approx([0, 0, 1])


def test_epochs_are_taken_together():
    people = make_profiles([0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 2, 1])
    exact = ItemSamples(samples=1).rows(people)
    assert exact.chances.toarray()[0].tolist() == [0.75, 0.25]
    alike = ItemSamples(samples=1, by_count=False).rows(people)
    assert alike.chances.toarray()[0].tolist() == [0.5, 0.5]


def test_two_sites_draw_on_their_own():
    people = synthetic_topics(2_000, topics=20, epochs=2, types=4, size=3, seed=1)
    seen = observe(ItemSamples(samples=4), people, targets=500, seed=7)
    agree = (np.asarray(seen.known)[seen.truth] == seen.anonymous).mean()
    assert (seen.slots, seen.tokens) == (4, 20)
    assert 0.1 < agree < 0.5


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0, math.inf])
def test_responses_follow_the_exact_rows(epsilon):
    release, sets = RandomisedResponse(epsilon=epsilon), [[0], [3], [-1]]
    exact = release.rows(Fixed.of([sets], 4))
    rows = observe(release, Fixed.copies(sets, 4, 20_000), seed=5).anonymous.astype(np.int64)
    assert p_value(exact.column_of(rows), exact.chances.toarray()[0]) > RARE


def test_epsilon_is_the_largest_ratio_of_chances():
    release = RandomisedResponse(epsilon=1.3)
    chances = release.rows(Fixed.of([[[0]], [[1]], [[2]]], 4)).chances.toarray()
    ratios = [math.log(a / b) for a, b in itertools.permutations(chances[:, 0], 2)]
    assert max(ratios) == pytest.approx(1.3)


def test_full_information_is_the_exact_row():
    release, people = RandomisedResponse(epsilon=1.3), Fixed.of([[[0], [2]], [[1], [-1]]], 4)
    exact = release.rows(people)
    seen = reveal(release, people, seed=1)
    for column, shown in enumerate(exact.outcomes):
        nats = release.likelihood(4).of(np.asarray(seen.known), shown) / GRID
        np.testing.assert_allclose(np.exp(nats), exact.chances.toarray()[:, column], atol=1e-9)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: ItemSamples(samples=0), "not-a-whole-number"),
        (lambda: RandomisedResponse(epsilon=-1), "not-a-number"),
        (lambda: RandomisedResponse(epsilon=math.nan), "not-a-number"),
    ],
)
def test_bad_releases_are_refused(make, code):
    with refuses(code):
        make()
