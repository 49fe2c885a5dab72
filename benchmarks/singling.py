"""Singling out against one group-by of Arrow; unicity against scipy and numpy."""

import functools

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from benchmarks.tools import seconds, table
from reidrisk.io.provenance import Origin
from reidrisk.risk.tables._singling import singling
from reidrisk.risk.tables.groups import coded, counted, keys, numbered
from reidrisk.risk.tables.points import Points

PEOPLE = 1_000_000
USERS, ITEMS, EACH, TARGETS = 1_000_000, 400_000, 50, 10_000


def main():
    table("1,000,000 rows x 4 columns of text", group_rows())
    table("1,000,000 users x 50 items, 10,000 targets, 1 to 4 points", point_rows())


def people():
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(18, 90, PEOPLE).astype(str),
            "zip": (10_000 + rng.zipf(1.3, PEOPLE) % 20_000).astype(str),
            "sex": rng.choice(["m", "f"], PEOPLE),
            "job": rng.integers(0, 500, PEOPLE).astype(str),
        }
    )


def group_rows():
    content = people()
    names, source = content.column_names, Origin.memory(PEOPLE)

    def per_record():
        group, groups = numbered(keys([coded(content[name], name, source) for name in names]))
        size = np.bincount(group, minlength=groups)
        return size, size[group]

    theirs, grouped = seconds(
        lambda: content.group_by(names).aggregate([([], "count_all")]), repeat=3
    )
    ours, (size, k) = seconds(per_record, repeat=3)
    assert len(size) == grouped.num_rows
    assert (k == 1).sum() == (grouped["count_all"].to_numpy() == 1).sum()
    yield "groups and k per record", ours, "pyarrow group_by", theirs, 3
    distinct = [coded(content[name], name, source) for name in names]
    everyone = np.zeros(PEOPLE, np.bool_)
    left, _ = seconds(
        lambda: [counted([*distinct[:at], *distinct[at + 1 :]], everyone) for at in range(4)],
        repeat=3,
    )
    yield "leave one out, four times", left, "pyarrow group_by", theirs, 3
    whole, _ = seconds(lambda: singling(content, columns=names), repeat=3)
    yield "all of singling, fair shares too", whole, "pyarrow group_by", theirs, 3


def point_rows():
    """The peers are scipy's sparse matrices, and numpy's intersection of a few targets."""
    rng = np.random.default_rng(2)
    users = np.repeat(np.arange(USERS, dtype=np.int32), EACH)
    # As with songs: few are played by nearly everybody, most by a handful.
    items = (ITEMS ** rng.random(len(users)) - 1).astype(np.int32)
    cells = sp.coo_array((np.ones(len(users), np.int8), (users, items)))
    theirs, _ = seconds(lambda: (cells.tocsr(), cells.tocsc()), repeat=1)
    ours, held = seconds(lambda: Points.of(np.arange(USERS), users, items), repeat=1)
    yield "points by user and by item", ours, "scipy tocsr, tocsc", theirs, 2
    targets = np.arange(0, USERS, USERS // TARGETS)
    for known in ("random", "rarest"):
        chosen = held.chosen(targets, 4, known=known, seed=1)
        ours, sizes = seconds(lambda chosen=chosen: held.crowds(chosen), repeat=1)
        theirs, few = seconds(lambda chosen=chosen: intersected(held, chosen[::1_000]), repeat=1)
        assert (sizes[::1_000, 3] == few).all()
        yield f"crowds, {known} points", ours, "numpy intersect1d (x 1,000)", 1_000 * theirs, 1


def intersected(held, chosen):
    sizes = []
    for points in chosen:
        lists = [held.holders[held.first[one] :][: held.support[one]] for one in points if one >= 0]
        common = functools.reduce(np.intersect1d, sorted(lists, key=len)) if len(lists) == 4 else ()
        sizes.append(len(common))
    return np.array(sizes)
