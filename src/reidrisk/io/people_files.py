"""People in many files, read when they are asked for.

One first pass reads every file by itself, checks it, and keeps what all users share: epochs, tokens
and how many users a file has. After that a file is read again when its users are asked for; a few
are held. So memory goes by the largest file, not by the number of users.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import cores
from reidrisk.core.parallel import over_blocks
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, LongRows, assemble, from_table, in_epochs, weights_of
from reidrisk.io.duplicates import first_duplicate
from reidrisk.io.labels import (
    Coded,
    as_text,
    encode,
    encode_users,
    find,
    is_text,
    label_array,
    union,
)
from reidrisk.io.layouts import Layout
from reidrisk.io.plays import people_columns
from reidrisk.io.provenance import Origin
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import AnyPath, files_of, read_table, refuse_unlike
from reidrisk.io.times import days_as_text
from reidrisk.people.profiles import Counts, Profiles
from reidrisk.people.protocol import Cells

Ids = NDArray[Any]
_State = tuple[int, int]
Part = TypeVar("Part")

_OPTIONAL = ("weight",)
_TYPES = {"user": TEXT, "epoch": TEXT, "token": TEXT, "weight": pa.float64()}


@dataclass(frozen=True)
class _Tables:
    """How files of people are read."""

    columns: Mapping[str, str]
    layout: Layout
    choices: Choices

    def read(self, file: Path) -> tuple[Any, Origin]:
        """The rows of a file."""
        return read_table(file, _TYPES, self.columns, optional=_OPTIONAL, layout=self.layout)

    def users(self, file: Path) -> NDArray[Any]:
        """The users of a file, each once."""
        names = {"user": self.columns["user"]} if "user" in self.columns else None
        table, source = read_table(file, {"user": TEXT}, names, layout=self.layout)
        return encode_users(table["user"], "user", source).labels


@dataclass(frozen=True)
class _Facts:
    """What is kept of a file after the first pass; no user.

    Attributes:
        rows: Its rows.
        names: Its columns.
        labels: Its tokens.
        epochs: Its epochs, those that were not asked for too.
        text: Whether its users are text.
        ends: Its first user and its last.
        present: How many users were there in no, one, two, ... of the epochs that are taken.
    """

    rows: int
    names: tuple[str, ...]
    labels: NDArray[Any]
    epochs: NDArray[Any]
    text: bool
    ends: tuple[Any, Any]
    present: Counter[int]

    @property
    def users(self) -> int:
        """How many there are, those who are not taken too."""
        return sum(self.present.values())


@dataclass(frozen=True, eq=False, repr=False)
class PeopleFiles:
    """People in many files, as `open_profiles` returns them; pickled as the names of the files.

    Attributes:
        files: In the order of their names.
        starts: The first user of each file, and behind the last one the number of all.
        labels: `labels[token]` is the name of a token.
        epoch_labels: The names of the epochs.
        complete: Whether something is seen of every user in every epoch.
        text: Whether ids are text; else they are whole numbers.
        every_epoch: Epochs of all files, sorted; those that were not asked for too.
        tables: How files are read.

    Example:
        >>> from pathlib import Path
        >>> Path("lake").mkdir()
        >>> for first in (0, 100):
        ...     users = np.arange(first, first + 100)
        ...     people = rr.data.make_profiles(users, np.ones(100, int), users % 7)
        ...     rr.data.write_profiles(people, f"lake/part-{first:03}.parquet")
        >>> people = rr.data.open_profiles("lake")
        >>> people.users, people.starts.tolist(), [file.name for file in people.files]
        (200, [0, 100, 200], ['part-000.parquet', 'part-100.parquet'])
    """

    files: tuple[Path, ...]
    starts: NDArray[np.int64]
    labels: NDArray[Any]
    epoch_labels: NDArray[Any]
    complete: bool
    text: bool
    every_epoch: NDArray[Any]
    tables: _Tables
    _states: tuple[_State, ...] = field(init=False)
    _held: "_Few" = field(default_factory=lambda: _Few(cores() + 1), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_states", tuple(map(_state, self.files)))

    def __repr__(self) -> str:
        return f"<PeopleFiles {self.users:,} users in {len(self.files):,} files>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _NOT_SENT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _held=_Few(cores() + 1))

    @property
    def users(self) -> int:
        """Number of users."""
        return int(self.starts[-1])

    @property
    def epochs(self) -> int:
        """Number of epochs."""
        return len(self.epoch_labels)

    @property
    def tokens(self) -> int:
        """Size of the alphabet; tokens are 0 .. tokens - 1."""
        return len(self.labels)

    @property
    def ids(self) -> Ids:
        """All users, file by file, sorted in each: all are held, and all files are read."""
        return self.ids_of(np.arange(self.users))

    def ids_of(self, rows: NDArray[np.int64]) -> Ids:
        """Some users by their rows.

        Args:
            rows: Their numbers.
        """
        wanted = np.asarray(rows, np.int64)
        found = np.empty(len(wanted), object if self.text else np.int64)
        places = self._places(wanted)
        for place in np.unique(places):
            mine = places == place
            found[mine] = self._file(int(place)).ids[wanted[mine] - self.starts[place]]
        return found

    def cells(self, start: int, stop: int) -> Cells:
        """All tokens of neighbouring users with their weights; none where one was absent.

        Args:
            start: The first user.
            stop: Behind the last user.
        """
        parts = self._of(start, stop, lambda people, first, last: people.cells(first, last))
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([[0], *(np.diff(part.starts) for part in parts)])
        return Cells(
            np.cumsum(sizes),
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def top_sets(
        self,
        start: int,
        stop: int,
        *,
        top: int,
        seed: int,
        priority: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int32]:
        """Top tokens of neighbouring users, as `Profiles.top_sets`.

        Args:
            start: The first user.
            stop: Behind the last user.
            top: How many tokens of a user and epoch.
            seed: Of the draws that break ties and pad small sets.
            priority: One number per token: higher ones go before all others.
        """

        def ask(people: Profiles, first: int, last: int) -> NDArray[np.int32]:
            return people.top_sets(first, last, top=top, seed=seed, priority=priority)

        parts = self._of(start, stop, ask)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def counts(self) -> Counts:
        """Rows that were read, left out or changed; reads all files."""
        found = [self._read(place).counts for place in range(len(self.files))]
        return Counts(*(sum(getattr(one, part) for one in found) for part in Counts.__slots__))

    def _of(self, start: int, stop: int, ask: Callable[[Profiles, int, int], Part]) -> list[Part]:
        """Results of each file for its part of users `start` to `stop`."""
        if not 0 <= start <= stop <= self.users:
            raise InvalidInput(
                f"users {start} to {stop} are not among {self.users} users", code="row-out-of-range"
            )
        start_at = min(start, self.users - 1)
        first, last = self._places(np.array([start_at, max(start_at, stop - 1)]))
        found = []
        for place in range(int(first), int(last) + 1):
            low, high = (int(one) for one in self.starts[place : place + 2])
            if low < high:
                from_, to = max(start, low) - low, min(stop, high) - low
                found.append(ask(self._file(place), from_, to))
        return found

    def _places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The file of each row; files without users have none."""
        return np.searchsorted(self.starts[:-1], rows, side="right") - 1

    def _file(self, place: int) -> Profiles:
        return self._held.get(place, lambda: self._read(place))

    def _read(self, place: int) -> Profiles:
        """The people of one file, with the labels of all files."""
        file = self.files[place]
        if _state(file) != self._states[place]:
            raise _changed(file)
        table, source = self.tables.read(file)
        rows = LongRows(
            self._users(encode_users(table["user"], "user", source)),
            self._known_epochs(encode(days_as_text(table["epoch"]), "epoch", source)),
            encode(table["token"], "token", source),
            weights_of(table, source),
        )
        choices = replace(self.tables.choices, taxonomy=self.labels, epochs=self.epoch_labels)
        return assemble(rows, source, choices)

    def _users(self, users: Coded) -> Coded:
        """Users as all files have them: as text, if some are."""
        if is_text(users.labels) == self.text:
            return users
        names = as_text(users.labels)
        order = np.argsort(names)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return Coded(rank[users.codes], names[order])

    def _known_epochs(self, epochs: Coded) -> Coded:
        """Epochs numbered among those of all files."""
        place = find(epochs.labels, self.every_epoch).astype(np.int32)
        return Coded(place[epochs.codes], self.every_epoch)


_NOT_SENT = {"_held", "counts"}
"""What is read from files, and may be large."""


class _Few:
    """A cache of the last few results; each is computed once, also if several threads ask."""

    def __init__(self, room: int) -> None:
        self._room, self._lock = room, threading.Lock()
        self._made: OrderedDict[int, Future[Profiles]] = OrderedDict()

    def get(self, place: int, make: Callable[[], Profiles]) -> Profiles:
        """What is at a place, made if need be."""
        with self._lock:
            found = self._made.get(place)
            mine = found is None
            if found is None:
                found = self._made[place] = Future()
                while len(self._made) > self._room:
                    self._made.popitem(last=False)
            self._made.move_to_end(place)
        if mine:
            try:
                found.set_result(make())
            except BaseException as wrong:
                with self._lock:
                    self._made.pop(place, None)
                found.set_exception(wrong)
                raise
        return found.result()


def open_profiles(
    path: AnyPath,
    *,
    columns: Mapping[str, str] | None = None,
    layout: Layout | None = None,
    **choices: Any,
) -> PeopleFiles:
    """People from a folder of tables, of which few are in memory at a time.

    The tables, their columns and the choices are those of `read_profiles`, and so are the people,
    with one promise more: all rows of a user are in one file, as data lakes write them that are
    partitioned by user. Users come in the order of files by name, and in each file in the order of
    their ids; where files are in the order of ids, that is the order of `read_profiles`.

    All files are read once to begin with, and checked; a user in two files is refused.

    Args:
        path: A folder of `.parquet` or text files, or one file.
        columns: The names in the files of the columns that are called otherwise there.
        layout: The same in other words, and how the files are cut.
        choices: `taxonomy`, `epochs`, `absent` and `duplicates`, as explained at `Choices`.

    Example:
        >>> people = rr.data.make_profiles(["ann", "ann", "bob"], [1, 1, 1], [5, 7, 5])
        >>> rr.data.write_profiles(people, "people.parquet")
        >>> rr.data.open_profiles("people.parquet").users
        2
    """
    said, files = layout or Layout(), tuple(files_of(path))
    if said.returns != "refuse":
        raise InvalidInput(
            "people in many files have weights above zero, and returns "
            f"({setting('returns')}) are taken only from tables that are read at once, as "
            "`read_profiles` and `read_plays` do",
            code="conflicting-arguments",
        )
    chosen = Choices(**choices)
    tables = _Tables(people_columns(said, columns), said, chosen)
    before = tuple(map(_state, files))
    first = [_look(file, tables) for file in files]
    source = Origin(tuple(map(str, files)), tuple(one.rows for one in first))
    refuse_unlike({one.names for one in first}, source, _OPTIONAL)
    text = any(one.text for one in first)
    starts = np.cumsum([0, *(one.users for one in first)])
    everybody = _UsersOfAllFiles(files, starts, text, tables)
    _refuse_duplicate_users(everybody, [one.ends for one in first])
    every = reduce(union, (one.epochs for one in first))
    labels = reduce(union, (one.labels for one in first))
    taken = _taken(every, chosen, source)
    kept = [_kept(one.present, len(taken), chosen) for one in first]
    users = [sum(one.values()) for one in kept]
    if not sum(users):
        raise InvalidInput(
            f"{source}: no user has rows in each of the {len(taken)} epochs, so none is left; take "
            f"fewer epochs, or {setting('absent', 'missing')}",
            code="nobody-left",
        )
    there = sum(epochs * number for one in kept for epochs, number in one.items())
    for file, state in zip(files, before, strict=True):
        if _state(file) != state:
            raise _changed(file)
    return PeopleFiles(
        files,
        np.cumsum([0, *users]),
        labels,
        taken,
        chosen.absent == "pad" or there == sum(users) * len(taken),
        text,
        every,
        tables,
    )


def _look(file: Path, tables: _Tables) -> _Facts:
    """Read one file, and check it."""
    table, source = tables.read(file)
    wanted = tables.choices.epochs
    people = from_table(table, source, replace(tables.choices, epochs=None, absent="missing"))
    present = people.present
    if wanted is not None:
        present = present[:, find(people.epoch_labels, label_array("epochs", wanted)) >= 0]
    return _Facts(
        table.num_rows,
        tuple(table.column_names),
        people.labels,
        np.unique(people.epoch_labels),
        is_text(people.ids),
        (people.ids[0], people.ids[-1]),
        Counter(present.sum(axis=1).tolist()),
    )


@dataclass(frozen=True)
class _UsersOfAllFiles:
    """The users of all files, for the search for duplicates."""

    files: tuple[Path, ...]
    starts: NDArray[np.int64]
    text: bool
    tables: _Tables

    def over_users(self, work: Callable[[int, pa.Array], Part]) -> list[Part]:
        """Call `work(number of the first, users)` for each file, in the order of files."""

        def read(at: int, _: int) -> Part:
            names = self.tables.users(self.files[at])
            users = pa.array(as_text(names), pa.large_string()) if self.text else pa.array(names)
            return work(int(self.starts[at]), users)

        return over_blocks(read, len(self.files), 1)

    def file_of(self, user: int) -> Path:
        """The file of a user."""
        return self.files[int(np.searchsorted(self.starts, user, side="right")) - 1]


def _refuse_duplicate_users(everybody: _UsersOfAllFiles, ends: list[tuple[Any, Any]]) -> None:
    """Refuse users who are in two files; there are none if the files do not overlap."""
    alike = len({isinstance(end, str) for one in ends for end in one}) == 1
    if alike and all(one[1] < other[0] for one, other in pairwise(sorted(ends))):
        return
    kind = pa.large_string() if everybody.text else pa.int64()
    if found := first_duplicate(everybody.over_users, kind):
        first, second = map(everybody.file_of, found)
        raise InvalidInput(
            f"{second}: a user of this file is in {first} too, and all rows of a user must be in "
            "one file; write the files again, partitioned by user",
            code="duplicate-user",
        )


def _taken(every: NDArray[Any], choices: Choices, source: Origin) -> NDArray[Any]:
    """The epochs that are taken, in their order."""
    nobody = Coded(np.empty(0, np.int32), every)
    kept, _ = in_epochs(LongRows(nobody, nobody, nobody, np.empty(0)), choices.epochs, source)
    return kept.epochs.labels


def _kept(present: Counter[int], epochs: int, choices: Choices) -> dict[int, int]:
    """How many users are kept, by the number of epochs in which they were there."""
    least = epochs if choices.absent == "drop" else 1
    return {number: users for number, users in present.items() if number >= least}


def _changed(file: Path) -> InvalidInput:
    return InvalidInput(
        f"{file}: the file is not the one that was first read, so its users do not come from one "
        "state of it; begin again when nobody is writing to it",
        code="file-changed",
    )


def _state(file: Path) -> _State:
    """Size and time, which must stay as they were."""
    found = file.stat()
    return found.st_size, found.st_mtime_ns
