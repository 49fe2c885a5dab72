"""What each step of a run gave, in a file of its own, and found again."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from reidrisk.core.files import PART
from reidrisk.core.locks import NOTE as LOCK
from reidrisk.study.analyses.protocol import Part
from reidrisk.study.result import SCHEMA, Result, plain, typed
from reidrisk.study.step_files import StepFiles
from reidrisk.study.strict_json import found_json

_BEGUN = ".begun"
"""How the names of folders end that hold what a step has begun."""

_SAVED = (".safetensors", PART, LOCK)
"""How names of files end in them: models, whole or as a write left them that was killed."""


@dataclass(frozen=True)
class Checkpoints:
    """One file per step, good for one step of one study only, and only if unharmed.

    Attributes:
        folder: Of the checkpoints.
        study: The fingerprint of what is run.
        guests: Libraries besides the usual ones that its figures come from.
        ran_with: The versions with which the steps ran that were found or kept; several of one
            library if a run went on with another.
    """

    folder: Path
    study: str
    guests: tuple[str, ...] = ()
    ran_with: dict[str, str] = field(default_factory=dict)

    def find(self, step: str) -> Part | None:
        """What a step gave before; None if it was not run, or its file is damaged."""
        return self._files.find(step, _part)

    def store(self, step: str, part: Part) -> Part:
        """Keep what a step gave."""
        self._files.store(step, {name: plain(values) for name, values in part.items()})
        return part

    def begun(self, step: str) -> Path:
        """The folder for what a step has begun: models hold what people have in common."""
        return self._files.file(step).with_suffix(_BEGUN)

    @property
    def fit(self) -> bool:
        """Whether there are checkpoints, all of them of this study."""
        found = [body for _, body in checkpoints_in(self.folder)]
        return bool(found) and all(self._files.fits(body) for body in found)

    @property
    def _files(self) -> StepFiles:
        run = {"schema": SCHEMA, "study": self.study}
        return StepFiles(self.folder, run, self.guests, self.ran_with)


def _part(records: Any) -> Part:
    """Records as a step gives them."""
    hints = get_type_hints(Result)
    return {name: typed(hints[name], values) for name, values in records.items()}


def checkpoints_in(folder: Path) -> Iterator[tuple[Path, Any]]:
    """All checkpoints in a folder, of whatever study and version."""
    for file in sorted(folder.glob("*.json")):
        if is_checkpoint(body := found_json(file)):
            yield file, body


def forget_begun(folder: Path) -> None:
    """Remove what steps have begun in a folder of checkpoints, and nothing that is not ours."""
    for begun in folder.glob(f"*{_BEGUN}"):
        for path in sorted(begun.rglob("*"), reverse=True):  # what is in a folder before it
            if path.name.endswith(_SAVED) and not path.is_dir():
                path.unlink(missing_ok=True)
            elif path.is_dir():
                _remove_if_empty(path)
        _remove_if_empty(begun)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # somebody keeps something of their own there
        folder.rmdir()


def is_checkpoint(body: Any) -> bool:
    """Whether this is one of ours; those of earlier versions did not name their step."""
    return isinstance(body, dict) and {"study", "checksum", "records"} <= body.keys()
