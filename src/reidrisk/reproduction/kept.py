"""The folder of a reproduction: each step in a file of its own, found again after a crash.

`steps/` holds one file for each step, with a checksum and a fingerprint of what is reproduced;
`reproduction.json` and `reproduction.html` come last. All are written whole or not at all, by one
process at a time. Nothing is replaced or removed that is not a reproduction's own.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk.errors import InvalidInput
from reidrisk.files import left_over, written_whole
from reidrisk.locks import Lock
from reidrisk.reproduction.chapter import Row
from reidrisk.reproduction.record import PAGE, RECORD, SCHEMA
from reidrisk.speech import setting
from reidrisk.study.folder import first_difference
from reidrisk.study.result import plain, typed
from reidrisk.study.stored import checksum_of
from reidrisk.study.strict_json import found_json
from reidrisk.study.versions import versions

STEPS = "steps"
GUESTS = ("torch",)
_GENERATOR, _HEAD = b'<meta name="generator" content="reidrisk">', 512
"""What stands in the first bytes of a page of ours."""


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
                "alone: use another folder"
            )
        if _is_other(page := self.folder / PAGE):
            raise InvalidInput(
                f"{page} is there, and reidrisk did not write it; it is left alone: use another "
                "folder"
            )
        for file, step in self._steps():
            if step["what"] != self.what:
                changed = first_difference(step["what"], self.what)
                raise InvalidInput(
                    f"{self.folder} holds another reproduction: {changed} differs ({file.name}). "
                    f"Use another folder, or begin anew with {setting('fresh', value=True)}"
                )
        if (self.folder / "run.json").exists():
            raise InvalidInput(f"{self.folder} holds the run of a study; use another folder")

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
        body = found_json(self._file(step))
        if not (_is_step(body) and body["what"] == self.what and body["step"] == step):
            return None
        try:
            rows: tuple[Row, ...] = typed(tuple[Row, ...], body["rows"])
        except ValueError:
            return None
        self._note(body["versions"])
        return rows

    def store(self, step: str, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Keep what a step gave, and give it as it will be found."""
        body: dict[str, Any] = {
            "schema": SCHEMA,
            "what": self.what,
            "step": step,
            "versions": versions(GUESTS),
            "checksum": "",
            "rows": plain(rows),
        }
        body["checksum"] = checksum_of(body)
        self._file(step).parent.mkdir(exist_ok=True)
        with written_whole(self._file(step)) as (part,):
            part.write_text(json.dumps(body) + "\n", encoding="utf-8")
        self._note(body["versions"])
        kept: tuple[Row, ...] = typed(tuple[Row, ...], body["rows"])
        return kept

    def still_there(self, lock: Lock) -> None:
        """Refuse to go on in a folder that is no longer the one that was locked."""
        if not lock.holds:
            raise InvalidInput(
                f"{self.folder} was removed or renamed meanwhile, so what is found cannot be kept "
                "there; leave the folder alone, and run the command again"
            )

    def _steps(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for file in sorted((self.folder / STEPS).glob("*.json")):
            if _is_step(body := found_json(file)):
                yield file, body

    def _note(self, these: dict[str, str]) -> None:
        for name, version in these.items():
            known = self.ran_with.get(name, version).split(", ")
            self.ran_with[name] = ", ".join(dict.fromkeys([*known, version]))

    def _file(self, step: str) -> Path:
        short = hashlib.sha256(step.encode()).hexdigest()[:8]
        safe = "".join(letter if letter.isalnum() else "-" for letter in step)
        return self.folder / STEPS / f"{safe[:60]}-{short}.json"


def _is_ours(body: Any) -> bool:
    schema = body.get("schema") if isinstance(body, dict) else None
    return isinstance(schema, str) and schema.startswith(SCHEMA.partition("/")[0] + "/")


def _is_other(page: Path) -> bool:
    """Whether it is a file, and no page of ours."""
    return page.is_file() and _GENERATOR not in page.read_bytes()[:_HEAD]


def _is_step(body: Any) -> bool:
    """Whether this is a step of a reproduction, as it was written."""
    return (
        _is_ours(body)
        and isinstance(body.get("what"), dict)
        and isinstance(body.get("step"), str)
        and isinstance(body.get("versions"), dict)
        and body.get("checksum") == checksum_of(body)
    )
