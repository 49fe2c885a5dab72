"""Sources: whom a study is about, and where its rows come from."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Codec, Kind, Rows
from reidrisk.core.vector_rows import VectorRows
from reidrisk.errors import InvalidInput
from reidrisk.io.epochs import describe_epochs
from reidrisk.io.linked import Linked
from reidrisk.io.people_files import PeopleFiles
from reidrisk.people.interests import Interests
from reidrisk.people.profiles import Profiles
from reidrisk.people.protocol import People
from reidrisk.people.sampling import Rule, select
from reidrisk.people.subset import Subset
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.people.vectors import has_vectors
from reidrisk.releases import AnyRelease, Release, observe
from reidrisk.releases.protocol import ShowsVectors, Unordered, check_people, shown
from reidrisk.study.analyses.protocol import require_release
from reidrisk.study.describe import describe
from reidrisk.study.splits import (
    Numbers,
    PeopleSplit,
    RowsSplit,
    Split,
    no_people,
    targets_in_order,
)

if TYPE_CHECKING:
    from reidrisk.study.study import Study

Form: TypeAlias = Literal["slots", "columns", "baskets", "vectors"]
"""What a row is: tokens in slots, one in each column of a table, a basket without an order, or
vectors."""

MOST_PAIRS = 200_000
"""Users at most of whom both sides are compared for information: more would tell hardly more."""

_LOOKED_AT = 10_000
"""Users who are looked at to see whether a release leaves gaps."""


@runtime_checkable
class Source(Protocol):
    """Whom a study is about: people whom a release shows, or rows that were shown before.

    `source_of` makes one of whatever a study is run on. Somebody else's source needs what stands
    here, and nothing besides.
    """

    @property
    def users(self) -> int:
        """Number of users: of all people, or of all known rows."""
        ...

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        ...

    @property
    def people(self) -> People | None:
        """The people, who can be shown again; None if there are only rows."""
        ...

    @property
    def population(self) -> Interests | None:
        """The law that the people are drawn from; None if nobody knows it."""
        ...

    @property
    def labels(self) -> Any:
        """The value behind each token; None if there are none."""
        ...

    @property
    def form(self) -> Form:
        """What a row is."""
        ...

    @property
    def strangers(self) -> int:
        """Number of anonymous rows whose user is not known."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt what was read, a sentence each."""
        ...

    def describe(self) -> Any:
        """The source as JSON knows it, with checksums of its rows: what a run is recognised by."""
        ...

    def slots(self, release: AnyRelease | None) -> int:
        """How many slots can be seen of a user.

        Args:
            release: What shows people; not asked if rows were shown before.
        """
        ...

    def kind(self, release: AnyRelease | None) -> Enum:
        """What rows hold: tokens, sets of them, or bags."""
        ...

    def has_gaps(self, release: Release | None, seed: int) -> bool:
        """Whether known rows have empty slots; of people, whether the first of them do.

        Args:
            release: What shows people; nothing is known of gaps if it is None.
            seed: Of what it shows.
        """
        ...

    def absence(self) -> float | None:
        """Share of known slots that are empty; None if that depends on the release."""
        ...

    def pairs(self, release: Release | None, seed: int) -> Observations:
        """What two sites are shown of the same users, whoever is attacked, with all slots.

        Users are chosen at random and come in random order, at most `MOST_PAIRS` of them.
        """
        ...

    @property
    def paired_users(self) -> int:
        """Number of users of whom both sides are shown."""
        ...

    def split(self, study: "Study") -> Split:
        """The users in the roles that a study gives them: known, strangers, training users."""
        ...

    def resized(self, users: int) -> "Source":
        """The same source with another number of users; only synthetic people can be resized."""
        ...

    def epoch_order(self) -> str:
        """A sentence on the order in which epochs of people were taken; empty if there is none."""
        ...

    def assumptions(self) -> tuple[str, ...]:
        """What a result assumes of this source, a sentence each."""
        ...


@dataclass(frozen=True, eq=False)
class _PeopleSource:
    """People whom a release shows.

    Args:
        people: All of them.
    """

    people: People

    labels: ClassVar[None] = None
    strangers: ClassVar[int] = 0

    @property
    def form(self) -> Form:
        """Slots of tokens, or vectors."""
        return "vectors" if has_vectors(self.people) else "slots"

    @property
    def dimensions(self) -> int:
        """Numbers of a vector; 0 of people with tokens."""
        return getattr(self.people, "dimensions", None) or 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out of a table, where it is much."""
        return getattr(self.people, "warnings", ())

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of a table, or seems odd in it."""
        return getattr(self.people, "notes", ())

    @property
    def users(self) -> int:
        """Number of people."""
        return self.people.users

    @property
    def paired_users(self) -> int:
        """Everybody: a release shows both sides."""
        return self.people.users

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.people.tokens

    @property
    def population(self) -> Interests | None:
        """The law that synthetic people are drawn from."""
        return self.people.interests if isinstance(self.people, SyntheticTopics) else None

    def describe(self) -> Any:
        """The people as JSON knows them."""
        return describe(self.people)

    def slots(self, release: AnyRelease | None) -> int:
        """How many slots the release shows of a user."""
        shows = require_release(release)
        check_people(shows, self.people)
        return shows.slots(self.people)

    def kind(self, release: AnyRelease | None) -> Enum:
        """What rows hold that the release shows to a site."""
        shows: object = release  # which may be unordered as well
        if isinstance(shows, ShowsVectors):
            return Kind.VECTORS
        several = isinstance(shows, Unordered) and shows.together > 1
        return Kind.SETS if several else Kind.TOKENS

    def has_gaps(self, release: Release | None, seed: int) -> bool:
        """Whether the release leaves slots empty, of the first users."""
        if release is None:
            return False
        # Everybody would have to be shown to be sure; this only chooses the usual attacks.
        some = Subset.of(self.people, np.arange(min(self.users, _LOOKED_AT)))
        return not shown(release, some, 0, some.users, site=1, seed=seed).present().all()

    def absence(self) -> float | None:
        """None: the release decides."""
        return None

    def pairs(self, release: Release | None, seed: int) -> Observations:
        """What two sites are shown of some users."""
        some = self.people
        if some.users > MOST_PAIRS:
            wanted = [(Rule(), MOST_PAIRS)]
            (chosen,) = select(some, wanted, purpose="study/information", seed=seed)
            some = Subset.of(some, np.sort(chosen.first))
        return observe(require_release(release), some, seed=seed)

    def split(self, study: "Study") -> Split:
        """The people in the roles that a study gives them."""
        return PeopleSplit(study, self.people)

    def resized(self, users: int) -> Source:
        """Another number of synthetic people."""
        if not isinstance(self.people, SyntheticTopics):
            raise InvalidInput(
                "only a synthetic population can be made with another number of users; for people "
                "from a file use sizes",
                code="needs-synthetic-people",
            )
        return _PeopleSource(replace(self.people, users=users))

    def epoch_order(self) -> str:
        """How the epochs of a table were put in order."""
        people = self.people
        if isinstance(people, Profiles | PeopleFiles) and people.epochs > 1:
            return describe_epochs(people.epoch_labels.tolist(), "Epochs of people")
        return ""

    def assumptions(self) -> tuple[str, ...]:
        """That synthetic people are synthetic; in which order epochs come; what was left out."""
        synthetic = (
            "The people are synthetic. They match published information figures of one epoch and "
            "of eight; that does not identify the real population, and real people may be easier "
            "or harder to name."
        )
        said = (synthetic if self.population is not None else "", self.epoch_order())
        return (*filter(None, said), *(f"{note}." for note in self.notes))


@dataclass(frozen=True, eq=False)
class LinkedSource:
    """Known and anonymous rows that were shown before: two tables, in memory or on disk.

    Args:
        tables: The rows, with the names in them.
    """

    tables: "Linked | _Unnamed"

    people: ClassVar[None] = None
    population: ClassVar[None] = None

    @property
    def observations(self) -> Observations:
        """All known rows and all targets."""
        return self.tables.observations

    @property
    def users(self) -> int:
        """Number of known users."""
        return self.tables.users

    @property
    def paired_users(self) -> int:
        """Number of targets."""
        return len(self.tables.truth)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return self.tables.tokens

    @property
    def labels(self) -> Any:
        """The value behind each token, without the column it is from; None if nobody knows."""
        return self.tables.values

    @property
    def times(self) -> Any:
        """What each token tells of time; None if rows hold nothing but items."""
        return getattr(self.tables, "times", None)

    @property
    def timed(self) -> "LinkedSource | None":
        """The same rows with tokens of when items came as well, if columns told."""
        timed = getattr(self.tables, "timed", None)
        return None if timed is None else LinkedSource(timed)

    @property
    def form(self) -> Form:
        """What a row of the tables is."""
        if self.tables.known.kind is Kind.VECTORS:
            return "vectors"
        if self.tables.bags:
            return "baskets"
        return "columns" if self.tables.by_column else "slots"

    @property
    def dimensions(self) -> int:
        """Numbers of a vector; 0 of rows of another kind."""
        return getattr(self.tables.known.codec, "dimensions", 0)

    @property
    def strangers(self) -> int:
        """Number of anonymous rows whose user is not known."""
        return self.tables.strangers

    @property
    def stranger_rows(self) -> Any:
        """Anonymous rows of users who are not known; None if there are none."""
        return self.tables.stranger_rows

    @property
    def stranger_ids(self) -> NDArray[Any]:
        """The user of each of them; numbers, if they are not told."""
        # They are only hashed, to be taken in random order.
        ids = self.tables.stranger_ids
        return np.arange(self.strangers) if ids is None else ids

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the two tables hardly share, or seem to write in two ways."""
        return self.tables.warnings

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of the tables, or seems odd in them."""
        return self.tables.notes

    def ids_of(self, rows: Numbers) -> NDArray[Any]:
        """The users of some known rows, in this order; looked up where they are."""
        return self.tables.ids_of(rows)

    def all_ids(self) -> NDArray[Any]:
        """The users of all known rows; refused if they are too many to be listed."""
        if self.tables.ids is None:
            raise InvalidInput(
                "shares of strangers and of training users are chosen among all users of a table, "
                "and those of a folder of shards are too many to be listed; leave strangers and "
                "training out, or release people with strangers and training in a study",
                code="too-many-users",
            )
        return self.tables.ids

    def describe(self) -> Any:
        """The tables as JSON knows them."""
        # Users without names are the numbers of rows, so the rows say everything.
        unnamed = isinstance(self.tables, _Unnamed)
        return describe(self.tables.observations if unnamed else self.tables)

    def slots(self, release: AnyRelease | None) -> int:
        """How many slots rows have, whatever showed them."""
        return self.tables.known.slots

    def kind(self, release: AnyRelease | None) -> Enum:
        """What rows hold."""
        return self.tables.known.kind

    def has_gaps(self, release: Release | None, seed: int) -> bool:
        """Whether a known row has an empty slot."""
        return not self.tables.known.codec.complete

    def absence(self) -> float | None:
        """Share of known slots that are empty; None of baskets, which have none."""
        if self.tables.bags:
            return None
        known = self.tables.known
        gaps = over_rows(known, partial(_count_gaps, codec=known.codec), operator.add)
        return float(gaps) / (known.users * known.slots)

    def pairs(self, release: Release | None, seed: int) -> Observations:
        """Targets in random order, with their known rows."""
        return self.observations.only(targets_in_order(self, seed)[:MOST_PAIRS])

    def split(self, study: "Study") -> Split:
        """The users of the tables in the roles that a study gives them."""
        return RowsSplit(study, self)

    def resized(self, users: int) -> Source:
        """Refused: nobody can be added to tables."""
        raise no_people()

    def epoch_order(self) -> str:
        """Empty: `assumptions` says what the slots are."""
        return ""

    def assumptions(self) -> tuple[str, ...]:
        """What rows are taken for, and who is in one table only."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        tables = self.tables
        yield (
            "The rows are those of two tables. How they came about is not known beyond what the "
            "study says, and targets stand for people only as far as the tables do."
        )
        if isinstance(tables.known, VectorRows):
            rows = tables.known
            yield (
                f"A row is a vector of {rows.dimensions:,} numbers for each slot, rounded to whole "
                f"numbers of {rows.grid.bits} bits."
            )
        if self.form == "baskets":
            yield "Rows are baskets of any size, without an order."
            if self.timed is not None:
                yield (
                    "Attackers also compare when items came: those that say so, hours, weekdays, "
                    "times between visits, and dates that both tables cover."
                )
        elif self.form == "columns":
            yield f"A slot is one column: {', '.join(tables.slot_names)}."
        elif tables.slot_names:
            yield describe_epochs(tables.slot_names)
        if tables.strangers:
            yield (
                f"{tables.strangers:,} anonymous rows are of users who are not known. They are no "
                "targets: every figure but those on strangers is about people whom the attacker "
                "knows."
            )
        if tables.known_only:
            yield (
                f"{tables.known_only:,} of {tables.users:,} known users have no anonymous row. The "
                "attacker chooses among them too."
            )
        yield from (f"{note}." for note in self.notes)


@dataclass(frozen=True, eq=False)
class _Unnamed:
    """Observations as two tables whose users are the numbers of their rows.

    Known rows may be anywhere: in memory, in Parquet files, in a DataFrame of Spark.
    """

    observations: Observations

    by_column: ClassVar[bool] = False
    values: ClassVar[None] = None
    slot_names: ClassVar[tuple[str, ...]] = ()
    stranger_ids: ClassVar[None] = None
    notes: ClassVar[tuple[str, ...]] = ()
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def known(self) -> Rows:
        """Known rows, wherever they are."""
        return self.observations.known

    @property
    def truth(self) -> Numbers:
        """The known row of each target."""
        return self.observations.truth

    @property
    def users(self) -> int:
        """Number of known users."""
        return self.observations.users

    @property
    def tokens(self) -> int:
        """Size of the alphabet; 0 of rows of a kind that has none."""
        return getattr(self.known, "tokens", 0)

    @property
    def bags(self) -> bool:
        """Whether rows are bags of tokens."""
        return self.known.kind is Kind.BAGS

    @property
    def stranger_rows(self) -> Any:
        """Anonymous rows of users who are not known."""
        return self.observations.strangers

    @property
    def strangers(self) -> int:
        """Number of them."""
        return 0 if self.stranger_rows is None else len(self.stranger_rows)

    @property
    def known_only(self) -> int:
        """Number of known users of whom there is no anonymous row."""
        return self.users - len(np.unique(self.truth))

    @property
    def ids(self) -> Numbers:
        """The numbers of all rows."""
        return np.arange(self.users)

    def ids_of(self, rows: Numbers) -> Numbers:
        """The numbers of some rows are these."""
        return rows


AnySource: TypeAlias = Source | People | Linked | Observations
"""Whatever a study can be run on."""


def source_of(thing: AnySource) -> Source:
    """The source that a study is run on.

    Args:
        thing: People, whom the study's release shows; what two sites saw, such as
            `reidrisk.data.read_linked` gives; observations, whose users are then the numbers of
            their rows, such as known rows in a DataFrame of Spark; or a source already.

    Example:
        >>> from reidrisk.study.source import source_of
        >>> seen = rr.Observations([[3, 1], [0, 1]], [[0, 1]], truth=[1], tokens=4)
        >>> source_of(seen).users, source_of(seen).people
        (2, None)
    """
    if isinstance(thing, Linked):
        return LinkedSource(thing)
    if isinstance(thing, Observations):
        return LinkedSource(_Unnamed(thing))
    return thing if isinstance(thing, Source) else _PeopleSource(thing)


def _count_gaps(blocks: Blocks, *, codec: Codec) -> int:
    """Number of empty slots of some rows."""
    return sum(int((~codec.present(rows)).sum()) for _, rows in blocks)
