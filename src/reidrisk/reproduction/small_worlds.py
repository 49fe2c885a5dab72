"""Small seeded worlds in which every case is checked in exact fractions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.randomness import uniforms

Rows = list[list[Fraction]]

PARTS = 64
"""Chances are whole multiples of one part in so many, which floats hold exactly."""


def chances(seed: int, purpose: str, rows: int, outcomes: int) -> Rows:
    """Some distributions over outcomes: where the ends of random pieces of a stick lie."""
    drawn = uniforms(
        seed=seed, purpose=f"reproduction/{purpose}", users=np.arange(rows), count=outcomes - 1
    )
    ends = np.sort(np.floor(drawn * (PARTS + 1)).astype(int), axis=1)
    pieces = np.diff(ends, axis=1, prepend=0, append=PARTS)
    return [[Fraction(int(piece), PARTS) for piece in row] for row in pieces]


def matrices(
    seed: int, count: int, *, users: int = 4, representations: int = 4, zeros: bool = True
) -> Iterator[Rows]:
    """Representation matrices of two users and outcomes up to these numbers.

    Args:
        seed: Of all chance.
        count: How many.
        users: The most.
        representations: The most.
        zeros: Whether a representation may be impossible for a user.
    """
    for place in range(count):
        shape = 2 + place % (users - 1), 2 + place // (users - 1) % (representations - 1)
        rows = chances(seed, f"matrix {place}", *shape)
        if not zeros:
            share = Fraction(1, 2 * shape[1])
            rows = [[entry / 2 + share for entry in row] for row in rows]
        yield rows


def rule(seed: int, place: int, rows: Rows) -> list[int]:
    """Whom a rule names on each representation."""
    drawn = uniforms(
        seed=seed, purpose=f"reproduction/rule {place}", users=np.arange(len(rows[0])), count=1
    )
    return [int(one) for one in np.floor(drawn[:, 0] * len(rows))]


def floats(rows: Sequence[Sequence[Fraction]]) -> NDArray[np.float64]:
    """As the package takes them."""
    return np.array([[float(entry) for entry in row] for row in rows])


def gap(ours: float, exact: Fraction) -> float:
    """How far a float is from the nearest float to a fraction."""
    return abs(ours - float(exact))
