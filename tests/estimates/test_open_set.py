"""Thresholds chosen on some strangers, judged on others."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.estimates import mean_of_credits, open_set
from reidrisk.estimates._open_set import OpenSet

SURE = [3.0, 3.0, 1.0, 0.0]
CREDITS = [1.0, 0.5, 0.0, 1.0]
STRANGERS = [2.0, 2.5, 0.5, 0.0, 1.0, 3.5]


def test_decisions_by_hand():
    """Strangers 2, 0.5 and 1 choose; 2.5, 0 and 3.5 judge."""
    found = open_set(SURE, CREDITS, STRANGERS, present=0.5, wanted=(0.25, 0.5), level=0.9)
    assert [(one.threshold, one.wanted) for one in found[:-1]] == [
        (2.0, 0.25),
        (1.0, 0.5),
        (0.5, None),
    ]
    first = found[0]
    assert (first.right.value, first.wrong.value, first.accused.value) == (1.5 / 4, 0.5 / 4, 2 / 3)
    assert first.false.value == pytest.approx((0.125 + 2 / 3) / (0.5 + 2 / 3))
    assert first.false.trials == 2 + 2
    # As sure as the threshold is not sure enough.
    assert found[1].right.value == 1.5 / 4
    # The last names everybody.
    assert found[-1].threshold < 0
    assert found[-1].right == mean_of_credits(CREDITS, level=0.9)
    assert found[-1].accused.value == 1


def test_whoever_cannot_be_assessed_is_in_false_claims_only():
    """The third target: named by who names everybody, and wrongly."""
    keep = np.array([True, True, False, True])
    every = open_set(SURE, CREDITS, STRANGERS, present=0.5, level=0.9)
    found = open_set(SURE, CREDITS, STRANGERS, present=0.5, level=0.9, assessed=keep)
    assert found[-1].right == mean_of_credits(np.array(CREDITS)[keep], level=0.9)
    assert found[-1].wrong.trials == 3
    assert [one.false for one in found] == [one.false for one in every]
    same = open_set(SURE, CREDITS, STRANGERS, present=0.5, level=0.9, assessed=[True] * 4)
    assert same == every


def test_false_claims_among_present_people_alone_are_wrong_ones():
    found = open_set(SURE, CREDITS, STRANGERS, present=1.0)
    assert found[-1].false.value == pytest.approx(1.5 / 4)
    assert found[0].false.trials == 2


def test_who_says_nothing_says_nothing_false():
    found = open_set([0.0, 0.0], [1.0, 0.0], [2.0, 1.0, 3.0, 1.5], present=0.5)
    assert found[0].false is None
    assert (found[0].right.value, found[0].accused.value) == (0.0, 0.0)


def test_a_small_share_needs_many_strangers():
    values = np.arange(2.0 * 998)
    assert {one.wanted for one in open_set([1.0], [1.0], values, present=0.5)} >= {0.01, 0.05}
    assert 0.001 not in {one.wanted for one in open_set([1.0], [1.0], values, present=0.5)}
    values = np.arange(2.0 * 999)
    (least,) = (one for one in open_set([1.0], [1.0], values, present=0.5) if one.wanted == 0.001)
    assert least.threshold == 2 * 998  # of those who choose, nobody is above


@settings(deadline=None)
@given(st.data())
def test_everything_that_is_said_holds_together(data):
    numbers = st.sampled_from([0.0, 0.25, 0.5, 1.0, 7.0])
    targets = data.draw(st.lists(st.tuples(numbers, st.sampled_from([0, 0.5, 1])), min_size=1))
    strangers = data.draw(st.lists(numbers, min_size=2))
    present = data.draw(st.sampled_from([0.01, 0.5, 0.99, 1.0]))
    sure, right = zip(*targets, strict=True)
    found = open_set(sure, right, strangers, present=present, wanted=(0.2, 0.5))
    assert len(found) <= 50
    for before, after in pairwise(found):
        assert before.threshold >= after.threshold
        for name in ("right", "wrong", "accused"):
            assert getattr(before, name).value <= getattr(after, name).value
    for one in found:
        parts = (one.right, one.wrong, one.accused, *([one.false] if one.false else []))
        assert all(0 <= part.low <= part.value <= part.high <= 1 for part in parts)
        assert one.right.trials == one.wrong.trials == len(targets)
        assert one.accused.trials == len(strangers) // 2


@pytest.mark.parametrize("share", [0.2, 0.34, 0.5, 0.9])
@pytest.mark.parametrize("values", [(0, 1, 2), (0, 0, 1), (0, 1)])
def test_a_further_stranger_is_accused_with_at_most_the_chance_wanted(share, values):
    """Over all draws of four who choose and one who judges: exactly, ties included."""
    chances = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)] if len(values) == 3 else [
        Fraction(3, 4), Fraction(1, 4)]  # fmt: skip
    accused = Fraction(0)
    for draw in product(range(len(values)), repeat=5):
        chance = np.prod([chances[place] for place in draw])
        choosing, judging = [values[place] for place in draw[:4]], values[draw[4]]
        strangers = np.ravel([[float(one), float(judging)] for one in choosing])
        found = open_set([0.0], [0.0], strangers, present=0.5, wanted=(share,))
        (one,) = (each for each in found if each.wanted == share)
        accused += chance * (one.accused.value == 1)
    assert accused <= Fraction(str(share))


@pytest.mark.parametrize("present", [0.1, 0.5, 1.0])
def test_intervals_of_false_claims_cover(present):
    """300 studies of 400 targets and 400 strangers, whose law is known: each decision of each."""
    random = np.random.default_rng(4)
    missed = np.zeros(2)
    for _ in range(300):
        # How sure it is of those present has an exponential law with mean 2, of strangers with
        # mean 1; the surer, the more often it is right: with chance 1 - exp(-sure).
        sure, others = random.exponential(2.0, 400), random.exponential(1.0, 400)
        right = random.random(400) < -np.expm1(-sure)
        found = open_set(sure, right, others, present=present, wanted=(0.05,))
        for place in (0, 1):
            one = [each for each in found if each.wanted == 0.05 or each is found[-1]][place]
            edge = max(one.threshold, 0.0)
            wrong = np.exp(-1.5 * edge) / 3
            named, accused = np.exp(-edge / 2), np.exp(-edge)
            false = present * wrong + (1 - present) * accused
            share = false / (present * named + (1 - present) * accused)
            missed[place] += not one.false.low <= share <= one.false.high
            assert one.false.high - one.false.low < (0.75 if present > 0.1 else 0.95)
    assert (missed <= 0.05 * 300).all()


def test_bad_input_is_refused():
    with refuses("length-mismatch"):
        open_set(SURE, CREDITS[:3], STRANGERS, present=0.5)
    with refuses("too-few-targets"):
        open_set(SURE, CREDITS, [1.0], present=0.5)
    with refuses("share-out-of-range"):
        open_set(SURE, CREDITS, STRANGERS, present=0.0)
    with refuses("out-of-range"):
        open_set([np.nan, 1, 1, 1], CREDITS, STRANGERS, present=0.5)


def test_an_operating_point_is_found_by_what_was_wanted():
    decisions = open_set(SURE, CREDITS, STRANGERS, present=0.5, wanted=(0.25,))
    found = OpenSet("hamming", "gap", 3, 9, 4, 6, 0, 0.5, decisions)
    assert found.at(0.25) is decisions[0]
    with refuses("no-threshold"):
        found.at(0.1)
    text = str(found)
    assert "hamming by gap, 9 known, 50% of visitors among them, after 3 slots" in text
    assert "at most 25.0% of strangers accused: right 37.5000%" in text
    assert text.splitlines()[-1].startswith("  everybody named: right 62.5000%")
