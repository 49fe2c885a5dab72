"""Results as bytes: what travels between processes, or waits in a file, until it is merged.

A packed thing is a short mark with the version, then one tagged value: None, bool, int, float, str,
bytes, tuple, list, dict with whole numbers or text as keys, an array or scalar of numpy that holds
numbers, or `Matches`. Lengths go before what they measure; numbers are little-endian. Nothing else
is taken, in neither direction: no code hides in it, and a length is checked against the bytes there
are before anything is made of it.

Bytes that were damaged on their way may still be numbers: whoever keeps packed things in a file
keeps their checksum beside them.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches
from reidrisk.errors import InvalidInput

Buffer: TypeAlias = bytes | bytearray | memoryview

_MARK: Final = b"rrp"
_VERSION: Final = 1
_DEEPEST: Final = 32
_MOST_AXES: Final = 32
_LENGTH: Final = struct.Struct("<Q")
_FLOAT: Final = struct.Struct("<d")
_ALIGNED: Final = 16
"""Arrays begin at multiples of so many bytes, so that they can be used where they lie."""

# Their places are their numbers in the file: new ones go to the end.
_TYPES: Final = tuple(
    np.dtype(name)
    for name in "? i1 <i2 <i4 <i8 u1 <u2 <u4 <u8 <f2 <f4 <f8 <c8 <c16".split()  # noqa: SIM905
)
_NUMBERS: Final = {kind: number for number, kind in enumerate(_TYPES)}
_MATCHES: Final = tuple(each.name for each in fields(Matches))


def packed(thing: Any) -> bytes:
    """The thing as bytes.

    Raises:
        InvalidInput: It is, or holds, what cannot be packed.
    """
    writer = _Writer()
    writer.put(_MARK + bytes([_VERSION]))
    writer.write(thing, 0)
    return b"".join(writer.pieces)


def unpacked(data: Buffer) -> Any:
    """What was packed.

    Arrays are not copied: they lie in `data`, and are read-only where that is. Whoever merges in
    place gives a `bytearray`.

    Raises:
        InvalidInput: These are not the bytes of a packed thing, all of them and no more.
    """
    reader = _Reader(memoryview(data).cast("B"))
    mark = bytes(reader.take(len(_MARK)))
    if mark != _MARK:
        raise _damaged("they do not begin as packed things do")
    version = reader.take(1)[0]
    if version != _VERSION:
        raise InvalidInput(
            f"packed in format {version}, and this version of reidrisk reads format {_VERSION}; "
            "use the same version of reidrisk everywhere",
            code="unknown-schema",
        )
    thing = reader.read(0)
    if reader.left:
        raise _damaged(f"{reader.left} bytes follow behind the end")
    return thing


class _Writer:
    """Pieces one after the other; arrays are copied once, when the pieces are joined."""

    __slots__ = ("length", "pieces")

    def __init__(self) -> None:
        self.pieces: list[bytes | memoryview] = []
        self.length = 0

    def put(self, piece: bytes | memoryview) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def write(self, thing: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise InvalidInput(
                f"what is nested more than {_DEEPEST} deep is not packed", code="cannot-be-packed"
            )
        write = _WRITERS.get(type(thing))
        if write is not None:
            write(self, thing, depth)
        elif isinstance(thing, np.generic):
            self.put(b"g" + bytes([_number(thing.dtype)]))
            self.put(thing.astype(_TYPES[_number(thing.dtype)]).tobytes())
        else:
            raise InvalidInput(
                f"a {type(thing).__name__} is not packed; what travels is made of numbers, text, "
                "arrays of numbers, tuples, lists, dicts and Matches",
                code="cannot-be-packed",
            )

    def put_counted(self, tag: bytes, content: bytes) -> None:
        self.put(tag + _LENGTH.pack(len(content)))
        self.put(content)

    def write_each(self, tag: bytes, things: Any, depth: int) -> None:
        self.put(tag + _LENGTH.pack(len(things)))
        for thing in things:
            self.write(thing, depth + 1)

    def write_dict(self, thing: dict[Any, Any], depth: int) -> None:
        self.put(b"d" + _LENGTH.pack(len(thing)))
        for key, value in thing.items():
            if type(key) is not int and type(key) is not str:
                raise InvalidInput(
                    f"a dict with a key that is a {type(key).__name__} is not packed; keys are "
                    "whole numbers or text",
                    code="cannot-be-packed",
                )
            self.write(key, depth + 1)
            self.write(value, depth + 1)

    def write_array(self, array: NDArray[Any], depth: int) -> None:
        number = _number(array.dtype)
        if array.ndim > _MOST_AXES:
            raise InvalidInput(
                f"an array of more than {_MOST_AXES} axes is not packed", code="cannot-be-packed"
            )
        self.put(b"a" + bytes([number, array.ndim]))
        self.put(b"".join(_LENGTH.pack(size) for size in array.shape))
        self.put(bytes(-self.length % _ALIGNED))
        if array.size:
            flat = np.asarray(array, _TYPES[number], order="C").reshape(-1)
            self.put(flat.view(np.uint8).data)

    def write_matches(self, matches: Matches, depth: int) -> None:
        _check_matches(matches)
        self.put(b"m")
        for name in _MATCHES:
            self.write(getattr(matches, name), depth + 1)


class _Reader:
    """Bytes that are read from the front; nothing is believed before it is checked."""

    __slots__ = ("data", "place")

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.place = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.place

    def take(self, count: int) -> memoryview:
        if count > self.left:
            raise _damaged(f"they end {count - self.left} bytes too early")
        self.place += count
        return self.data[self.place - count : self.place]

    def length(self) -> int:
        (length,) = _LENGTH.unpack(self.take(_LENGTH.size))
        return int(length)

    def read(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _damaged(f"they are nested more than {_DEEPEST} deep")
        tag = self.take(1)[0]
        read = _READERS.get(tag)
        if read is None:
            raise _damaged(f"nothing is tagged {tag}")
        return read(self, depth)

    def content(self) -> bytes:
        return bytes(self.take(self.length()))

    def read_int(self, depth: int) -> int:
        content = self.content()
        value = int.from_bytes(content, "little", signed=True)
        if content != _int_bytes(value):
            raise _damaged("a whole number is not written as ours are")
        return value

    def read_str(self, depth: int) -> str:
        try:
            return self.content().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as wrong:
            raise _damaged("a text is not UTF-8") from wrong

    def read_list(self, depth: int) -> list[Any]:
        count = self.length()
        if count > self.left:  # each takes a byte at least
            raise _damaged("they end too early")
        return [self.read(depth + 1) for _ in range(count)]

    def read_dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        count = self.length()
        for _ in range(count):
            key = self.read(depth + 1)
            if (type(key) is not int and type(key) is not str) or key in found:
                raise _damaged("a key is neither a whole number nor text, or comes twice")
            found[key] = self.read(depth + 1)
        return found

    def kind(self) -> np.dtype[Any]:
        number = self.take(1)[0]
        if number >= len(_TYPES):
            raise _damaged(f"no type of numbers is numbered {number}")
        return _TYPES[number]

    def numbers(self, kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        content = self.take(math.prod(shape) * kind.itemsize)
        try:
            if len(content):
                array = np.frombuffer(content, kind).reshape(shape)
            else:
                array = np.empty(shape, kind)
                array.flags.writeable = not content.readonly
        except ValueError as wrong:  # an empty array with an axis longer than any can be
            raise _damaged(f"there are no arrays of shape {shape}") from wrong
        if kind == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise _damaged("what is neither true nor false stands for a truth value")
        array = array.astype(kind.newbyteorder("="), copy=False)
        return array if array.flags.aligned else array.copy()

    def read_scalar(self, depth: int) -> np.generic:
        return self.numbers(self.kind(), (1,))[0]  # type: ignore[no-any-return]

    def read_array(self, depth: int) -> NDArray[Any]:
        kind, axes = self.kind(), self.take(1)[0]
        if axes > _MOST_AXES:
            raise _damaged(f"an array has {axes} axes")
        shape = tuple(self.length() for _ in range(axes))
        if any(self.take(-self.place % _ALIGNED)):
            raise _damaged("something stands before an array where nothing should")
        return self.numbers(kind, shape)

    def read_matches(self, depth: int) -> Matches:
        matches = Matches(**{name: self.read(depth + 1) for name in _MATCHES})
        _check_matches(matches)
        return matches


def _check_matches(matches: Matches) -> None:
    """Refuse what engines never answer: fields of other types, or of different lengths."""
    targets = np.shape(matches.best)[:1]
    lists = np.shape(matches.best_rows)[1:2]
    for name in _MATCHES:
        value = getattr(matches, name)
        if name == "ranks":
            right = value is None or (type(value) is int and value >= 1)
        elif name == "second" and value is None:
            right = True
        else:
            shape = targets + lists if name in ("best_rows", "best_scores") else targets
            axes = 2 if name in ("best_rows", "best_scores") else 1
            right = (
                isinstance(value, np.ndarray)
                and value.dtype == np.int64
                and value.ndim == axes
                and value.shape == shape
            )
        if not right:
            raise InvalidInput(
                f"these are not Matches as engines answer: {name} is not as it must",
                code="cannot-be-packed",
            )


def _int_bytes(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


def _number(kind: np.dtype[Any]) -> int:
    number = _NUMBERS.get(kind.newbyteorder("<"))
    if number is None:
        raise InvalidInput(
            f"numbers of type {kind} are not packed; give them a plain type",
            code="cannot-be-packed",
        )
    return number


def _damaged(why: str) -> InvalidInput:
    return InvalidInput(
        f"these bytes hold nothing that was packed: {why}; make them again", code="damaged-bytes"
    )


_WRITERS: Final[dict[type, Callable[[_Writer, Any, int], None]]] = {
    type(None): lambda writer, _, __: writer.put(b"N"),
    bool: lambda writer, thing, _: writer.put(b"T" if thing else b"F"),
    int: lambda writer, thing, _: writer.put_counted(b"i", _int_bytes(thing)),
    float: lambda writer, thing, _: writer.put(b"f" + _FLOAT.pack(thing)),
    str: lambda writer, thing, _: writer.put_counted(b"s", thing.encode("utf-8", "surrogatepass")),
    bytes: lambda writer, thing, _: writer.put_counted(b"b", thing),
    tuple: lambda writer, thing, depth: writer.write_each(b"t", thing, depth),
    list: lambda writer, thing, depth: writer.write_each(b"l", thing, depth),
    dict: _Writer.write_dict,
    np.ndarray: _Writer.write_array,
    np.memmap: _Writer.write_array,
    Matches: _Writer.write_matches,
}

_READERS: Final[dict[int, Callable[[_Reader, int], Any]]] = {
    ord("N"): lambda _, __: None,
    ord("T"): lambda _, __: True,
    ord("F"): lambda _, __: False,
    ord("i"): _Reader.read_int,
    ord("f"): lambda reader, _: _FLOAT.unpack(reader.take(_FLOAT.size))[0],
    ord("s"): _Reader.read_str,
    ord("b"): lambda reader, _: reader.content(),
    ord("t"): lambda reader, depth: tuple(reader.read_list(depth)),
    ord("l"): _Reader.read_list,
    ord("d"): _Reader.read_dict,
    ord("g"): _Reader.read_scalar,
    ord("a"): _Reader.read_array,
    ord("m"): _Reader.read_matches,
}
