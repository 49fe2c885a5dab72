"""What two sites saw of users, from files: rows with a name, rows without, and the truth."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.inputs.columns import lists, one_of, refuse_nulls, without_blanks
from reidrisk.inputs.labels import (
    Coded,
    encode,
    find,
    label_array,
    not_in_taxonomy,
    refuse_twins,
    union,
)
from reidrisk.inputs.sources import Source
from reidrisk.inputs.tables import (
    TEXT,
    TYPES,
    AnyPath,
    column_names,
    files_of,
    parquet_file,
    read_table,
)
from reidrisk.observations import MISSING, Observations

Strangers = Literal["refuse", "drop"]

TAXONOMY = b"reidrisk:taxonomy"


@dataclass(frozen=True, eq=False)
class Linked:
    """What two sites saw, as files tell it: observations, and the names in them.

    A release that already happened: a study takes it in place of people and release.

    Args:
        known: Users x slots, tokens from 0 on, -1 where nothing was seen.
        anonymous: Targets x slots.
        truth: The row of `known` of each target.
        ids: The user of each row of `known`.
        labels: `labels[token]` is the name of a token in the files.
        strangers: Anonymous rows that were left out because their user is not known.
        top_sets: Users x slots x top, -1 where absent, if the files had them.
    """

    known: NDArray[np.int32]
    anonymous: NDArray[np.int32]
    truth: NDArray[np.int64]
    ids: NDArray[Any]
    labels: NDArray[Any]
    strangers: int = 0
    top_sets: NDArray[np.int32] | None = None

    @property
    def users(self) -> int:
        """Number of known users."""
        return len(self.ids)

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return int(self.known.shape[1])

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return len(self.labels)

    @cached_property
    def observations(self) -> Observations:
        """The rows without names, as engines want them; made once."""
        return Observations(self.known, self.anonymous, self.truth, tokens=self.tokens)


@dataclass(frozen=True, eq=False, slots=True)
class SiteRows:
    """The rows of one file: a user and a list of tokens each, as codes into labels."""

    users: Coded
    tokens: NDArray[np.int32]
    labels: NDArray[Any]
    epochs: NDArray[Any]
    source: Source


def read_linked(
    known: AnyPath,
    anonymous: AnyPath,
    *,
    columns: Mapping[str, str] | None = None,
    taxonomy: Any = None,
    strangers: Strangers = "refuse",
) -> Linked:
    """Read what two sites saw: `user` with `tokens`, or long `user, epoch, token`.

    Args:
        known: Rows whose user the attacker knows: CSV or Parquet, a file or a folder.
        anonymous: Rows whose user the attacker wants; the column `user` holds the truth.
        columns: Names of columns that are called otherwise in the files.
        taxonomy: All tokens there are. By default what `write_observations` noted, else those seen.
        strangers: Whether anonymous rows of users who are not known are refused, the default, or
            left out and counted.

    Lists have one entry per slot, null where nothing was seen; in CSV they are text such as `3;;7`.
    In long form a slot without a row was not seen, and a slot is an epoch of either file.
    """
    one_of("strangers", strangers, get_args(Strangers))
    here, there = _read_rows(known, columns), _read_rows(anonymous, columns)
    if taxonomy is None:
        taxonomy = _noted_taxonomy(files_of(known, TYPES)[0])
    here, there = _same_slots(here, there)
    return link(here, there, taxonomy=taxonomy, strangers=strangers)


read_observations = read_linked


def link(here: SiteRows, there: SiteRows, *, taxonomy: Any, strangers: Strangers) -> Linked:
    """Bring the tokens and users of two files together."""
    labels = union(here.labels, there.labels)
    labels = labels if taxonomy is None else label_array("taxonomy", taxonomy)
    known, anonymous = _numbered(here, labels), _numbered(there, labels)
    refuse_twins(here.users, here.source)
    ids = here.users.labels
    place = np.empty(len(ids), dtype=np.int64)
    place[here.users.codes] = np.arange(len(here.users.codes))
    found = find(there.users.labels, ids)
    truth = np.where(found < 0, MISSING, place[found])[there.users.codes]
    strange = truth < 0
    if strange.any() and (strangers == "refuse" or strange.all()):
        first, *others = np.flatnonzero(strange).tolist()
        more = f", nor are those of {len(others):,} more" if others else ""
        raise InvalidInput(
            f"{there.source.place(first)}: the user of this row is not in {here.source}{more}; add "
            "users there, take such rows out, or let Python or a study file leave them out with "
            'strangers = "drop"'
        )
    return Linked(
        known, anonymous[~strange], truth[~strange], ids[here.users.codes], labels,
        strangers=int(strange.sum()),
    )  # fmt: skip


def _read_rows(path: AnyPath, columns: Mapping[str, str] | None) -> SiteRows:
    renamed = columns or {}
    if renamed.get("tokens", "tokens") in column_names(files_of(path, TYPES)[0]):
        names = {name: renamed[name] for name in ("user", "tokens") if name in renamed}
        table, source = read_table(path, {"user": TEXT, "tokens": TEXT}, names)
        read = _wide
    else:
        names = {name: renamed[name] for name in ("user", "epoch", "token") if name in renamed}
        table, source = read_table(path, dict.fromkeys(("user", "epoch", "token"), TEXT), names)
        read = _long
    if not table.num_rows:
        raise InvalidInput(f"{source}: there are no rows; at least one is needed")
    return read(table, source)


def _wide(table: pa.Table, source: Source) -> SiteRows:
    users = encode(table["user"], "user", source)
    column = table["tokens"]
    refuse_nulls(column, "tokens", source)
    rows = lists(column, "tokens", source)
    sizes = rows.value_lengths().to_numpy()
    if (wrong := sizes != sizes[0]).any() or not sizes[0]:
        row = int(wrong.argmax())
        raise InvalidInput(
            f"{source.place(row)}: 'tokens' has {sizes[row]} entries and the first row {sizes[0]}; "
            "give each row one entry per slot, and at least one, with null where nothing was seen"
        )
    tokens, labels = _entries(rows.flatten(), int(sizes[0]), source)
    return SiteRows(users, tokens, labels, np.empty(0), source)


def _entries(
    values: pa.Array, slots: int, source: Source
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Number the entries of all lists, with -1 for null and for empty text."""
    values = without_blanks(values)
    seen = values.is_valid().to_numpy(zero_copy_only=False)
    tokens = np.full(len(values), MISSING, dtype=np.int32)
    if not seen.any():
        return tokens.reshape(-1, slots), np.empty(0, dtype=np.int64)
    rows = np.flatnonzero(seen) // slots
    origin = Source(source.files, source.rows, record=lambda entry: int(rows[entry]))
    coded = encode(pa.chunked_array([values.drop_null()]), "tokens", origin)
    tokens[seen] = coded.codes
    return tokens.reshape(-1, slots), coded.labels


def _long(table: pa.Table, source: Source) -> SiteRows:
    users, epochs, tokens = (
        encode(table[name], name, source) for name in ("user", "epoch", "token")
    )
    slots = len(epochs.labels)
    cell = users.codes.astype(np.int64) * slots + epochs.codes
    order = np.argsort(cell, kind="stable")
    if (again := np.diff(cell[order]) == 0).any():
        at = int(again.argmax())
        raise InvalidInput(
            f"{source.place(int(order[at + 1]))}: the same user and epoch as in "
            f"{source.place(int(order[at]))}; a site sees one token per user and epoch: remove one"
        )
    rows = np.full((len(users.labels), slots), MISSING, dtype=np.int32)
    rows[users.codes, epochs.codes] = tokens.codes
    every = Coded(np.arange(len(users.labels), dtype=np.int32), users.labels)
    first = order[np.searchsorted(users.codes[order], every.codes)]
    origin = Source(source.files, source.rows, record=lambda row: int(first[row]))
    return SiteRows(every, rows, tokens.labels, epochs.labels, origin)


def _same_slots(here: SiteRows, there: SiteRows) -> tuple[SiteRows, SiteRows]:
    """Give both files the same slots: those of either, if they are named."""
    if bool(len(here.epochs)) != bool(len(there.epochs)):
        raise InvalidInput(
            f"{here.source} and {there.source}: one has lists of tokens and the other one row per "
            "epoch, so slots cannot be compared; write both in the same form"
        )
    if not len(here.epochs):
        if here.tokens.shape[1] != there.tokens.shape[1]:
            raise InvalidInput(
                f"{here.source} has {here.tokens.shape[1]} slots and {there.source} has "
                f"{there.tokens.shape[1]}; give both the same slots, null where nothing was seen"
            )
        return here, there
    epochs = union(here.epochs, there.epochs)
    return _spread(here, epochs), _spread(there, epochs)


def _spread(rows: SiteRows, epochs: NDArray[Any]) -> SiteRows:
    tokens = np.full((len(rows.tokens), len(epochs)), MISSING, dtype=np.int32)
    tokens[:, find(rows.epochs, epochs)] = rows.tokens
    return SiteRows(rows.users, tokens, rows.labels, epochs, rows.source)


def _numbered(rows: SiteRows, labels: NDArray[Any]) -> NDArray[np.int32]:
    """The tokens as places in these labels."""
    place = np.append(find(rows.labels, labels), MISSING).astype(np.int32)
    if (place[:-1] < 0).any():
        row, slot = np.argwhere((rows.tokens >= 0) & (place[rows.tokens] < 0))[0]
        token = f"token {rows.labels[rows.tokens[row, slot]]}"
        raise InvalidInput(not_in_taxonomy(rows.source.place(int(row)), token, labels))
    return place[rows.tokens]


def _noted_taxonomy(file: Path) -> list[Any] | None:
    """The labels that `write_observations` noted in a Parquet file."""
    if file.suffix.lower() != ".parquet":
        return None
    noted = (parquet_file(file).schema_arrow.metadata or {}).get(TAXONOMY)
    try:
        labels = json.loads(noted) if noted else None
    except ValueError:
        labels = ()
    if labels is not None and not isinstance(labels, list):
        raise InvalidInput(
            f"{file}: the note {TAXONOMY.decode()} is damaged; write the file again or give the "
            "taxonomy"
        )
    return labels
