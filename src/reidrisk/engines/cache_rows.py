"""Make lazy rows once, and keep them in memory or in a temporary file.

The file has no name: it is gone with the process, however that ends.
"""

import os
import shutil
import tempfile

import numpy as np

from reidrisk.core.machine import GIB, usable_memory
from reidrisk.core.rows import Rows, Tokens
from reidrisk.errors import TooLarge
from reidrisk.releases.lazy_rows import LazyRows, in_memory

# Of the memory that can be taken, rows take up to this part: searching them takes memory too.
_PART = 2


def kept_here(rows: Rows) -> Rows:
    """The rows; lazy ones are made, in memory or on disk if they are too large."""
    if not isinstance(rows, LazyRows):
        return rows
    if _PART * rows.array_bytes <= usable_memory():
        return in_memory(rows)
    return rows.held(_mapped(rows))


def _mapped(rows: LazyRows) -> Tokens:
    """An array for the rows in a temporary file; refused if the disk has no room for it."""
    folder, size = tempfile.gettempdir(), rows.array_bytes
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), size)
            return np.memmap(file, rows.dtype, "w+", shape=rows.array_shape)
    except OSError as full:
        free = shutil.disk_usage(folder).free
        raise TooLarge(
            f"known rows of {rows.users:,} users take {size / GIB:.3g} GiB: more than memory has "
            f"room for, and in {folder} {free / GIB:.3g} GiB are free; let TMPDIR name a folder "
            "on a larger disk, or use fewer users or slots",
            code="out-of-disk",
        ) from full


def _reserve(file: int, size: int) -> None:
    """Allocate the file at once: a disk that is full later would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
