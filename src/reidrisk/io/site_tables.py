"""Read what one site saw: lists, a row per epoch or item, or named columns.

| a row of the table is | it has | a row of what was seen has |
| --- | --- | --- |
| all of a user | `user`, `tokens` (lists) | a slot for each entry; a bag, if lengths differ |
| a user in an epoch | `user`, `epoch`, `token` | a slot for each epoch |
| an item of a user | `user`, `item` | a bag |
| all of a user | `user` and named columns | a slot for each column |
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.core.observations import MISSING
from reidrisk.core.rows import BagRows
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.column_roles import column_name, like, like_count, listed, of_role
from reidrisk.io.columns import lists, refuse_nulls, trimmed, without_blanks
from reidrisk.io.epochs import order_of
from reidrisk.io.id_shapes import by_pattern
from reidrisk.io.labels import (
    Coded,
    as_text,
    encode,
    encode_users,
    find,
    not_in_taxonomy,
    refuse_empty,
    text_of,
    union,
)
from reidrisk.io.layouts import Layout, Returns
from reidrisk.io.nobody import with_users
from reidrisk.io.provenance import Origin
from reidrisk.io.row_checks import check_user_columns
from reidrisk.io.seconds import seconds_of
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import AnyPath, column_names, is_path, read_table
from reidrisk.io.time_tokens import Events
from reidrisk.io.times import days_as_text

Form = Literal["lists", "epochs", "items", "columns"]


_MOST_TIMES = 2**31 - 1
_MOST = 2.0**53
"""Whole numbers below it are exact in a column of numbers."""
_FORMS = {
    "lists": "lists of tokens",
    "epochs": "one row per epoch",
    "items": "one row per item",
    "columns": "a column for each slot",
}


@dataclass(frozen=True, eq=False, slots=True)
class SiteRows:
    """The rows of one file: a user and some tokens each, as codes into labels.

    Args:
        users: The user of each row.
        starts: Where the tokens of each row begin, and behind the last one their end.
        tokens: Those of all rows, one row after the other; -1 where a slot is empty.
        labels: The names of the tokens.
        slots: The names of the slots: epochs or columns. Empty if they have none.
        form: What a row of the table was; rows of items are bags, without slots.
        source: Where the rows came from.
        unmatched: Number of users whom a pattern did not match.
        counts: How often each of the tokens came; None if each came once.
        events: When items came, if a column told.
    """

    users: Coded
    starts: NDArray[np.int64]
    tokens: NDArray[np.int32]
    labels: NDArray[Any]
    slots: NDArray[Any]
    form: Form
    source: Origin
    unmatched: int = 0
    counts: NDArray[np.int32] | None = None
    events: Events | None = None

    @classmethod
    def slotted(
        cls,
        users: Coded,
        tokens: NDArray[np.int32],
        labels: NDArray[Any],
        source: Origin,
        *,
        slots: NDArray[Any] | None = None,
        form: Form = "lists",
    ) -> "SiteRows":
        """Rows with one token for each slot, rows x slots.

        Args:
            users: The user of each row.
            tokens: Rows x slots.
            labels: The names of the tokens.
            source: Where its rows came from, for messages.
            slots: The names of the slots, if they have any.
            form: What a row of the table was.
        """
        starts = np.arange(len(tokens) + 1) * tokens.shape[1]
        names = np.empty(0) if slots is None else slots
        return cls(users, starts, tokens.ravel(), labels, names, form, source)

    @property
    def bags(self) -> bool:
        """Whether there are no slots."""
        return self.form == "items"

    @property
    def width(self) -> int | None:
        """Number of slots; None if rows have not the same number."""
        sizes = np.diff(self.starts)
        return None if self.bags or (sizes != sizes[0]).any() else int(sizes[0])

    def in_slots(self) -> NDArray[np.int32]:
        """Rows x slots."""
        return self.tokens.reshape(len(self.users.codes), -1)

    def in_bags(self, tokens: int) -> BagRows:
        """Rows as bags, without slots.

        Args:
            tokens: How many there are.
        """
        return BagRows.of(self.tokens, self.starts, tokens=tokens, counts=self.counts)

    def numbered(self, labels: NDArray[Any]) -> "SiteRows":
        """The same rows, their tokens numbered by other labels.

        Args:
            labels: Sorted names of tokens; those of the rows are among them.
        """
        place = np.append(find(self.labels, labels), MISSING).astype(np.int32)
        if (place[:-1] < 0).any():
            at = int(np.flatnonzero((self.tokens >= 0) & (place[self.tokens] < 0))[0])
            row = int(np.searchsorted(self.starts, at, side="right")) - 1
            raise InvalidInput(
                not_in_taxonomy(self.source.place(row), "a token", labels), code="not-in-taxonomy"
            )
        events = self.events
        if events is not None:
            events = replace(events, items=place[events.items].astype(np.int64))
        return replace(self, tokens=place[self.tokens], labels=labels, events=events)

    def spread(self, slots: NDArray[Any], order: NDArray[np.int64]) -> "SiteRows":
        """The same rows with more slots; new ones are empty.

        Args:
            slots: Names, sorted.
            order: Which of them is the first slot, the second, and so on.
        """
        _check_slots(len(self.users.codes), len(slots), self.source)
        tokens = np.full((len(self.users.codes), len(slots)), MISSING, dtype=np.int32)
        tokens[:, np.argsort(order)[find(self.slots, slots)]] = self.in_slots()
        return SiteRows.slotted(
            self.users, tokens, self.labels, self.source, slots=slots[order], form=self.form
        )


def read_site(
    path: AnyPath,
    layout: Layout,
    columns: Mapping[str, str],
    *,
    slots: tuple[str, ...] = (),
    pattern: str | None = None,
) -> SiteRows:
    """The rows of a file, by what it has and what the layout says.

    Args:
        path: A file, or a folder of files.
        layout: Which column is what.
        columns: Names in the file of `user`, `tokens`, `epoch`, `token` or `item`.
        slots: What slots of columns are called, if not by their names in this file.
        pattern: The part of an id that is the user, as `by_pattern` takes it.
    """
    if layout.columns:
        names = {f"column {place}": name for place, name in enumerate(layout.columns)}
        form, names = "columns", {"user": layout.user or "user", **names}
    else:
        there = column_names(path, layout)
        named = _names(path, there, layout, columns)
        form = "tokens" if "tokens" in named else "epoch" if "epoch" in named else "token"
        names = {name: named[name] for name in _READERS[form][0]}
    for role, column in (("count", layout.count), ("time", layout.time)):
        if column is not None:
            _refuse_unless_items(form, role)
            names[role] = column
    table, source = rows_of_people(path, names, layout)
    if form == "token" and layout.count is None:
        source = _with_unread_count(source, [one for one in there if one not in names.values()])
    unmatched = 0
    if pattern is not None:
        users, unmatched = by_pattern(table["user"], pattern, source)
        table = table.set_column(table.column_names.index("user"), "user", users)
    if form == "columns":
        rows = _in_columns(table, source, slots or layout.columns)
    elif "count" in names or "time" in names:
        rows = _in_items(table, source, layout.returns)
    elif form == "token" and pa.types.is_nested(table["token"].type):
        rows = _in_lists(table.rename_columns(["user", "tokens"]), source)
    else:
        rows = _READERS[form][1](table, source)
    return replace(rows, unmatched=unmatched)


def _with_unread_count(source: Origin, left: list[str]) -> Origin:
    """Say that a column of counts is not read."""
    if not (counts := like_count(left)):
        return source
    named = " and ".join(map(column_name, counts))
    note = f"{source}: each row counts once, since {named} is not read as its count"
    return replace(source, notes=(*source.notes, note))


def _refuse_unless_items(form: str, role: str) -> None:
    if form != "token":
        what = {"count": "how often items came", "time": "when items came"}[role]
        raise InvalidInput(
            f"{setting(role)} says {what}, and belongs to tables with a row for "
            "each item of a user, without epochs; leave it out",
            code="conflicting-arguments",
        )


def site_columns(path: AnyPath, layout: Layout, columns: Mapping[str, str]) -> dict[str, str]:
    """The columns of a file that is read as rows of items, lists or epochs, by what they are.

    A column is the one that the layout names, or has our name for it; users and items are also
    known by names that say what they are, if one column alone has such a name.

    Args:
        path: The file.
        layout: Which column is what.
        columns: Names in the file of `user`, `tokens`, `epoch`, `token` or `item`.
    """
    return _names(path, column_names(path, layout), layout, columns)


def same_form(here: SiteRows, there: SiteRows, *, bags: bool = False) -> tuple[SiteRows, SiteRows]:
    """Give two tables the same slots, or make bags of both.

    Args:
        here: Known rows.
        there: Anonymous rows.
        bags: Whether lists are known to be bags.
    """
    both = f"{here.source} and {there.source}"
    if here.form != there.form and {here.form, there.form} & {"epochs", "columns"}:
        raise InvalidInput(
            f"{both}: one has {_FORMS[here.form]} and the other {_FORMS[there.form]}, so slots "
            "cannot be compared; write both in the same form",
            code="forms-differ",
        )
    if here.form == "columns":  # named once, for both
        return here, there
    if here.form == "epochs":
        slots = union(here.slots, there.slots)
        order = order_of(slots, both).places
        if len(slots) == len(here.slots) == len(there.slots) and (np.diff(order) > 0).all():
            return here, there
        return here.spread(slots, order), there.spread(slots, order)
    if here.width is not None and there.width is not None and not bags:
        if here.width != there.width:
            raise InvalidInput(
                f"{here.source} has {here.width} slots and {there.source} has {there.width}; give "
                "both the same slots, null where nothing was seen",
                code="slot-mismatch",
            )
        return here, there
    for rows in (here, there):
        if (gaps := rows.tokens == MISSING).any():
            row = int(np.searchsorted(rows.starts, int(gaps.argmax()), side="right")) - 1
            raise InvalidInput(
                f"{rows.source.place(row)}: an entry is empty, as if entries were slots, but rows "
                f"of {both} have different numbers of entries, as if they were baskets without an "
                "order; give each row one entry per slot, or leave no entry empty",
                code="forms-differ",
            )
    return replace(here, form="items"), replace(there, form="items")


def _names(
    path: AnyPath, there: list[str], layout: Layout, columns: Mapping[str, str]
) -> dict[str, str]:
    """The names of columns in a file, by ours."""
    said = {"user": layout.user, "token": layout.item, "epoch": layout.epoch}
    names = {name: column for name, column in said.items() if column is not None}
    names |= {("token" if name == "item" else name): column for name, column in columns.items()}
    for name, usual in (
        ("user", ("user",)), ("tokens", ("tokens",)), ("epoch", ("epoch",)),
        ("token", ("token", "item")),
    ):  # fmt: skip
        taken = {*names.values(), layout.time}
        found = [one for one in usual if one in there and one not in taken]
        if found and name not in names:
            names[name] = found[0]
    if "token" in names and layout.item is not None:
        names.pop("tokens", None)
    place = path if is_path(path) else "the table"
    if not names.keys() & {"token", "tokens"} and len(items := of_role("item", there)) == 1:
        names["token"] = items[0]
    if "user" not in names and len(users := of_role("user", there)) == 1:
        names["user"] = users[0]
    if "user" not in names or not names.keys() & {"token", "tokens"}:
        what = "users" if "user" not in names else "items"
        user, item = (next(iter(of_role(role, there)), None) for role in ("user", "item"))
        raise InvalidInput(
            f"{place}: nobody says which column holds the {what}; there are {listed(there)}. "
            f"Name columns with {setting('user', user)} and {setting('item', item)}, or those that "
            f"describe a person with {setting('columns')}",
            code="unclear-column",
        )
    left = [one for one in there if one not in {*names.values(), layout.time}]
    if "epoch" not in names and (slips := [one for one in left if like(one, "epoch")]):
        raise InvalidInput(
            f"{place}: {slips[0]!r} may be the epoch, and would be ignored; name it with "
            f"{setting('epoch', slips[0])}, or give it another name if it is something else",
            code="unclear-column",
        )
    return names


def rows_of_people(
    path: AnyPath,
    names: Mapping[str, str],
    layout: Layout,
    numbers: Collection[str] = ("count",),
) -> tuple[pa.Table, Origin]:
    """Some columns of a table, of the rows that name a user, and where these came from.

    Args:
        path: A file, or a folder of files.
        names: The columns in the file, by ours; `user` is one of them.
        layout: How it is cut.
        numbers: Those that hold numbers.
    """
    types = {name: pa.float64() if name in numbers else TEXT for name in names}
    table, source = read_table(
        path, types, names, layout=layout,
        check=lambda opened, taken: check_user_columns(opened, [one["user"] for one in taken]),
    )  # fmt: skip
    if not table.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    columns = {name: trimmed(table[name]) for name in table.column_names}
    return with_users(pa.table(columns), "user", source)


def _in_columns(table: pa.Table, source: Origin, names: tuple[str, ...]) -> SiteRows:
    """A slot for each named column; a cell without content is an empty slot."""
    users = encode_users(table["user"], "user", source)
    tokens = np.full((table.num_rows, len(names)), MISSING, dtype=np.int32)
    labels: list[NDArray[Any]] = []
    for slot, name in enumerate(names):
        values, rows = _filled(table[f"column {slot}"], name, source)
        if len(rows):
            coded = encode(values, name, _at(source, rows))
            tokens[rows, slot] = coded.codes + sum(map(len, labels))
            labels.append(np.array([f"{name}={one}" for one in as_text(coded.labels)], object))
    every = np.concatenate([np.empty(0, object), *labels])
    order = np.argsort(every)  # labels are sorted, everywhere
    place = np.append(np.argsort(order), MISSING).astype(np.int32)
    slots = np.array(names, object)
    return SiteRows.slotted(users, place[tokens], every[order], source, slots=slots, form="columns")


def _filled(
    column: pa.ChunkedArray, name: str, source: Origin
) -> tuple[pa.ChunkedArray, NDArray[np.int64]]:
    """The entries of a column that are not empty, and their rows."""
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        column = text_of(column, name, source)
    elif not pa.types.is_integer(kind):
        column = column.cast(TEXT)
    values = pa.chunked_array([without_blanks(chunk) for chunk in column.chunks], column.type)
    rows = np.flatnonzero(values.is_valid().to_numpy())
    return values.drop_null(), rows


def _at(source: Origin, rows: NDArray[np.int64]) -> Origin:
    """The source of the entries of some rows."""
    return replace(source, record=lambda entry: source.record(int(rows[entry])))


def _in_lists(table: pa.Table, source: Origin) -> SiteRows:
    users = encode_users(table["user"], "user", source)
    column = table["tokens"]
    refuse_nulls(column, "tokens", source)
    rows = lists(column, "tokens", source)
    sizes = rows.value_lengths().to_numpy()
    if not sizes.any():
        raise InvalidInput(
            f"{source}: the lists of 'tokens' are all empty; give each row at least one entry",
            code="empty-lists",
        )
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    values = without_blanks(rows.flatten())
    seen = values.is_valid().to_numpy(zero_copy_only=False)
    tokens = np.full(len(values), MISSING, dtype=np.int32)
    labels = np.empty(0, dtype=np.int64)
    if seen.any():
        filled = pa.chunked_array([values.drop_null()])
        coded = encode(filled, "tokens", _at(source, owner[seen]))
        tokens[seen], labels = coded.codes, coded.labels
    return SiteRows(users, starts, tokens, labels, np.empty(0), "lists", source)


def _in_items(table: pa.Table, source: Origin, returns: Returns = "refuse") -> SiteRows:
    """Each item of a user once, with the sum of its counts; what comes to nothing is left out.

    Without a column of counts, each row counts once.
    """
    if "count" not in table.column_names:
        return _baskets(table, source, np.ones(table.num_rows, np.int64))
    return _baskets(table, source, _counts(table["count"], source, returns))


def _baskets(table: pa.Table, source: Origin, counts: NDArray[np.int64]) -> SiteRows:
    """A bag for each user who has anything, whatever the order of rows in the file."""
    users = encode_users(table["user"], "user", source)
    tokens = encode(table["token"], "token", source)
    order = np.lexsort((tokens.codes, users.codes))
    owners, items = users.codes[order], tokens.codes[order]
    first = np.flatnonzero(np.diff(owners, prepend=-1) | np.diff(items, prepend=-1))
    times = np.add.reduceat(counts[order], first)
    kept, times = first[times > 0], times[times > 0]
    if not len(kept):
        raise InvalidInput(
            f"{source}: no count is above 0; at least one item is needed", code="empty-table"
        )
    if times.max() > _MOST_TIMES:
        row = int(order[kept[times.argmax()]])
        raise InvalidInput(
            f"{source.place(row)}: the counts of this item of this user add up to "
            f"{times.max():,}, and a basket holds an item up to {_MOST_TIMES:,} times; leave "
            f"{setting('count')} out, so that each row counts once",
            code="invalid-count",
        )
    left = np.unique(owners[kept])
    begin = np.searchsorted(owners, np.arange(len(users.labels)))
    return SiteRows(
        Coded(np.arange(len(left), dtype=np.int32), users.labels[left]),
        np.searchsorted(owners[kept], np.append(left, len(users.labels))).astype(np.int64),
        items[kept], tokens.labels, np.empty(0), "items",
        _at(source, np.minimum.reduceat(order, begin)[left]),
        counts=times.astype(np.int32) if times.max() > 1 else None,
        events=_events(table, source, (users, tokens), (counts > 0) & np.isin(users.codes, left)),
    )  # fmt: skip


def _events(
    table: pa.Table, source: Origin, coded: tuple[Coded, Coded], kept: NDArray[np.bool_]
) -> Events | None:
    """When the items of some rows came, if a column tells; bags are users in their order."""
    if "time" not in table.column_names:
        return None
    times = encode(days_as_text(table["time"]), "time", source)
    refuse_empty(times, "time", source)
    seconds = seconds_of(times, source, column="time", purpose="to compare them")[times.codes]
    users, items = coded
    _, bags = np.unique(users.codes[kept], return_inverse=True)
    return Events(bags, items.codes[kept].astype(np.int64), seconds[kept])


def _counts(column: pa.ChunkedArray, source: Origin, returns: Returns) -> NDArray[np.int64]:
    """Counts as whole numbers; what a basket cannot hold is refused."""
    refuse_nulls(column, "count", source)
    try:
        counts = np.asarray(column.cast(pa.float64()).to_numpy())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(
            f"{source}: column 'count' does not hold numbers; name the column that does with "
            f"{setting('count')}",
            code="wrong-column-type",
        ) from None
    if (wrong := ~((np.abs(counts) < _MOST) & (counts == np.floor(counts)))).any():
        raise InvalidInput(
            f"{source.place(int(wrong.argmax()))}: 'count' is not a whole number, and a basket "
            f"holds an item so many times; leave {setting('count')} out, so that each row counts "
            "once",
            code="invalid-count",
        )
    if returns == "refuse" and (counts < 0).any():
        others = " or ".join(setting("returns", one) for one in ("skip", "net"))
        raise InvalidInput(
            f"{source.place(int((counts < 0).argmax()))}: 'count' is below zero; if these are "
            f"returns, say what becomes of them with {others}",
            code="invalid-count",
        )
    counts = counts.astype(np.int64)
    return np.maximum(counts, 0) if returns == "skip" else counts


def _in_epochs(table: pa.Table, source: Origin) -> SiteRows:
    users = encode_users(table["user"], "user", source)
    epochs = encode(days_as_text(table["epoch"]), "epoch", source)
    tokens = encode(table["token"], "token", source)
    slots = len(epochs.labels)
    _check_slots(len(users.labels), slots, source)
    cell = users.codes.astype(np.int64) * slots + epochs.codes
    order = np.argsort(cell, kind="stable")
    if (again := np.diff(cell[order]) == 0).any():
        at = int(again.argmax())
        raise InvalidInput(
            f"{source.place(int(order[at + 1]))}: the same user and epoch as in "
            f"{source.place(int(order[at]))}; in this form a site sees one token per user and "
            "epoch: remove one, or leave the epochs out to compare baskets",
            code="duplicate-row",
        )
    rows = np.full((len(users.labels), slots), MISSING, dtype=np.int32)
    rows[users.codes, epochs.codes] = tokens.codes
    every = Coded(np.arange(len(users.labels), dtype=np.int32), users.labels)
    first = order[np.searchsorted(users.codes[order], every.codes)]
    return SiteRows.slotted(
        every, rows, tokens.labels, _at(source, first), slots=epochs.labels, form="epochs"
    )


def _check_slots(rows: int, slots: int, source: Origin) -> None:
    """Refuse more slots than fit into memory; rows are held twice while they are sorted."""
    what = f"{source}: {rows:,} rows with {slots:,} slots"
    check_fits(8 * rows * slots, what, "use coarser epochs, or fewer rows")


def rows_of_site(rows: SiteRows, tokens: int) -> NDArray[np.int32] | BagRows:
    """Rows as bags if they have no slots, else rows x slots.

    Args:
        rows: Which.
        tokens: How many there are.
    """
    return rows.in_bags(tokens) if rows.bags else rows.in_slots()


_READERS: dict[str, tuple[tuple[str, ...], Callable[[pa.Table, Origin], SiteRows]]] = {
    "tokens": (("user", "tokens"), _in_lists),
    "epoch": (("user", "epoch", "token"), _in_epochs),
    "token": (("user", "token"), _in_items),
}
"""By the column that tells: the columns to read, and who reads them."""
