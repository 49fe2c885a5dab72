"""Attacks that are fitted anew for each search, and cross-fitted where they learn from pairs."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import BagRows, LocalEngine, Observations, OverlapWeights, SelfTrained, Stacked
from reidrisk.attacks.protocol import View
from reidrisk.core.matches import in_places, join_targets, select_targets
from reidrisk.risk import measure
from reidrisk.risk._crossfit import halves_of, search_refitted

RNG = np.random.default_rng(11)
KNOWN = RNG.integers(0, 40, (120, 6))
TRUTH = RNG.permutation(120)[:80]
SHOWN = np.where(RNG.random((80, 6)) < 0.5, KNOWN[TRUTH], RNG.integers(0, 40, (80, 6)))
SEEN = Observations(KNOWN, SHOWN, TRUTH, tokens=40)


@dataclass(frozen=True)
class Learning:
    """An attack that keeps the panels it was given."""

    name: ClassVar[str] = "learning"
    knows: ClassVar[str] = "some pairs"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("panel",)
    crossfits: ClassVar[bool] = True

    panels: list = field(default_factory=list)

    def fit(self, view):
        self.panels.append(view.panel)
        return OverlapWeights(np.ones(view.tokens))


def test_nobody_is_judged_by_what_was_learned_from_their_own_pair():
    attack = Learning()
    search_refitted(LocalEngine(), SEEN, attack, View.of(SEEN))
    half = halves_of(SEEN)
    assert set(half.tolist()) == {0, 1}
    for one, panel in enumerate(attack.panels):
        assert sorted(panel.truth.tolist()) == sorted(TRUTH[half != one].tolist())
        assert not set(panel.truth.tolist()) & set(TRUTH[half == one].tolist())
        assert panel.known.users == SEEN.users  # everybody is among the candidates


def test_halves_depend_on_what_people_hold_and_on_nothing_else():
    half = halves_of(SEEN)
    order = RNG.permutation(len(TRUTH))
    assert (halves_of(SEEN.only(order)) == half[order]).all()
    people = RNG.permutation(len(KNOWN))
    moved = Observations(KNOWN[people], SHOWN, np.argsort(people)[TRUTH], tokens=40)
    assert (halves_of(moved) == half).all()
    twins = Observations(np.repeat(KNOWN, 2, axis=0), np.repeat(SHOWN, 2, axis=0),
                         np.stack([2 * TRUTH, 2 * TRUTH + 1], axis=1).ravel(),
                         tokens=40)  # fmt: skip
    assert (halves_of(twins).reshape(-1, 2) == half[:, None]).all()


def test_bags_are_told_apart_whatever_their_padding():
    bags = [row[: 1 + place % 6] for place, row in enumerate(KNOWN)]
    seen = Observations(BagRows(bags, tokens=40), [bags[one] for one in TRUTH], TRUTH, tokens=40)
    some = np.arange(0, 80, 6)  # of other sizes, so other padding
    assert (halves_of(seen.only(some)) == halves_of(seen)[some]).all()


def test_people_of_one_half_are_told_apart_in_another_way():
    half = halves_of(SEEN)
    alone = np.flatnonzero(half == 0)
    some = np.unique(np.asarray(SEEN.true_rows)[alone], axis=0)[:3]
    truth = np.array([0, 1, 2, 0])
    twins = Observations(some, some[truth], truth, tokens=40)
    one, *others = halves_of(twins).tolist()
    assert {one, *others} == {0, 1}
    assert others[-1] == one  # who is here twice is in one half
    same = Observations(np.repeat(some[:1], 4, axis=0), some[[0] * 4], np.arange(4), tokens=40)
    assert sorted(halves_of(same).tolist()) == [0, 0, 1, 1]


def test_too_few_targets_are_refused():
    with refuses("too-few-targets"):
        halves_of(SEEN.only(slice(0, 1)))


def test_a_score_that_learns_nothing_gives_the_same_matches():
    plain = LocalEngine().search(SEEN, OverlapWeights(np.ones(40)), ranks=None, list_best=3)
    found = search_refitted(LocalEngine(), SEEN, Learning(), View.of(SEEN), ranks=None, list_best=3)
    for name in ("best", "ties", "true_score", "best_rows", "best_scores", "above", "level"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name), name)


def test_matches_are_put_in_their_places():
    whole = LocalEngine().search(SEEN, OverlapWeights(np.ones(40)), ranks=None, second=True)
    places = [np.arange(1, 80, 2), np.arange(0, 80, 2)]
    parts = [select_targets(whole, some) for some in places]
    again = in_places(parts, places)
    for name in ("best", "ties", "true_score", "above", "second"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    assert len(join_targets(parts)) == 80


def test_an_attack_is_fitted_anew_for_each_number_of_slots():
    attack = Learning()
    curve = measure(SEEN, attack, slots=(2, 6))
    assert [panel.slots for panel in attack.panels] == [2, 2, 6, 6]
    assert curve[2].trials == curve[6].trials == 80


def test_a_precision_stops_no_sooner_and_changes_no_matches():
    whole = measure(SEEN, Learning())[6].value
    assert measure(SEEN, Learning(), precision=0.0)[6].value == whole


@pytest.mark.parametrize("attack", [SelfTrained(), Stacked()], ids=lambda one: one.name)
def test_with_the_truth_permuted_attacks_that_learn_are_at_guessing(attack):
    rng = np.random.default_rng(5)
    taste = rng.dirichlet(np.full(30, 0.2), 150)
    known, shown = ([rng.choice(30, 25, p=p) for p in taste] for _ in range(2))
    rows = BagRows.of(*_counted(known), tokens=30)
    met = rows.codec.beside(shown, "anonymous")
    true = measure(Observations(rows, met, np.arange(150)), attack)[1]
    false = measure(Observations(rows, met, rng.permutation(150)), attack)[1]
    assert true.low > 0.5
    assert false.low <= 1 / 150


def _counted(rows):
    """Bags as `BagRows.of` takes them."""
    return np.concatenate(rows), np.cumsum([0, *map(len, rows)])
