"""The credit in smaller crowds: every crowd of tiny worlds, and many digits in large ones."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.estimates.crowds import credit_in_crowds, reference_credit

DIGITS = 2e-13
"""How far a credit may be off, as a part of it."""


def tiny_worlds(most):
    """All ranks in all worlds up to a size: above, level, users."""
    return [
        (above, level, users)
        for users in range(1, most + 1)
        for above in range(users)
        for level in range(users - above)
    ]


def credit_among(truth, others):
    """By the definition: winners are drawn at random."""
    best = max((truth, *others))
    return Fraction(int(truth == best), [truth, *others].count(best))


@pytest.mark.parametrize(("above", "level", "users"), tiny_worlds(7))
def test_it_is_the_mean_over_all_crowds(above, level, users):
    others = [2] * above + [1] * level + [0] * (users - 1 - above - level)
    for crowd in range(1, users + 1):
        found = [credit_among(1, chosen) for chosen in combinations(others, crowd - 1)]
        expected = sum(found) / len(found)
        assert reference_credit(above, level, users, crowd) == expected
        fast = credit_in_crowds(above, level, users, crowd)
        assert fast == pytest.approx(float(expected), rel=DIGITS, abs=0)


def test_among_everyone_it_is_the_credit_bit_for_bit():
    rng = np.random.default_rng(1)
    for users in (1, 2, 49, 10_000_019, 3_000_000_019):
        above = rng.integers(0, 2, 1000) * rng.integers(0, users, 1000)
        level = (rng.random(1000) * (users - above)).astype(np.int64)
        credit = np.where(above == 0, 1.0 / (level + 1), 0.0)
        np.testing.assert_array_equal(credit_in_crowds(above, level, users, users), credit)


def test_alone_everybody_is_named():
    above, level, users = (np.array(column) for column in zip(*tiny_worlds(9), strict=True))
    for one in range(1, 10):
        mine = users == one
        np.testing.assert_array_equal(credit_in_crowds(above[mine], level[mine], one, 1), 1.0)


def test_who_must_meet_somebody_above_is_never_named():
    assert credit_in_crowds(5, 0, 10, [5, 6]).tolist() == pytest.approx([1 / 126, 0])
    assert credit_in_crowds(9, 0, 10, 2) == 0


def none_drawn(total, marked, drawn):
    """Chance that no marked one is drawn, one after the other."""
    few, many = sorted((marked, drawn))
    chance = Decimal(1)
    for place in range(few):
        chance *= Decimal(max(total - many - place, 0)) / Decimal(total - place)
    return chance


def slow_credit(above, level, users, crowd):
    """As the reference, where binomials would have millions of digits."""
    with localcontext(prec=40):
        share = Decimal(users - above) / Decimal((level + 1) * crowd)
        named = share * (1 - none_drawn(users - above, level + 1, crowd))
        return none_drawn(users - 1, above, crowd - 1) * named


@pytest.mark.parametrize("users", [60, 10_000, 10_000_000, 1_000_000_000])
def test_digits_are_kept_among_many(users):
    rng = np.random.default_rng(users)
    sizes = [2, users // 1000 + 3, users // 10, users // 3, users - 2, users - 1]
    for crowd in sizes:
        for _ in range(25):
            above, level = (int(min(users / 3, 2000) ** rng.random()) - 1 for _ in range(2))
            expected = slow_credit(above, level, users, crowd)
            found = Decimal(float(credit_in_crowds(above, level, users, crowd)))
            assert abs(found - expected) <= Decimal(DIGITS) * expected + Decimal("1e-300")


@given(st.integers(1, 10_000_000), st.data())
def test_it_falls_with_the_crowd_and_is_a_chance(users, data):
    above = data.draw(st.integers(0, users - 1) | st.integers(0, min(users - 1, 20)))
    level = data.draw(st.integers(0, users - 1 - above) | st.integers(0, min(users - 1 - above, 9)))
    sizes = np.sort(data.draw(st.lists(st.integers(1, users), min_size=2, max_size=9)))
    found = credit_in_crowds(above, level, users, sizes)
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[1:] <= found[:-1] * (1 + DIGITS)).all()
    assert found[0] <= 1 == credit_in_crowds(above, level, users, 1)


def test_it_falls_with_who_is_above_and_level():
    above, level = np.arange(50)[:, None], np.arange(50)
    for crowd in (2, 10, 60, 100):
        found = credit_in_crowds(above, level, 100, crowd)
        assert (np.diff(found, axis=0) <= DIGITS).all()
        assert (np.diff(found, axis=1) <= DIGITS).all()
