"""Everybody is named at once: against all assignments, guessing, and one target at a time."""

import gzip
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from tests.risk.worlds import Nothing
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk import BagRows, LocalEngine, Observations, ReferenceEngine, TopicsApi, data
from reidrisk.attacks import Cosine, CosineCsls, Hamming, WeightedHamming
from reidrisk.estimates import mean_of_credits
from reidrisk.risk import fitted, measure, measure_assignment, measure_guesses
from reidrisk.risk._crossfit import halves_of

API = TopicsApi(topics=60)
PEOPLE = data.synthetic_topics(users=400, topics=60, epochs=8, seed=1)
SEEN = API.observe(PEOPLE, seed=7)


def every_score(seen, attack):
    """Targets x users, by the definition of the score."""
    score = fitted(attack, seen).score
    everyone = seen.known.block(0, seen.known.users)
    return np.array([score.of(everyone, shown) for shown in seen.anonymous])


def best_credits(seen, attack):
    """The mean credits of all assignments with the largest sum, by trying everything.

    Going without (None) is as good as the worst row, and then any row that is as bad is named.
    """
    scores, found = every_score(seen, attack), {}
    worst, true = scores.min(axis=1), scores[range(len(scores)), seen.truth]
    luck = np.where(true == worst, 1 / (scores == true[:, None]).sum(axis=1), 0.0)
    for each in product([None, *range(seen.users)], repeat=len(scores)):
        given = [row for row in each if row is not None]
        if len(set(given)) < len(given):
            continue
        gains = [0 if row is None else scores[n, row] - worst[n] for n, row in enumerate(each)]
        right = [luck[n] if row is None else row == seen.truth[n] for n, row in enumerate(each)]
        found.setdefault(sum(gains), []).append(np.mean(right))
    return found[max(found)]


@pytest.mark.parametrize("seed", range(40))
def test_it_is_between_the_best_assignments(seed):
    """Four people or fewer with three slots; where one assignment is best, it is that one."""
    random = np.random.default_rng(seed)
    users, targets = random.integers(2, 5), random.integers(1, 4)
    known = random.integers(4, size=(users, 3))
    truth = random.permutation(users)[: min(users, targets)]
    shown = random.integers(4, size=(len(truth), 3))
    seen = Observations(known, shown, truth, tokens=4)
    shares = best_credits(seen, Hamming())
    found = measure_assignment(seen, Hamming()).right.value
    assert min(shares) - 1e-9 <= found <= max(shares) + 1e-9


@pytest.mark.parametrize("keep_best", [1, 5, 50, 300])
def test_who_knows_nothing_guesses(keep_best):
    """All rows tie: however many are listed, one of all is right; no diagonal helps."""
    users = 300
    rows = np.zeros((users, 1), int)
    found = [
        measure_assignment(
            Observations(rows, rows, truth, tokens=2), Nothing(), keep_best=keep_best
        ).right.value
        for truth in (np.arange(users), np.random.default_rng(2).permutation(users))
    ]
    # About one is right, in the mean over eight orders.
    assert max(found) * users < 3
    assert keep_best > 50 or min(found) * users > 0.2


def test_targets_who_cannot_be_told_apart_share():
    """Each pair of users shows the same, so that either order of each pair is as good."""
    rows = np.repeat(np.arange(200), 2)[:, None]
    found = measure_assignment(Observations(rows, rows, np.arange(400), tokens=200), Hamming())
    assert found.alone.value == 0.5
    assert found.right.value == pytest.approx(0.5, abs=0.05)


def test_nobody_is_named_twice():
    """One target is nearer to the row of another, who has no other: alone half, together all."""
    known, shown = [[0, 1], [0, 2]], [[0, 1], [0, 3]]
    found = measure_assignment(Observations(known, shown, [0, 1], tokens=4), Hamming())
    assert (found.alone.value, found.right.value) == (0.75, 1.0)


def test_order_of_rows_changes_nothing():
    """Scores of eight slots hardly tie, and what is best does not depend on where it stands."""
    random = np.random.default_rng(3)
    users, targets = random.permutation(SEEN.users), random.permutation(len(SEEN.truth))
    rows, shown = (np.asarray(side) for side in (SEEN.known, SEEN.anonymous))
    other = Observations(
        rows[users], shown[targets], np.argsort(users)[SEEN.truth[targets]], tokens=SEEN.tokens
    )
    one, same = (measure_assignment(each, WeightedHamming(API)) for each in (SEEN, other))
    assert (one.alone.value, one.recall.value) == (same.alone.value, same.recall.value)
    assert one.right.value == pytest.approx(same.right.value, abs=0.01)


def test_alone_is_what_measure_finds():
    found = measure_assignment(SEEN, WeightedHamming(API), slots=4, level=0.9)
    curve = measure(SEEN, WeightedHamming(API), slots=4, level=0.9)
    assert found.alone == curve[4]
    assert (found.slots, found.users, found.together, found.listed) == (4, 400, 400, 50)
    guesses = measure_guesses(SEEN, WeightedHamming(API), guesses=(50,), slots=4, level=0.9)
    assert found.recall == guesses[50]


def test_engines_agree():
    small = SEEN.only(slice(0, 60))
    ways = [LocalEngine(threads=1), LocalEngine(rows=50), ReferenceEngine()]
    found = [measure_assignment(small, WeightedHamming(API), engine=one) for one in ways]
    assert found[0] == found[1] == found[2]


def test_strangers_take_rows():
    """A stranger who shows what a user shows gets the row in half of the orders."""
    rows = np.arange(300)[:, None]
    alone = Observations(rows, rows, np.arange(300), tokens=300)
    met = Observations(rows, rows, np.arange(300), tokens=300, strangers=rows)
    assert measure_assignment(alone, Hamming()).right.value == 1.0
    found = measure_assignment(met, Hamming())
    assert (found.together, found.alone.value) == (600, 1.0)
    assert found.right.value == pytest.approx(0.5, abs=0.05)


def test_who_shows_nothing_takes_no_row():
    rows = np.arange(4)[:, None]
    shown = np.array([[0], [1], [2], [-1]])
    found = measure_assignment(Observations(rows, shown, range(4), tokens=4), Hamming())
    assert (found.together, found.not_assessed, found.right.value) == (3, 1, 1.0)


def test_two_rows_of_one_user_are_refused():
    with refuses("duplicate-target"):
        measure_assignment(Observations([[0], [1]], [[0], [0]], [0, 0], tokens=2), Hamming())


def test_no_list_is_refused():
    with refuses("not-a-whole-number"):
        measure_assignment(SEEN, Hamming(), keep_best=0)


def test_one_target_depends_on_nobody():
    found = measure_assignment(SEEN.only(slice(0, 1)), Hamming())
    assert found.right == mean_of_credits([found.right.value])


def test_permuted_truth_is_guessing():
    """An attacker who is told nothing about who is who names at random."""
    truth = np.random.default_rng(5).permutation(SEEN.truth)
    seen = Observations(np.asarray(SEEN.known), np.asarray(SEEN.anonymous), truth, tokens=60)
    found = measure_assignment(seen, WeightedHamming(API)).right
    assert found.low <= 1 / 400 <= found.high
    assert found.value < 0.02


def test_it_is_said_in_words():
    assert str(measure_assignment(SEEN, WeightedHamming(API))).splitlines()[0] == (
        "weighted-hamming after 8 slots, 400 rows at once among 400 users"
    )


@dataclass(frozen=True)
class LearnsFromPairs:
    """Counts slots that agree, and wants true pairs of other people."""

    name: ClassVar[str] = "learns-from-pairs"
    knows: ClassVar[str] = "the true pairs of half of the people"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous", "panel")
    crossfits: ClassVar[bool] = True

    def fit(self, view):
        assert len(view.panel.truth) < len(SEEN.truth)
        return WeightedHamming(API).fit(replace(view, panel=None))


def test_halves_that_know_each_others_pairs_are_named_apart():
    """Neither takes rows from the other, since whoever attacks one half knows the other."""
    found = measure_assignment(SEEN, LearnsFromPairs())
    score, half, rights = fitted(WeightedHamming(API), SEEN), halves_of(SEEN), 0.0
    for one in (0, 1):
        mine = np.flatnonzero(half == one)
        rights += measure_assignment(SEEN.only(mine), score).right.value * len(mine)
    assert found.together == max(np.bincount(half))
    assert found.right.value == pytest.approx(rights / len(half), abs=0.01)
    assert found.right.trials == len(half)
    curve = measure(SEEN, LearnsFromPairs())
    assert found.alone == curve[8]


def weeks_of_shopping(*sides):
    """Baskets with counts of the same households in some weeks, and in others."""
    with gzip.open(DATA / "completejourney_household_week_category.csv.gz", "rt") as file:
        columns = file.readline().strip().lower().split(",")
        rows = np.loadtxt(file, int, delimiter=",", usecols=range(len(columns)))
    household, week, item, count = (
        rows[:, columns.index(name)] for name in ("household_id", "week", "cat_id", "items")
    )
    parts = [(week >= first) & (week <= last) & (count > 0) for first, last in sides]
    users = np.intersect1d(household[parts[0]], household[parts[1]])
    tables = []
    for part in parts:
        there = part & np.isin(household, users)
        held = np.zeros((len(users), item.max() + 1), int)
        np.add.at(held, (np.searchsorted(users, household[there]), item[there]), count[there])
        own, tokens = np.nonzero(held)
        ends = np.append(0, np.cumsum(np.bincount(own, minlength=len(users))))
        bags = BagRows.of(tokens, ends, tokens=held.shape[1], counts=held[own, tokens])
        tables.append(bags)
    return Observations(*tables, np.arange(len(users)), tokens=item.max() + 1)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("weeks", "attack", "least"),
    [
        (((1, 26), (27, 52)), Cosine(), 0.64),
        (((1, 26), (27, 52)), CosineCsls(), 0.64),
        (((20, 23), (24, 27)), Cosine(), 0.305),
    ],
)
def test_households_are_named_more_often_at_once(weeks, attack, least):
    """Everybody at once: .652, .650 and .314; one by one .584, .629 and .282."""
    found = measure_assignment(weeks_of_shopping(*weeks), attack)
    assert found.right.value > least
    assert found.right.value > found.alone.value
