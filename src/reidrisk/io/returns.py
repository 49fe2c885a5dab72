"""Returns, rows with a count below zero: skipped, or added up with the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import LongRows
from reidrisk.io.labels import Coded
from reidrisk.io.layouts import Layout
from reidrisk.io.provenance import Origin
from reidrisk.io.tables import OpenTables
from reidrisk.people.profiles import Counts

# Sums that are smaller than this share of what was added are nothing: 0.1 + 0.2 - 0.3.
_ROUNDING = 1e-9
# The key of a row, its place in order, and the group it is in, while rows are sorted.
_BYTES_PER_ROW = 40


def skip_returns(
    opened: OpenTables, columns: Sequence[Mapping[str, str]], layout: Layout
) -> tuple[OpenTables, int]:
    """The tables without rows whose count is below zero, if the layout skips them, and how many.

    Args:
        opened: The tables.
        columns: Which column is what, of each of them.
        layout: What becomes of returns.
    """
    if layout.returns == "refuse":
        return opened, 0
    if "count" not in columns[0]:
        raise InvalidInput(
            f"{opened.files[0].place}: no column of counts is read, so that there are no returns "
            f"({setting('returns')}); name it with {setting('count')}",
            code="column-not-found",
        )
    if layout.returns == "net":
        return opened, 0
    files, skipped = [], 0
    for file, taken in zip(opened.files, columns, strict=True):
        below = f"coalesce({file.number(taken['count'])} < 0, false)"
        skipped += opened.run(f"select count(*) from {file.relation} where {below}")[0][0]
        files.append(file.only(f"not {below}"))
    return replace(opened, files=tuple(files)), skipped


def net_returns(rows: LongRows, source: Origin) -> tuple[LongRows, Origin, Counts]:
    """Add up the counts of each user, epoch and token, and leave out what is not above zero.

    Args:
        rows: With counts of any sign.
        source: Where they came from.

    Returns:
        The sums, with users, epochs and tokens that are left; where each came from; and how many
        rows there were, how many of them returns, and how many sums were left out.
    """
    below = int((rows.weights < 0).sum())
    counts = Counts(rows=len(rows), returns=below)
    if not below:
        return rows, source, counts
    check_fits(_BYTES_PER_ROW * len(rows), f"{source}: {len(rows):,} rows", "use fewer rows")
    epochs, tokens = len(rows.epochs.labels), len(rows.tokens.labels)
    # Each factor is below 2^31, and epochs are few: a user and a token are below 2^62 together.
    cell = rows.users.codes.astype(np.int64) * epochs + rows.epochs.codes
    key = cell * tokens + rows.tokens.codes
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    sums = np.bincount(group, rows.weights)
    moved = np.bincount(group, np.abs(rows.weights))
    above = sums > _ROUNDING * moved
    kept = first[above]
    if not len(kept):
        raise InvalidInput(
            f"{source}: nothing is above zero once returns are added up; check that the counts are "
            f"those of purchases, or skip returns with {setting('returns', 'skip')}",
            code="nobody-left",
        )
    left = LongRows(
        _taken(rows.users, kept), _taken(rows.epochs, kept), _taken(rows.tokens, kept), sums[above]
    )
    counts = replace(counts, added=len(rows) - len(sums), net_zero=len(sums) - len(kept))
    return left, replace(source, record=lambda row: source.record(int(kept[row]))), counts


def with_note(source: Origin, counts: Counts) -> Origin:
    """The origin of rows, with a note on returns among them.

    Args:
        source: Where the rows came from.
        counts: How many returns there were, and how many sums were left out.
    """
    if not counts.returns:
        return source
    left = f"; {counts.net_zero:,} sums are not above zero and are left out" * bool(counts.net_zero)
    what = f"are added up with the others{left}" if counts.added or counts.net_zero else (
        "are left out")  # fmt: skip
    note = f"{source}: counts below zero, {counts.returns:,} in all, {what}"
    return replace(source, notes=(*source.notes, note))


def _taken(coded: Coded, rows: NDArray[Any]) -> Coded:
    """Some rows of a column, with the labels that are left."""
    labels, codes = np.unique(coded.codes[rows], return_inverse=True)
    return Coded(codes.astype(np.int32), coded.labels[labels])
