"""Find duplicate user ids among rows that do not fit into memory.

Where users ascend over all files, as those that we write do, one pass proves that there are none.
Else DuckDB groups them, and spills to disk what does not fit into memory.
"""

import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reidrisk.errors import TooLarge
from reidrisk.io.tables import connect

_OverUsers = Callable[[Callable[[int, pa.Array], Any]], Any]
"""Calls a function with the number of a row and the users from there on, until all had their turn,
perhaps in several threads."""

# Of users with two rows, the second row that comes first, and the first row of that user.
_FIRST_DUPLICATE = """
    select first, row from (
        select row, min(row) over (partition by user) as first,
               row_number() over (partition by user order by row) as place
        from users semi join (select user from users group by user having count(*) > 1) using (user)
    ) where place = 2 order by row limit 1
"""


def ascend(users: pa.Array) -> bool:
    """Whether each user comes after the one before, so that none is there twice.

    Args:
        users: Whole numbers or text.
    """
    return pc.all(pc.greater(users[1:], users[:-1])).as_py() is not False


def first_duplicate(over_users: _OverUsers, kind: pa.DataType) -> tuple[int, int] | None:
    """The first two rows of one user, wherever they are; None if every user has one row.

    Args:
        over_users: Reads all users.
        kind: Whether users are whole numbers or text.
    """
    import duckdb

    lock, place = threading.Lock(), tempfile.gettempdir()
    with (
        tempfile.TemporaryDirectory(prefix="reidrisk-users-") as folder,
        closing(connect((), Path(folder))) as connection,
    ):
        column = "bigint" if pa.types.is_integer(kind) else "varchar"
        connection.execute(f"create temp table users (row bigint, user {column})")

        def add(first: int, users: pa.Array) -> None:
            rows = pa.array(np.arange(first, first + len(users)))
            with lock:
                connection.register("more", pa.table({"row": rows, "user": users}))
                connection.execute("insert into users select row, user from more")
                connection.unregister("more")

        try:
            over_users(add)
            found = connection.execute(_FIRST_DUPLICATE).fetchall()
        except duckdb.OutOfMemoryException:
            found = None
    if found is None:
        raise TooLarge(
            f"{place}: there is no room to find users that are there twice; sort the files by "
            "user, each behind the one before, or name a folder with more room in TMPDIR",
            code="out-of-disk",
        )
    return (int(found[0][0]), int(found[0][1])) if found else None
