"""What steps gave, in a file each, whoever runs them: written whole, sealed, and found again."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from reidrisk.core.digest import sha256
from reidrisk.core.files import written_whole
from reidrisk.study.stored import checksum_of
from reidrisk.study.strict_json import found_json
from reidrisk.study.versions import versions

STEPS = "steps"
"""The folder of such files in that of a run."""

Given = TypeVar("Given")


@dataclass(frozen=True)
class StepFiles:
    """One file for each step, good for one step of what is run only, and only if unharmed.

    Attributes:
        folder: Of the files.
        run: What is run, as every file says it.
        guests: Libraries besides the usual ones that its figures come from.
        ran_with: The versions with which the steps ran that were found or kept; several of one
            library if a run went on with another.
    """

    folder: Path
    run: Mapping[str, Any]
    guests: tuple[str, ...] = ()
    ran_with: dict[str, str] = field(default_factory=dict)

    def find(self, step: str, read: Callable[[Any], Given]) -> Given | None:
        """What a step gave before; None if it was not run, or its file is damaged.

        Args:
            step: Which.
            read: What its records say.
        """
        body = found_json(self.file(step))
        if not self.fits(body) or body["step"] != step:
            return None
        try:
            given = read(body["records"])
        except (KeyError, ValueError):  # written by another state of this very step
            return None
        self._note(body["versions"])
        return given

    def store(self, step: str, records: Any) -> None:
        """Keep the records of a step."""
        body: dict[str, Any] = {
            **self.run,
            "step": step,
            "versions": versions(self.guests),
            "checksum": "",
            "records": records,
        }
        body["checksum"] = checksum_of(body)
        self.folder.mkdir(exist_ok=True)  # and not what it is in, which may have been moved away
        with written_whole(self.file(step)) as (file,):
            file.write_text(json.dumps(body) + "\n", encoding="utf-8")
        self._note(body["versions"])

    def fits(self, body: Any) -> bool:
        """Whether this is of a step of what is run, by this version, as it was written."""
        return (
            as_written(body)
            and all(body.get(key) == value for key, value in self.run.items())
            and body["versions"].get("reidrisk") == versions()["reidrisk"]
        )

    def file(self, step: str) -> Path:
        """Where it is kept."""
        short = sha256(step)[:8]
        safe = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in step)
        return self.folder / f"{safe[:80]}-{short}.json"

    def _note(self, these: dict[str, str]) -> None:
        for name, version in these.items():
            known = self.ran_with.get(name, version).split(", ")
            self.ran_with[name] = ", ".join(dict.fromkeys([*known, version]))


def as_written(body: Any) -> bool:
    """Whether this is what some step gave, whatever was run, and nothing in it was changed."""
    return (
        isinstance(body, dict)
        and isinstance(body.get("step"), str)
        and isinstance(body.get("versions"), dict)
        and body.get("checksum") == checksum_of(body)
    )
