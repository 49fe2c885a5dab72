"""Error rates of an attack: against definitions, with every kind of rows, engine and visitor."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.estimates import equal_error_rate, global_linkability, mean_of_credits
from reidrisk.risk import fitted, measure_error_rates
from reidrisk.risk._error_rates import MOST_OTHERS
from reidrisk.scores.inner_product import InnerProduct

API = rr.TopicsApi(topics=12, noise=0.1)
PEOPLE = rr.data.synthetic_topics(users=150, topics=12, epochs=3, seed=1)
SEEN = API.observe(PEOPLE, seed=7)
STRANGE = API.observe(PEOPLE, strangers=0.4, seed=7)
ATTACKS = [rr.Hamming(), rr.WeightedHamming(API), rr.Overlap()]


def ratings(seen, attack):
    """How everybody rates for each anonymous row, targets x users, by the definition."""
    score = fitted(attack, seen).score
    everyone = seen.known.block(0, seen.known.users)
    return np.array([score.of(everyone, shown) for shown in seen.anonymous])


def first_of_all_orders(scores, true, rank):
    """The share of orders of equal users in which the true one is among the first so many."""
    users = range(len(scores))
    orders = [
        order
        for order in permutations(users)
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return sum(true in order[:rank] for order in orders) / len(orders)


@st.composite
def small_worlds(draw):
    users = draw(st.integers(2, 5))
    row = st.lists(st.integers(0, 1), min_size=2, max_size=2)
    known = draw(st.lists(row, min_size=users, max_size=users))
    shown = draw(st.lists(row, min_size=2, max_size=users))
    truth = draw(st.permutations(range(users)))[: len(shown)]
    return rr.Observations(known, shown, truth, tokens=2)


@settings(max_examples=40)
@given(small_worlds(), st.sampled_from([rr.Hamming(), rr.Overlap()]))
def test_rank_k_is_that_of_the_standard_with_equal_users_in_every_order(seen, attack):
    found = measure_error_rates(seen, attack, ranks=range(1, seen.users + 1))
    rated = ratings(seen, attack)
    for one in found.ranks:
        right = [
            first_of_all_orders(scores.tolist(), true, one.rank)
            for scores, true in zip(rated, seen.truth.tolist(), strict=True)
        ]
        assert one.right.value == pytest.approx(np.mean(right), rel=1e-12)
    assert found.ranks[-1].right.value == 1


@settings(max_examples=40)
@given(small_worlds(), st.sampled_from([rr.Hamming(), rr.Overlap()]))
def test_comparisons_are_of_all_others_where_they_are_few(seen, attack):
    found = measure_error_rates(seen, attack)
    rated, own = ratings(seen, attack), np.arange(len(seen.truth))
    mated = rated[own, seen.truth]
    others = np.ones(rated.shape, bool)
    others[own, seen.truth] = False
    nonmated = rated[others].reshape(len(own), -1)
    assert found.others == seen.users - 1
    assert found.equal_error == equal_error_rate(mated, nonmated)
    assert found.global_linkability == global_linkability(mated, nonmated)
    steps = fitted(attack, seen).score.unit.steps
    for point in found.verification:
        above = point.threshold * steps
        assert point.false_positive.value == pytest.approx((nonmated > above).mean())
        assert point.false_negative.value == pytest.approx((mated <= above).mean())
    assert found.verification[-1].false_negative.value == 0
    assert found.verification[0].false_positive.value == 0


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("seen", [SEEN, STRANGE])
def test_searches_have_the_errors_of_the_standard(seen, attack):
    """FPIR: somebody above the threshold. FNIR: the right one is not named, or not above it."""
    found = measure_error_rates(seen, attack, accepted=(0.05, 0.2))
    score = fitted(attack, seen).score
    rated, own = ratings(seen, attack), np.arange(len(seen.truth))
    best = rated.max(axis=1)
    credit = (rated[own, seen.truth] == best) / (rated == best[:, None]).sum(axis=1)
    if seen.strangers is None:
        alone = rated.copy()
        alone[own, seen.truth] = np.iinfo(np.int64).min
        visitors, judged, met = alone.max(axis=1)[1::2], own[1::2], "own row left out"
    else:
        everyone = seen.known.block(0, seen.known.users)
        of_strangers = np.array([score.of(everyone, shown) for shown in seen.strangers])
        visitors, judged, met = of_strangers.max(axis=1)[1::2], own, "strangers"
    assert (found.met, found.visitors) == (met, len(visitors))
    for point in found.identification:
        above = point.threshold * score.unit.steps
        assert point.false_positive.value == pytest.approx((visitors > above).mean())
        right = np.where(best > above, credit, 0)[judged]
        assert point.false_negative.value == pytest.approx(1 - right.mean())
        interval = mean_of_credits(right)
        assert point.false_negative.low == pytest.approx(1 - interval.high)
    assert found.at(0.2).wanted == 0.2
    assert found.at(0.3) is None
    last = found.identification[-1]
    assert last.false_positive.value == 1


def test_strangers_are_accused_as_often_as_where_they_are_measured_alone():
    wanted = (0.05, 0.2)
    found = measure_error_rates(STRANGE, rr.Hamming(), accepted=wanted)
    (alone, *_) = rr.measure_strangers(STRANGE, rr.Hamming(), accused=wanted)
    assert len(found.identification) == len(alone.decisions)
    for one, other in zip(found.identification, alone.decisions, strict=True):
        assert (one.wanted, one.false_positive) == (other.wanted, other.accused)
        assert one.false_negative.value == 1 - other.right.value
        assert one.threshold == pytest.approx(other.threshold)


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_engine_measures_the_same(attack):
    found = [
        measure_error_rates(STRANGE, attack, engine=engine)
        for engine in (LocalEngine(), LocalEngine(rows=7), ReferenceEngine())
    ]
    assert found[0] == found[1] == found[2]


def test_others_are_a_sample_where_there_are_many():
    found = measure_error_rates(SEEN, rr.Hamming())
    assert found.others == MOST_OTHERS < SEEN.users - 1
    again = measure_error_rates(SEEN, rr.Hamming(), seed=1)
    assert again.equal_error != found.equal_error
    assert again.ranks == found.ranks
    # No target is compared with its own row.
    everyone = rr.Observations([[one] for one in range(200)], [[one] for one in range(200)],
                               range(200), tokens=200)  # fmt: skip
    found = measure_error_rates(everyone, rr.Hamming())
    assert found.equal_error.value == 0
    assert found.verification[-2].false_positive.value == 0


def test_targets_of_whom_nothing_was_seen_are_left_out():
    known = [[0, 1], [-1, -1], [1, 0], [0, 0]]
    seen = rr.Observations(known, [[0, 1], [1, 1], [-1, -1], [0, 0]], [0, 1, 2, 3], tokens=2)
    found = measure_error_rates(seen, rr.Hamming())
    assert (found.targets, found.not_assessed) == (2, 2)
    assert found.ranks[0].right.value == 1


def test_gains_of_what_cannot_happen_leave_the_rest_apart():
    """A token that cannot be shown costs so much that floats would not see small differences."""
    weights = np.array([1.0, 1.0 + 2**-40, -10_000.0, -10_000.0])
    known = [[0, 2], [1, 2], [0, 3], [1, 3]]
    seen = rr.Observations(known, known, range(4), tokens=4)
    score = rr.TokenWeights(np.array([weights, weights]))
    found = measure_error_rates(seen, rr.risk.Fitted(rr.Hamming(), score))
    gains = score.of(np.array(known), np.array(known))
    assert len(set(gains.tolist())) == 2
    assert len(set(gains.astype(np.float64).tolist())) == 1
    # Own rows rate -9,999 and a little; rows that share the second token alone, -10,000.
    assert found.verification[0].false_positive.value == 0
    thresholds = {point.threshold for point in found.verification}
    assert min(thresholds) < -9_999 < max(thresholds)


def test_bags_are_rated_too():
    random = np.random.default_rng(1)
    bags = [random.choice(30, size, replace=False) for size in random.integers(1, 9, 60)]
    seen = rr.Observations(rr.BagRows(bags, tokens=30), rr.BagRows(bags, tokens=30), range(60))
    found = measure_error_rates(seen, rr.Cosine())
    assert found.equal_error.value < 0.1
    assert found.global_linkability.value > 0.8
    refitted = measure_error_rates(seen, rr.SelfTrained())
    assert refitted.attack == "self-trained"


def test_vectors_are_rated_too():
    random = np.random.default_rng(1)
    own = random.normal(size=(80, 8))
    noisy = own + random.normal(0, 0.3, own.shape)
    grid = rr.Grid.of(own, noisy, bits=16)
    known, shown = (rr.VectorRows.rounded(side[:, None, :], grid) for side in (own, noisy))
    seen = rr.Observations(known, shown, range(80))
    score = InnerProduct.of_vectors()
    found = measure_error_rates(seen, rr.risk.Fitted(rr.Hamming(), score))
    assert found.equal_error.value < 0.2
    assert found.others == 79


def test_two_scores_have_no_common_threshold():
    with refuses("two-scores"):
        measure_error_rates(SEEN, rr.Stacked())


@pytest.mark.parametrize(
    ("known", "shown"), [([[0], [1]], [[0]]), ([[0]], [[0]]), ([[0], [1]], [[0], [-1]])]
)
def test_too_few_to_judge(known, shown):
    seen = rr.Observations(known, shown, range(len(shown)), tokens=2)
    with refuses("too-few-targets"):
        measure_error_rates(seen, rr.Hamming())
