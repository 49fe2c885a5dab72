"""The steps of a reproduction, each kept in a file and resumed after a crash.

`steps/` holds one file for each step, with a checksum and a fingerprint of what is reproduced;
`reproduction.json` and `reproduction.html` come last. All are written whole or not at all, by one
process at a time. Nothing is replaced or removed that is not a reproduction's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk.core.files import left_over, writable
from reidrisk.core.locks import Lock
from reidrisk.core.settings_syntax import setting
from reidrisk.errors import InvalidInput
from reidrisk.report.rendering import is_other
from reidrisk.reproduction.budget import GUESTS
from reidrisk.reproduction.chapter import Row
from reidrisk.reproduction.record import PAGE, RECORD, SCHEMA
from reidrisk.study.folder import first_difference
from reidrisk.study.result import plain, typed
from reidrisk.study.step_files import STEPS, StepFiles, as_written
from reidrisk.study.strict_json import found_json


@dataclass(frozen=True)
class Kept:
    """What a folder holds of a reproduction.

    Attributes:
        folder: Which.
        what: Scale, inputs and version: steps of anything else are not its own.
        ran_with: Versions with which the steps ran that were found or kept; several of one library
            if a run went on with another.
    """

    folder: Path
    what: dict[str, Any]
    ran_with: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse a folder that holds what this run may not replace."""
        record = self.folder / RECORD
        body = found_json(record)
        if record.exists() and not _is_ours(body):
            raise InvalidInput(
                f"{record} is there, and nothing shows that a reproduction wrote it; it is left "
                "alone: use another folder",
                code="file-not-ours",
            )
        if is_other(page := writable(self.folder / PAGE)):
            raise InvalidInput(
                f"{page} is there, and reidrisk did not write it; it is left alone: use another "
                "folder",
                code="file-not-ours",
            )
        for file, step in self._steps():
            if step["what"] != self.what:
                changed = first_difference(step["what"], self.what)
                raise InvalidInput(
                    f"{self.folder} holds another reproduction: {changed} differs ({file.name}). "
                    f"Use another folder, or begin anew with {setting('fresh', value=True)}",
                    code="another-run",
                )
        if (self.folder / "run.json").exists():
            raise InvalidInput(
                f"{self.folder} holds the run of a study; use another folder", code="another-run"
            )

    def clear(self) -> None:
        """Remove what a reproduction left, and nothing else."""
        if _is_ours(found_json(self.folder / RECORD)):
            (self.folder / RECORD).unlink(missing_ok=True)  # first: it never outlives its steps
        for file, _ in self._steps():
            file.unlink(missing_ok=True)

    def sweep_up(self) -> None:
        """Remove what writes that were killed left behind."""
        for file in (self.folder / RECORD, self.folder / PAGE, self.folder / STEPS / "*.json"):
            for part in left_over(file):
                part.unlink(missing_ok=True)

    def find(self, step: str) -> tuple[Row, ...] | None:
        """What a step gave before; None if it was not run, or its file is damaged."""
        return self._files.find(step, _rows)

    def store(self, step: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Keep what a step gave, and give it as it will be found."""
        records = plain(rows)
        self._files.store(step, records)
        return _rows(records)

    def still_there(self, lock: Lock) -> None:
        """Refuse to go on in a folder that is no longer the one that was locked."""
        if not lock.holds:
            raise InvalidInput(
                f"{self.folder} was removed or renamed meanwhile, so what is found cannot be kept "
                "there; leave the folder alone, and run the command again",
                code="folder-removed",
            )

    def _steps(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for file in sorted((self.folder / STEPS).glob("*.json")):
            if _is_step(body := found_json(file)):
                yield file, body

    @property
    def _files(self) -> StepFiles:
        run = {"schema": SCHEMA, "what": self.what}
        return StepFiles(self.folder / STEPS, run, GUESTS, self.ran_with)


def _rows(records: Any) -> tuple[Row, ...]:
    """Records as a step gives them."""
    rows: tuple[Row, ...] = typed(tuple[Row, ...], records)
    return rows


def _is_ours(body: Any) -> bool:
    schema = body.get("schema") if isinstance(body, dict) else None
    return isinstance(schema, str) and schema.startswith(SCHEMA.partition("/")[0] + "/")


def _is_step(body: Any) -> bool:
    """Whether this is a step of a reproduction, as it was written."""
    return _is_ours(body) and isinstance(body.get("what"), dict) and as_written(body)
