"""Turn columns of names or numbers into numbered labels.

Labels are numbered in sorted order, so the order of rows cannot matter. Text in which every entry
is a plain whole number of 64 bits with sign is read as numbers, whatever the file type: user 7 is
the same user in CSV, Parquet and TFRecord. "007" is not plain, and keeps its column text; so does
any number beyond 64 bits. Truth values are the texts true and false, as CSV files have them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.errors import InvalidInput
from reidrisk.io.columns import column_of, holds_text, one_piece, refuse_nulls
from reidrisk.io.provenance import Origin

# A table of all numbers in a span is quicker than hashing unless it is much longer than the rows.
_SPAN_PER_ROW = 4
# Rows at a time: text is compared with the interpreter's lock held, and nobody
# would hear an interrupt.
BLOCK = 1 << 16
# How programs write that there is nothing; databases, pandas, R and spreadsheets.
NOTHING = (
    "#N/A", "#NA", "#NULL!", "-NaN", "-nan", "<NA>", "N/A", "NA", "NAN", "NULL", "NaN", "NaT",
    "None", "Null", "\\N", "n/a", "nan", "nil", "none", "null", "undefined",
)  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Coded:
    """A column as numbers into its distinct labels, which are sorted."""

    codes: NDArray[np.int32]
    labels: NDArray[Any]


def encode(column: pa.ChunkedArray, name: str, source: Origin) -> Coded:
    """Number the labels of a column, all whole numbers or all text.

    Args:
        column: The labels.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    refuse_nulls(column, name, source)
    if pa.types.is_integer(kind) and (whole := _whole(column)) is not None:
        return encode_numbers(whole)
    return _encode_text(text_of(column, name, source), name, source)


def encode_users(column: pa.ChunkedArray, name: str, source: Origin) -> Coded:
    """Number the users of a column.

    Args:
        column: The users.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    users = encode(column, name, source)
    _refuse_nobody(users, name, source)
    return users


def refuse_empty(coded: Coded, name: str, source: Origin) -> None:
    """Refuse empty labels; the message names the first row that has one.

    Args:
        coded: The column.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    if len(coded.labels) and coded.labels[0] == "":
        raise empty_cell(source.place(int((coded.codes == 0).argmax())), name)


def empty_cell(place: str, name: str) -> InvalidInput:
    """The error for a cell without content.

    Args:
        place: File and row.
        name: Of the column.
    """
    return InvalidInput(f"{place}: {name!r} is empty; fill it or remove the row", code="empty-cell")


def _refuse_nobody(users: Coded, name: str, source: Origin) -> None:
    """Refuse users called NULL, NaN and the like: all such rows would count as one person.

    Args:
        users: The column.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    if not is_text(users.labels):
        return
    places = find(np.array(NOTHING, object), users.labels)
    if (places >= 0).any():
        raise _no_user(int(np.isin(users.codes, places[places >= 0]).argmax()), name, source)


def _no_user(row: int, name: str, source: Origin) -> InvalidInput:
    """The error for a row whose user is NULL, NaN or the like.

    Args:
        row: Its number, from 0 on.
        name: Of the column.
        source: Where its rows came from, for messages.
    """
    return InvalidInput(
        f"{source.place(row)}: {name!r} holds a word for nothing, such as NULL or NaN, and all "
        "rows like it would be one person; fill in the user or remove the row",
        code="missing-user",
    )


def find(labels: NDArray[Any], among: NDArray[Any]) -> NDArray[np.int64]:
    """The place of each label among others; -1 where it is not among them.

    Args:
        labels: What is looked for.
        among: Sorted labels.
    """
    if not len(labels) or not len(among):
        return np.full(len(labels), -1, dtype=np.int64)
    order = None
    if is_text(labels) != is_text(among):
        labels, among = as_text(labels), as_text(among)
        order = np.argsort(among)
    blocks = (labels[start : start + BLOCK] for start in range(0, len(labels), BLOCK))
    places = np.concatenate([np.searchsorted(among, some, sorter=order) for some in blocks])
    places = np.minimum(places, len(among) - 1)
    places = places if order is None else order[places]
    return np.where(among[places] == labels, places, -1)


def is_text(labels: NDArray[Any]) -> bool:
    """Whether labels are text.

    Args:
        labels: Text as objects, or numbers.
    """
    return labels.dtype.kind == "O"


def as_text(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as text; plain numbers lose nothing.

    Args:
        labels: Text as objects, or numbers.
    """
    return labels if is_text(labels) else labels.astype(str).astype(object)


def union(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """All labels of both, sorted; as text if one of them is text.

    Args:
        one: Labels, each once.
        other: Likewise.
    """
    if is_text(one) != is_text(other):
        one, other = as_text(one), as_text(other)
    few, many = sorted((one, other), key=len)
    if not (_rise(few) and _rise(many)):
        return np.unique(np.concatenate([one, other]))
    new = few[find(few, many) < 0]
    return np.insert(many, np.searchsorted(many, new), new)


def _rise(labels: NDArray[Any]) -> bool:
    """Whether labels are sorted, each once."""
    return bool((labels[1:] > labels[:-1]).all())


def label_array(name: str, values: Any) -> NDArray[Any]:
    """Labels, sorted; one that comes twice is refused.

    Args:
        name: What they are, for messages.
        values: The labels.
    """
    column = column_of(name, values)
    coded = encode(column, name, Origin.memory(len(column)))
    if len(coded.labels) < len(column):
        twice = np.bincount(coded.codes).argmax()
        first, second = np.flatnonzero(coded.codes == twice)[:2] + 1
        raise InvalidInput(
            f"{name} has the same label as entry {first} and as entry {second}; name each once",
            code="duplicate-label",
        )
    return coded.labels


def not_in_taxonomy(place: str, what: str, labels: NDArray[Any]) -> str:
    """The message for a token that is not among the labels.

    Args:
        place: File and row.
        what: What is not among the labels.
        labels: Those of the taxonomy.
    """
    return (
        f"{place}: {what} is not one of the {len(labels)} of the taxonomy; correct it, or give the "
        "taxonomy it belongs to"
    )


def refuse_duplicate_users(
    users: Coded, source: Origin, advice: str = "remove one of the two"
) -> None:
    """Refuse users who have two rows; the message names the first such row.

    Args:
        users: The user of each row.
        source: Where the rows came from, for messages.
        advice: What to do about it.
    """
    if len(users.labels) == len(users.codes):
        return
    order = np.argsort(users.codes, kind="stable")
    at = int((np.diff(users.codes[order]) == 0).argmax())
    raise InvalidInput(
        f"{source.place(int(order[at + 1]))}: the same user as in {source.place(int(order[at]))}; "
        f"a user has one {source.unit} here: {advice}",
        code="duplicate-user",
    )


def _whole(column: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """Whole numbers, if all of them fit into 64 bits with sign."""
    try:
        return np.asarray(one_piece(column.cast(pa.int64())).to_numpy(), dtype=np.int64)
    except pa.ArrowInvalid:
        return None


def text_of(column: pa.ChunkedArray, name: str, source: Origin) -> pa.ChunkedArray:
    """A column as text; bytes that are not UTF-8 are refused, also where Arrow promised UTF-8.

    Args:
        column: Text, bytes, whole numbers or truth values.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    kind = column.type
    if not (holds_text(kind) or _holds_bytes(kind)):
        if not (kind == pa.bool_() or pa.types.is_integer(kind)):
            raise InvalidInput(
                f"{source}: column {name!r} holds {kind}, but labels are whole numbers or text; "
                "write the column as one of the two",
                code="wrong-column-type",
            )
        return column.cast(pa.large_string())
    raw = column.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        row = next(row for row, one in enumerate(raw) if one.is_valid and not is_utf8(one.as_py()))
        raise InvalidInput(not_utf8(source.place(row), repr(name)), code="not-utf8") from None


def _holds_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def not_utf8(place: str, column: str) -> str:
    """The message for bytes that are not UTF-8.

    Args:
        place: File and row.
        column: Its name.
    """
    return f"{place}: {column} is not UTF-8; convert the whole file to UTF-8, from one encoding"


def is_utf8(value: bytes) -> bool:
    """Whether bytes are UTF-8.

    Args:
        value: The bytes.
    """
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encode_text(column: pa.ChunkedArray, name: str, source: Origin) -> Coded:
    coded = encode_texts(column)
    refuse_empty(coded, name, source)
    return coded


def encode_texts(column: pa.ChunkedArray) -> Coded:
    """Number distinct texts in sorted order: as numbers if all are plain whole ones.

    Args:
        column: Text.
    """
    numbers = _numbers(column)
    return _encode_any(one_piece(column)) if numbers is None else encode_numbers(numbers)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """The texts as whole numbers, if all are plain ones: written again, they are the same."""
    # Names fail at the first text, before all are looked at.
    for texts in (column.slice(0, 1), column):
        try:
            numbers = texts.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        if not numbers.cast(texts.type).equals(texts):
            return None
    return np.asarray(one_piece(numbers).to_numpy())


def encode_numbers(values: NDArray[np.int64]) -> Coded:
    """Number distinct whole numbers in sorted order.

    Args:
        values: Whole numbers.
    """
    if not len(values):
        return Coded(np.empty(0, np.int32), values)
    low, high = int(values.min()), int(values.max())
    if high - low > _SPAN_PER_ROW * len(values):
        return _encode_any(pa.array(values))
    number = np.zeros(high - low + 1, dtype=np.int32)
    codes = np.empty(len(values), dtype=np.int32)

    def mark(start: int, stop: int) -> None:
        number[values[start:stop] - low] = 1

    def look_up(start: int, stop: int) -> None:
        np.take(number, values[start:stop] - low, out=codes[start:stop], mode="clip")

    over_blocks(mark, len(values), BLOCK)
    places = np.flatnonzero(number)
    number[places] = np.arange(len(places), dtype=np.int32)
    over_blocks(look_up, len(values), BLOCK)
    return Coded(codes, places + low)


def _encode_any(column: pa.Array) -> Coded:
    coded = column.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)
    number = np.empty(len(order), dtype=np.int32)
    number[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    labels = coded.dictionary.take(order).to_numpy(zero_copy_only=False)
    return Coded(number[coded.indices.to_numpy()], labels)


def refuse_blanks(column: pa.Array, name: str, source: Origin) -> None:
    """Refuse empty text; the message names the first row that has it.

    Args:
        column: Text.
        name: Its name, for messages.
        source: Where its rows came from, for messages.
    """
    if (row := pc.index(column, pa.scalar("", column.type)).as_py()) >= 0:
        raise empty_cell(source.place(row), name)


def text_buffers(column: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Offsets and bytes of a column of large strings.

    Args:
        column: Large strings.
    """
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)
    text = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8)
    return ends[column.offset : column.offset + len(column) + 1], text
