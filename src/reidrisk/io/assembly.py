"""Assemble long rows of user, epoch, token and weight into profiles."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.core.parallel import over_blocks
from reidrisk.core.settings_syntax import offered, setting
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import numbers, one_of
from reidrisk.io.epochs import order_of
from reidrisk.io.frames import table_of
from reidrisk.io.labels import Coded, encode, encode_users, find, label_array, not_in_taxonomy
from reidrisk.io.provenance import Origin
from reidrisk.io.times import days_as_text
from reidrisk.people import cells
from reidrisk.people.profiles import Absent, Counts, Profiles

Duplicates = Literal["refuse", "add"]
Labels = Any  # a list or array of whole numbers, or of text

# Users per block of work.
BLOCK = 1 << 14


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """How rows become profiles; every reader of people takes these.

    Args:
        taxonomy: All tokens there are. By default those of the rows, of all epochs.
        epochs: The epochs to take, in this order. By default all, in the order of what their names
            mean: numbers, days, weeks.
        absent: What to do about users without rows in some of the epochs. "missing", the default:
            nothing is seen of them there. "pad": they get random sets. "drop": leave them out.
        duplicates: Whether several rows of one user, epoch and token are refused, the default, or
            their weights are added.

    Example:
        >>> choices = rr.data.Choices(taxonomy=[5, 7, 9], absent="drop")
        >>> choices.duplicates
        'refuse'
        >>> rr.data.make_profiles([1, 2], [1, 1], [5, 7], taxonomy=[5, 7, 9]).tokens
        3
    """

    taxonomy: Labels = None
    epochs: Labels = None
    absent: Absent = "missing"
    duplicates: Duplicates = "refuse"

    def __post_init__(self) -> None:
        one_of("absent", self.absent, get_args(Absent))
        one_of("duplicates", self.duplicates, get_args(Duplicates))


@dataclass(frozen=True, eq=False, slots=True)
class LongRows:
    """Numbered columns of equal length; labels without rows are allowed."""

    users: Coded
    epochs: Coded
    tokens: Coded
    weights: NDArray[Any]

    def __len__(self) -> int:
        return len(self.weights)


def make_profiles(
    user: Labels,
    epoch: Labels,
    token: Labels,
    weight: Labels = None,
    **choices: Any,
) -> Profiles:
    """Profiles from columns of equal length; `choices` are those of `Choices`.

    Args:
        user: The user of each row.
        epoch: The epoch of each row.
        token: The token of each row.
        weight: The weight of each row; 1 if not given.
        **choices: Those of `Choices`.

    Example:
        >>> users, weights = ["ann", "ann", "bob"], [2.0, 1.0, 4.0]
        >>> people = rr.data.make_profiles(users, [1, 1, 1], [5, 7, 5], weights)
        >>> people.users, people.epochs, people.labels.tolist()
        (2, 1, [5, 7])
    """
    columns = {"user": user, "epoch": epoch, "token": token, "weight": weight}
    given = {name: values for name, values in columns.items() if values is not None}
    return from_table(*table_of(given), Choices(**choices))


def from_table(table: pa.Table, source: Origin, choices: Choices) -> Profiles:
    """Profiles from a table with the columns user, epoch, token and perhaps weight."""
    if not table.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    users = encode_users(table["user"], "user", source)
    epochs = encode(days_as_text(table["epoch"]), "epoch", source)
    tokens = encode(table["token"], "token", source)
    return assemble(LongRows(users, epochs, tokens, weights_of(table, source)), source, choices)


def assemble(
    rows: LongRows,
    source: Origin,
    choices: Choices,
    *,
    present: NDArray[np.bool_] | None = None,
    counts: Counts | None = None,
) -> Profiles:
    """Check the rows and build profiles from them.

    Args:
        rows: The rows.
        source: Where they came from, for messages.
        choices: How to build.
        present: Users x epochs, where users were present even without a row.
        counts: What is already known about what was read.
    """
    check_weights(rows.weights, source)
    rows = _in_taxonomy(rows, choices.taxonomy, source)
    kept, which = in_epochs(rows, choices.epochs, source)
    counts = counts or Counts(rows=len(rows))
    counts = replace(counts, other_epochs=counts.other_epochs + len(rows) - len(kept))
    starts, members, weights = _cells(kept)
    if (repeat := cells.first_repeat(starts, members)) >= 0:
        if choices.duplicates == "refuse":
            raise InvalidInput(
                _repeated(kept, which, starts, repeat, members, source), code="duplicate-row"
            )
        weights = weights.astype(np.float64, copy=False)
        cells.merge_repeats(starts, members, weights)
        counts = replace(counts, added=len(kept) - int(starts[-1]))
    shape = len(kept.users.labels), len(kept.epochs.labels)
    there = (np.diff(starts) > 0).reshape(shape)
    there = there if present is None else there | present
    before = int(starts[-1])
    if not weights.all():  # rarely: the loop is compiled only then
        cells.remove_zeros(starts, members, weights)
    counts = replace(counts, zero_weights=before - int(starts[-1]))
    made = Profiles(
        kept.users.labels, kept.tokens.labels, kept.epochs.labels, starts,
        members[: starts[-1]], _smallest(weights[: starts[-1]]), there, choices.absent, counts,
        notes=source.notes, warnings=source.warnings,
    )  # fmt: skip
    return _finish(made)


def _finish(people: Profiles) -> Profiles:
    """Leave out users who are not in the chosen epochs, or not in all of them."""
    seen = np.asarray(people.present.any(axis=1))
    people = _only(people, seen)
    counts = replace(people.counts, other_users=int((~seen).sum()))
    if people.absent == "drop":
        always = np.asarray(people.present.all(axis=1))
        rows = len(people.members)
        people = _only(people, always)
        counts = replace(
            counts, dropped_users=int((~always).sum()), dropped_rows=rows - len(people.members)
        )
        if not people.users:
            raise InvalidInput(
                f"none of the {len(always)} users has rows in each of the {people.epochs} epochs, "
                f"so none is left; take fewer epochs, or {setting('absent', 'missing')}",
                code="nobody-left",
            )
    return replace(people, counts=replace(counts, absent=int((~people.present).sum())))


def _only(people: Profiles, keep: NDArray[np.bool_]) -> Profiles:
    """The users of a mask."""
    if keep.all():
        return people
    sizes = np.diff(people.starts).reshape(people.present.shape)
    rows = np.repeat(keep, sizes.sum(axis=1))
    starts = np.concatenate([[0], np.cumsum(sizes[keep])])
    return replace(
        people, ids=people.ids[keep], starts=starts, members=people.members[rows],
        weights=people.weights[rows], present=people.present[keep],
    )  # fmt: skip


def _cells(rows: LongRows) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Sort the rows into cells: where each begins, the tokens, the weights."""
    users, epochs, tokens = rows.users.codes, rows.epochs.codes, rows.tokens.codes
    length, kind = len(rows.epochs.labels), _token_type(len(rows.tokens.labels))
    some = len(rows.users.labels) * length
    what = f"{len(rows.users.labels):,} users with {length:,} epochs"
    check_fits(18 * some + 16 * len(rows), what, "use coarser epochs, or fewer users")
    starts = np.zeros(some + 1, dtype=np.int64)
    if cells.count_cells(users, epochs, tokens, length, starts):
        return starts, tokens.astype(kind), rows.weights.copy()
    members, weights = np.empty(len(rows), dtype=kind), np.empty_like(rows.weights)
    free = starts[:-1].reshape(-1, length).copy()
    cells.scatter(users, epochs, tokens, rows.weights, free, members, weights)

    def work(start: int, stop: int) -> None:
        cells.sort_cells(starts[start * length : stop * length + 1], members, weights)

    over_blocks(work, len(rows.users.labels), BLOCK)
    return starts, members, weights


def _in_taxonomy(rows: LongRows, taxonomy: Labels, source: Origin) -> LongRows:
    if taxonomy is None:
        return rows
    labels = label_array("taxonomy", taxonomy)
    place = find(rows.tokens.labels, labels).astype(np.int32)
    if (place < 0).any():
        row = int(np.flatnonzero(place[rows.tokens.codes] < 0)[0])
        raise InvalidInput(
            not_in_taxonomy(source.place(row), "the token", labels), code="not-in-taxonomy"
        )
    return replace(rows, tokens=Coded(place[rows.tokens.codes], labels))


def in_epochs(
    rows: LongRows, epochs: Labels, source: Origin
) -> tuple[LongRows, NDArray[np.bool_] | None]:
    """The rows of the chosen epochs, and which of all rows these are."""
    if epochs is None:
        order = order_of(rows.epochs.labels, source).places
        if (np.diff(order) > 0).all():
            return rows, None
        place = np.argsort(order).astype(np.int32)
        ordered = Coded(place[rows.epochs.codes], rows.epochs.labels[order])
        return replace(rows, epochs=ordered), None
    given = label_array("epochs", epochs)
    asked = encode(pa.chunked_array([pa.array(epochs)]), "epochs", Origin.memory(len(given)))
    missing = find(given, rows.epochs.labels) < 0
    if missing.any():
        raise InvalidInput(
            f"{source}: no row has epoch {given[missing][0]}, and {len(rows.epochs.labels):,} "
            "others are there; name epochs as the file does",
            code="unknown-epoch",
        )
    place = np.full(len(rows.epochs.labels), -1, dtype=np.int32)
    place[find(given[asked.codes], rows.epochs.labels)] = np.arange(len(given))
    codes = place[rows.epochs.codes]
    kept = codes >= 0
    return (
        LongRows(
            Coded(rows.users.codes[kept], rows.users.labels),
            Coded(codes[kept], given[asked.codes]),
            Coded(rows.tokens.codes[kept], rows.tokens.labels),
            rows.weights[kept],
        ),
        kept,
    )


def weights_of(table: pa.Table, source: Origin) -> NDArray[Any]:
    """The column of weights; without one every row weighs 1."""
    if "weight" not in table.column_names:
        return np.ones(table.num_rows, dtype=np.float32)
    return numbers(table["weight"], "weight", source)


def check_weights(
    weights: NDArray[Any], source: Origin, name: str = "weight", advice: str = ""
) -> None:
    """Name the first row whose weight is none; the advice is for weights below zero."""
    with np.errstate(invalid="ignore"):
        if len(weights) and not (weights.min() >= 0 and weights.max() < np.inf):
            row = int(np.flatnonzero(~((weights >= 0) & (weights < np.inf)))[0])
            more = advice if -np.inf < weights[row] < 0 else ""
            raise InvalidInput(
                f"{source.place(row)}: {name} is negative or not a finite number; correct it or "
                f"remove the row{more}",
                code="invalid-weight",
            )


def _repeated(
    rows: LongRows,
    which: NDArray[np.bool_] | None,
    starts: NDArray[np.int64],
    place: int,
    members: NDArray[Any],
    source: Origin,
) -> str:
    """Say where a user, epoch and token stand twice."""
    cell = int(np.searchsorted(starts, place, side="right")) - 1
    user, epoch = divmod(cell, len(rows.epochs.labels))
    same = (
        (rows.users.codes == user)
        & (rows.epochs.codes == epoch)
        & (rows.tokens.codes == members[place])
    )
    found = np.flatnonzero(same)[:2]
    first, second = found if which is None else np.flatnonzero(which)[found]
    how = setting("duplicates", "add")
    add = f", or add up their weights with {how}" if offered("duplicates") else ""
    return (
        f"{source.place(second)}: the same user, epoch and token as in {source.place(first)}; "
        f"remove one of the two{add}"
    )


def _token_type(tokens: int) -> type[np.signedinteger[Any]]:
    return np.int16 if tokens <= np.iinfo(np.int16).max else np.int32


def _smallest(weights: NDArray[Any]) -> NDArray[Any]:
    """In single precision if that loses nothing."""
    with np.errstate(over="ignore"):
        short = weights.astype(np.float32)
    return short if np.array_equal(short, weights) else weights
