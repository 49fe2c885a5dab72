"""Matrices on disk: the border between files and theory."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from reidrisk.errors import InvalidInput
from reidrisk.theory.matrix import RepresentationMatrix


def read_matrix(path: str | os.PathLike[str]) -> RepresentationMatrix:
    """Read a matrix: `.npy` dense, `.npz` scipy sparse, `.parquet` or `.csv` long rows.

    Long rows have the columns `user`, `representation`, `probability`.

    Raises:
        InvalidInput: Naming the file and what is wrong in it.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"the path of a matrix is a text, got {path!r}")
    path = Path(path)
    readers = {".npy": _dense, ".npz": _sparse, ".parquet": _parquet, ".csv": _csv}
    if path.suffix.lower() not in readers:
        raise InvalidInput(f"{path}: a matrix is a file of type {', '.join(readers)}")
    try:
        return readers[path.suffix.lower()](path)
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no such file") from None
    except (InvalidInput, OSError, ValueError) as wrong:
        raise InvalidInput(f"{path}: {str(wrong).splitlines()[0]}") from wrong


def _dense(path: Path) -> RepresentationMatrix:
    return RepresentationMatrix(_loaded(np.load, path, allow_pickle=False))


def _sparse(path: Path) -> RepresentationMatrix:
    return RepresentationMatrix(_loaded(sp.load_npz, path))


def _loaded(load: Callable[..., Any], path: Path, **settings: bool) -> Any:
    """What numpy or scipy makes of a file."""
    try:
        with path.open("rb") as file:
            return load(file, **settings)
    except OSError:
        raise
    except Exception as wrong:
        raise InvalidInput(
            f"this is no whole {path.suffix} file of numbers ({type(wrong).__name__})"
        ) from wrong


def _parquet(path: Path) -> RepresentationMatrix:
    from pyarrow import parquet  # noqa: PLC0415  slow to load, and rarely needed

    return RepresentationMatrix.from_table(parquet.read_table(path))


def _csv(path: Path) -> RepresentationMatrix:
    from pyarrow import csv  # noqa: PLC0415  as above

    return RepresentationMatrix.from_table(csv.read_csv(path))
