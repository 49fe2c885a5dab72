"""Matrix products in low precision: their bound, and the test of libraries that break it."""

import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core import matrix_products
from reidrisk.core.matrix_products import (
    EXACT_IN_SINGLE,
    Single,
    best_precision,
    check_single,
    keeps_rule,
    off,
    one_blas_thread,
    roundings,
)


def as_bfloat16(floats):
    """Floats rounded to 8 bits, to the even one of two that are as near; in single precision."""
    bits = np.ascontiguousarray(floats, np.float32).view(np.uint32).astype(np.uint64)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return (bits >> 16 << 16).astype(np.uint32).view(np.float32)


class ShortByHand(Single):
    """Products of bfloat16 without torch: what goes in and what comes out is rounded."""

    loss = 2.0**-8
    rounded = matrix_products.Short.rounded

    def taken(self, numbers, room):
        return as_bfloat16(super().taken(numbers, room))

    def multiply(self, some, others):
        return as_bfloat16(some @ others.T)


class Tf32(Single):
    """Products of which each factor has 11 bits only, as some libraries make them unasked."""

    def taken(self, numbers, room):
        bits = super().taken(numbers, room).view(np.uint32)
        return ((bits + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)


class TwoParts(Single):
    """Products of the upper and the lower 8 bits, without that of both lower ones."""

    def multiply(self, some, others):
        tops = [as_bfloat16(side) for side in (some, others)]
        rests = [side - top for side, top in zip((some, others), tops, strict=True)]
        return tops[0] @ tops[1].T + tops[0] @ rests[1].T + rests[0] @ tops[1].T


class ShortSums(ShortByHand):
    """Sums that are kept in bfloat16, too."""

    def multiply(self, some, others):
        found = np.zeros((len(some), len(others)), np.float32)
        for column in range(some.shape[1]):
            found = as_bfloat16(found + np.outer(some[:, column], others[:, column]))
        return found


@pytest.mark.parametrize("precision", [Single, ShortByHand])
def test_products_that_keep_the_rule_are_found_to(precision):
    assert keeps_rule(precision())


@pytest.mark.parametrize("precision", [Tf32, TwoParts, ShortSums])
def test_products_in_a_lower_precision_are_found_out(precision):
    assert not keeps_rule(precision())


def test_a_blas_that_breaks_the_rule_is_refused(monkeypatch):
    monkeypatch.setattr(matrix_products, "Single", Tf32)
    check_single.cache_clear()
    with refuses("inexact-products"):
        best_precision(1)
    monkeypatch.undo()
    assert isinstance(best_precision(1), Single)


def test_torch_is_not_loaded_for_a_few_products(monkeypatch):
    def never():
        raise AssertionError

    monkeypatch.setattr(matrix_products, "_short_is_quicker", never)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert isinstance(best_precision(1 << 37), Single)


def worst(precision, some, others):
    """The largest error of products, and of what is allowed."""
    exact = [[sum(Fraction(int(a)) * int(b) for a, b in zip(one, other, strict=True))
              for other in others] for one in some]  # fmt: skip
    sides = [precision.taken(side, np.empty(side.shape, np.float32)) for side in (some, others)]
    found = precision.multiply(*sides)
    lengths = [np.sqrt((side.astype(float) ** 2).sum(axis=1)) for side in (some, others)]
    largest = [float(np.abs(side).max()) for side in (some, others)]
    reach = float(lengths[0].max() * lengths[1].max())
    part = off(precision, some.shape[1], reach, *largest)
    allowed = Fraction(part) * Fraction(reach) * (1 + Fraction(1, 1 << 40))
    errors = [abs(Fraction(float(found[i, j])) - exact[i][j])
              - Fraction(precision.loss) * (abs(exact[i][j]) + allowed)
              for i in range(len(some)) for j in range(len(others))]  # fmt: skip
    return max(errors), allowed


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 24),
    st.sampled_from([1, 127, 255, 256, 2_000, 32_767, 2**24, 2**24 + 1, 2**31]),
    st.sampled_from([Single, ShortByHand]),
)
def test_no_product_is_off_by_more_than_the_bound(seed, columns, largest, precision):
    random = np.random.default_rng(seed)
    some, others = (
        random.integers(-largest, largest, (4, columns), endpoint=True) for _ in range(2)
    )
    some[0] = np.where(random.random(columns) < 0.5, largest, largest - 1)
    error, allowed = worst(precision(), some, others)
    assert error <= allowed


def test_the_bound_is_of_the_size_of_what_is_rounded():
    """It is not so large that it would say nothing: a single rounding reaches a fifth of it."""
    edge = np.array([[2**24 + 1]])  # rounded to 2**24: off by almost one unit
    error, allowed = worst(Single(), edge, np.array([[1]]))
    assert allowed / 5 <= error <= allowed
    edge = np.array([[257]])
    error, allowed = worst(ShortByHand(), edge, edge)
    assert error <= allowed


def test_what_is_held_exactly_is_not_off():
    assert off(Single(), 768, EXACT_IN_SINGLE - 1, 127, 127) == 0
    assert off(Single(), 768, EXACT_IN_SINGLE, 127, 127) == pytest.approx(roundings(769))
    assert off(ShortByHand(), 768, EXACT_IN_SINGLE - 1, 127, 256) == 0
    assert 2**-8 < off(ShortByHand(), 768, 1e6, 127, 257) < 2**-8 * 1.02
    assert 2**-7 < off(ShortByHand(), 768, 1e6, 300, 257) < 2**-7 * 1.02


def test_threads_are_limited_again_and_again():
    """Also by threads of ours, inside and after the limit of who started them."""
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    def ask(found):
        with one_blas_thread():
            found.append(threads())

    def in_threads(count):
        found = []
        started = [threading.Thread(target=ask, args=(found,)) for _ in range(count)]
        for each in started:
            each.start()
        for each in started:
            each.join()
        return found

    with threadpool_limits(2, user_api="blas"):
        for _ in range(3):
            with one_blas_thread():
                assert in_threads(2) == [{1}] * 2
                assert threads() == {1}
            assert threads() == {2}


@pytest.mark.torch
def test_torch_keeps_the_rule_and_is_limited_to_one_thread():
    torch = pytest.importorskip("torch")
    assert keeps_rule(matrix_products.Short())
    before = torch.get_num_threads()
    with one_blas_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    random = np.random.default_rng(3)
    for largest in (127, 32_767, 2**24 + 1):
        some, others = (random.integers(-largest, largest, (9, 65)) for _ in range(2))
        error, allowed = worst(matrix_products.Short(), some, others)
        assert error <= allowed
