"""Checkpoints of training, from which it resumes.

There are two: the last, and the one before, which takes its place if the last is damaged. What
comes of either is the same, so one that is damaged is passed over and costs only time. One that
belongs to another training is somebody's work, and is left alone.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reidrisk.core.files import PART
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.learning.tensor_files import read_sealed, write_sealed

KEPT = 2
_BEGIN, _END = "reidrisk-training-", ".safetensors"


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of one training.

    Attributes:
        folder: Where they are; other files in it are left alone.
        training: What makes it this training and no other: a text by name.
    """

    folder: Path
    training: Mapping[str, str]

    def find(self) -> tuple[Path, dict[str, Any]] | None:
        """The last whole checkpoint and its tensors; None if there is none.

        Raises:
            InvalidInput: It is of another training; says what differs.
        """
        for file in reversed(self._files()):
            try:
                said, tensors = read_sealed(file, "a checkpoint")
            except TooLarge:
                raise
            except InvalidInput:
                continue
            self._refuse_another(file, said.get("training"))
            return file, tensors
        return None

    def store(self, step: int, tensors: Mapping[str, Any]) -> None:
        """Keep what was reached at a step."""
        file = self.folder / f"{_BEGIN}{step:09}{_END}"
        write_sealed(file, {"training": dict(self.training)}, tensors)
        files = self._files()
        here = files.index(file) + 1
        # Those of later steps were passed over because they are damaged.
        _remove(files[: max(here - KEPT, 0)] + files[here:])

    def clear(self) -> None:
        """Remove them, and what writes left behind that were killed."""
        _remove([*self._files(), *self.folder.glob(f".{_BEGIN}*{_END}.*{PART}")])

    def last(self) -> Path | None:
        """The file of the last step, if there is one."""
        return max(self._files(), default=None)

    def _files(self) -> list[Path]:
        """By step."""
        return sorted(self.folder.glob(f"{_BEGIN}{'[0-9]' * 9}{_END}"))

    def _refuse_another(self, file: Path, training: object) -> None:
        if training == self.training:
            return
        other = training if isinstance(training, dict) else {}
        names = sorted({*other, *self.training})
        differ = [name for name in names if other.get(name) != self.training.get(name)]
        raise InvalidInput(
            f"{file}: is a checkpoint of another training (another {', '.join(differ)}); go on as "
            "it was begun, name another folder, or remove the file to begin anew",
            code="another-run",
        )


def _remove(files: list[Path]) -> None:
    for file in files:
        # One that stays is in nobody's way, and no reason to lose what was learned.
        with suppress(OSError):
            file.unlink()
