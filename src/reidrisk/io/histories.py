"""Read browsing histories with a table of domains as people.

A visit counts once for each token of its host. Hosts are looked up from the whole name down to
shorter suffixes: `news.example.co.uk`, then `example.co.uk`, then `co.uk`; the first that the table
names decides, even if it names it without any token. A single word such as `com` only stands for
itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.settings_syntax import offering
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, LongRows, assemble
from reidrisk.io.columns import holds_text, lists, one_piece, refuse_nulls, without_blanks
from reidrisk.io.labels import Coded, encode, encode_users, find, label_array, not_in_taxonomy
from reidrisk.io.provenance import Origin
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import AnyPath, read_table
from reidrisk.io.times import days, may_be_days, moments
from reidrisk.people.profiles import Counts, Profiles

Seconds = NDArray[np.int64]

_WEEK = timedelta(days=7)
# As seconds this is the year 5138; larger numbers are milliseconds, or stand for never.
_MOST_SECONDS = 10**11
_DAY = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ADVICE = (
    "write all as 2023-05-17T08:30:00, as days such as 2023-05-17 or 20230517, or as whole seconds "
    "since 1970"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Epochs:
    """Periods by which visits are grouped.

    Args:
        length: How long an epoch is.
        start: When the first one begins; by default at midnight (UTC) before the first visit.
        count: How many there are; by default as many as begin until the last visit.
        every: How long after an epoch the next one begins, if not at once: the paper used eight
            overlapping weeks, each three days after the one before.

    Example:
        >>> from datetime import timedelta
        >>> weeks = rr.data.Epochs(every=timedelta(days=3), count=8)
        >>> weeks.length.days
        7
    """

    length: timedelta = _WEEK
    start: datetime | None = None
    count: int | None = None
    every: timedelta | None = None

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("count", self.count, least=1)
        for name, span in (("length", self.length), ("every", self.every)):
            if span is not None and span < timedelta(seconds=1):
                raise InvalidInput(
                    f"{name} of an epoch is at least a second, got {span}",
                    code="invalid-epoch-length",
                )

    def of(self, seconds: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int32], Seconds]:
        """Pairs of a visit and an epoch it falls into, and when epochs begin.

        Args:
            seconds: When visits were, since 1970.
        """
        length, step = _seconds(self.length), _seconds(self.every or self.length)
        begin = _moment(self.start) if self.start else int(seconds.min()) // _DAY * _DAY
        last = (seconds - begin) // step
        count = self.count or max(1, int(last.max()) + 1)
        visits, epochs = [], []
        for back in range(-(-length // step)):
            epoch = last - back
            inside = (epoch >= 0) & (epoch < count) & (seconds - begin - epoch * step < length)
            visits.append(np.flatnonzero(inside))
            epochs.append(epoch[inside].astype(np.int32))
        return np.concatenate(visits), np.concatenate(epochs), begin + step * np.arange(count)


@dataclass(frozen=True, eq=False, slots=True)
class Domains:
    """The tokens of domains: those of domain i are `tokens[ends[i]:ends[i + 1]]`."""

    place: Mapping[str, int]
    tokens: NDArray[np.int32]
    ends: NDArray[np.int64]
    labels: NDArray[Any]

    def find(self, host: str) -> int:
        """Which domain stands for a host, or -1.

        Args:
            host: As a history has it.
        """
        name = normal_host(host)
        while name:
            if name in self.place:
                return self.place[name]
            name = name.partition(".")[2]
            if "." not in name:
                break
        return -1


@offering("columns", "absent")
def read_histories(
    path: AnyPath,
    domains: AnyPath | Mapping[str, Sequence[Any]],
    *,
    epochs: Epochs | None = None,
    columns: Mapping[str, str] | None = None,
    taxonomy: Any = None,
    absent: Any = "missing",
) -> Profiles:
    """Read people from visits, a table of `user`, `timestamp` and `domain`.

    Args:
        path: CSV or Parquet, a file or a folder. Timestamps are dates with or without time, UTC
            unless they say otherwise, days such as 20230517, or whole seconds since 1970. An
            epoch is called by the day on which it begins, so that `epoch_labels` show how they
            were read.
        domains: A table of `domain` and `token`, one row per pair, or `domain` and `tokens`; or a
            mapping from domains to lists of tokens.
        epochs: How visits are grouped; by default by weeks from the first visit on.
        columns: Names of columns that are called otherwise in the file.
        taxonomy: All tokens there are; by default those of the table of domains.
        absent: What to do about users without visits in some of the epochs, as in `Choices`. Who
            only visits domains without tokens is present, and gets random tokens.

    Visits outside the epochs and visits without tokens are counted in `counts`.

    Example:
        >>> from pyarrow import parquet, table
        >>> days = ["2026-11-02", "2026-11-03", "2026-11-10"]
        >>> domains = ["a.example", "b.example", "b.example"]
        >>> visits = table({"user": ["ann", "bob", "ann"], "timestamp": days, "domain": domains})
        >>> parquet.write_table(visits, "visits.parquet")
        >>> people = rr.data.read_histories("visits.parquet", {"a.example": [5], "b.example": [7]})
        >>> people.users, people.epochs, people.labels.tolist()
        (2, 2, [5, 7])
    """
    choices = Choices(taxonomy=taxonomy, absent=absent, duplicates="add")
    table = domain_table(domains)
    types = {"user": TEXT, "timestamp": None, "domain": TEXT}
    visits, source = read_table(path, types, columns)
    if not visits.num_rows:
        raise InvalidInput(
            f"{source}: there are no visits; at least one is needed", code="empty-table"
        )
    users = encode_users(visits["user"], "user", source)
    seconds = _timestamps(visits["timestamp"], source)
    hosts = encode(visits["domain"], "domain", source)
    domain_of = np.array([table.find(str(host)) for host in hosts.labels])[hosts.codes]
    which, when, begins = (epochs or Epochs()).of(seconds)
    if not len(which):
        raise InvalidInput(
            f"{source}: no visit falls into the epochs; check their start and length",
            code="no-visits",
        )
    named = Coded(when, _names(begins))
    return _profiles(users, domain_of, which, named, table, source, choices)


def domain_table(domains: AnyPath | Mapping[str, Sequence[Any]]) -> Domains:
    """Read or take the tokens of domains.

    Args:
        domains: A file with columns of domains and tokens, or the tokens of each domain.
    """
    if isinstance(domains, Mapping):
        pairs = [(name, token) for name, tokens in domains.items() for token in tokens or [None]]
        names, tokens = pa.array([name for name, _ in pairs]), pa.array([one for _, one in pairs])
        source = Origin(("the domain table",), (len(pairs),))
    else:
        names, tokens, source = _read_domains(domains)
    if not len(names):
        raise InvalidInput(
            f"{source}: there are no domains; at least one is needed", code="empty-table"
        )
    hosts = encode(pa.chunked_array([names]), "domain", source)
    place: dict[str, int] = {}
    number = np.array([place.setdefault(normal_host(str(n)), len(place)) for n in hosts.labels])
    seen = tokens.is_valid().to_numpy(zero_copy_only=False)
    if not seen.any():
        raise InvalidInput(
            f"{source}: no domain has a token; at least one is needed", code="no-tokens"
        )
    rows = np.flatnonzero(seen)
    origin = Origin(source.files, source.rows, record=lambda row: int(rows[row]))
    coded = encode(pa.chunked_array([tokens.drop_null()]), "token", origin)
    pairs_seen = np.stack([number[hosts.codes][seen], coded.codes], axis=1)
    unique = np.unique(pairs_seen, axis=0)
    ends = np.searchsorted(unique[:, 0], np.arange(len(place) + 1))
    return Domains(place, unique[:, 1].astype(np.int32), ends, coded.labels)


def normal_host(name: str) -> str:
    """A host as it is looked up: without scheme, port and path, in lower case and ASCII.

    Args:
        name: A host or an address.
    """
    host = name.strip().partition("://")[2] or name.strip()
    host = host.partition("/")[0].partition("?")[0].rpartition("@")[2]
    if not host.startswith("["):  # an IPv6 address has colons of its own
        host = host.partition(":")[0]
    host = host.rstrip(".").lower()
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:  # no valid name, so it is only ever equal to itself
        return host


def _read_domains(path: AnyPath) -> tuple[pa.Array, pa.Array, Origin]:
    """Pairs of domain and token, with null for a domain without any."""
    both = {"domain": TEXT, "token": TEXT, "tokens": TEXT}
    table, source = read_table(path, both, optional=("token", "tokens"))
    refuse_nulls(table["domain"], "domain", source)
    if ("token" in table.column_names) == ("tokens" in table.column_names):
        raise InvalidInput(
            f"{source}: there must be one column, 'token' or 'tokens'; name it so",
            code="column-not-found",
        )
    names = one_piece(table["domain"])
    if "token" in table.column_names:
        return names, without_blanks(one_piece(table["token"])), source
    cut = lists(table["tokens"], "tokens", source)
    empty = pc.equal(pc.fill_null(pc.list_value_length(cut), 0), 0)
    owners = pc.list_parent_indices(cut)
    rows = pa.concat_arrays([owners, pc.indices_nonzero(empty).cast(owners.type)])
    tokens = pa.concat_arrays(
        [cut.flatten(), pa.nulls(len(rows) - len(owners), cut.type.value_type)]
    )
    origin = Origin(source.files, source.rows, record=lambda row: int(rows[row].as_py()))
    return names.take(rows), without_blanks(tokens), origin


def _names(begins: Seconds) -> NDArray[Any]:
    """Names of epochs: the day on which each begins, with the time unless all begin at midnight."""
    late = bool((begins % _DAY).any())
    texts = np.datetime_as_string(begins.astype("datetime64[s]"), unit="s" if late else "D")
    return np.array([f"{text}Z" if late else str(text) for text in texts], object)


def _timestamps(column: pa.ChunkedArray, source: Origin) -> Seconds:
    """Seconds since 1970."""
    refuse_nulls(column, "timestamp", source)
    seconds = _seconds_of(column, source)
    if (wrong := np.abs(seconds) > _MOST_SECONDS).any():
        raise InvalidInput(
            f"{source.place(int(wrong.argmax()))}: the timestamp is not the time of a visit: it "
            "lies beyond the year 5000; if these are milliseconds, divide them by 1000, and if it "
            "stands for never, remove the row",
            code="invalid-timestamp",
        )
    return seconds


def _seconds_of(column: pa.ChunkedArray, source: Origin) -> Seconds:
    kind = column.type
    if pa.types.is_integer(kind):
        return _of_numbers(_whole(column), source)
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        counted = one_piece(column).cast(pa.int64()).to_numpy()
        return np.asarray(counted // _PER_SECOND[column.type.unit])
    if holds_text(kind):
        return _of_texts(column, source)
    raise InvalidInput(
        f"{source}: column 'timestamp' holds {kind}; {_ADVICE}", code="wrong-column-type"
    )


def _whole(column: pa.ChunkedArray) -> Seconds:
    """Whole numbers; those beyond 64 bits become the largest, which is refused as a time."""
    if column.type == pa.uint64():
        column = pc.min_element_wise(column, pa.scalar(2**63 - 1, pa.uint64()))
    return np.asarray(one_piece(column.cast(pa.int64())).to_numpy())


def _of_numbers(numbers: Seconds, source: Origin) -> Seconds:
    """Whole seconds, unless they are days such as 20230517, which as seconds would be in 1970."""
    if not may_be_days(numbers):
        return numbers
    found, there = days(numbers)
    if not there.all():
        raise InvalidInput(
            f"{source.place(int((~there).argmax()))}: the timestamp is not in the calendar, while "
            f"all look like days such as 20230517; {_ADVICE}",
            code="invalid-timestamp",
        )
    return np.asarray(found.astype("datetime64[s]").astype(np.int64))


def _of_texts(column: pa.ChunkedArray, source: Origin) -> Seconds:
    coded = one_piece(column).dictionary_encode()
    codes, times = coded.indices.to_numpy(), list(moments(coded.dictionary.to_pylist()))
    strange = np.array([time is None for time in times])[codes]
    if strange.any():
        raise InvalidInput(
            f"{source.place(int(strange.argmax()))}: the timestamp is not a time; {_ADVICE}",
            code="invalid-timestamp",
        )
    known = [time for time in times if time is not None]
    if len({time.tzinfo is None for time in known}) > 1:
        raise InvalidInput(
            f"{source}: some timestamps name a time zone and some do not; {_ADVICE}",
            code="ambiguous-time-zone",
        )
    return np.asarray(np.array([_moment(time) for time in known], np.int64)[codes])


def _profiles(
    users: Coded,
    domain_of: NDArray[np.int64],
    which: NDArray[np.int64],
    when: Coded,
    table: Domains,
    source: Origin,
    choices: Choices,
) -> Profiles:
    """Count visits per user, epoch and token."""
    domain = domain_of[which]
    sizes = np.where(domain < 0, 0, np.diff(table.ends)[domain])
    first = np.where(domain < 0, 0, table.ends[:-1][domain])
    offset = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tokens = table.tokens[np.repeat(first, sizes) + offset]
    rows = LongRows(
        Coded(np.repeat(users.codes[which], sizes), users.labels),
        Coded(np.repeat(when.codes, sizes), when.labels),
        Coded(tokens, table.labels),
        np.ones(len(tokens), dtype=np.float32),
    )
    present = np.zeros((len(users.labels), len(when.labels)), dtype=np.bool_)
    present[users.codes[which], when.codes] = True
    inside = np.unique(which)
    without = sizes == 0
    counts = Counts(
        rows=len(domain_of),
        other_epochs=len(domain_of) - len(inside),
        visits_without_tokens=len(np.unique(which[without])),
    )
    if choices.taxonomy is not None:
        _check_taxonomy(table, choices.taxonomy)
    people = assemble(rows, source, choices, present=present, counts=counts)
    return replace(people, counts=replace(people.counts, added=0))


def _check_taxonomy(table: Domains, taxonomy: Any) -> None:
    labels = label_array("taxonomy", taxonomy)
    if (find(table.labels, labels) < 0).any():
        raise InvalidInput(
            not_in_taxonomy("the domain table", "a token", labels), code="not-in-taxonomy"
        )


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())


def _moment(time: datetime) -> int:
    """Whole seconds since 1970; UTC unless it says otherwise."""
    return math.floor((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
