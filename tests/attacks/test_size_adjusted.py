"""Size-adjusted: chances with the sums that were seen, products as by hand, and where it wins."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from tests.shared_data import DATA, needs_data

from reidrisk import BagRows, LocalEngine, Observations, ReferenceEngine, measure
from reidrisk.attacks import Cosine, Overlap, RarityOverlap, SizeAdjusted, View
from reidrisk.attacks.bag_tables import tables_of
from reidrisk.attacks.size_adjusted import size_adjusted_scores
from reidrisk.scores.inner_product import STEPS
from reidrisk.scores.size_maps import SizeClasses, class_of
from reidrisk.testing import check_attack, check_score


def bags_of(held):
    """The rows of a matrix of zeros and ones as bags."""
    rows, tokens = np.nonzero(held)
    ends = np.cumsum(np.bincount(rows, minlength=len(held)))
    return BagRows.of(tokens, np.append(0, ends), tokens=held.shape[1])


def world(users=300, tokens=40, seed=1, spread=1.5):
    """Sets of both sides whose sizes vary, around tastes that stay."""
    random = np.random.default_rng(seed)
    liking = random.normal(size=(users, tokens)) + random.gumbel(size=tokens) - 2
    sides = [
        random.logistic(size=liking.shape) * 0.5 < liking + spread * random.normal(size=(users, 1))
        for _ in range(2)
    ]
    return Observations(*map(bags_of, sides), np.arange(users), tokens=tokens)


SEEN = world()


def test_chances_have_the_sums_of_the_table():
    held = SEEN.known.to_csr()
    found = SizeClasses.fitted(held)
    kinds = found.of(held)
    expected = found.chances[kinds]
    np.testing.assert_allclose(expected.sum(axis=0), held.getnnz(axis=0), rtol=2e-3)
    for kind in np.unique(kinds[np.diff(held.indptr) > 0]):
        mine = kinds == kind
        assert expected[mine].sum() == pytest.approx(held[mine].nnz, rel=0.05)


def test_odds_of_two_tokens_have_the_same_ratio_in_rows_of_any_size():
    odds = np.log(1 / SizeClasses.fitted(SEEN.known.to_csr()).chances - 1)
    ratios = odds - odds[:, :1]
    np.testing.assert_allclose(ratios, np.broadcast_to(ratios[0], odds.shape), atol=1e-8)


def test_rows_of_sizes_that_were_not_seen_are_of_the_nearest_class():
    held = sparse.csr_matrix(np.tril(np.ones((8, 8), int))[2:5])
    found = SizeClasses.fitted(held)
    rows = sparse.csr_matrix(np.tril(np.ones((8, 8), int)))
    assert found.of(rows).tolist() == [0, 0, 0, 2, 3, 3, 3, 3]
    assert class_of(np.array([0, 1, 2, 4])).tolist() == [0, 1, 5, 9]


def test_a_score_is_the_cosine_of_what_is_left():
    tables = tables_of(View.of(SEEN), "test")
    share = (tables.holders + 0.5) / (600 + 1)
    for power, score in zip((0.0, 0.5), size_adjusted_scores(tables, (0.0, 0.5)), strict=True):
        weights = (share * (1 - share)) ** -power
        left = []
        for side, rows in zip(tables, (SEEN.known, SEEN.anonymous), strict=True):
            held = rows.to_csr()
            chances = SizeClasses.fitted(side)
            rest = held.toarray() - chances.chances[chances.of(held)]
            rest *= np.sqrt(weights)
            left.append(rest / np.linalg.norm(rest, axis=1, keepdims=True))
        some = SEEN.known.sizes > 0
        found = score.of(SEEN.known.block(0, 300), SEEN.anonymous[7]) / STEPS**2
        np.testing.assert_allclose(found[some], (left[0] @ left[1][7])[some], atol=1e-4)


def test_every_promise_is_kept():
    few = SEEN.only(np.arange(12))
    check_attack(SizeAdjusted(), few)
    check_score(SizeAdjusted().fit(View.of(few)), few)
    random = np.random.default_rng(2)
    for shape in ((40, 3), (40, 3, 2)):
        known, shown = random.integers(-1, 5, shape), random.integers(-1, 5, (9, 3))
        check_attack(SizeAdjusted(), Observations(known, shown, np.arange(9), tokens=5))


@pytest.mark.parametrize(
    "held",
    [np.zeros((4, 3), int), np.ones((4, 3), int), np.eye(4, dtype=int), np.eye(4, 3, dtype=int)],
    ids=["nothing", "everything", "one each", "an empty row"],
)
def test_tables_without_anything_to_tell_apart_are_rated(held):
    rows = bags_of(held)
    seen = Observations(rows, rows, np.arange(4), tokens=held.shape[1])
    score = SizeAdjusted().fit(View.of(seen))
    slow, fast = (one.search(seen, score) for one in (ReferenceEngine(), LocalEngine()))
    np.testing.assert_array_equal(slow.best, fast.best)
    np.testing.assert_array_equal(slow.ties, fast.ties)


def test_rows_that_hold_much_do_not_win_by_size():
    sizes = SEEN.known.sizes
    won = {
        attack.name: sizes[
            LocalEngine().search(SEEN, attack.fit(View.of(SEEN)), list_best=1).best_rows[:, 0]
        ].mean()
        for attack in (SizeAdjusted(), Overlap(), RarityOverlap())
    }
    assert won["size-adjusted"] < 1.3 * sizes.mean()
    assert min(won["overlap"], won["rarity-overlap"]) > 1.5 * sizes.mean()
    curves = measure(SEEN, [SizeAdjusted(), Overlap(), Cosine()])
    risk = {one.attack: one[1].value for one in curves}
    assert risk["size-adjusted"] > max(risk["overlap"], risk["cosine"])


def test_with_the_truth_permuted_it_guesses():
    other = np.random.default_rng(1).permutation(300)
    seen = Observations(SEEN.known, SEEN.anonymous, other, tokens=SEEN.tokens)
    assert measure(seen, SizeAdjusted())[1].value < 0.02


@needs_data
def test_weeks_of_shopping_as_sets():
    """Issue 27: a pair likelihood by Rasch's margins names .159, the cosine .112."""
    with gzip.open(DATA / "completejourney_household_week_category.csv.gz", "rt") as file:
        columns = file.readline().strip().lower().split(",")
        rows = np.loadtxt(file, int, delimiter=",", usecols=range(len(columns)))
    household, week, item = (
        rows[:, columns.index(name)] for name in ("household_id", "week", "cat_id")
    )
    sides = [(week >= first) & (week <= first + 3) for first in (1, 21)]
    users = np.intersect1d(household[sides[0]], household[sides[1]])
    held = [np.zeros((len(users), item.max() + 1), int) for _ in sides]
    for side, table in zip(sides, held, strict=True):
        there = side & np.isin(household, users)
        table[np.searchsorted(users, household[there]), item[there]] = 1
    seen = Observations(*map(bags_of, held), np.arange(len(users)), tokens=item.max() + 1)
    assert measure(seen, SizeAdjusted())[1].value > 0.16
