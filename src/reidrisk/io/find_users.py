"""Find the rows of some users on disk, in one pass."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.rows import MISSING
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import column_of
from reidrisk.io.duplicates import ascend, first_duplicate
from reidrisk.io.labels import as_text, encode, is_text, label_array
from reidrisk.io.parquet_survey import WHOLE
from reidrisk.io.parquet_table import ParquetTable
from reidrisk.io.provenance import Origin

_PLAIN = re.compile(r"0|-?[1-9]\d{0,18}")
_SIGNED = range(-(2**63), 2**63)


def rows_of_users(known: ParquetTable, users: NDArray[Any]) -> NDArray[np.int64]:
    """The row of each user, -1 where there is none; refuses known rows that have a user twice.

    Args:
        known: Rows on disk. All users are read, none is kept.
        users: Whole numbers or texts, each once.
    """
    wanted, places = _in_known_form(users, whole=known.named == WHOLE)
    order = np.argsort(wanted)
    wanted, places = wanted[order], places[order]
    kind = pa.int64() if known.named == WHOLE else pa.large_string()

    def work(first: int, some: pa.Array) -> tuple[bool, Any, Any, NDArray[Any], NDArray[Any]]:
        ends, ascending = (some[0].as_py(), some[-1].as_py()), ascend(some)
        low, high = 0, len(wanted)
        if ascending:
            low = int(np.searchsorted(wanted, ends[0]))
            high = int(np.searchsorted(wanted, ends[1], side="right"))
        among = pc.index_in(some, pa.array(wanted[low:high], kind))
        rows = np.flatnonzero(among.is_valid().to_numpy(zero_copy_only=False))
        return ascending, *ends, first + rows, low + among.drop_null().to_numpy()

    found = known.over_users(work)
    apart = all(one[2] < other[1] for one, other in pairwise(found))
    if not (apart and all(one[0] for one in found)):
        _refuse_duplicates(known, kind)
    truth = np.full(len(users), MISSING, np.int64)
    for _, _, _, rows, which in found:
        truth[places[which]] = rows
    return truth


def _refuse_duplicates(known: ParquetTable, kind: pa.DataType) -> None:
    """Name two rows with one user, wherever they are."""
    if found := first_duplicate(known.over_users, kind):
        first, second = map(known.place, found)
        raise InvalidInput(
            f"{second}: the same user as in {first}; a user has one row here: remove one of the "
            "two",
            code="duplicate-user",
        )


def in_order(name: str, values: Any) -> NDArray[Any]:
    """Labels that must differ, in the order in which they are given.

    Args:
        name: What they are, for messages.
        values: The labels.
    """
    label_array(name, values)
    column = column_of(name, values)
    coded = encode(column, name, Origin.memory(len(column)))
    return coded.labels[coded.codes]


def _in_known_form(users: NDArray[Any], *, whole: bool) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Users as numbers or text, as known ones are, and their places; others cannot be known."""
    every = np.arange(len(users))
    if not whole:
        return as_text(users), every
    if not is_text(users):
        return users, every
    plain = [(int(user), place) for place, user in enumerate(users)
             if _PLAIN.fullmatch(user) and int(user) in _SIGNED]  # fmt: skip
    numbers = np.array([user for user, _ in plain], np.int64)
    return numbers, np.array([place for _, place in plain], np.int64)
