"""The exact distribution of what a site is shown, for small worlds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.errors import InvalidInput, TooLarge

# Sequences to enumerate, and entries of the matrix of chances: some seconds, some 400 MB.
_MOST_SEQUENCES = 2_000_000
_MOST_CHANCES = 50_000_000

Tokens = NDArray[np.int32]
Shares = dict[tuple[int, ...], float]
"""The chance of each row of one user."""


@dataclass(frozen=True, eq=False, slots=True)
class ExactRows:
    """The exact distribution of what a site is shown of each user.

    Attributes:
        chances: Users x outcomes, sparse; rows sum to 1. It makes a `RepresentationMatrix`.
        outcomes: Outcomes x slots, the row of tokens of each column; -1 where nothing is shown.

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
        base = int(max(self.outcomes.max(), rows.max())) + 2  # tokens from 0, and -1 for a gap
        codes = code(self.outcomes, base)
        order = np.argsort(codes)
        found = np.searchsorted(codes[order], code(rows, base))
        # A row that is no outcome finds a neighbour here, and is refused by the comparison below.
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
    """The rows of tokens that `code` made numbers of."""
    rows = np.empty((codes.size, slots), np.int32)
    for slot in range(slots - 1, -1, -1):
        codes, digit = np.divmod(codes, base)
        rows[:, slot] = digit - 1
    return rows


def independent_rows(chances: NDArray[np.float64]) -> ExactRows:
    """The distribution of rows whose slots are independent.

    Args:
        chances: Users x slots x symbols; the last symbol is a gap.
    """
    users, slots, symbols = chances.shape
    check_size(symbols, slots, users)
    rows = np.ones((users, 1))
    for slot in range(slots):
        # The last slot varies fastest, as in `np.indices` below.
        rows = (rows[:, :, None] * chances[:, slot, None, :]).reshape(users, -1)
    outcomes = np.indices((symbols,) * slots, np.int32).reshape(slots, -1).T
    outcomes[outcomes == symbols - 1] = MISSING
    possible = np.flatnonzero(rows.sum(axis=0) > 0)
    return ExactRows(scipy.sparse.csr_array(rows[:, possible]), outcomes[possible])


def rows_of_users(users: Sequence[Shares], slots: int) -> ExactRows:
    """The distribution of rows, from the chances of each user's rows."""
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
    """The distribution of rows if each is replaced by another; those that become equal are merged.

    Args:
        rows: The distribution before.
        outcomes: What is shown in place of each of its outcomes.
    """
    different, place = np.unique(outcomes, axis=0, return_inverse=True)
    ones = (np.ones(len(place)), (np.arange(len(place)), place.ravel()))
    merge = scipy.sparse.csr_array(ones, shape=(len(place), len(different)))
    return ExactRows(scipy.sparse.csr_array(rows.chances @ merge), different.astype(np.int32))


def check_size(symbols: int, slots: int, users: int) -> None:
    """Refuse worlds with too many sequences to enumerate."""
    sequences = symbols**slots
    if sequences > _MOST_SEQUENCES or users * sequences > _MOST_CHANCES:
        raise TooLarge(
            f"{symbols - 1} tokens in {slots} slots make {sequences:.2g} sequences for each of "
            f"{users:,} users; exact rows go up to {_MOST_SEQUENCES:,} sequences and "
            f"{_MOST_CHANCES:,} chances: use fewer tokens, slots or users",
            code="too-many-sequences",
        )
