"""Matrix products in single precision and in bfloat16: how far off they are at most.

A product of two vectors of whole numbers is a sum of d terms. In single precision each term and
each partial sum is rounded by at most one part in 2**24, in whatever order they are added, with or
without fused operations: the sum is off by at most `roundings(d)` of the product of both lengths
(Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, and Cauchy-Schwarz). While
that product stays below 2**24, every partial sum is a whole number that single precision holds:
then nothing is rounded at all. Processors multiply bfloat16 several times as fast. What is put into
it and what comes out of it is rounded by one part in 2**8, and sums are kept in single precision.

A library that breaks this rule, since it multiplies in less than it was asked for, is found out by
a test of a few milliseconds before its first product is used.
"""

import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.optional import guest
from reidrisk.errors import InvalidInput

EXACT, EXACT_IN_SINGLE = 2.0**53, 2.0**24
"""Below these, floats of double and of single precision hold every whole number."""

_UNIT, _SHORT_UNIT = 2.0**-24, 2.0**-8
_EXACT_IN_SHORT = 2.0**8

# Loading torch takes about three seconds: as long as this many multiplications in single precision.
_WORTH_LOADING, _WORTH_ASKING = 1 << 38, 1 << 28

_Singles = NDArray[np.float32]


def roundings(count: int) -> float:
    """By what part of itself a number is off at most that was rounded so often in single precision.

    Args:
        count: How often it was rounded.
    """
    return count * _UNIT / (1 - count * _UNIT)


class Precision(Protocol):
    """A way to multiply matrices."""

    loss: float
    """By what part of itself a product is rounded at the end."""

    def taken(self, numbers: NDArray[Any], room: _Singles) -> Any:
        """Vectors as they are multiplied.

        Args:
            numbers: Rows x columns, whole numbers.
            room: For as many numbers or more, which may be used; then it must not change.
        """

    def rounded(self, largest: float) -> float:
        """By what part of itself a number is rounded at most when it is taken.

        Args:
            largest: No number is larger.
        """

    def multiply(self, some: Any, others: Any) -> _Singles:
        """The products of some vectors with others, some x others, until the next are made.

        Args:
            some: Vectors as they were taken.
            others: The same.
        """


class Single:
    """Products in single precision, by the BLAS of numpy."""

    loss = 0.0

    def __init__(self) -> None:
        self.found = np.empty(0, np.float32)

    def taken(self, numbers: NDArray[Any], room: _Singles) -> _Singles:
        """Vectors in single precision, without a way through double precision.

        Args:
            numbers: Rows x columns, whole numbers.
            room: Where they are put.
        """
        return _as_singles(numbers, room)

    def rounded(self, largest: float) -> float:
        """Nothing, up to 2**24.

        Args:
            largest: No number is larger.
        """
        return 0.0 if largest <= EXACT_IN_SINGLE else _UNIT

    def multiply(self, some: _Singles, others: _Singles) -> _Singles:
        """The products of some vectors with others, some x others, until the next are made.

        Args:
            some: Vectors as they were taken.
            others: The same.
        """
        size = len(some) * len(others)
        if len(self.found) < size:
            self.found = np.empty(size, np.float32)
        into = self.found[:size].reshape(len(some), len(others))
        return np.matmul(some, others.T, out=into)


class Short:
    """Products in bfloat16, by torch."""

    loss = _SHORT_UNIT

    def __init__(self) -> None:
        self.torch = guest("torch", "torch")
        self.short = self.torch.empty(0, dtype=self.torch.bfloat16)
        self.found = self.torch.empty(0)

    def taken(self, numbers: NDArray[Any], room: _Singles) -> Any:
        """Vectors in bfloat16.

        Args:
            numbers: Rows x columns, whole numbers.
            room: Where they are put on the way.
        """
        single = self.torch.from_numpy(_as_singles(numbers, room))
        return single.to(self.torch.bfloat16)

    def rounded(self, largest: float) -> float:
        """Nothing, up to 2**8.

        Args:
            largest: No number is larger.
        """
        # First to single precision, and then to bfloat16.
        return 0.0 if largest <= _EXACT_IN_SHORT else (1 + _UNIT) * (1 + _SHORT_UNIT) - 1

    def multiply(self, some: Any, others: Any) -> _Singles:
        """The products of some vectors with others, some x others, until the next are made.

        Args:
            some: Vectors as they were taken.
            others: The same.
        """
        size = len(some) * len(others)
        if len(self.short) < size:
            self.short = self.torch.empty(size, dtype=self.torch.bfloat16)
            self.found = self.torch.empty(size)
        short = self.short[:size].view(len(some), len(others))
        self.torch.mm(some, others.t(), out=short)
        found: _Singles = self.found[:size].view(short.shape).copy_(short).numpy()
        return found


def _as_singles(numbers: NDArray[Any], room: _Singles) -> _Singles:
    """Numbers in single precision, in the room."""
    single = room.reshape(-1)[: numbers.size].reshape(numbers.shape)
    np.copyto(single, numbers, casting="unsafe")
    return single


def off(precision: Precision, columns: int, reach: float, *largest: float) -> float:
    """By what part of both lengths a product is off at most, before it is rounded at the end.

    Args:
        precision: How it is made.
        columns: Numbers of a vector.
        reach: No product of two lengths is larger, sums with what is added to products included.
        largest: No number on either side is larger.
    """
    taken = 1.0
    for each in largest:
        taken *= 1 + precision.rounded(each)
    if taken == 1.0 and reach < EXACT_IN_SINGLE:
        return 0.0
    # A sum of d products and what is added to it: as many roundings, and one more.
    return taken * (1 + roundings(columns + 1)) - 1


def best_precision(multiplications: int) -> Precision:
    """How to multiply: in bfloat16 where torch is there and quicker, else in single precision.

    Args:
        multiplications: How many there will be: loading torch takes seconds.
    """
    check_single()
    least = _WORTH_ASKING if "torch" in sys.modules else _WORTH_LOADING
    if multiplications >= least and _short_is_quicker():
        return Short()
    return Single()


@cache
def check_single() -> None:
    """Refuse a BLAS that multiplies single precision in less than that; tested once a process."""
    with one_blas_thread():
        if not keeps_rule(Single()):
            raise InvalidInput(
                "the BLAS of numpy multiplies single precision in a lower precision, so that "
                "scores would be wrong; switch this off (settings such as TF32 or BF16 of the "
                "library that numpy.show_config() names), or install numpy from PyPI",
                code="inexact-products",
            )


def keeps_rule(precision: Precision) -> bool:
    """Whether products of some whole numbers are as near to the true ones as they must be.

    Args:
        precision: How they are made.
    """
    random = np.random.default_rng(1)
    # Numbers and how many there are of them: exact up to the last bit, and beyond.
    for largest, columns in ((4095, 1), (360, 129), (127, 1031), (30_000, 257), (2**25, 5)):
        some, others = (
            random.integers(-largest, largest, (rows, columns), endpoint=True) for rows in (37, 129)
        )
        some[0], others[0] = largest, largest
        lengths = [np.sqrt((side.astype(np.float64) ** 2).sum(axis=1)) for side in (some, others)]
        reach = float(lengths[0].max() * lengths[1].max())
        exact = (some @ others.T).astype(np.float64)
        sides = (precision.taken(side, np.empty(side.shape, np.float32)) for side in (some, others))
        found = precision.multiply(*sides).astype(np.float64)
        most = off(precision, columns, reach, largest, largest) * np.outer(*lengths) * (1 + _UNIT)
        # What comes out is rounded, too: a part of what was there before.
        most = most + precision.loss * (np.abs(exact) + most)
        if not (np.abs(found - exact) <= most).all():
            return False
    return True


@cache
def _short_is_quicker() -> bool:
    """Whether torch is installed, keeps the rule, and multiplies bfloat16 quicker than numpy."""
    if importlib.util.find_spec("torch") is None:
        return False
    short = Short()  # loads torch, whose threads are limited once it is there
    with one_blas_thread():
        return keeps_rule(short) and _seconds(short) < _seconds(Single())


def _seconds(precision: Precision) -> float:
    """What a product takes on this machine: a millisecond or two."""
    ones = [np.ones((rows, 256), np.float32) for rows in (256, 2048)]
    some, others = (precision.taken(side, side) for side in ones)
    taken = []
    for _ in range(3):
        began = time.thread_time()
        precision.multiply(some, others)
        taken.append(time.thread_time() - began)
    return min(taken)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit matrix products to one thread each, while several of ours multiply.

    Threads are limited for the whole process. Who starts threads holds the limit around them, so
    that the limits that these ask for once more change nothing and end in any order.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  it comes with scikit-learn

    torch = sys.modules.get("torch")
    threads = 1 if torch is None else torch.get_num_threads()
    with threadpool_limits(1, user_api="blas"):
        try:
            if torch is not None:
                torch.set_num_threads(1)
            yield
        finally:
            if torch is not None:
                torch.set_num_threads(threads)
