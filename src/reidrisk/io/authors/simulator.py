"""Read and write the TFRecord files of the authors' simulator."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING
from reidrisk.errors import InvalidInput
from reidrisk.io.assembly import Choices, LongRows, assemble
from reidrisk.io.authors.tfrecord import Shard, read_shards
from reidrisk.io.labels import (
    Coded,
    encode_numbers,
    encode_users,
    find,
    not_in_taxonomy,
    refuse_duplicate_users,
)
from reidrisk.io.linked import Linked, Strangers, link
from reidrisk.io.provenance import Origin
from reidrisk.io.site_tables import SiteRows
from reidrisk.io.tables import AnyPath
from reidrisk.people.profiles import Profiles

TOPICS = re.compile(r"epoch_(0|[1-9]\d{0,17})_topics")
TOKENS = re.compile(r"epoch_(0|[1-9]\d{0,17})_tokens")
KNOWN, ANONYMOUS = "client_1_tokens", "client_2_tokens"


def read_tfrecord_profiles(path: AnyPath, **choices: Any) -> Profiles:
    """Read people from Examples of `user_id`, `epoch_{t}_topics` and `epoch_{t}_weights`.

    This is the input of the authors' simulator and the layout of the synthetic Topics data of 2025.

    Args:
        path: A TFRecord file or a folder of shards; packed ones end in `.gz`.
        choices: `taxonomy`, `epochs`, `absent` and `duplicates`, as explained at `Choices`. Epochs
            are the numbers t; a user without topics in an epoch is absent there.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2], [0, 0, 0], [5, 7, 5], [2.0, 1.0, 4.0])
        >>> rr.data.write_tfrecord_profiles(people, "people.tfrecord")
        >>> rr.data.read_tfrecord_profiles("people.tfrecord").labels.tolist()
        [5, 7]
    """
    chosen = Choices(**choices)
    users: list[pa.Array] = []
    parts: list[tuple[NDArray[Any], ...]] = []
    files: list[str] = []
    sizes: list[int] = []
    for shard in read_shards(path):
        users.append(_users(shard))
        parts += _weighted_topics(shard, sum(sizes))
        files.append(str(shard.file))
        sizes.append(len(shard))
    if not parts:
        raise InvalidInput(
            f"{path}: no record has a feature epoch_0_topics or the like; if this is the output of "
            "the simulator, read it with read_tfrecord_observations",
            code="feature-not-found",
        )
    records, epochs, tokens, weights = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    source = Origin(tuple(files), tuple(sizes), "record")
    ids = _distinct_users(users, source)
    rows = LongRows(
        Coded(ids.codes[records], ids.labels),
        encode_numbers(epochs),
        encode_numbers(tokens),
        weights,
    )
    origin = Origin(source.files, source.rows, "record", lambda row: int(records[row]))
    if not len(rows):
        raise InvalidInput(
            f"{source}: no record has any topic; at least one is needed", code="empty-table"
        )
    return assemble(rows, origin, chosen)


def read_tfrecord_observations(
    path: AnyPath,
    *,
    taxonomy: Any = None,
    strangers: Strangers = "keep",
) -> Linked:
    """Read what two sites saw from Examples of `user_id`, `client_1_tokens`, `client_2_tokens`.

    This is the output of the authors' simulator. Users without `client_2_tokens` are no targets,
    and `epoch_{t}_tokens`, the top tokens of an epoch, become `top_sets`. Negative tokens stand for
    slots in which nothing was seen.

    Args:
        path: A TFRecord file, or a folder of them.
        taxonomy: All tokens there are; by default those seen.
        strangers: What becomes of anonymous rows of users who are not known: "keep" holds them
            apart, "refuse" takes them for a mistake.

    Example:
        >>> people = rr.data.synthetic_topics(users=100, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> rr.data.write_tfrecord_observations(seen, "seen.tfrecord")
        >>> rr.data.read_tfrecord_observations("seen.tfrecord").known.users
        100
    """
    shards = list(read_shards(path))
    source = Origin(tuple(str(shard.file) for shard in shards), tuple(map(len, shards)), "record")
    ids = _distinct_users([_users(shard) for shard in shards], source)
    known = _client(shards, KNOWN, ids, source)
    anonymous = _client(shards, ANONYMOUS, ids, source)
    if known.width != anonymous.width:
        raise InvalidInput(
            f"{source}: {KNOWN} has {known.width} tokens and {ANONYMOUS} has {anonymous.width}; "
            "write as many of both",
            code="slot-mismatch",
        )
    sets = _top_sets(shards)
    if taxonomy is None and sets is not None:
        taxonomy = np.unique(np.concatenate([known.labels, anonymous.labels, sets[sets >= 0]]))
    linked = link(known, anonymous, taxonomy=taxonomy, strangers=strangers)
    if sets is None:
        return linked
    kept = _records(shards, KNOWN)
    return replace(linked, top_sets=_numbered(sets[kept], linked.labels, known.source))


def _users(shard: Shard) -> pa.Array:
    if len(shard) and not shard.has("user_id").all():
        record = int((~shard.has("user_id")).argmax())
        raise InvalidInput(
            f"{shard.place(record)}: there is no feature 'user_id', only {_said(shard.names)}; "
            "write each record with the id of its user",
            code="feature-not-found",
        )
    return shard.texts("user_id")


def _distinct_users(users: list[pa.Array], source: Origin) -> Coded:
    """Number the users, each of whom has one record."""
    coded = encode_users(pa.chunked_array(users, pa.large_string()), "user_id", source)
    refuse_duplicate_users(coded, source)
    return coded


def _weighted_topics(shard: Shard, before: int) -> Iterator[tuple[NDArray[Any], ...]]:
    """Columns of record, epoch, token and weight, epoch by epoch."""
    for name in shard.names:
        if not (epoch := TOPICS.fullmatch(name)):
            continue
        topics, partner = shard.ints(name), name.replace("topics", "weights")
        weights = shard.floats(partner)
        if (uneven := topics.counts != weights.counts).any():
            record = int(uneven.argmax())
            raise InvalidInput(
                f"{shard.place(record)}: {name} has {topics.counts[record]} values and {partner} "
                f"has {weights.counts[record]}; write one weight per topic",
                code="length-mismatch",
            )
        records = np.repeat(np.arange(before, before + len(shard)), topics.counts)
        epochs = np.full(len(records), int(epoch[1]))
        yield records, epochs, topics.values, weights.values


def _records(shards: list[Shard], name: str) -> NDArray[np.int64]:
    """The records that have a feature, counted over all files."""
    return np.flatnonzero(np.concatenate([shard.has(name) for shard in shards]))


def _client(shards: list[Shard], name: str, ids: Coded, source: Origin) -> SiteRows:
    """What one site saw of the users who have the feature."""
    records = _records(shards, name)
    if not len(records):
        raise InvalidInput(
            f"{source}: no record has the feature {name!r}, only {_said(shards[0].names)}; if this "
            "is the input of the simulator, read it with read_tfrecord_profiles",
            code="feature-not-found",
        )
    lists = [shard.ints(name) for shard in shards]
    counts = np.concatenate([part.counts for part in lists])[records]
    if (wrong := counts != counts[0]).any() or not counts[0]:
        record = int(records[wrong.argmax()])
        raise InvalidInput(
            f"{source.place(record)}: {name} has {counts[wrong.argmax()]} tokens and the first "
            f"{counts[0]}; write one token per epoch, at least one, and -1 where nothing was seen",
            code="unequal-lists",
        )
    values = np.concatenate([part.values for part in lists])
    seen = values >= 0
    coded = encode_numbers(values[seen])
    tokens = np.full(len(values), MISSING, dtype=np.int32)
    tokens[seen] = coded.codes
    origin = Origin(source.files, source.rows, "record", lambda row: int(records[row]))
    known = Coded(*_compact(ids.codes[records], ids.labels))
    return SiteRows.slotted(known, tokens.reshape(-1, counts[0]), coded.labels, origin)


def _compact(codes: NDArray[np.int32], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Without labels that no row has."""
    used, again = np.unique(codes, return_inverse=True)
    return again.astype(np.int32), labels[used]


def _top_sets(shards: list[Shard]) -> NDArray[np.int64] | None:
    """Labels of the top tokens, records x epochs x top, -1 where there are none."""
    names = {name for shard in shards for name in shard.names if TOKENS.fullmatch(name)}
    if not names:
        return None
    ordered = sorted(names, key=lambda name: int(name.split("_")[1]))
    lists = [[shard.ints(name) for name in ordered] for shard in shards]
    top = max(int(part.counts.max(initial=0)) for parts in lists for part in parts)
    sets = np.full((sum(map(len, shards)), len(ordered), top), MISSING, dtype=np.int64)
    first = 0
    for shard, parts in zip(shards, lists, strict=True):
        for epoch, part in enumerate(parts):
            records = np.repeat(np.arange(len(shard)), part.counts)
            places = np.arange(len(part.values)) - part.ends[records]
            sets[first + records, epoch, places] = part.values
        first += len(shard)
    return sets


def _numbered(sets: NDArray[np.int64], labels: NDArray[Any], source: Origin) -> NDArray[np.int32]:
    """Top sets as tokens instead of labels."""
    seen = sets >= 0
    places = find(sets[seen], labels)
    if (places < 0).any():
        record = int(np.argwhere(seen)[(places < 0).argmax()][0])
        what = "a token of epoch_{t}_tokens"
        raise InvalidInput(
            not_in_taxonomy(source.place(record), what, labels), code="not-in-taxonomy"
        )
    tokens = np.full(sets.shape, MISSING, dtype=np.int32)
    tokens[seen] = places
    return tokens


def _said(names: list[str], most: int = 8) -> str:
    return ", ".join(sorted(names)[:most]) or "none"
