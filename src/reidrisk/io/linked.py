"""What two sites saw of users, from files: rows with a name, rows without, and the truth."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.digest import IF_SET
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import BagRows, TokenKindRows, Tokens, rows_of
from reidrisk.core.settings_syntax import setting, warn
from reidrisk.core.vector_rows import VectorRows
from reidrisk.errors import InvalidInput, TooLarge, Unverified
from reidrisk.io import manifest
from reidrisk.io.alignment_checks import alignment_warnings
from reidrisk.io.array_files import is_array_file
from reidrisk.io.columns import one_of
from reidrisk.io.equality_checks import check_equality
from reidrisk.io.find_users import in_order, rows_of_users
from reidrisk.io.labels import find, label_array, refuse_duplicate_users, union
from reidrisk.io.layouts import Layout
from reidrisk.io.overlap_checks import (
    SiteUsers,
    check_epochs,
    check_tokens,
    pattern_warnings,
    refuse_disjoint_users,
    spelling_warnings,
    user_overlap,
)
from reidrisk.io.parquet_files import SUFFIX, parquet_file
from reidrisk.io.parquet_rows import ParquetRows
from reidrisk.io.plays import read_taxonomy
from reidrisk.io.shards import NUMBERS
from reidrisk.io.site_tables import SiteRows, read_site, rows_of_site, same_form
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import files_of, is_path, path_or_table, read_table
from reidrisk.io.time_tokens import with_times
from reidrisk.io.vector_rounding import round_sites
from reidrisk.io.vector_tables import names_vectors, read_site_vectors

Strangers = Literal["keep", "refuse"]

TAXONOMY, LABELS, FORM = b"reidrisk:taxonomy", b"reidrisk:labels", b"reidrisk:form"
"""Notes in Parquet files: all tokens there are, as JSON in files of before there were checksums, or
the file beside them that holds them; and what rows are if they are bags."""
BAGS = b"bags"
LABELS_FILE = "labels.parquet"
_ONE_ROW = (
    "keep one of each user, drawn at random, or write all of a user as one basket; rows of one "
    "person are not independent, and intervals would take them for several people"
)
RENAMED = frozenset(("user", "tokens", "epoch", "token", "item"))
"""Columns for which both files may have another name."""


@dataclass(frozen=True, eq=False)
class Linked:
    """What two sites saw, as files tell it: observations, and the names in them.

    A release that already happened: a study takes it in place of people and release.

    Args:
        known: One row per known user: a token for each slot, -1 where nothing was seen; bags; or
            vectors.
        anonymous: One row per target, alike; each target is another user.
        truth: The row of `known` of each target.
        ids: The user of each row of `known`; None if `known` is on disk and its users with it, as
            those of shards are: `ids_of` reads some of them.
        labels: `labels[token]` is the name of a token in the files; empty where rows are vectors.
        stranger_rows: Anonymous rows whose user is not known. They are no targets: whoever chooses
            among the known users cannot be right about them, and may accuse somebody.
        stranger_ids: The user of each of them, if that is told.
        slot_names: What the slots are called, if they have names: epochs, columns.
        by_column: Whether slots are columns of a table, each with tokens of its own.
        top_sets: Users x slots x top, -1 where absent, if the files had them.
        warnings: What the two hardly share, or seem to write in two ways, a sentence each; and
            what was left out of them, where it is much.
        notes: What else was left out of them, or seems odd in them.
        timed: The same rows with tokens of when items came as well, if columns told.
        times: Only of these rows, by token: what it tells of time, '' if it is an item.

    Example:
        >>> from pyarrow import parquet, table
        >>> for name, towns in (("known", ["Rome", "Oslo"]), ("anonymous", ["Rome", "Rome"])):
        ...     rows = table({"user": [1, 2], "age": [34, 51], "town": towns})
        ...     parquet.write_table(rows, f"{name}.parquet")
        >>> layout = rr.data.Layout(user="user", columns=("age", "town"))
        >>> linked = rr.data.read_linked("known.parquet", "anonymous.parquet", layout=layout)
        >>> linked.slot_names, linked.truth.tolist(), linked.labels.tolist()
        (('age', 'town'), [0, 1], ['age=34', 'age=51', 'town=Oslo', 'town=Rome'])
    """

    known: TokenKindRows | VectorRows
    anonymous: Tokens | BagRows | VectorRows
    truth: NDArray[np.int64]
    ids: NDArray[Any] | None
    labels: NDArray[Any]
    stranger_rows: Tokens | BagRows | VectorRows | None = None
    stranger_ids: NDArray[Any] | None = None
    slot_names: tuple[str, ...] = ()
    by_column: bool = False
    top_sets: NDArray[np.int32] | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), metadata={IF_SET: True})
    timed: "Linked | None" = field(default=None, metadata={IF_SET: True})
    times: NDArray[np.str_] | None = field(default=None, metadata={IF_SET: True})

    def __post_init__(self) -> None:
        tokens = None if self.vectors else len(self.labels)
        object.__setattr__(self, "known", rows_of(self.known, tokens=tokens))
        if self.ids is None and not isinstance(self.known, ParquetRows):
            raise InvalidInput(
                "ids is the user of each known row; only ParquetRows know them",
                code="conflicting-arguments",
            )

    @property
    def users(self) -> int:
        """Number of known users."""
        return self.known.users

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return self.known.slots

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return len(self.labels)

    @cached_property
    def values(self) -> NDArray[Any]:
        """The value behind each token: its name, without that of its column."""
        if not self.by_column:
            return self.labels
        # The longest name first: one column may be called as another begins.
        names = sorted((f"{name}=" for name in self.slot_names), key=len, reverse=True)
        found = [
            label[next((len(name) for name in names if label.startswith(name)), 0) :]
            for label in self.labels.tolist()
        ]
        return np.array(found, object)

    @property
    def bags(self) -> bool:
        """Whether rows are bags of tokens, without slots."""
        return isinstance(self.known, BagRows)

    @property
    def vectors(self) -> bool:
        """Whether rows are vectors."""
        return isinstance(self.known, VectorRows)

    @property
    def strangers(self) -> int:
        """Number of anonymous rows whose user is not known."""
        return 0 if self.stranger_rows is None else len(self.stranger_rows)

    @property
    def known_only(self) -> int:
        """Number of known users of whom there is no anonymous row."""
        return self.users - len(np.unique(self.truth))

    def ids_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The users of some rows of `known`, by their numbers, in this order.

        Args:
            rows: Numbers of known rows.
        """
        if self.ids is not None:
            return np.asarray(self.ids[rows])
        assert isinstance(self.known, ParquetRows)
        return self.known.ids_of(rows)

    @property
    def target_ids(self) -> NDArray[Any]:
        """The user of each target."""
        return self.ids_of(self.truth)

    @cached_property
    def observations(self) -> Observations:
        """The rows without names, as engines want them; made once.

        Strangers come in random order, always the same: some of them choose when attackers speak
        and the others judge it, which must not hang on how a file is sorted.
        """
        rows = self.stranger_rows
        if rows is not None:
            places = np.arange(len(rows))
            draws = uniforms(seed=0, purpose="linked/strangers", users=places, count=1)[:, 0]
            order = np.argsort(draws, kind="stable")
            rows = rows.select(order) if isinstance(rows, VectorRows) else rows[order]
        tokens = None if self.vectors else self.tokens
        return Observations(self.known, self.anonymous, self.truth, tokens=tokens, strangers=rows)


def read_linked(
    known: Any,
    anonymous: Any,
    *,
    layout: Layout | None = None,
    anonymous_layout: Layout | None = None,
    columns: Mapping[str, str] | None = None,
    user_pattern: str | None = None,
    taxonomy: Any = None,
    strangers: Strangers = "keep",
) -> Linked:
    """Read what two sites saw: lists, one row per epoch, one row per item, columns, or vectors.

    Args:
        known: Rows whose user the attacker knows: a file or folder of tables, a data frame, or a
            file of arrays, `.npz` with `ids` and `vectors`, or `.npy` with a vector for each row,
            the number of which is its user. Shards that `reidrisk release` wrote, and
            `ParquetRows`, stay on disk.
        anonymous: Rows whose user the attacker wants, one of each; the column `user` holds the
            truth.
        layout: Which column is what in both files, and how they are cut.
        anonymous_layout: The layout of the anonymous rows, if it is another: columns that become
            slots come in the same order in both, and take their names from `layout`.
        columns: Names in the files of `user`, `tokens`, `epoch`, `token` or `item`, if it is
            shorter to say only that.
        user_pattern: A regular expression whose first group is the user within an id, such as
            "rec-([0-9]+)" for rec-7-org and rec-7-dup-0. Ids that it does not match stay whole.
        taxonomy: All tokens there are. By default what `write_observations` noted, else those seen.
            With `ParquetRows`, the name of each token number; by default the number itself.
        strangers: What becomes of anonymous rows of users who are not known: "keep" counts them and
            holds them apart, "refuse" takes them for a mistake.

    Lists have one entry per slot, null where nothing was seen; in CSV they are text such as `3;;7`.
    Lists of different lengths are bags, without an order. In long form a slot is an epoch of either
    file, in the order of what their names mean, and one without a row was not seen; items without
    epochs are bags.

    Vectors are lists of numbers in a column (`Layout.vector`), or numbers in several
    (`Layout.vectors`). Both tables are rounded to one grid of whole numbers of 16 bits. A user has
    one vector, or one in each epoch.

    Tables that have no token, no epoch or no user in common are refused; what they hardly share, or
    seem to write in two ways, is in `warnings` of what is returned.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> rr.data.write_observations(rr.TopicsApi(topics=40).observe(people, seed=7), "seen")
        >>> linked = rr.data.read_linked("seen/known.parquet", "seen/anonymous.parquet")
        >>> print(rr.measure(linked.observations, rr.Hamming()))
        hamming, 1,000 users (guessing 0.001)
          after  2 slots: 2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
    """
    one_of("strangers", strangers, get_args(Strangers))
    if unknown := set(columns or {}) - RENAMED:
        raise InvalidInput(
            f"columns renames {', '.join(sorted(unknown))}; it can rename "
            f"{', '.join(sorted(RENAMED))}",
            code="unknown-column",
        )
    said = Layout() if layout is None else layout
    other = said if anonymous_layout is None else anonymous_layout
    _refuse_unlike(said, other)
    anonymous = path_or_table(anonymous)
    if any(map(is_array_file, (known, anonymous))) or names_vectors(said) or names_vectors(other):
        _refuse_labels(taxonomy, columns)
        known = path_or_table(known)
        return _link_vectors(known, anonymous, (said, other), user_pattern, strangers)
    if isinstance(known, ParquetRows):
        _refuse_condition(said)
        _refuse_pattern(user_pattern)
        labels = np.arange(known.tokens) if taxonomy is None else in_order("taxonomy", taxonomy)
        there = read_site(anonymous, other, columns or {})
        return _link_stored(known, there, labels=labels, strangers=strangers)
    known = path_or_table(known)
    file = files_of(known)[0] if is_path(known) else Path("the table")
    notes = _notes(file)
    if NUMBERS in notes:
        if taxonomy is not None:
            raise InvalidInput(
                f"{file} holds numbers of tokens, which {LABELS_FILE} of its folder names; leave "
                f"out {setting('taxonomy')}",
                code="conflicting-arguments",
            )
        _refuse_condition(said)
        _refuse_pattern(user_pattern)
        stored, labels = ParquetRows(known), _shard_labels(file)
        there = read_site(anonymous, other, columns or {})
        return _link_stored(stored, there, labels=labels, strangers=strangers)
    here = _read_known(known, said, columns or {}, user_pattern)
    there = read_site(anonymous, other, columns or {}, slots=said.columns, pattern=user_pattern)
    if taxonomy is None:
        taxonomy = _noted_taxonomy(file, notes)
    here, there = same_form(here, there, bags=notes.get(FORM) == BAGS)
    return link(here, there, taxonomy=taxonomy, strangers=strangers)


def _refuse_condition(layout: Layout) -> None:
    if layout.where is not None:
        raise InvalidInput(
            "known rows in shards are taken whole, so that a condition cannot choose among them; "
            f"leave {setting('where')} out",
            code="conflicting-arguments",
        )


read_observations = read_linked


def _refuse_unlike(here: Layout, there: Layout) -> None:
    if len(here.columns) != len(there.columns):
        raise InvalidInput(
            f"{len(here.columns)} columns of the known table become slots, and "
            f"{len(there.columns)} of the anonymous one; name as many of both, in the same order",
            code="length-mismatch",
        )
    for name, what in (("count", "counts"), ("time", "times")):
        if (getattr(here, name) is None) != (getattr(there, name) is None):
            raise InvalidInput(
                f"the layout of one table names a column of {what}, and that of the other does "
                "not; name one in both, or in neither",
                code="conflicting-arguments",
            )


def _refuse_pattern(user_pattern: str | None) -> None:
    if user_pattern is not None:
        raise InvalidInput(
            "known rows on disk keep their users as they are, so that a pattern cannot be applied; "
            f"leave {setting('user_pattern')} out",
            code="conflicting-arguments",
        )


def link(here: SiteRows, there: SiteRows, *, taxonomy: Any, strangers: Strangers) -> Linked:
    """Match the users of two tables, and number their tokens alike.

    Args:
        here: Known rows.
        there: Anonymous rows, with the same slots.
        taxonomy: All tokens there are; None takes those of both tables.
        strangers: What becomes of anonymous rows of users who are not known.
    """
    labels = union(here.labels, there.labels)
    labels = labels if taxonomy is None else label_array("taxonomy", taxonomy)
    here, there = here.numbered(labels), there.numbered(labels)
    refuse_duplicate_users(here.users, here.source)
    refuse_duplicate_users(there.users, there.source, _ONE_ROW)
    known, anonymous = (_by_user(rows, len(labels)) for rows in (here, there))
    users = user_overlap(here, there)
    truth = find(there.users.labels, here.users.labels)
    found = truth != MISSING
    refuse_disjoint_users(found, str(there.source), str(here.source), users)
    if strangers == "refuse":
        _refuse_strangers(there, found, str(here.source))
    # Tokens of a taxonomy are written alike, or have been refused.
    apart = () if taxonomy is not None else check_tokens(here, there)
    columns = tuple(map(str, here.slots)) if here.form == "columns" else ()
    targets = anonymous[found]
    place = f"{here.source} and {there.source}"
    blind = (
        check_equality(known, targets, truth[found], labels, columns, place)  # type: ignore[arg-type]
        if columns
        else ()
    )
    warnings = (
        *here.source.warnings, *there.source.warnings,
        *blind, *pattern_warnings(here, there), *spelling_warnings(users),
        *check_epochs(here, there), *apart,
        *alignment_warnings(known, targets, truth[found], labels, columns),
    )  # fmt: skip
    warn(warnings)
    return Linked(
        known, targets, truth[found], here.users.labels, labels,  # type: ignore[arg-type]
        stranger_rows=None if found.all() else anonymous[~found],
        stranger_ids=None if found.all() else there.users.labels[~found],
        slot_names=tuple(map(str, here.slots)),
        by_column=here.form == "columns",
        warnings=warnings,
        notes=(*here.source.notes, *there.source.notes),
        timed=_timed(here, there, truth),
    )  # fmt: skip


def _refuse_labels(taxonomy: Any, columns: Mapping[str, str] | None) -> None:
    said = {"taxonomy": taxonomy is not None, "columns": bool(columns)}
    if any(said.values()):
        name = next(name for name in said if said[name])
        raise InvalidInput(
            f"{setting(name)} is about tokens, and rows are vectors; leave it out, and name "
            "columns in the layout",
            code="conflicting-arguments",
        )


def _link_vectors(
    known: Any,
    anonymous: Any,
    layouts: tuple[Layout, Layout],
    pattern: str | None,
    strangers: Strangers,
) -> Linked:
    """Match the users of two tables of vectors, and round both to one grid.

    Args:
        known: The table of known vectors.
        anonymous: That of vectors whose user is wanted.
        layouts: Of the two.
        pattern: The part of an id that is the user.
        strangers: What becomes of anonymous rows of users who are not known.
    """
    here = read_site_vectors(known, layouts[0], pattern=pattern)
    columns = here.columns if layouts[0].vectors == layouts[1].vectors else ()
    there = read_site_vectors(anonymous, layouts[1], columns=columns, pattern=pattern)
    rounded, place = round_sites(here, there), f"{here.source} and {there.source}"
    users = user_overlap(here, there)
    truth = find(there.users.labels, here.users.labels)
    found = truth != MISSING
    refuse_disjoint_users(found, str(there.source), str(here.source), users)
    if strangers == "refuse":
        _refuse_strangers(there, found, str(here.source))
    warnings = (
        *here.source.warnings, *there.source.warnings, *rounded.warnings,
        *pattern_warnings(here, there), *spelling_warnings(users), *rounded.epoch_warnings(place),
    )  # fmt: skip
    warn(warnings)
    return Linked(
        rounded.known, rounded.anonymous.select(np.flatnonzero(found)), truth[found],
        here.users.labels, np.empty(0, object),
        stranger_rows=None if found.all() else rounded.anonymous.select(np.flatnonzero(~found)),
        stranger_ids=None if found.all() else there.users.labels[~found],
        slot_names=rounded.slots,
        warnings=warnings,
        notes=(*here.source.notes, *there.source.notes, *rounded.notes),
    )  # fmt: skip


def _timed(here: SiteRows, there: SiteRows, truth: NDArray[np.int64]) -> Linked | None:
    """The rows of two tables with tokens of when items came, if columns tell."""
    if here.events is None or there.events is None:
        return None
    labels, found = here.labels, truth != MISSING
    known, anonymous = (one.in_bags(len(labels)) for one in (here, there))
    timed = with_times(known, here.events, anonymous, there.events, labels)
    return Linked(
        timed.known, timed.anonymous[found], truth[found], here.users.labels, timed.labels,
        stranger_rows=None if found.all() else timed.anonymous[~found],
        stranger_ids=None if found.all() else there.users.labels[~found],
        times=timed.kinds,
    )  # fmt: skip


def _link_stored(
    known: ParquetRows, there: SiteRows, *, labels: NDArray[Any], strangers: Strangers
) -> Linked:
    """Find the users of a file among known rows on disk, whose users are read once and forgotten.

    Args:
        known: Known rows.
        there: Anonymous rows.
        labels: The name of each token number.
        strangers: What becomes of anonymous rows of users who are not known.
    """
    where = str(known.files[0].path.parent if len(known.files) > 1 else known.files[0].path)
    if len(labels) != known.tokens:
        raise InvalidInput(
            f"{where}: its tokens are numbers below {known.tokens}, and {len(labels)} are named; "
            "name each of them",
            code="length-mismatch",
        )
    if there.form != "lists" or there.width != known.slots:
        slots = "no" if there.width is None else there.width
        raise InvalidInput(
            f"{where} has {known.slots} slots and {there.source} has {slots}; give both the same "
            "slots, in lists of tokens, null where nothing was seen",
            code="slot-mismatch",
        )
    order = np.argsort(labels)
    there = there.numbered(labels[order])
    refuse_duplicate_users(there.users, there.source, _ONE_ROW)
    place = np.append(order, MISSING).astype(np.int32)
    anonymous = place[_by_user(there, len(labels))]
    truth = rows_of_users(known, there.users.labels)
    found = truth != MISSING
    refuse_disjoint_users(found, str(there.source), where)
    if strangers == "refuse":
        _refuse_strangers(there, found, where)
    return Linked(
        known, anonymous[found], truth[found], None, labels,
        stranger_rows=None if found.all() else anonymous[~found],
        stranger_ids=None if found.all() else there.users.labels[~found],
        warnings=there.source.warnings,
        notes=there.source.notes,
    )  # fmt: skip


def _refuse_strangers(there: SiteUsers, found: NDArray[np.bool_], where: str) -> None:
    """Refuse anonymous rows of users who are not known: name the first, and how many more."""
    if found.all():
        return
    first, *others = np.flatnonzero(~found[there.users.codes]).tolist()
    more = f", nor are those of {len(others):,} more" if others else ""
    raise InvalidInput(
        f"{there.source.place(first)}: the user of this row is not in {where}{more}; add users "
        f"there, take such rows out, or keep them apart with {setting('strangers', 'keep')}",
        code="unexpected-strangers",
    )


def _read_known(
    path: Any, layout: Layout, columns: Mapping[str, str], pattern: str | None
) -> SiteRows:
    """The rows of a table; one that is too large for memory may be one that need not fit."""
    try:
        return read_site(path, layout, columns, pattern=pattern)
    except TooLarge as wrong:
        if not is_path(path) or any(file.suffix != SUFFIX for file in files_of(path)):
            raise
        raise TooLarge(
            f"{wrong}; known rows whose tokens are numbers from 0 on can stay on disk: in Python, "
            "read_linked(ParquetRows(folder, tokens=...), anonymous)",
            code=wrong.code,
        ) from wrong


def _by_user(rows: SiteRows, tokens: int) -> NDArray[np.int32] | BagRows:
    """One row for each user, in the order of users: nothing hangs on how a file is sorted."""
    values, codes = rows_of_site(rows, tokens), rows.users.codes
    return values if (np.diff(codes) > 0).all() else values[np.argsort(codes)]


def _notes(file: Path) -> dict[bytes, bytes]:
    """What `write_observations` noted in a Parquet file."""
    if file.suffix.lower() != ".parquet":
        return {}
    return parquet_file(file).schema_arrow.metadata or {}


def _shard_labels(file: Path) -> NDArray[Any]:
    """The name of each token number, from the folder of a shard."""
    folder = file.resolve().parent
    folder = folder.parent if folder.name == manifest.SHARDS else folder
    table, _ = read_table(folder / LABELS_FILE, {"token": TEXT}, layout=Layout(header=True))
    return in_order(f"{folder / LABELS_FILE}: the taxonomy", table["token"].combine_chunks())


def _noted_taxonomy(path: Path, notes: Mapping[bytes, bytes]) -> Any:
    """All labels, if they were noted."""
    if LABELS in notes:
        return read_taxonomy(path.resolve().parent / LABELS_FILE)
    if TAXONOMY in notes:
        warnings.warn(
            f"{path} was written before released folders had checksums, so nobody can tell whether "
            "it is unharmed; `reidrisk release` writes them now",
            Unverified,
            stacklevel=3,
        )
    try:
        labels = json.loads(notes[TAXONOMY]) if TAXONOMY in notes else None
    except ValueError:
        labels = ()
    if labels is not None and not isinstance(labels, list):
        raise InvalidInput(
            f"{path}: the note {TAXONOMY.decode()} is damaged; write the file again or give the "
            "taxonomy",
            code="damaged-file",
        )
    return labels
