"""Read the array files of NumPy as tables: `.npz` with an array for each column, and `.npy`."""

import os
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reidrisk.core.machine import check_fits
from reidrisk.errors import InvalidInput

IDS, VECTORS = "ids", "vectors"
"""What the arrays of users and of vectors are called."""

_SUFFIXES = (".npy", ".npz")
# What zipfile and NumPy raise for files that are cut or changed.
_DAMAGED = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, SyntaxError, MemoryError,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
_NUMBERS, _TEXTS = "fiu", "US"
_TABLE = 2


def is_array_file(given: Any) -> bool:
    """Whether something is the path of an array file.

    Args:
        given: A path or a table.
    """
    return isinstance(given, str | os.PathLike) and Path(given).suffix.lower() in _SUFFIXES


def table_of_arrays(file: Path) -> pa.Table:
    """The arrays of a file as columns; those of two dimensions are columns of lists.

    Users of a `.npy` file are the numbers of its rows.

    Args:
        file: `.npz`, or `.npy` with an array of vectors.
    """
    try:
        arrays = _arrays(file)
    except InvalidInput:
        raise
    except _DAMAGED:
        arrays = None
    if arrays is None:  # outside of the block: an error of NumPy may quote what is in the file
        raise InvalidInput(
            f"{file}: these are no arrays of numbers or text, or the file is damaged; write them "
            "with numpy.save or numpy.savez, without objects",
            code="damaged-file",
        )
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        named = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InvalidInput(
            f"{file}: its arrays have different numbers of rows ({named}); give each a row for "
            "every user",
            code="length-mismatch",
        )
    return pa.table({name: _column(file, name, array) for name, array in arrays.items()})


def list_column(array: NDArray[Any]) -> pa.Array:
    """An array of two dimensions as a column of lists.

    Args:
        array: Rows x numbers.
    """
    half = array.dtype == np.float16  # which DuckDB does not take
    flat = pa.array(np.ascontiguousarray(array, np.float32 if half else None).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def _arrays(file: Path) -> Mapping[str, NDArray[Any]]:
    """The arrays of a file by their names; none of them may hold objects, which run code."""
    if file.suffix.lower() == ".npy":
        vectors = np.load(file, allow_pickle=False, mmap_mode="r")
        return {IDS: np.arange(len(vectors)), VECTORS: vectors}
    with zipfile.ZipFile(file) as packed:
        size = sum(part.file_size for part in packed.infolist())
    check_fits(2 * size, f"{file}: its arrays", "write them as .npy, or fewer of them")
    with np.load(file, allow_pickle=False) as parts:
        return {name: np.atleast_1d(parts[name]) for name in parts.files}


def _column(file: Path, name: str, array: NDArray[Any]) -> pa.Array:
    kind = array.dtype.kind
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.ndim == _TABLE and kind in _NUMBERS and array.shape[1]:
        return list_column(array)
    if array.ndim == 1 and kind in _NUMBERS + _TEXTS:
        return pa.array(array.astype(object) if kind in _TEXTS else array)
    raise InvalidInput(
        f"{file}: the array {name!r} holds {array.dtype} and has the shape {array.shape}; users "
        "are whole numbers or texts, one for each row, and vectors are numbers, rows x dimensions",
        code="wrong-shape",
    )
