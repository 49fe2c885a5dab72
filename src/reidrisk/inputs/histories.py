"""Browsing histories with a table of domains, turned into people.

A visit counts once for each token of its host. Hosts are looked up from the whole name down to
shorter suffixes: `news.example.co.uk`, then `example.co.uk`, then `co.uk`; the first that the table
names decides, even if it names it without any token. A single word such as `com` only stands for
itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.checks import whole_number
from reidrisk.errors import InvalidInput
from reidrisk.inputs.assembly import Choices, LongRows, assemble
from reidrisk.inputs.columns import holds_text, lists, one_piece, refuse_nulls, without_blanks
from reidrisk.inputs.labels import Coded, encode, encode_users, find, label_array, not_in_taxonomy
from reidrisk.inputs.sources import Source
from reidrisk.inputs.tables import TEXT, AnyPath, read_table
from reidrisk.people.profiles import Counts, Profiles
from reidrisk.speech import offering

WEEK = timedelta(days=7)
# As seconds this is the year 5138; whoever has more has milliseconds.
MOST_SECONDS = 10**11


@dataclass(frozen=True, kw_only=True, slots=True)
class Epochs:
    """Stretches of time that visits are grouped by.

    Args:
        length: How long an epoch is.
        start: When the first one begins; by default at midnight (UTC) before the first visit.
        count: How many there are; by default as many as begin until the last visit.
        every: How long after an epoch the next one begins, if not at once: the paper used eight
            overlapping weeks, each three days after the one before.
    """

    length: timedelta = WEEK
    start: datetime | None = None
    count: int | None = None
    every: timedelta | None = None

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("count", self.count, least=1)
        for name, span in (("length", self.length), ("every", self.every)):
            if span is not None and span < timedelta(seconds=1):
                raise InvalidInput(f"{name} of an epoch is at least a second, got {span}")

    def of(self, seconds: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int32], int]:
        """Pairs of a visit and an epoch it falls into, and the number of epochs."""
        length, step = _seconds(self.length), _seconds(self.every or self.length)
        begin = _moment(self.start) if self.start else int(seconds.min()) // 86_400 * 86_400
        last = (seconds - begin) // step
        count = self.count or max(1, int(last.max()) + 1)
        visits, epochs = [], []
        for back in range(-(-length // step)):
            epoch = last - back
            inside = (epoch >= 0) & (epoch < count) & (seconds - begin - epoch * step < length)
            visits.append(np.flatnonzero(inside))
            epochs.append(epoch[inside].astype(np.int32))
        return np.concatenate(visits), np.concatenate(epochs), count


@dataclass(frozen=True, eq=False, slots=True)
class Domains:
    """The tokens of domains: those of domain i are `tokens[ends[i]:ends[i + 1]]`."""

    place: Mapping[str, int]
    tokens: NDArray[np.int32]
    ends: NDArray[np.int64]
    labels: NDArray[Any]

    def find(self, host: str) -> int:
        """Which domain stands for a host, or -1."""
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
            unless they say otherwise, or whole seconds since 1970.
        domains: A table of `domain` and `token`, one row per pair, or `domain` and `tokens`; or a
            mapping from domains to lists of tokens.
        epochs: How visits are grouped; by default by weeks from the first visit on.
        columns: Names of columns that are called otherwise in the file.
        taxonomy: All tokens there are; by default those of the table of domains.
        absent: What to do about users without visits in some of the epochs, as in `Choices`. Who
            only visits domains without tokens is present, and gets random tokens.

    Visits outside the epochs and visits without tokens are counted in `counts`.
    """
    choices = Choices(taxonomy=taxonomy, absent=absent, duplicates="add")
    table = domain_table(domains)
    types = {"user": TEXT, "timestamp": None, "domain": TEXT}
    visits, source = read_table(path, types, columns)
    if not visits.num_rows:
        raise InvalidInput(f"{source}: there are no visits; at least one is needed")
    users = encode_users(visits["user"], "user", source)
    seconds = _timestamps(visits["timestamp"], source)
    hosts = encode(visits["domain"], "domain", source)
    domain_of = np.array([table.find(str(host)) for host in hosts.labels])[hosts.codes]
    which, when, count = (epochs or Epochs()).of(seconds)
    if not len(which):
        raise InvalidInput(
            f"{source}: no visit falls into the epochs; check their start and length"
        )
    return _profiles(users, domain_of, which, Coded(when, np.arange(count)), table, source, choices)


def domain_table(domains: AnyPath | Mapping[str, Sequence[Any]]) -> Domains:
    """Read or take the tokens of domains."""
    if isinstance(domains, Mapping):
        pairs = [(name, token) for name, tokens in domains.items() for token in tokens or [None]]
        names, tokens = pa.array([name for name, _ in pairs]), pa.array([one for _, one in pairs])
        source = Source(("the domain table",), (len(pairs),))
    else:
        names, tokens, source = _read_domains(domains)
    if not len(names):
        raise InvalidInput(f"{source}: there are no domains; at least one is needed")
    hosts = encode(pa.chunked_array([names]), "domain", source)
    place: dict[str, int] = {}
    number = np.array([place.setdefault(normal_host(str(n)), len(place)) for n in hosts.labels])
    seen = tokens.is_valid().to_numpy(zero_copy_only=False)
    if not seen.any():
        raise InvalidInput(f"{source}: no domain has a token; at least one is needed")
    rows = np.flatnonzero(seen)
    origin = Source(source.files, source.rows, record=lambda row: int(rows[row]))
    coded = encode(pa.chunked_array([tokens.drop_null()]), "token", origin)
    pairs_seen = np.stack([number[hosts.codes][seen], coded.codes], axis=1)
    unique = np.unique(pairs_seen, axis=0)
    ends = np.searchsorted(unique[:, 0], np.arange(len(place) + 1))
    return Domains(place, unique[:, 1].astype(np.int32), ends, coded.labels)


def normal_host(name: str) -> str:
    """A host as it is looked up: of an address only the host, in small letters, in ASCII."""
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


def _read_domains(path: AnyPath) -> tuple[pa.Array, pa.Array, Source]:
    """Pairs of domain and token, with null for a domain without any."""
    both = {"domain": TEXT, "token": TEXT, "tokens": TEXT}
    table, source = read_table(path, both, optional=("token", "tokens"))
    refuse_nulls(table["domain"], "domain", source)
    if ("token" in table.column_names) == ("tokens" in table.column_names):
        raise InvalidInput(f"{source}: there must be one column, 'token' or 'tokens'; name it so")
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
    origin = Source(source.files, source.rows, record=lambda row: int(rows[row].as_py()))
    return names.take(rows), without_blanks(tokens), origin


def _timestamps(column: pa.ChunkedArray, source: Source) -> NDArray[np.int64]:
    """Seconds since 1970."""
    refuse_nulls(column, "timestamp", source)
    kind = column.type
    if pa.types.is_integer(kind):
        if kind == pa.uint64():
            column = pc.min_element_wise(column, pa.scalar(2**63 - 1, kind))
        seconds = np.asarray(one_piece(column.cast(pa.int64())).to_numpy())
        if (wrong := np.abs(seconds) > MOST_SECONDS).any():
            row = int(wrong.argmax())
            raise InvalidInput(
                f"{source.place(row)}: the timestamp is too large for seconds since 1970; if these "
                "are milliseconds, divide them by 1000"
            )
        return seconds
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        exact = one_piece(column).cast(pa.timestamp("ns", tz=column.type.tz), safe=True)
        return np.asarray(exact.cast(pa.int64()).to_numpy()) // 10**9
    raise InvalidInput(_no_time(column, source))


def _no_time(column: pa.ChunkedArray, source: Source) -> str:
    advice = "write all as 2023-05-17T08:30:00, or all as whole seconds since 1970"
    if holds_text(column.type):
        for row, value in enumerate(column):
            if not _is_time(value.as_py()):
                return f"{source.place(row)}: the timestamp is no time; {advice}"
        return f"{source}: some timestamps name a time zone and some do not; {advice}"
    return f"{source}: column 'timestamp' holds {column.type}; {advice}"


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _profiles(
    users: Coded,
    domain_of: NDArray[np.int64],
    which: NDArray[np.int64],
    when: Coded,
    table: Domains,
    source: Source,
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
        raise InvalidInput(not_in_taxonomy("the domain table", "a token", labels))


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())


def _moment(time: datetime) -> int:
    """Seconds since 1970; UTC unless it says otherwise."""
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
