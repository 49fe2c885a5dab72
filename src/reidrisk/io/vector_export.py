"""Write what sites see of people with vectors: two tables that `reidrisk link` reads."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.files import ONLY_ME, made_folder, written_whole
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.io.tables import AnyPath

_FILES = ("known.parquet", "anonymous.parquet")
_ROWS_AT_A_TIME = 1 << 14


def write_vectors(seen: Observations, folder: AnyPath, *, ids: ArrayLike | None = None) -> None:
    """Write `known.parquet` and `anonymous.parquet`, with columns `user` and `vector`.

    Where there are several slots, each is a row, and the column `epoch` says which, from 1 on. Only
    the owner may read these files: they name users. Rows of strangers are left out: observations do
    not say whose they are.

    Args:
        seen: What the two sites saw: rows of vectors.
        folder: Where to; it is made if need be.
        ids: The user of each known row, such as `people.ids`; by default its number.

    Example:
        >>> people = rr.data.VectorPeople(np.eye(5), np.arange(5))
        >>> seen = rr.releases.observe(rr.GaussianNoise(scale=0.1, clip=1.0), people, seed=7)
        >>> rr.data.write_vectors(seen, "vectors", ids=people.ids)
        >>> rr.data.read_vectors("vectors/known.parquet", user="user", vector="vector").users
        5
    """
    if seen.known.kind is not Kind.VECTORS:
        raise InvalidInput(
            f"known holds {seen.known.kind.value}; write_observations writes rows of tokens",
            code="wrong-kind-of-rows",
        )
    users = np.arange(seen.users) if ids is None else np.asarray(ids)
    if users.shape != (seen.users,):
        raise InvalidInput(
            f"ids must name each of the {seen.users} known rows, in their order",
            code="length-mismatch",
        )
    # Absolute, since pyarrow takes a name with a colon for an address.
    place = made_folder(folder).absolute()
    with written_whole(*(place / name for name in _FILES), mode=ONLY_ME) as parts:
        _write(parts[0], seen.known, users)
        _write(parts[1], seen.anonymous, users[seen.truth])


def _write(part: Path, rows: Rows, users: NDArray[Any]) -> None:
    """Write rows block by block, a vector for each user and slot."""
    names: Any = pa.array(users[:1]).type
    slots = [] if rows.slots == 1 else [("epoch", pa.int64())]
    numbers = pa.list_(pa.float64(), rows.codec.dimensions)  # type: ignore[attr-defined]
    schema = pa.schema([("user", names), *slots, ("vector", numbers)])
    with pq.ParquetWriter(part, schema) as writer:
        for start in range(0, rows.users, _ROWS_AT_A_TIME):
            block = rows.block(start, start + _ROWS_AT_A_TIME)
            flat = (block / rows.codec.scale).ravel()  # type: ignore[attr-defined]
            some = np.repeat(users[start : start + len(block)], rows.slots)
            epochs = np.tile(np.arange(rows.slots) + 1, len(block))
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(flat), type=numbers)
            held = [pa.array(some), *([pa.array(epochs)] if slots else []), vectors]
            writer.write_batch(pa.record_batch(held, schema=schema))
