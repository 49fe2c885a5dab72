"""Read representation matrices from files."""

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy
from numpy.typing import NDArray

from reidrisk.core.settings_syntax import offering
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.io.columns import numbers
from reidrisk.io.frames import table_of
from reidrisk.io.labels import Coded, encode, encode_users
from reidrisk.io.provenance import Origin
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import AnyPath, check_columns, files_of, read_table
from reidrisk.io.unpacking import refuse_expansion

COLUMNS = {"user": TEXT, "representation": TEXT, "probability": pa.float64()}
_ARRAYS = (".npy", ".npz")


@dataclass(frozen=True, eq=False, slots=True)
class LongMatrix:
    """A matrix as rows of a user, a representation and a probability; what is not listed is 0."""

    users: Coded
    representations: Coded
    probabilities: NDArray[np.float64]
    source: Origin


@offering("columns")
def read_matrix_parts(path: AnyPath, columns: Mapping[str, str] | None = None) -> Any:
    """Read a matrix: an array of `.npy`, a sparse one of `.npz`, or a `LongMatrix` of any table.

    Args:
        path: The file, or a folder of tables.
        columns: Names in the file of `user`, `representation` and `probability`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"the path of a matrix is a text, got {path!r}", code="not-a-path")
    place = Path(path)
    if not place.is_dir():
        files_of(place)
    if place.suffix.lower() in _ARRAYS and not place.is_dir():
        return _array(place)
    return _long_matrix(*read_table(place, COLUMNS, columns))


def _long_matrix(table: pa.Table, source: Origin) -> LongMatrix:
    """Number the users and representations of a table with the three columns.

    Args:
        table: With the columns `user`, `representation` and `probability`.
        source: Where its rows came from, for messages.
    """
    if not table.num_rows:
        raise InvalidInput(
            f"{source}: there are no rows; at least one is needed", code="empty-table"
        )
    users = encode_users(table["user"], "user", source)
    representations = encode(table["representation"], "representation", source)
    probabilities = numbers(table["probability"], "probability", source).astype(np.float64)
    return LongMatrix(users, representations, probabilities, source)


def long_matrix_of(given: Any) -> LongMatrix:
    """The matrix of a table in memory.

    Args:
        given: A table with the three columns.
    """
    table, source = table_of(given)
    check_columns(source, table.column_names, COLUMNS, f"it needs {', '.join(COLUMNS)}")
    return _long_matrix(table, source)


def _array(file: Path) -> Any:
    """Load an array with numpy or scipy."""
    try:
        with file.open("rb") as stream:
            if file.suffix.lower() == ".npz":
                with zipfile.ZipFile(stream) as archive:
                    inside = sum(one.file_size for one in archive.infolist())
                refuse_expansion(file, inside, file.stat().st_size)
                stream.seek(0)
                return scipy.sparse.load_npz(stream)
            return np.load(stream, allow_pickle=False)
    except TooLarge:
        raise
    except Exception as wrong:  # noqa: BLE001  a damaged file may raise anything, and quote itself
        raise InvalidInput(
            f"{file}: this is not a complete {file.suffix} file of numbers "
            f"({type(wrong).__name__}); write it again",
            code="damaged-file",
        ) from None
