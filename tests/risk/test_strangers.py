"""Attackers who meet strangers: against enumeration, and against what they do without."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.attacks.protocol import View
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.people.subset import Subset
from reidrisk.releases import are_strangers, observe, prepared
from reidrisk.risk import fitted, measure_strangers
from reidrisk.risk._posterior import beliefs
from reidrisk.risk.open_sets import posterior_of_best
from reidrisk.scores import TypeMixture

API = rr.TopicsApi()
PEOPLE = rr.data.synthetic_topics(4000, epochs=4, seed=2)
SEEN = API.observe(PEOPLE, targets=800, strangers=0.4, seed=3)

# A population of two types, who show one of two tokens in each of two slots. A site shows the token
# of a coin that the type throws for the slot; another site sees the same coin with chance 1/2.
WEIGHTS = (Fraction(1, 3), Fraction(2, 3))
SINGLE = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 5), Fraction(4, 5)))
JOINT = tuple(
    tuple(
        tuple(Fraction(1, 2) * one[o] * one[w] + Fraction(1, 2) * (o == w) * one[o] for w in (0, 1))
        for o in (0, 1)
    )
    for one in SINGLE
)
ROWS = tuple(product((0, 1), repeat=2))


def chance_alone(row):
    return sum(
        share * np.prod([one[token] for token in row])
        for share, one in zip(WEIGHTS, SINGLE, strict=True)
    )


def chance_of_both(shown, known):
    return sum(
        share * np.prod([both[o][w] for o, w in zip(shown, known, strict=True)])
        for share, both in zip(WEIGHTS, JOINT, strict=True)
    )


@pytest.mark.parametrize("present", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
def test_the_posterior_is_exact_where_the_population_is_known(present):
    """All worlds of three known users and one visitor, in fractions."""
    model = TypeMixture(*(np.array(one, float) for one in (WEIGHTS, SINGLE, JOINT)))
    calibration = {}
    for known in product(ROWS, repeat=3):
        seen = Observations(known, ROWS, [0] * len(ROWS), tokens=2)
        found = ReferenceEngine().search(seen, model)
        sums = ReferenceEngine().evidence(seen, model)
        claimed = posterior_of_best(seen, model, found, sums, float(present))
        of_world = np.prod([chance_alone(row) for row in known])
        for place, shown in enumerate(ROWS):
            # Everybody's row is independent, so the others cancel.
            being = [
                present / 3 * of_world / chance_alone(row) * chance_of_both(shown, row)
                for row in known
            ]
            stranger = (1 - present) * of_world * chance_alone(shown)
            posterior = max(being) / (sum(being) + stranger)
            assert claimed[place] == pytest.approx(float(posterior), rel=1e-9)
            all_of_it, right = calibration.get(posterior, (0, 0))
            calibration[posterior] = all_of_it + sum(being) + stranger, right + max(being)
    # Of all visits about which the attacker is as sure, it is right in as many.
    assert sum(both for both, _ in calibration.values()) == 1
    assert all(right / both == posterior for posterior, (both, right) in calibration.items())
    assert len(calibration) > 5


def test_if_everybody_is_known_the_posterior_is_what_it_was():
    """Bit for bit."""
    model = fitted(rr.WeightedHamming(API), SEEN).score.normalised()
    claimed, found, evidence = beliefs(SEEN, model, LocalEngine())
    same = posterior_of_best(SEEN, model, found, evidence, 1.0)
    np.testing.assert_array_equal(same, claimed)


@pytest.mark.parametrize("attack", [rr.Hamming(), rr.WeightedHamming(API), rr.TypeAware(API)])
def test_closed_figures_do_not_know_of_strangers(attack):
    """Bit for bit; and whoever names everybody is right as often as it was."""
    without = SEEN.changed(strangers=None)
    view = View.of(without, release=API, population=PEOPLE.interests)
    mine = fitted(attack, without, view)
    before = rr.measure(without, mine, slots=(2, 4))
    assert rr.measure(SEEN, mine, slots=(2, 4)).points == before.points
    if attack.likelihood:
        claims = [rr.posterior(seen, mine).claimed for seen in (SEEN, without)]
        np.testing.assert_array_equal(*claims)
    by_rule = {one.rule: one for one in measure_strangers(SEEN, mine)}
    assert by_rule["score"].decisions[-1].right == before[4]
    assert by_rule["gap"].decisions[-1].right == before[4]
    assert set(by_rule) == {"score", "gap"} | ({"posterior"} if attack.likelihood else set())
    for one in by_rule.values():
        assert (one.users, one.targets, one.slots) == (SEEN.users, 800, 4)
        assert (one.strangers, one.not_assessed, one.present) == (800, 0, 0.5)


def test_engines_agree():
    some = API.observe(rr.data.synthetic_topics(300, epochs=3), strangers=0.4, seed=3)
    fast, slow = (
        measure_strangers(some, [rr.Hamming(), rr.WeightedHamming(API)], engine=engine)
        for engine in (LocalEngine(threads=2, rows=17), ReferenceEngine())
    )
    assert [one for one in fast if one.rule != "posterior"] == [
        one for one in slow if one.rule != "posterior"
    ]
    # Sums of chances agree to 1e-6.
    (mine,), (theirs,) = ([one for one in each if one.rule == "posterior"] for each in (fast, slow))
    for one, other in zip(mine.decisions, theirs.decisions, strict=True):
        assert one.threshold == pytest.approx(other.threshold, rel=1e-5)
        assert one.right.value == pytest.approx(other.right.value, abs=0.01)


def test_shares_do_not_depend_on_how_many_are_present_but_false_claims_do():
    few, many = (
        {one.rule: one for one in measure_strangers(SEEN, rr.WeightedHamming(API), present=share)}
        for share in (0.01, 0.99)
    )
    for one, other in zip(few["gap"].decisions, many["gap"].decisions, strict=True):
        assert (one.right, one.wrong, one.accused) == (other.right, other.wrong, other.accused)
    assert few["gap"].at(0.05).false.value > many["gap"].at(0.05).false.value
    assert few["posterior"].decisions[0].threshold < many["posterior"].decisions[0].threshold


def test_the_rule_decides_the_audit():
    """A raw score is high because tokens are rare, whoever shows them."""
    found = {one.rule: one.at(0.05) for one in measure_strangers(SEEN, rr.WeightedHamming(API))}
    assert 1.5 * found["score"].right.value < found["gap"].right.value
    assert 1.5 * found["score"].right.value < found["posterior"].right.value


def test_those_of_whom_nothing_was_seen_are_counted_apart():
    known = np.arange(8).reshape(4, 2) % 5
    seen = Observations(
        known, known[[0, 1, 2]] * [[1], [1], [0]] - [[0], [0], [1]], [0, 1, 2], tokens=5,
        strangers=[[3, 3], [-1, -1], [4, 4]],
    )  # fmt: skip
    (one, _) = measure_strangers(seen, rr.Hamming(), present=0.5)
    assert (one.targets, one.strangers, one.not_assessed) == (2, 2, 2)
    assert one.decisions[-1].right.value == 1


def test_bags_are_met_too():
    bags = [[0, 1], [2, 3], [4]]
    seen = Observations(
        BagRows(bags, tokens=6), bags, [0, 1, 2], tokens=6, strangers=[[5], [0, 5], [2]]
    )
    found = measure_strangers(seen, rr.Overlap())
    assert [one.rule for one in found] == ["score", "gap"]
    assert found[0].decisions[-1].right.value == 1


def test_with_one_known_user_there_is_no_second_best():
    seen = Observations([[0]], [[0]], [0], tokens=2, strangers=[[1], [0]])
    assert [one.rule for one in measure_strangers(seen, rr.Hamming())] == ["score"]


@dataclass(frozen=True)
class Elsewhere:
    """A likelihood whose score does not say what strangers show."""

    name: ClassVar[str] = "elsewhere"
    knows: ClassVar[str] = ""
    assumes: ClassVar[str] = ""
    likelihood: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        class Score:
            def check(self, observations): ...

            def of(self, known, shown):
                return np.asarray((known == shown).sum(axis=1), np.int64)

        return Score()


def test_who_does_not_know_what_strangers_show_has_no_posterior():
    found = measure_strangers(SEEN.only(slice(0, 20)), Elsewhere())
    assert [one.rule for one in found] == ["score", "gap"]


def test_what_cannot_be_measured_is_refused():
    with refuses("no-strangers"):
        measure_strangers(SEEN.changed(strangers=None), rr.Hamming())
    lonely = rr.TokenRows(
        np.array([[0, 1, 2, 3], [-1, -1, -1, -1]], SEEN.anonymous.dtype), tokens=SEEN.tokens
    )
    with refuses("too-few-strangers"):
        measure_strangers(SEEN.changed(strangers=lonely), rr.Hamming())
    with refuses("share-out-of-range"):
        measure_strangers(SEEN, rr.Hamming(), present=0)


def test_a_view_holds_strangers_among_the_others():
    view = View.of(SEEN)
    both = np.concatenate([SEEN.anonymous, SEEN.strangers])
    assert sorted(map(tuple, view.anonymous)) == sorted(map(tuple, both))
    assert [tuple(row) for row in view.anonymous] == sorted(map(tuple, both))
    bags = Observations(BagRows([[0]], tokens=2), [[0]], [0], tokens=2, strangers=[[], [1, 1]])
    assert [bag.tolist() for bag in View.of(bags).anonymous] == [[], [0], [1, 1]]


def test_bounds_are_not_those_of_a_release_that_saw_only_who_is_known():
    """Cohorts of everybody, and cohorts of those who are known, are two releases."""
    people, cohorts = rr.data.synthetic_topics(40, epochs=2, seed=1), rr.Cohorts(users=4)
    seen = observe(cohorts, people, strangers=0.5, seed=3)
    known = Subset.of(people, np.flatnonzero(~are_strangers(people.ids, 0.5, 3)))
    with refuses("unprepared-release"):
        rr.spectrum(seen, [rr.Hamming()], release=cohorts, people=known, seed=3)
    found = rr.spectrum(
        seen, [rr.Hamming()], release=prepared(cohorts, people), people=known, seed=3
    )
    reached = max(one.estimate.low for one in found.bounds if one.side == "lower")
    assert all(one.estimate.high >= reached for one in found.bounds if one.side == "upper")
