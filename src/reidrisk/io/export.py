"""Write people and observations to files, each whole or not at all."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.csv_safe import FORMULA, NUMBER
from reidrisk.core.digest import sha256_bytes
from reidrisk.core.files import ONLY_ME, made_folder, written_whole
from reidrisk.core.machine import check_fits
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import BagRows, Kind, Rows, token_rows
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.io import manifest
from reidrisk.io.authors.tfrecord import Lists, tfrecord_bytes
from reidrisk.io.columns import holds_text
from reidrisk.io.linked import BAGS, FORM, LABELS, LABELS_FILE, Linked
from reidrisk.io.parquet_files import read_back
from reidrisk.io.shards import Progress, ShardedFolder, ShardWriter, cut, forget_shards
from reidrisk.io.tables import AnyPath
from reidrisk.people.profiles import Profiles
from reidrisk.people.protocol import People

# Users per piece of a file.
CHUNK = 1 << 17

ANONYMOUS = "anonymous.parquet"
_LONGEST = 2**31 - 1
"""Entries of all lists of a piece of a file."""

_Seen = Observations | Linked
Site = tuple[NDArray[Any], Rows]
"""The users of some rows, and the rows."""


@dataclass(frozen=True)
class _KnownUsers:
    """The users of known rows: an array, rows made on demand, or files; read piece by piece.

    Attributes:
        part: Users of neighbouring rows, from the first to behind the last.
    """

    part: Callable[[int, int], NDArray[Any]]

    def some(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Users of some rows, at least one, in their order."""
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        ends = np.flatnonzero(np.diff(ascending // CHUNK)) + 1
        found = np.concatenate([
            self.part(int(mine[0]), int(mine[-1]) + 1)[mine - mine[0]]
            for mine in np.split(ascending, ends)
        ])  # fmt: skip
        names = np.empty_like(found)
        names[order] = found
        return names


def write_observations(
    seen: _Seen,
    folder: AnyPath,
    *,
    ids: Any = None,
    labels: Any = None,
    note: Mapping[str, Any] | None = None,
    shards: int | None = None,
    origin: Any = None,
    progress: Progress | None = None,
) -> None:
    """Write `known.parquet` and `anonymous.parquet`, with columns `user` and `tokens`.

    Beside them, `labels.parquet` names all tokens, so that reading gives back the same alphabet,
    and `release.json` holds checksums, by which readers know that nothing is damaged or of another
    folder. Only the owner may read these files: they name users.

    Rows of strangers are left out: observations do not say whose they are.

    Args:
        seen: What the two sites saw.
        folder: Where to; it is made if need be.
        ids: The user of each known row, such as `people.ids`; by default that of `Linked` or of
            rows that know their users, else its number.
        labels: The name of each token, such as `people.labels`; by default that of `Linked`, else
            its number.
        note: What `release.json` says of the release, as JSON knows it.
        shards: Write known rows into so many files, `known/part-00000.parquet` and so on, a block
            at a time and several files side by side: in memory that does not grow with users.
        origin: Of shards: all that the rows came from, as JSON knows it, such as hashes of files
            and the seed. If it is given, shards of the same origin that are done are not made
            again: who was stopped goes on.
        progress: Of shards: told how many users of how many are written.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> rr.data.write_observations(rr.TopicsApi(topics=40).observe(people, seed=7), "seen")
        >>> rr.data.read_linked("seen/known.parquet", "seen/anonymous.parquet").known
        <TokenRows 1000 x 2>
    """
    shown, own_ids, own_labels = _parts(seen)
    words = _label_array(shown, own_labels if labels is None else labels)
    known, users = shown.known, _users_of(shown, own_ids if ids is None else ids)
    anonymous = shown.anonymous
    said, targets = note or {}, (users.some(shown.truth), anonymous)
    if shards is None:
        place = made_folder(folder).absolute()
        everyone = users.part(0, known.users), known
        notes = _notes(known, _identity((everyone, targets), words, said))
        _write_folder(place, {manifest.WHOLE: everyone, ANONYMOUS: targets}, {}, words, said, notes)
        forget_shards(place)
        return
    if known.kind is Kind.BAGS:
        raise InvalidInput(
            "known holds bags of tokens, and shards hold one token for each slot; leave out "
            f"{setting('shards')}",
            code="wrong-kind-of-rows",
        )
    cuts = cut(known.users, shards)
    made_of = {"note": said, "origin": origin, "cuts": cuts, "slots": known.slots}
    identity = _identity((targets,), words, made_of)
    notes = _notes(known, identity)
    sharded = ShardedFolder(made_folder(Path(folder)), identity, cuts, may_go_on=origin is not None)

    def write(part: Path, blocks: Iterator[tuple[int, int]]) -> None:
        _write_shard(part, known, users, blocks, notes)

    with sharded.filled(write, _row_size(known, users), progress) as written:
        _write_folder(sharded.place, {ANONYMOUS: targets}, written, words, said, notes)


def write_tfrecord_observations(
    seen: _Seen,
    path: AnyPath,
    *,
    ids: Any = None,
    labels: Any = None,
    top_sets: NDArray[np.int32] | None = None,
) -> None:
    """Write `user_id`, `client_1_tokens`, `client_2_tokens` and perhaps `epoch_{t}_tokens`.

    The authors' attack draws its targets from all records and compares lists of equal length, so
    everyone must be a target, once, and every slot must have been seen.

    Args:
        seen: What the two sites saw.
        path: The TFRecord file.
        ids: The user of each known row; by default that of `Linked`, else its number.
        labels: The whole number that names each token; by default that of `Linked`, else its number
            from 0 on.
        top_sets: Users x slots x top, as `people.top_sets` gives them.

    Example:
        >>> people = rr.data.synthetic_topics(users=100, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> rr.data.write_tfrecord_observations(seen, "seen.tfrecord", ids=people.ids)
        >>> rr.data.read_tfrecord_observations("seen.tfrecord").truth[:3].tolist()
        [0, 1, 2]
    """
    shown, own_ids, own_labels = _parts(seen)
    words = _label_array(shown, own_labels if labels is None else labels)
    users = _users_of(shown, own_ids if ids is None else ids)
    names = users.part(0, shown.known.users)
    if words.dtype.kind not in "iu":
        raise InvalidInput(
            "labels must be whole numbers in a TFRecord file; number the tokens",
            code="wrong-label-type",
        )
    everyone = np.sort(seen.truth)
    if len(everyone) != len(names) or (everyone != np.arange(len(names))).any():
        raise InvalidInput(
            f"{len(np.unique(everyone))} of {len(names)} users are targets, but the authors' "
            "attack draws targets from all records; observe with all users as targets",
            code="not-everybody-is-target",
        )
    known = shown.known
    if known.kind is not Kind.TOKENS:
        raise InvalidInput(
            "known holds bags of tokens, and the authors' attack compares slot by slot; keep one "
            "token per slot",
            code="wrong-kind-of-rows",
        )
    if not shown.complete or not shown.anonymous.present().all():
        raise InvalidInput(
            "some slots were not seen, and the authors' attack would count them as equal; "
            'observe people without gaps: absent="pad" or "drop"',
            code="gaps-not-supported",
        )
    anonymous = np.empty_like(np.asarray(shown.anonymous))
    anonymous[seen.truth] = shown.anonymous
    features: dict[str, Any] = {
        "user_id": pa.array(names.astype(str).astype(object)),
        "client_1_tokens": _rectangle(words[known.block(0, len(known))]),
        "client_2_tokens": _rectangle(words[anonymous]),
    }
    for epoch in range(0 if top_sets is None else top_sets.shape[1]):
        features[f"epoch_{epoch}_tokens"] = _rectangle(words[top_sets[:, epoch]])  # type: ignore[index]
    with written_whole(path, mode=ONLY_ME) as (part,):
        tfrecord_bytes(features).tofile(part)


def write_profiles(people: Profiles, path: AnyPath) -> None:
    """Write `user, epoch, token, weight` as `.parquet` or `.csv`.

    An epoch in which a user was present without any interest is one row of weight zero.

    Args:
        people: Whom to write.
        path: The file; its ending says which format.

    Example:
        >>> people = rr.data.make_profiles(["ann", "bob"], [1, 1], [5, 7])
        >>> rr.data.write_profiles(people, "people.csv")
        >>> rr.data.read_profiles("people.csv").ids.tolist()
        ['ann', 'bob']
    """
    _write_long(path, (_long(people, start) for start in range(0, people.users, CHUNK)))


def write_top_sets(
    people: People,
    path: AnyPath,
    *,
    top: int,
    seed: int,
    labels: Any = None,
) -> None:
    """Write the top tokens of any people as `user, epoch, token, weight`, each of weight 1.

    Args:
        people: Whom to write.
        path: The file, `.parquet` or `.csv`.
        top: How many tokens of a user and epoch.
        seed: Of the draws that break ties and pad small sets.
        labels: The names of the tokens; by default their numbers.

    Example:
        >>> people = rr.data.synthetic_topics(users=100, topics=40, epochs=2, seed=1)
        >>> rr.data.write_top_sets(people, "tops.parquet", top=5, seed=0)
        >>> rr.data.read_profiles("tops.parquet").counts.rows
        1000
    """
    words = np.arange(people.tokens) if labels is None else np.asarray(labels)
    _write_long(path, (
        _long_sets(people, start, min(start + CHUNK, people.users), top, seed, words)
        for start in range(0, people.users, CHUNK)
    ))  # fmt: skip


def write_tfrecord_profiles(people: Profiles, path: AnyPath) -> None:
    """Write `user_id`, `epoch_{t}_topics`, `epoch_{t}_weights`, which the authors' simulator reads.

    Weights are rounded to single precision, and epochs are numbered from 0 on.

    Args:
        people: Whom to write; tokens are whole numbers.
        path: The file.

    Example:
        >>> people = rr.data.make_profiles([1, 1, 2], [0, 0, 0], [5, 7, 5], [2.0, 1.0, 4.0])
        >>> rr.data.write_tfrecord_profiles(people, "people.tfrecord")
        >>> rr.data.read_tfrecord_profiles("people.tfrecord").users
        2
    """
    if people.labels.dtype.kind not in "iu":
        raise InvalidInput(
            "tokens must be whole numbers in a TFRecord file; number them", code="wrong-label-type"
        )
    features: dict[str, Any] = {"user_id": pa.array(people.ids.astype(str).astype(object))}
    for epoch in range(people.epochs):
        starts = people.starts[:-1].reshape(people.present.shape)[:, epoch]
        counts = np.diff(people.starts).reshape(people.present.shape)[:, epoch]
        ends = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], counts)
        features[f"epoch_{epoch}_topics"] = Lists(people.labels[people.members[places]], ends)
        weights = people.weights[places].astype(np.float32)
        features[f"epoch_{epoch}_weights"] = Lists(weights, ends)
    with written_whole(path, mode=ONLY_ME) as (part,):
        tfrecord_bytes(features).tofile(part)


def _notes(known: Rows, identity: str) -> dict[bytes, bytes]:
    """The metadata of the files of known and of anonymous rows."""
    notes = {manifest.FOLDER: identity.encode(), LABELS: LABELS_FILE.encode()}
    return notes | ({FORM: BAGS} if known.kind is Kind.BAGS else {})


def _write_folder(
    place: Path,
    sites: Mapping[str, Site],
    shards: Mapping[str, Path],
    words: NDArray[Any],
    note: Mapping[str, Any],
    notes: dict[bytes, bytes],
) -> None:
    """Write rows, labels and the manifest, which also lists shards that are there.

    The manifest comes last: where it is the new one, all other files are.
    """
    held = (*sites, LABELS_FILE)
    written = (place / name for name in (*held, manifest.MANIFEST))
    with written_whole(*written, mode=ONLY_ME) as parts:
        token = pa.array(words[:1]).type
        for part, (users, rows) in zip(parts, sites.values(), strict=False):
            kinds = {"user": pa.array(users[:1]).type, "tokens": pa.list_(token)}
            _write(part, pa.schema(kinds, notes), (
                [pa.array(users[start : start + CHUNK]),
                 _lists(rows.part(start, min(start + CHUNK, len(rows))), words)]
                for start in range(0, len(rows), CHUNK)
            ))  # fmt: skip
        identity = notes[manifest.FOLDER]
        _write(
            parts[-2],
            pa.schema({"token": token}, {manifest.FOLDER: identity}),
            ([pa.array(words[at : at + CHUNK])] for at in range(0, len(words), CHUNK)),
        )
        files = {**shards, **dict(zip(held, parts, strict=False))}
        whole = manifest.Manifest.of_files(note, identity.decode(), files)
        parts[-1].write_text(whole.text, encoding="utf-8")


def _write_shard(
    part: Path,
    known: Rows,
    users: _KnownUsers,
    blocks: Iterator[tuple[int, int]],
    notes: Mapping[bytes, bytes],
) -> None:
    """Write some known rows, block by block."""
    kind = pa.array(users.part(0, 1)).type
    tokens = token_rows(known).tokens
    with ShardWriter(part, slots=known.slots, tokens=tokens, ids=kind, notes=notes) as writer:
        for start, stop in blocks:
            writer.write(users.part(start, stop), known.block(start, stop))


def _row_size(known: Rows, users: _KnownUsers) -> float:
    """An estimate of the bytes of a row in a shard: bits of tokens and of steps between users."""
    names = users.part(0, min(known.users, CHUNK))
    bits = known.slots * max(token_rows(known).tokens - 1, 1).bit_length()
    if names.dtype.kind in "iu":
        step = int(np.abs(np.diff(names.astype(np.int64))).max(initial=1))
        return (bits + step.bit_length()) / 8
    return float(bits / 8 + pa.array(names).nbytes / len(names))


def _identity(sites: Iterable[Site], words: NDArray[Any], note: Mapping[str, Any]) -> str:
    """The id of all that is written together: equal for equal content."""

    def parts() -> Iterator[bytes]:
        yield json.dumps(note, sort_keys=True).encode()
        for users, rows in sites:
            for start in range(0, len(rows), CHUNK):
                stop = min(start + CHUNK, len(rows))
                yield _bytes(users[start:stop])
                yield rows.part(start, stop).block(0, stop - start).tobytes()
        yield _bytes(words)

    return sha256_bytes(parts()).hex()[:32]


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Text as objects, which Arrow takes as they are."""
    return labels.astype(object) if labels.dtype.kind == "U" else labels


def _bytes(labels: NDArray[Any]) -> bytes:
    if labels.dtype.kind != "O":
        return labels.tobytes()
    return "\0".join(map(str, labels.tolist())).encode(errors="surrogatepass")


def _parts(seen: _Seen) -> tuple[Observations, Any, Any]:
    """Rows, known users and names of tokens; None where they are not given."""
    if isinstance(seen, Linked):
        return seen.observations, seen.ids, seen.labels
    return seen, None, None


def _users_of(seen: Observations, ids: Any) -> _KnownUsers:
    """The users of known rows: as given, as the rows know them, or their numbers."""
    known = seen.known
    if known.kind is Kind.SETS:
        raise InvalidInput(
            "known holds sets of tokens, which no file format has; keep one per slot",
            code="wrong-kind-of-rows",
        )
    if ids is None:
        asked = getattr(known, "ids", np.arange)
        return _KnownUsers(lambda start, stop: _plain(asked(start, stop)))
    names = np.asarray(ids)
    if names.shape != (known.users,):
        raise InvalidInput(
            f"ids must name each of the {known.users} known rows, in their order",
            code="length-mismatch",
        )
    names = _plain(names)
    return _KnownUsers(lambda start, stop: names[start:stop])


def _label_array(seen: Observations, labels: Any) -> NDArray[Any]:
    """The name of each token, by default its number."""
    words = np.arange(seen.tokens) if labels is None else np.asarray(labels)
    if words.shape != (seen.tokens,):
        raise InvalidInput(
            f"labels must name each of the {seen.tokens} tokens, in their order",
            code="length-mismatch",
        )
    return _plain(words)


def _lists(rows: Rows, words: NDArray[Any]) -> pa.Array:
    """Rows as lists of labels, each as often as it came, null where nothing was seen."""
    _check_length(rows)
    tokens, ends, missing = rows.codec.lists(rows)  # type: ignore[attr-defined]
    return pa.ListArray.from_arrays(ends.astype(np.int32), pa.array(words[tokens], mask=missing))


def _check_length(rows: Rows) -> None:
    """Refuse bags whose counts give lists that do not fit into memory, or into a column."""
    if isinstance(rows, BagRows) and rows.counts is not None:
        entries = int(rows.totals.sum())
        what = f"{entries:,} tokens of bags, which are written as often as they came"
        advice = "leave counts out before bags are written"
        check_fits(8 * entries, what, advice)
        if entries > _LONGEST:
            raise TooLarge(
                f"{what}, are more than a piece of a file holds; {advice}", code="too-many-tokens"
            )


def _rectangle(rows: NDArray[Any]) -> Lists:
    return Lists(rows.ravel(), np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int64))


def _long(people: Profiles, start: int) -> list[Any]:
    """Columns of some users; a cell without tokens has one of weight zero."""
    stop = min(start + CHUNK, people.users)
    cells = people.cells(start, stop)
    sizes = np.diff(cells.starts)
    empty = np.flatnonzero((sizes == 0) & people.present[start:stop].ravel())
    owner = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), empty])
    tokens = np.concatenate([cells.members, np.zeros(len(empty), np.int16)])
    weights = np.concatenate([cells.weights, np.zeros(len(empty))])
    order = np.argsort(owner, kind="stable")
    users, which = np.divmod(owner[order], people.epochs)
    return [
        people.ids[start + users], people.epoch_labels[which],
        people.labels[tokens[order]], weights[order],
    ]  # fmt: skip


def _long_sets(
    people: People, start: int, stop: int, top: int, seed: int, words: NDArray[Any]
) -> list[Any]:
    sets = people.top_sets(start, stop, top=top, seed=seed)
    users, epochs, places = np.nonzero(sets != MISSING)
    tokens = words[sets[users, epochs, places]]
    return [people.ids[start:stop][users], epochs, tokens, np.ones(len(tokens))]


def _write_long(path: AnyPath, pieces: Iterator[list[Any]]) -> None:
    """Write columns piece by piece."""
    place = Path(path)
    if place.suffix.lower() not in (".parquet", ".csv"):
        raise InvalidInput(
            f"{place}: people are written as .parquet or .csv; name it so", code="unknown-file-type"
        )
    names = ("user", "epoch", "token", "weight")

    def arrays(piece: list[Any]) -> list[pa.Array]:
        columns = [pa.array(column) for column in piece]
        if place.suffix.lower() == ".csv":
            _refuse_formulas(place, dict(zip(names, columns, strict=True)))
        return columns

    first = arrays(next(pieces))
    schema = pa.schema(list(zip(names, (column.type for column in first), strict=True)))

    def columns() -> Iterator[list[pa.Array]]:
        yield first
        yield from map(arrays, pieces)

    with written_whole(place, mode=ONLY_ME) as (part,):
        _write(part, schema, columns(), suffix=place.suffix.lower())


def _refuse_formulas(place: Path, columns: Mapping[str, pa.Array]) -> None:
    """Refuse labels that a spreadsheet would run as formulas; escaping would change them."""
    for name, column in columns.items():
        if not holds_text(column.type):
            continue
        formulas = pc.and_not(
            pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER)
        )
        if pc.any(formulas).as_py():
            raise InvalidInput(
                f"{place}: a label of column {name!r} begins with =, +, -, @ or a blank, which "
                "spreadsheets take for a formula and run; write people as .parquet, which keeps it",
                code="formula-in-label",
            )


def _write(
    file: Path, schema: pa.Schema, pieces: Iterator[list[pa.Array]], *, suffix: str = ".parquet"
) -> None:
    from pyarrow import csv, parquet

    rows = 0
    writer = (
        parquet.ParquetWriter(file, schema, write_page_checksum=True)
        if suffix == ".parquet"
        else csv.CSVWriter(file, schema)
    )
    with writer:
        for columns in pieces:
            writer.write_batch(pa.record_batch(columns, schema=schema))
            rows += len(columns[0])
    if suffix == ".parquet":
        read_back(file, schema, rows, types=False)
