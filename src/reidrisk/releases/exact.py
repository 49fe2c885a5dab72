"""The exact distribution of what a site is shown, for small worlds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.errors import InvalidInput, TooLarge

MOST_SEQUENCES = 2_000_000
MOST_CHANCES = 50_000_000

Tokens = NDArray[np.int32]
Shares = dict[tuple[int, ...], float]
"""Chances of rows of one user."""


@dataclass(frozen=True, eq=False, slots=True)
class ExactRows:
    """Chances of everything that can be shown.

    Attributes:
        chances: Users x outcomes, sparse; rows sum to 1. `reidrisk.RepresentationMatrix` takes it.
        outcomes: Outcomes x slots, what each column stands for; -1 where nothing is shown.

    Example:
        >>> people = rr.data.make_profiles([1, 2], [1, 1], [5, 7])
        >>> exact = rr.TopicsApi(topics=2, top=1, noise=0.2).rows(people)
        >>> exact.outcomes.tolist(), exact.chances.toarray().round(3).tolist()
        ([[0], [1]], [[0.9, 0.1], [0.1, 0.9]])
    """

    chances: "scipy.sparse.csr_array"
    outcomes: Tokens

    def column_of(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """The column of each row of tokens, rows x slots.

        Args:
            rows: Rows of tokens.
        """
        base = int(max(self.outcomes.max(), rows.max())) + 2
        codes = code(self.outcomes, base)
        order = np.argsort(codes)
        found = np.searchsorted(codes[order], code(rows, base))
        columns: NDArray[np.int64] = order[np.minimum(found, order.size - 1)]
        if wrong := np.flatnonzero((self.outcomes[columns] != rows).any(axis=1)).tolist():
            raise InvalidInput(
                f"row {wrong[0]}, {rows[wrong[0]].tolist()}, is never shown to anyone in this "
                "world",
                code="unknown-row",
            )
        return columns


def code(rows: NDArray[np.integer], base: int) -> NDArray[np.int64]:
    """Rows of tokens from -1 to `base - 2` as whole numbers."""
    codes = np.zeros(len(rows), np.int64)
    for column in rows.T:
        codes = codes * base + column + 1
    return codes


def decode(codes: NDArray[np.int64], base: int, slots: int) -> Tokens:
    """The reverse."""
    rows = np.empty((codes.size, slots), np.int32)
    for slot in range(slots - 1, -1, -1):
        codes, digit = np.divmod(codes, base)
        rows[:, slot] = digit - 1
    return rows


def independent_rows(chances: NDArray[np.float64]) -> ExactRows:
    """Rows whose slots are independent.

    Args:
        chances: Users x slots x symbols; the last symbol stands for nothing.
    """
    users, slots, symbols = chances.shape
    check_size(symbols, slots, users)
    rows = np.ones((users, 1))
    for slot in range(slots):
        rows = (rows[:, :, None] * chances[:, slot, None, :]).reshape(users, -1)
    outcomes = np.indices((symbols,) * slots, np.int32).reshape(slots, -1).T
    outcomes[outcomes == symbols - 1] = MISSING
    possible = np.flatnonzero(rows.sum(axis=0) > 0)
    return ExactRows(scipy.sparse.csr_array(rows[:, possible]), outcomes[possible])


def rows_of_users(users: Sequence[Shares], slots: int) -> ExactRows:
    """Rows from the chances of each user."""
    outcomes = sorted({row for one in users for row in one})
    place = {row: column for column, row in enumerate(outcomes)}
    entries = [
        (chance, user, place[row]) for user, one in enumerate(users) for row, chance in one.items()
    ]
    chances, rows, columns = (np.array(part) for part in zip(*entries, strict=True))
    shape = (len(users), len(outcomes))
    return ExactRows(
        scipy.sparse.coo_array((chances, (rows, columns)), shape=shape).tocsr(),
        np.array(outcomes, np.int32).reshape(len(outcomes), slots),
    )


def merged_rows(rows: ExactRows, outcomes: Tokens) -> ExactRows:
    """What becomes of rows if something else is shown in place of each.

    Args:
        rows: What would be shown.
        outcomes: What is shown in place of each of its outcomes; equal ones become one.
    """
    different, place = np.unique(outcomes, axis=0, return_inverse=True)
    ones = (np.ones(len(place)), (np.arange(len(place)), place.ravel()))
    merge = scipy.sparse.csr_array(ones, shape=(len(place), len(different)))
    return ExactRows(scipy.sparse.csr_array(rows.chances @ merge), different.astype(np.int32))


def check_size(symbols: int, slots: int, users: int) -> None:
    """Refuse worlds with too many sequences to go through."""
    sequences = symbols**slots
    if sequences > MOST_SEQUENCES or users * sequences > MOST_CHANCES:
        raise TooLarge(
            f"{symbols - 1} tokens in {slots} slots make {sequences:.2g} sequences for each of "
            f"{users:,} users; exact rows go up to {MOST_SEQUENCES:,} sequences and "
            f"{MOST_CHANCES:,} chances: use fewer tokens, slots or users",
            code="too-many-sequences",
        )
