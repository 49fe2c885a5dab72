"""Scores of columns that are combined: lists by brute force, and what is learned from them."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import BagRows, LocalEngine, Observations, ReferenceEngine, SelfTrained, Stacked
from reidrisk.attacks import RecordLinkage, TextCosine, View
from reidrisk.attacks.combined_scores import Distinct, comparable
from reidrisk.attacks.compared_columns import Columns
from reidrisk.attacks.record_linkage.values import Content
from reidrisk.core.rows import MISSING
from reidrisk.estimates import mean_of_credits
from reidrisk.learning.stacking import CANDIDATES
from reidrisk.risk._crossfit import search_refitted
from reidrisk.testing import check_attack

LETTERS = list("aeiklmnorst")


def typed(random, word):
    """A word with a letter that is wrong, lost, or turned round with the next."""
    at = random.integers(len(word) - 1)
    middle = (random.choice(LETTERS), "", word[at + 1] + word[at])[random.integers(3)]
    return word[:at] + middle + word[at + 1 + (len(middle) == 2) :]


def people(users, seed=0, kinds="nnd", wrong=0.5, gaps=0.1):
    """Tables of names (n), numbers (i) and dates (d), and the values behind tokens.

    All columns share one list of values, so that a token may stand in several.
    """
    random = np.random.default_rng(seed)
    known, shown = [], []
    names = ["".join(random.choice(LETTERS, 6)) for _ in range(users // 4)]
    for kind in kinds:
        if kind == "n":
            here = [names[one] for one in random.integers(len(names), size=users)]
            there = [typed(random, one) if random.random() < wrong else one for one in here]
        elif kind == "i":
            numbers = random.integers(18, 90, users)
            here = numbers.astype(str).tolist()
            there = (numbers + random.integers(-1, 2, users)).astype(str).tolist()
        else:
            days = 1 + random.integers(0, (60, 12, 28), (users, 3))
            here = [f"19{39 + year:02}{month:02}{day:02}" for year, month, day in days]
            there = [
                one[:4] + one[6:] + one[4:6] if random.random() < wrong else one for one in here
            ]
        known.append(here)
        shown.append(there)
    values = np.array(sorted({one for side in (known, shown) for some in side for one in some}))
    sides = [np.searchsorted(values, np.array(side)).T for side in (known, shown)]
    sides = [np.where(random.random(side.shape) < gaps, MISSING, side) for side in sides]
    truth = random.permutation(users)
    seen = Observations(sides[0], sides[1][truth], truth, tokens=len(values))
    return seen, values.astype(object)


def view_of(seen, values, **more):
    return View.of(seen, labels=values, columns=True, **more)


def right(seen, values, attack):
    """The share of targets that an attack names."""
    matches = search_refitted(LocalEngine(), seen, attack, view_of(seen, values))
    return mean_of_credits(matches.credit)


BOTH = pytest.mark.parametrize(
    "attack", [SelfTrained(), pytest.param(Stacked(), marks=pytest.mark.slow)]
)

SEEN, VALUES = people(300)
FEW, OF_FEW = people(100)


@pytest.fixture(scope="module")
def tables():
    return Distinct.of(comparable(view_of(SEEN, VALUES), "a test")).tables


def test_the_best_of_record_linkage_are_listed_in_both_directions(tables):
    pairs, views = tables.compare()
    score = RecordLinkage().fit(view_of(SEEN, VALUES))
    every = np.indices((len(tables.shown), len(tables.known))).reshape(2, -1)
    products = score.of(tables.known[every[1]], tables.shown[every[0]])
    products = products.reshape(len(tables.shown), -1)
    np.testing.assert_array_equal(views[0].products(*every), products.ravel())
    for near, rows in ((views[0].near_shown, products), (views[0].near_known, products.T)):
        np.testing.assert_array_equal(near, np.sort(rows, axis=1)[:, :-11:-1].sum(axis=1) // 10)
    corrected = products - views[0].near_known // 2
    best = np.argsort(-products, axis=1, kind="stable")[:, :CANDIDATES]
    expected = np.take_along_axis(corrected, best, axis=1).max(axis=1)
    np.testing.assert_array_equal(views[0].scores[:, 0], expected)
    assert not np.isnan(pairs.features).any()


def test_rows_are_told_apart_by_slots_and_gaps():
    """A token in another column, or an empty cell, is another row."""
    values = np.array(["anna", "otto", "mary"], object)
    rows = np.array([[0, 1], [1, 0], [0, MISSING], [MISSING, 0], [2, 2]])
    tables = Distinct.of(comparable(view_of(Observations(rows, rows, np.arange(5), tokens=3),
                                            values), "a test"))  # fmt: skip
    assert len(tables.known) == len(tables.shown) == 5
    here = Observations(rows, rows[:2], [0, 1], tokens=3)
    labels = tables.labels(here)
    assert (labels >= 0).sum() == 2
    score = SelfTrained().fit(view_of(here, values))
    assert score.ordered
    for engine in (LocalEngine(), ReferenceEngine()):
        assert engine.search(here, score).credit.tolist() == [1, 1]


def test_levels_and_differences_are_features(tables):
    pairs, views = tables.compare()
    slots = SEEN.slots
    sides = pairs.features[:, 4 * len(views) :]
    level, worth = sides[:, :slots], sides[:, slots : 2 * slots]
    apart = sides[:, 2 * slots]
    known, shown = tables.known[pairs.rows], tables.shown[pairs.targets]
    empty = (known == MISSING) | (shown == MISSING)
    np.testing.assert_array_equal(level == -1, empty)
    np.testing.assert_array_equal(level == 0, ~empty & (known == shown))
    assert (worth[empty] == 0).all()
    assert tables.numeric == {2: Content.DATES}
    np.testing.assert_array_equal(apart < 0, empty[:, 2])
    assert (apart[~empty[:, 2] & (known == shown)[:, 2]] == 0).all()
    assert (apart > 0).any()
    assert (sides[:, -1] == (shown != MISSING).sum(axis=1)).all()


@BOTH
def test_combined_scores_name_more_than_any_of_them(attack):
    singles = [right(SEEN, VALUES, one()).value for one in (RecordLinkage, TextCosine)]
    assert right(SEEN, VALUES, attack).value >= max(singles)


@BOTH
def test_where_the_truth_is_mixed_nothing_is_found(attack):
    """What is known of one half of mixed pairs says nothing about the others."""
    mixed = SEEN.changed(truth=np.roll(SEEN.truth, 1))
    assert right(mixed, VALUES, attack).value <= 2 / SEEN.users


def test_a_score_that_is_as_confident_by_chance_is_not_believed():
    """Texts of near numbers stand out and are mostly those of others."""
    seen, values = people(400, seed=3, kinds="iii", gaps=0)
    tables = Distinct.of(comparable(view_of(seen, values), "a test"))
    _, views = tables.tables.compare()
    guesses = tables.tables.guess(views)
    labels = tables.labels(seen)
    true = [(view.guesses == labels).sum() for view in views]
    share = [own / view.confident.sum() for own, view in zip(true, views, strict=True)]
    assert guesses.view == np.argmax(true)
    assert (guesses.rows == labels).sum() >= max(share) * (guesses.rows >= 0).sum() - 3
    single = right(seen, values, RecordLinkage()).value
    assert right(seen, values, SelfTrained()).value >= 0.9 * single


def test_other_people_teach_what_is_compared_in_the_same_way():
    others, names = people(150, seed=9)
    values = np.array(sorted({*VALUES, *names}), object)

    def numbered(rows, old):
        return np.where(rows == MISSING, MISSING, np.searchsorted(values, old)[rows])

    seen, panel = (
        Observations(
            numbered(np.asarray(one.known), old), numbered(np.asarray(one.anonymous), old),
            one.truth, tokens=len(values),
        )
        for one, old in ((SEEN, VALUES.astype(str)), (others, names.astype(str)))
    )  # fmt: skip
    score = Stacked(panel).fit(view_of(seen, values))
    found = LocalEngine().credit(seen, score).mean()
    assert found >= right(seen, values, TextCosine()).value - 0.02


def test_a_panel_tells_self_trained_nothing():
    half = SEEN.only(slice(0, 100))
    one, other = (SelfTrained().fit(view_of(SEEN, VALUES, panel=panel)) for panel in (None, half))
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("attack", [SelfTrained(), Stacked(FEW.only(slice(0, 50)))])
def test_attacks_on_columns_keep_their_promises(attack):
    check_attack(attack, FEW, labels=OF_FEW, columns=True)


def test_what_cannot_be_compared_is_refused():
    view = view_of(SEEN, VALUES)
    with refuses("missing-knowledge"):
        SelfTrained().fit(replace(view, labels=None))
    bags = BagRows([[0], [1]], tokens=2)
    with refuses("wrong-kind-of-rows"):
        Columns.of(view_of(Observations(bags, bags, [0, 1]), VALUES[:2]), "a test")
