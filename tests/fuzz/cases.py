"""Cases by name: `tables/17` is the same case on every machine."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fuzz.families import FAMILIES
from tests.fuzz.running import chance, faults
from tests.fuzz.world import sound


class Ground:
    """A folder of sound files, copied for each case of a family."""

    def __init__(self, family: str, folder: Path) -> None:
        self.family, self.folder = FAMILIES[family][0], folder
        self.good = folder / "good"
        self.good.mkdir()
        sound(self.good)
        if hasattr(self.family, "prepare"):
            self.family.prepare(self.good)

    def case(self, name: str) -> tuple[tuple[str, ...], Path]:
        """The words and the folder of a case."""
        place = self.folder / "case"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.good, place)
        return self.family.case(chance(name), place), place


@contextmanager
def ground(family: str, folder: Path | None = None) -> Iterator[Ground]:
    """A ground in a folder that goes away."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        yield Ground(family, Path(place))


def failures(family: str, numbers: range, folder: Path) -> Iterator[str]:
    """What is wrong with some cases of a family, and how to see it again."""
    with ground(family, folder) as place:
        for number in numbers:
            name = f"{family}/{number}"
            words, where = place.case(name)
            if wrong := faults(words, where):
                said = "\n    ".join(wrong)
                yield f"python -m tests.fuzz {name}: reidrisk {' '.join(words)!r}\n    {said}"
