import numpy as np
import pytest
from tests.risk.worlds import Nothing
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine, TopicsApi, data
from reidrisk.attacks import Hamming, Overlap, WeightedHamming
from reidrisk.risk import measure

API = TopicsApi()
SEEN = API.observe(data.synthetic_topics(users=4_000, seed=1), targets=1_200, seed=7)
SLOTS = (1, 2, 4, 8)


def test_the_value_is_the_mean_credit_of_a_search():
    curve = measure(SEEN, WeightedHamming(API), slots=SLOTS)
    score = WeightedHamming(API).fit(SEEN)
    for slots in SLOTS:
        credit = ReferenceEngine().search(SEEN.prefix(slots), score).credit
        assert curve[slots].value == pytest.approx(credit.mean(), rel=1e-12)
        assert curve[slots].low < curve[slots].value < curve[slots].high
        assert curve[slots].trials == 1_200
    assert list(curve) == list(SLOTS)
    assert curve.guessing == 1 / 4_000


def test_several_attacks_at_once_are_each_alone():
    attacks = [Hamming(), WeightedHamming(API), Overlap()]
    together = measure(SEEN, attacks, slots=SLOTS)
    assert [curve.attack for curve in together] == [attack.name for attack in attacks]
    for attack, curve in zip(attacks, together, strict=True):
        assert measure(SEEN, attack, slots=SLOTS) == curve


def test_every_engine_measures_the_same():
    few = SEEN.only(slice(0, 100))
    fast = measure(few, WeightedHamming(API), slots=SLOTS, engine=LocalEngine(threads=1))
    assert fast == measure(few, WeightedHamming(API), slots=SLOTS, engine=ReferenceEngine())


def test_a_constant_guess_is_right_once_in_n():
    curve = measure(SEEN, Nothing(), slots=8)
    assert curve[8].value == pytest.approx(1 / 4_000, rel=1e-12)


def test_without_slots_all_are_used():
    assert list(measure(SEEN, Hamming())) == [8]


def test_precision_stops_early_and_says_how_many():
    curve = measure(SEEN, WeightedHamming(API), slots=8, precision=0.08)
    assert curve[8].trials < 1_200
    assert curve[8].high - curve[8].low <= 0.16
    assert curve[8].method == "betting, anytime"
    again = measure(SEEN.only(slice(0, curve[8].trials)), WeightedHamming(API), slots=8)
    assert curve[8].value == pytest.approx(again[8].value, rel=1e-12)


def test_too_few_targets_for_a_precision_are_all_used():
    curve = measure(SEEN, WeightedHamming(API), slots=8, precision=1e-6)
    assert curve[8].trials == 1_200
    assert curve[8].high - curve[8].low > 1e-3


def with_gaps():
    known, anonymous = np.array(SEEN.known), np.array(SEEN.anonymous)
    anonymous[:10, 0] = -1
    anonymous[5] = -1
    known[SEEN.truth[20:23]] = -1
    return Observations(known, anonymous, SEEN.truth, tokens=349)


def test_targets_of_whom_nothing_was_seen_are_counted_and_left_out():
    curve = measure(with_gaps(), WeightedHamming(API), slots=(1, 8))
    assert dict(curve.not_assessed) == {1: 13, 8: 4}
    assert curve[1].trials == 1_187
    assert curve[8].trials == 1_196
    assert "13 targets not assessed" in str(curve)


def test_nobody_who_can_be_assessed_is_an_error():
    seen = Observations([[1], [2]], [[-1], [-1]], [0, 1], tokens=3)
    with refuses("nothing-shown"):
        measure(seen, Hamming())


def test_one_user_is_always_named():
    seen = Observations([[1, 2]], [[0, 0]], [0], tokens=3)
    assert measure(seen, Hamming())[2].value == 1


@pytest.mark.parametrize(
    ("slots", "code"),
    [
        (9, "slot-out-of-range"),
        (0, "not-a-whole-number"),
        ((), "slot-out-of-range"),
        (2.5, "not-a-whole-number"),
    ],
)
def test_slots_that_are_not_there(slots, code):
    with refuses(code):
        measure(SEEN, Hamming(), slots=slots)


def test_no_attack_is_an_error():
    with refuses("no-attack"):
        measure(SEEN, [])


@pytest.mark.parametrize("precision", [-1, float("nan"), "fine"])
def test_a_precision_is_a_width(precision):
    with refuses("not-a-number"):
        measure(SEEN, Hamming(), precision=precision)


def test_what_was_not_measured_is_named():
    with refuses("not-measured"):
        _ = measure(SEEN, Hamming(), slots=(1, 8))[3]
