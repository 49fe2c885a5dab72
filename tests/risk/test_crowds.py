"""Smaller crowds and several guesses: what one search among everyone says of them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import InvalidInput, LocalEngine, Observations, ReferenceEngine, TopicsApi, data
from reidrisk.attacks import Hamming, Overlap, RarityOverlap, TypeAware, WeightedHamming
from reidrisk.attacks.protocol import View
from reidrisk.core.observations import MISSING
from reidrisk.engines import ranks_are_free
from reidrisk.estimates import mean_of_credits
from reidrisk.estimates.crowds import LEFT_OPEN, credit_in_crowds, ranks_for
from reidrisk.risk import fitted, measure, measure_guesses, measure_sizes
from reidrisk.risk._measure import measured, size_curve

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=2_000, seed=1)
SEEN = API.observe(PEOPLE, targets=300, seed=7)
VIEW = View.of(SEEN, release=API, population=PEOPLE.interests)
FREE, SLOW = (Hamming(), WeightedHamming(API)), (Overlap(), RarityOverlap(), TypeAware())


def scores_of(seen, attack):
    """For each target, how everybody rates, by the definition of the score."""
    score = fitted(attack, seen).score
    everyone = seen.known.block(0, seen.known.users)
    return [score.of(everyone, shown).tolist() for shown in seen.anonymous]


@st.composite
def small_worlds(draw, most=6):
    users, slots, tokens = draw(st.integers(1, most)), draw(st.integers(1, 3)), 3
    row = st.lists(st.integers(0, tokens - 1), min_size=slots, max_size=slots)
    known = draw(st.lists(row, min_size=users, max_size=users))
    shown = draw(st.lists(row, min_size=1, max_size=min(4, users)))
    truth = draw(st.permutations(range(users)))[: len(shown)]
    return Observations(known, shown, truth, tokens=tokens)


@given(small_worlds(), st.sampled_from([Hamming(), Overlap(), RarityOverlap()]))
def test_a_point_is_the_mean_over_all_crowds(seen, attack):
    """Every crowd of the true user and others, and every winner of it."""
    users = seen.known.users
    curve = measure_sizes(seen, attack, users=range(1, users + 1))
    for size in range(1, users + 1):
        total = Fraction(0)
        for true, scores in zip(seen.truth.tolist(), scores_of(seen, attack), strict=True):
            others = [score for row, score in enumerate(scores) if row != true]
            crowds = [(scores[true], *some) for some in combinations(others, size - 1)]
            right = [Fraction(one[0] == max(one), one.count(max(one))) for one in crowds]
            total += sum(right) / len(right)
        assert curve[size].value == pytest.approx(float(total / len(seen.truth)), rel=1e-12)


@given(small_worlds(), st.sampled_from([Hamming(), Overlap(), RarityOverlap()]))
def test_several_guesses_are_the_first_of_a_list_in_random_order(seen, attack):
    """The chance that the truth is among the first k, when equal ones come in any order."""
    users = seen.known.users
    curve = measure_guesses(seen, attack, guesses=range(1, users + 1))
    for guesses in range(1, users + 1):
        total = Fraction(0)
        for true, scores in zip(seen.truth.tolist(), scores_of(seen, attack), strict=True):
            above = sum(score > scores[true] for score in scores)
            places = range(above + 1, above + scores.count(scores[true]) + 1)
            total += Fraction(sum(place <= guesses for place in places), len(places))
        assert curve[guesses].value == pytest.approx(float(total / len(seen.truth)), rel=1e-12)
    assert curve[users].value == 1


@pytest.mark.parametrize("attack", [*FREE, *SLOW])
def test_the_whole_crowd_is_everyone_and_one_guess_is_the_risk(attack):
    mine = fitted(attack, SEEN, VIEW)
    assert ranks_are_free(SEEN, mine.score) == (attack in FREE)
    risk = measure(SEEN, mine)[8]
    sizes = measure_sizes(SEEN, mine, users=[2_000, 20, 300])
    assert sizes[2_000] == risk
    assert list(sizes) == [20, 300, 2_000]
    assert sizes[20].value > sizes[300].value > risk.value
    guesses = measure_guesses(SEEN, mine, guesses=[10, 1])
    assert guesses[1] == risk
    assert guesses[10].value > risk.value
    assert "among" in str(sizes)
    assert "names      10: " in str(guesses)


@pytest.mark.parametrize("attack", SLOW)
def test_what_is_not_counted_lies_within_the_interval(attack):
    """Ranks counted to the end lie between the ends of those that are not."""
    mine, sizes = fitted(attack, SEEN, VIEW), [20, 300, 2_000]
    (whole,) = measured(SEEN, [mine], ranks=None)
    exact = size_curve(whole, sizes)
    for ranks in (500, 1, 30):
        (part,) = measured(SEEN, [mine], ranks=ranks)
        found = size_curve(part, sizes)
        for size in sizes:
            assert found[size].low <= exact[size].low
            assert found[size].value <= exact[size].value <= found[size].high
            assert found[size].high >= exact[size].high
    assert found[20].method == "binomial, doubled tails, ranks counted to 30"
    assert exact[20].method == found[2_000].method == "binomial, doubled tails"
    chosen = measure_sizes(SEEN, mine, users=sizes)
    for size in sizes:
        assert exact[size].value - chosen[size].value <= LEFT_OPEN


@given(st.integers(2, 10_000_000), st.data())
def test_ranks_suffice_for_the_smallest_crowd(users, data):
    size = data.draw(st.integers(2, users))
    ranks = ranks_for(users, [users, size])
    if ranks is not None:
        assert credit_in_crowds(ranks, 0, users, size) <= LEFT_OPEN * (1 + 1e-9)
        few = ranks // 2 if size <= users / 10 else 0  # and no more than are needed
        assert credit_in_crowds(few, 0, users, size) > LEFT_OPEN
    assert ranks_for(users, [users]) == ranks_for(users, [1, users]) == 1


def test_every_engine_and_cut_measures_the_same():
    few = SEEN.only(slice(0, 40))
    for attack in (WeightedHamming(API), Overlap()):
        for ask in (
            lambda engine, one=attack: measure_sizes(few, one, users=[50, 2_000], engine=engine),
            lambda engine, one=attack: measure_guesses(few, one, guesses=[7], engine=engine),
        ):
            slow = ask(ReferenceEngine())
            assert ask(LocalEngine()) == ask(LocalEngine(threads=1, rows=77)) == slow


def test_who_cannot_be_assessed_is_in_no_estimate():
    known = SEEN.known.block(0, 2_000).copy()
    known[SEEN.truth[:40]] = MISSING
    seen = Observations(known, SEEN.anonymous, SEEN.truth, tokens=SEEN.tokens)
    left_out = int(np.isin(SEEN.truth, SEEN.truth[:40]).sum())
    others = seen.only(~np.isin(SEEN.truth, SEEN.truth[:40]))
    for ask in (
        lambda one: measure_sizes(one, Hamming(), users=[30, 2_000]),
        lambda one: measure_guesses(one, Hamming(), guesses=[1, 5]),
    ):
        found = ask(seen)
        assert found.not_assessed == left_out
        assert found.points == ask(others).points


def test_errors_at_near_sizes_go_together():
    curve = measure_sizes(SEEN, Hamming(), users=[1, 100, 110, 2_000])
    together = np.array(curve.correlation)
    assert np.array_equal(together, together.T)
    assert together[0].tolist() == [1, 0, 0, 0]
    assert together[1, 2] > 0.99 > together[1, 3] > 0
    credit = measured(SEEN, [Hamming()], ranks=None)[0].matches
    two = [credit_in_crowds(credit.above, credit.level, 2_000, size) for size in (100, 2_000)]
    assert together[1, 3] == pytest.approx(np.corrcoef(two)[0, 1], rel=1e-9)


def test_a_study_that_may_stop_has_intervals_that_allow_it():
    (found,) = measured(SEEN, [Hamming()], precision=0.2, ranks=None)
    assert {one.method for one in size_curve(found, [10, 2_000]).values()} == {"betting, anytime"}
    assert found.mean_of(found.matches.credit) == found.curve[8]
    (whole,) = measured(SEEN, [Hamming()])
    assert whole.mean_of(whole.matches.credit) == mean_of_credits(whole.matches.credit)


@pytest.mark.parametrize("users", [[], [0], [2_001], [1.5]])
def test_crowds_that_are_not_there(users):
    with pytest.raises(InvalidInput, match="users"):
        measure_sizes(SEEN, Hamming(), users=users)


@pytest.mark.parametrize(
    ("guesses", "code"),
    [
        ([], "empty-list"),
        ([0], "not-a-whole-number"),
        ([1.5], "not-a-whole-number"),
        ([1, 2_001], "too-many-guesses"),
    ],
)
def test_guesses_that_nobody_can_make(guesses, code):
    with refuses(code):
        measure_guesses(SEEN, Hamming(), guesses=guesses)
