"""Read people with vectors, such as embeddings, from a table: one vector of a user, or several."""

from typing import Any

import numpy as np

from reidrisk.core.settings_syntax import setting, warn
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.io.tables import path_or_table
from reidrisk.io.vector_tables import read_site_vectors
from reidrisk.people.vectors import VectorPeople


def read_vectors(
    table: Any,
    *,
    user: str | None = None,
    vector: str | None = None,
    vectors: str | tuple[str, ...] = (),
    layout: Layout | None = None,
) -> VectorPeople:
    """Read people with vectors, whom releases of vectors show.

    Args:
        table: A row for each vector: a file or folder, a dictionary of columns, a frame of pandas,
            polars, Arrow or DuckDB, `.npz` with the arrays `ids` and `vectors`, or `.npy`, whose
            users are the numbers of its rows.
        user: The column of users. A user with several rows has several vectors, in their order.
        vector: The column of vectors: lists of numbers, all of one length.
        vectors: In its place, columns that hold a number of a vector each: names or patterns, `v*`.
        layout: All that is said of the table, instead of these names: its header, its separator.

    Example:
        >>> visits = {"id": ["ann", "ann", "bob"], "embedding": [[1, 0], [0, 1], [2, 2]]}
        >>> people = rr.data.read_vectors(visits, user="id", vector="embedding")
        >>> people.users, people.dimensions, people.means(0, 2).tolist()
        (2, 2, [[0.5, 0.5], [2.0, 2.0]])
    """
    said = Layout(user=user, vector=vector, vectors=vectors) if layout is None else layout
    if said.epoch is not None:
        raise InvalidInput(
            f"vectors of people have no epochs; leave {setting('epoch')} out: all rows of a user "
            "are vectors of that user",
            code="conflicting-arguments",
        )
    read = read_site_vectors(path_or_table(table), said)
    order = np.argsort(read.users.codes, kind="stable")
    sizes = np.bincount(read.users.codes)
    several = (sizes > 1).any()
    warn(read.source.warnings)
    return VectorPeople(
        read.vectors if (np.diff(order) == 1).all() else read.vectors[order],
        read.users.labels,
        np.concatenate([[0], np.cumsum(sizes)]) if several else None,
        notes=read.source.notes,
        warnings=read.source.warnings,
    )
