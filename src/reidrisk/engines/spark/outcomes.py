"""Results of Spark tasks as Arrow IPC streams: what a task found or what went wrong, to be merged.

Wrong input stays wrong however often a task is tried again, so it is sent back as a result, not
raised as a failure, after which Spark would retry the task. Nothing is pickled: numbers, text and
the nesting travel as JSON in the metadata of the stream, and each array as one of its columns.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk import errors
from reidrisk.core.matches import Matches
from reidrisk.engines.spark.errors import OUT_OF_MEMORY, TO_SEND

_NO_MEMORY = "MemoryError"
_NO_FILE = "FileNotFoundError"
_NO_MODULE = "ModuleNotFoundError"

_STRUCTURE: Final = b"reidrisk"
"""Key of the metadata that holds the nesting of a result."""

_PLAIN: Final = (type(None), bool, int, float, str)
_MATCHES: Final = tuple(each.name for each in fields(Matches))

# Arrow raises kinds of these for damaged bytes; a lack of memory is not among them.
_UNREADABLE: Final = (
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    StopIteration,
    TypeError,
    ValueError,
)


def outcome(place: int, find: Callable[[], Any]) -> bytes:
    """What a task finds, or what is wrong and where, as bytes.

    Args:
        place: The number of the partition.
        find: Does the work.
    """
    try:
        return dumps((None, find()))
    except errors.ReidriskError as wrong:
        return dumps(((place, type(wrong).__name__, str(wrong), wrong.code), None))
    except MemoryError:
        return dumps(((place, _NO_MEMORY, "", ""), None))
    except FileNotFoundError as wrong:
        return dumps(((place, _NO_FILE, str(wrong.filename), ""), None))
    except ModuleNotFoundError as wrong:
        return dumps(((place, _NO_MODULE, str(wrong.name), ""), None))


def merged(outcomes: Iterable[bytes], merge: Callable[[Any, Any], Any]) -> bytes:
    """Merge outcomes; the error of the first partition outweighs everything that was found."""
    wrongs, found, some = [], None, False
    for content in outcomes:
        wrong, result = loads(content)
        if wrong is not None:
            wrongs.append(wrong)
        elif not wrongs:
            found, some = (merge(found, result) if some else result), True
    return dumps((min(wrongs), None) if wrongs else (None, found))


def found_in(content: bytes) -> Any:
    """The result in an outcome; an error in it is raised as it would be here."""
    wrong, found = loads(content)
    if wrong is None:
        return found
    _, name, message, code = wrong
    if name == _NO_MEMORY:
        raise errors.TooLarge(OUT_OF_MEMORY, code="out-of-memory")
    if name == _NO_FILE:
        raise errors.InvalidInput(
            f"an executor does not see {message}; put it on storage that all nodes see under the "
            "same name, or read it with Spark and give rows_of(dataframe)",
            code="file-not-on-executor",
        )
    if name == _NO_MODULE:
        raise errors.InvalidInput(
            f"the Python of an executor has no {message}; {TO_SEND}", code="module-not-on-executor"
        )
    raise getattr(errors, name)(message, code=code)


def dumps(result: Any) -> bytes:
    """The bytes of a result, an Arrow IPC stream of one record batch.

    Args:
        result: None, a number, text, bytes, an array of numbers, `Matches`, or a tuple, list or
            dict of these; keys are whole numbers or text.

    Raises:
        InvalidInput: It holds something else.
    """
    arrays: list[NDArray[Any]] = []
    structure = json.dumps(_structure(result, arrays))
    # One row: arrays of different lengths are lists in it, which Arrow does not copy.
    columns = [pa.LargeListArray.from_arrays([0, len(one)], pa.array(one)) for one in arrays]
    schema = pa.schema(
        [(str(place), column.type) for place, column in enumerate(columns)],
        metadata={_STRUCTURE: structure},
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(pa.record_batch(columns, schema=schema))
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def loads(content: bytes) -> Any:
    """The result of `dumps`; its arrays are copies, which may be merged in place.

    Raises:
        InvalidInput: The bytes are damaged, or not of this version of reidrisk.
    """
    try:
        with pa.ipc.open_stream(content) as stream:
            structure = json.loads(stream.schema.metadata[_STRUCTURE])
            batch = stream.read_next_batch()
        batch.validate(full=True)
        return _result(structure, batch)
    except _UNREADABLE as wrong:
        raise errors.InvalidInput(
            "what came back of a task cannot be read; use the same version of reidrisk everywhere, "
            "and run it again",
            code="unreadable-result",
        ) from wrong


def _structure(thing: Any, arrays: list[NDArray[Any]]) -> Any:
    """A result as JSON, without its arrays, which are added to a list."""
    if type(thing) in _PLAIN:
        return thing
    if isinstance(thing, list | tuple):
        return {type(thing).__name__: [_structure(one, arrays) for one in thing]}
    if isinstance(thing, dict) and all(type(key) in {int, str} for key in thing):
        return {"dict": [[key, _structure(one, arrays)] for key, one in thing.items()]}
    if isinstance(thing, bytes):
        return {"bytes": thing.hex()}
    if isinstance(thing, Matches):
        return {"matches": [_structure(getattr(thing, name), arrays) for name in _MATCHES]}
    if isinstance(thing, np.ndarray | np.generic) and thing.dtype.kind in "biuf":
        kind = thing.dtype.newbyteorder("=")
        flat = np.asarray(thing, kind, order="C").reshape(-1)
        arrays.append(flat.view(np.uint8) if kind.kind == "b" else flat)  # Arrow packs bits
        name = "array" if isinstance(thing, np.ndarray) else "scalar"
        return {name: [len(arrays) - 1, kind.name, *thing.shape]}
    raise errors.InvalidInput(
        f"a {type(thing).__name__} does not travel between executors; a result is made of numbers, "
        "text, arrays of numbers, tuples, lists, dicts and Matches",
        code="not-a-result",
    )


def _result(structure: Any, batch: pa.RecordBatch) -> Any:
    """The result of its JSON and the columns with its arrays."""
    if type(structure) in _PLAIN:
        return structure
    ((kind, content),) = structure.items()
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "dict":
        return {key: _result(one, batch) for key, one in content}
    if kind in {"array", "scalar"}:
        place, name, *shape = content
        flat = np.array(batch.column(place).values)
        array = (flat.view(bool) if name == "bool" else flat).reshape(shape)
        return array if kind == "array" else array[()]
    parts = [_result(one, batch) for one in content]
    if kind == "matches":
        return Matches(*parts)
    return tuple(parts) if kind == "tuple" else parts
