"""What stacked attacks learn from: labels of the panel only, or guesses about other rows."""

import numpy as np
import pytest
from tests.baskets import bags_of, baskets
from tests.snapshots import refuses

from reidrisk import Observations, SelfTrained, Stacked
from reidrisk.attacks import View, combined_scores, self_trained, stacked
from reidrisk.attacks.combined_scores import Distinct, comparable
from reidrisk.learning import stacking
from reidrisk.learning.stacking import Pairs, combine

SEEN = baskets()
OTHERS = baskets(seed=5)
HALF = SEEN.only(slice(0, 60))


@pytest.fixture
def taught(monkeypatch):
    """What models are taught: labels, and the pairs that they are labels of."""
    calls = []

    def record(pairs, labels, lessons=None):
        calls.append((pairs, labels, pairs if lessons is None else lessons))
        return np.full(len(pairs.targets), float(len(calls)))

    monkeypatch.setattr(stacked, "combine", record)
    monkeypatch.setattr(self_trained, "combine", record)
    return calls


def keys(rows):
    return combined_scores.contents(rows, SEEN.tokens)


def test_labels_are_those_of_the_panel_and_of_nobody_else(taught):
    Stacked(HALF).fit(View.of(SEEN))
    ((pairs, labels, lessons),) = taught
    tables = Distinct.of(comparable(View.of(SEEN), "a test"))
    told = {
        (one, other)
        for one, number in tables.shown.items()
        for other, row in tables.known.items()
        if labels[number] == row
    }
    panel = set(zip(keys(HALF.anonymous), keys(HALF.true_rows), strict=True))
    assert lessons is pairs
    assert told == panel
    assert (labels >= 0).sum() == len(told) < len(SEEN.truth)


def test_other_people_are_compared_among_themselves(taught):
    Stacked(OTHERS).fit(View.of(SEEN))
    ((pairs, labels, lessons),) = taught
    assert lessons is not pairs
    assert len(labels) == len(set(keys(OTHERS.anonymous)))
    assert lessons.features.shape[1] == pairs.features.shape[1]
    assert (labels[lessons.targets] == lessons.rows).mean() > 1 / 120


def test_no_guess_teaches_the_model_that_judges_it(taught):
    score = SelfTrained().fit(View.of(SEEN))
    assert len(taught) == 2
    by_model = np.round(score.scores / score.unit.steps).astype(int)
    targets = np.repeat(np.arange(len(score.shown)), np.diff(score.starts))
    for number, (_, labels, _) in enumerate(taught, start=1):
        judged = np.unique(targets[by_model == number])
        assert len(judged)
        assert (labels[judged] == -1).all()
        assert (labels >= 0).any()


def test_what_two_people_of_a_panel_show_teaches_nothing():
    counts = np.eye(4, dtype=int)
    known, shown = bags_of(counts), bags_of(counts[[0, 0, 1, 1]])
    tables = Distinct.of(comparable(View.of(Observations(known, shown, [0, 1, 2, 2])), "a test"))
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        panel = Observations(known, shown, [0, 1, 2, 2]).only(np.array(order))
        labels = tables.labels(panel)
        one, other = (tables.shown[key] for key in combined_scores.contents(shown, 4)[1:3])
        assert labels[one] == -1
        assert labels[other] == tables.known[combined_scores.contents(known, 4)[2]]


def test_a_panel_of_another_alphabet_is_refused():
    with refuses("alphabet-mismatch"):
        Stacked(baskets(tokens=79)).fit(View.of(SEEN))


def pairs_of(features, corrected, listed):
    targets = np.repeat(np.arange(len(features) // listed), listed)
    rows = np.tile(np.arange(listed), len(features) // listed)
    return Pairs(targets, rows, features.astype(np.float32), corrected.astype(np.float32))


def test_a_view_that_is_right_more_often_than_the_model_is_taken():
    """Features say nothing, and the second view is always right."""
    random = np.random.default_rng(1)
    labels = random.integers(0, 5, 80)
    right = (np.tile(np.arange(5), 80) == np.repeat(labels, 5)).astype(float)
    views = np.stack([random.random(400), right], axis=1)
    pairs = pairs_of(np.zeros((400, 2)), views, 5)
    np.testing.assert_array_equal(combine(pairs, labels), views[:, 1].astype(np.float32))
    helpful = pairs_of(right[:, None], views[:, :1], 5)
    scores = combine(helpful, labels)
    assert scores[right == 1].min() > scores[right == 0].max()


def test_without_a_true_pair_to_learn_from_the_first_view_is_taken():
    pairs = pairs_of(np.zeros((20, 1)), np.arange(20.0)[:, None], 5)
    np.testing.assert_array_equal(combine(pairs, np.full(4, -1)), np.arange(20.0))


def test_what_is_listed_is_corrected_for_hubs_and_in_order():
    tables = Distinct.of(comparable(View.of(SEEN), "a test"))
    pairs, views = tables.tables.compare()
    assert (np.diff(pairs.targets * 10**6 + pairs.rows) > 0).all()
    for view in views:
        every = np.indices((len(tables.shown), len(tables.known))).reshape(2, -1)
        products = view.products(*every).reshape(len(tables.shown), -1)
        near = np.sort(products, axis=0)[::-1][:10].sum(axis=0) // 10
        np.testing.assert_array_equal(view.near_known, near)
        corrected = products - near // 2
        shown = np.arange(len(view.rows))
        np.testing.assert_array_equal(view.scores, corrected[shown[:, None], view.rows])
        # Among 120 rows the fifty candidates hold the best one after the correction.
        np.testing.assert_array_equal(view.scores[:, 0], corrected.max(axis=1))


def test_the_same_trees_for_any_number_of_threads():
    from threadpoolctl import threadpool_limits

    random = np.random.default_rng(2)
    features = random.random((3000, 6)).astype(np.float32)
    same = features[:, 0] + random.random(3000) > 1.4
    found = []
    for threads in (1, 4):
        with threadpool_limits(threads):
            found.append(stacking.decide(stacking.learn(features, same), features))
    np.testing.assert_array_equal(*found)
