"""Files that are there, and files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reidrisk.errors import InvalidInput


@contextmanager
def written_whole(*paths: str | os.PathLike[str], mode: int = 0o666) -> Iterator[tuple[Path, ...]]:
    """Give temporary files beside the wanted ones, and move them there when all are written.

    Args:
        paths: The wanted files.
        mode: Who may read and write them, less what the user's mask takes away. Before they are
            moved, only the owner may.
    """
    wanted = [Path(path) for path in paths]
    parts: list[Path] = []
    try:
        for path in wanted:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.close(handle)
            parts.append(Path(name))
        yield tuple(parts)
        for part, path in zip(parts, wanted, strict=True):
            part.chmod(mode & ~_umask())
            part.replace(path)
    except OSError as wrong:
        raise InvalidInput(
            f"{wrong.filename or wanted[0]}: cannot be written ({wrong.strerror}); check that the "
            "folder exists, has room and may be written to"
        ) from wrong
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The file, if it is there and has content."""
    file = Path(path)
    if not file.is_file():
        raise InvalidInput(f"{file}: there is no such file; check the path")
    if not file.stat().st_size:
        raise InvalidInput(f"{file}: the file is empty; write it again")
    return file


def made_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if it is not there."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise InvalidInput(
            f"{folder}: cannot be made ({wrong.strerror}); choose a folder that may be written to"
        ) from wrong
    return folder


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
