"""Files that a study reads: known by name and hash, and the same all the while."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reidrisk.core.digest import sha256_file
from reidrisk.errors import InvalidInput

_SECOND = 1_000_000_000
"""In nanoseconds. A file that changes twice within a tick of the system's clock shows one time."""


@contextmanager
def hashed(paths: Sequence[Path]) -> Iterator[dict[str, str]]:
    """Names and SHA-256 of files, and of those in folders, while they are read inside.

    They are hashed first. What was read has these hashes if nobody changed the files meanwhile,
    which is looked up afterwards: identity, size and both times of each must be what they were. A
    file that had just been written is hashed once more, since times are only so fine.

    Raises:
        InvalidInput: A file was changed, or came to a folder, while it was read.
    """
    before = {file: _state(file) for file in _files(paths)}
    began = time.time_ns()
    hashes = {file: sha256_file(file) for file in before}
    yield dict(zip(_names(hashes), hashes.values(), strict=True))
    now = {file: _state(file) for file in _files(paths)}
    young = [file for file in before if before[file][-1] > began - _SECOND]
    changed = [file for file in {*before, *now} if before.get(file) != now.get(file)]
    changed += [file for file in young if file not in changed and sha256_file(file) != hashes[file]]
    if changed:
        raise InvalidInput(
            f"{min(changed)}: the file changed while it was read, so the rows belong to no one "
            "state of it; read it again when nobody is writing to it",
            code="file-changed",
        )


def _files(paths: Iterable[Path]) -> list[Path]:
    """All of them, once; of folders every file that a reader may take, in the order of names."""
    found: dict[Path, None] = {}
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        for file in inside:
            if file.is_file() and (file == path or not file.name.startswith((".", "_"))):
                found[Path(os.path.abspath(file))] = None  # noqa: PTH100  links keep their names
    return list(found)


def _names(files: Iterable[Path]) -> list[str]:
    """The name of each, with as many folders before it as tell it from all others."""
    parts = [file.parts for file in files]
    return ["/".join(one[-_needed(one, parts) :]) for one in parts]


def _needed(one: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> int:
    return next(
        count
        for count in range(1, len(one) + 1)
        if sum(other[-count:] == one[-count:] for other in others) == 1
    )


def _state(file: Path) -> tuple[int, ...]:
    found = file.stat()
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, *times, max(times)
