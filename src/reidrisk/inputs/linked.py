"""What two sites saw of users, from files: rows with a name, rows without, and the truth."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput, Unverified
from reidrisk.inputs.alike import difference, spelt_apart
from reidrisk.inputs.columns import one_of
from reidrisk.inputs.labels import find, label_array, refuse_twins, union
from reidrisk.inputs.layouts import Layout
from reidrisk.inputs.meeting import epochs_apart, tokens_apart, users_of
from reidrisk.inputs.sites import SiteRows, read_site, rows_of_site, same_form
from reidrisk.inputs.tables import TYPES, AnyPath, files_of, parquet_file, read_taxonomy
from reidrisk.observations import MISSING, Observations
from reidrisk.randomness import uniforms
from reidrisk.rows import BagRows, Rows, Tokens, rows_of
from reidrisk.speech import setting, warn

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
RENAMED = ("user", "tokens", "epoch", "token", "item")


@dataclass(frozen=True, eq=False)
class Linked:
    """What two sites saw, as files tell it: observations, and the names in them.

    A release that already happened: a study takes it in place of people and release.

    Args:
        known: One row per known user: a token for each slot, -1 where nothing was seen; or bags.
        anonymous: One row per target, alike; each target is another user.
        truth: The row of `known` of each target.
        ids: The user of each row of `known`.
        labels: `labels[token]` is the name of a token in the files.
        stranger_rows: Anonymous rows whose user is not known. They are no targets: whoever chooses
            among the known users cannot be right about them, and may accuse somebody.
        stranger_ids: The user of each of them, if that is told.
        slot_names: What the slots are called, if they have names: epochs, columns.
        by_column: Whether slots are columns of a table, each with tokens of its own.
        top_sets: Users x slots x top, -1 where absent, if the files had them.
        warnings: What the two hardly share, or seem to write in two ways, a sentence each.
    """

    known: Rows
    anonymous: Tokens | BagRows
    truth: NDArray[np.int64]
    ids: NDArray[Any]
    labels: NDArray[Any]
    stranger_rows: Tokens | BagRows | None = None
    stranger_ids: NDArray[Any] | None = None
    slot_names: tuple[str, ...] = ()
    by_column: bool = False
    top_sets: NDArray[np.int32] | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", rows_of(self.known, tokens=len(self.labels)))

    @property
    def users(self) -> int:
        """Number of known users."""
        return len(self.ids)

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return self.known.slots

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return len(self.labels)

    @property
    def bags(self) -> bool:
        """Whether rows are bags of tokens, without slots."""
        return isinstance(self.known, BagRows)

    @property
    def strangers(self) -> int:
        """Number of anonymous rows whose user is not known."""
        return 0 if self.stranger_rows is None else len(self.stranger_rows)

    @property
    def known_only(self) -> int:
        """Number of known users of whom there is no anonymous row."""
        return self.users - len(np.unique(self.truth))

    def ids_of(self, rows: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The users of some rows of `known`, by their numbers, in this order."""
        return np.asarray(self.ids[rows])

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
            rows = rows[np.argsort(draws, kind="stable")]
        return Observations(
            self.known, self.anonymous, self.truth, tokens=self.tokens, strangers=rows
        )


def read_linked(
    known: AnyPath,
    anonymous: AnyPath,
    *,
    layout: Layout | None = None,
    columns: Mapping[str, str] | None = None,
    taxonomy: Any = None,
    strangers: Strangers = "keep",
) -> Linked:
    """Read what two sites saw: lists, one row per epoch, one row per item, or columns.

    Args:
        known: Rows whose user the attacker knows: CSV or Parquet, a file or a folder.
        anonymous: Rows whose user the attacker wants, one of each; the column `user` holds the
            truth.
        layout: Which column is what in both files, and how they are cut.
        columns: Names in the files of `user`, `tokens`, `epoch`, `token` or `item`, if it is
            shorter to say only that.
        taxonomy: All tokens there are. By default what `write_observations` noted, else those seen.
        strangers: What becomes of anonymous rows of users who are not known: "keep" counts them and
            holds them apart, "refuse" takes them for a mistake.

    Lists have one entry per slot, null where nothing was seen; in CSV they are text such as `3;;7`.
    Lists of different lengths are bags, without an order. In long form a slot is an epoch of either
    file, in the order of what their names mean, and one without a row was not seen; items without
    epochs are bags.

    Tables that have no token, no epoch or no user in common are refused; what they hardly share, or
    seem to write in two ways, is in `warnings` of what is returned.
    """
    one_of("strangers", strangers, get_args(Strangers))
    if unknown := set(columns or {}) - set(RENAMED):
        raise InvalidInput(
            f"columns renames {', '.join(sorted(unknown))}; it can rename {', '.join(RENAMED)}"
        )
    said = Layout() if layout is None else layout
    here, there = (read_site(path, said, columns or {}) for path in (known, anonymous))
    file = files_of(known, TYPES)[0]
    notes = _notes(file)
    if taxonomy is None:
        taxonomy = _noted_taxonomy(file, notes)
    here, there = same_form(here, there, bags=notes.get(FORM) == BAGS)
    return link(here, there, taxonomy=taxonomy, strangers=strangers)


read_observations = read_linked


def link(here: SiteRows, there: SiteRows, *, taxonomy: Any, strangers: Strangers) -> Linked:
    """Bring the tokens and users of two files together."""
    labels = union(here.labels, there.labels)
    labels = labels if taxonomy is None else label_array("taxonomy", taxonomy)
    here, there = here.numbered(labels), there.numbered(labels)
    refuse_twins(here.users, here.source)
    refuse_twins(there.users, there.source, _ONE_ROW)
    known, anonymous = (_by_user(rows, len(labels)) for rows in (here, there))
    users = users_of(here, there)
    truth = find(there.users.labels, here.users.labels)
    found = truth != MISSING
    if not found.any():
        raise InvalidInput(
            f"{there.source}: none of the {len(there.users.labels):,} users is in {here.source}, "
            f"so nobody can be found: {difference(users)}; check that both name users alike: the "
            "same column, 7 or 007 in both"
        )
    if strangers == "refuse" and not found.all():
        first, *others = np.flatnonzero(~found[there.users.codes]).tolist()
        more = f", nor are those of {len(others):,} more" if others else ""
        raise InvalidInput(
            f"{there.source.place(first)}: the user of this row is not in {here.source}{more}; add "
            f"users there, take such rows out, or keep them apart with "
            f"{setting('strangers', 'keep')}"
        )
    # Tokens of a taxonomy are written alike, or have been refused.
    apart = () if taxonomy is not None else tokens_apart(here, there)
    warnings = (*spelt_apart(users), *epochs_apart(here, there), *apart)
    warn(warnings)
    return Linked(
        known, anonymous[found], truth[found], here.users.labels, labels,  # type: ignore[arg-type]
        stranger_rows=None if found.all() else anonymous[~found],
        stranger_ids=None if found.all() else there.users.labels[~found],
        slot_names=tuple(map(str, here.slots)),
        by_column=here.form == "columns",
        warnings=warnings,
    )  # fmt: skip


def _by_user(rows: SiteRows, tokens: int) -> NDArray[np.int32] | BagRows:
    """One row for each user, in the order of users: nothing hangs on how a file is sorted."""
    values, codes = rows_of_site(rows, tokens), rows.users.codes
    return values if (np.diff(codes) > 0).all() else values[np.argsort(codes)]


def _notes(file: Path) -> dict[bytes, bytes]:
    """What `write_observations` noted in a Parquet file."""
    if file.suffix.lower() != ".parquet":
        return {}
    return parquet_file(file).schema_arrow.metadata or {}


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
            "taxonomy"
        )
    return labels
