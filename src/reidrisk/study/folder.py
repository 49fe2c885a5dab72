"""A run in a folder: every step is kept as soon as it is done, and found again after a crash.

The folder holds `run.json` (what is run, with a fingerprint), `steps/` (one file per step, with a
checksum) and in the end `result.json`. All are written whole or not at all, so whatever happens,
the same command goes on where it stopped and ends with the same bytes.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, get_type_hints

from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.files import made_folder, written_whole
from reidrisk.risk.engine import Engine
from reidrisk.study.analyses.analysis import Part, Step
from reidrisk.study.describe import fingerprint
from reidrisk.study.result import SCHEMA, Result, Signoff, plain, typed
from reidrisk.study.setup import Source
from reidrisk.study.study import Study


class Watcher(Protocol):
    """Someone who is told what a run does."""

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step begins, or was found done."""


def run_in(
    folder: str | Path,
    study: Study,
    source: Source,
    *,
    engine: Engine | None = None,
    fresh: bool = False,
    inputs: dict[str, str] | None = None,
    signoff: Signoff | None = None,
    watch: Watcher | None = None,
) -> Result:
    """Run a study in a folder, or go on with a run that was stopped.

    Args:
        folder: Made if it is not there.
        study: What to measure.
        source: Of whom: people, or two tables.
        engine: Where it runs; this machine, if not given.
        fresh: Forget what the folder holds of another study, or of this one.
        inputs: Names and hashes of the files that the source came from.
        signoff: What the person who signs adds; it may change without anything being run again.
        watch: Called before each step.

    Raises:
        InvalidInput: The folder holds a run of another study, of other people, or of another
            version.
    """
    place = Path(folder)
    engine = LocalEngine() if engine is None else engine
    # First, since it refuses what cannot be run: then the folder stays as it is.
    names = [step.name for step in study.steps(source, engine)]
    description = {"study": study.describe(source), "inputs": inputs or {}}
    if fresh and (place / "run.json").exists():
        shutil.rmtree(place / "steps", ignore_errors=True)
        for name in ("result.json", "run.json"):  # so that no old result outlives its note
            (place / name).unlink(missing_ok=True)
    _claim(place, description)
    for part in (place, place / "steps"):
        for left_over in part.glob(".*.json.*"):  # of a write that was killed
            left_over.unlink(missing_ok=True)
    keeper = _Keeper(place / "steps", fingerprint(description))

    def keep(step: Step, parts: Part) -> Part:
        found = keeper.find(step.name)
        if watch is not None:
            watch(step.name, names.index(step.name), len(names), found=found is not None)
        if found is not None:
            return found
        return keeper.store(step.name, step.run(parts))

    found = study.run(source, engine=engine, keep=keep)
    result = replace(found, inputs=dict(inputs or {}), signoff=signoff)
    result.save(place)
    return result


def _claim(folder: Path, description: dict[str, Any]) -> None:
    """Write down what is run here, or check that it is what was run here before."""
    mine = {
        "schema": SCHEMA,
        "version": version("reidrisk"),
        "fingerprint": fingerprint(description),
        **description,
    }
    file = folder / "run.json"
    if file.exists():
        before = _read_json(file)
        if not isinstance(before, dict):
            raise InvalidInput(
                f"{file} is damaged, so nobody knows what was run here; use another folder, or "
                "begin anew with --fresh"
            )
        for part, what in (("schema", "schema"), ("version", "version of reidrisk")):
            if before.get(part) != mine[part]:
                raise InvalidInput(
                    f"{folder} holds a run of another {what}, {before.get(part)!r}; this is "
                    f"{mine[part]!r}. Use another folder, or begin anew with --fresh"
                )
        if before.get("fingerprint") != mine["fingerprint"]:
            changed = _first_difference(before, mine)
            raise InvalidInput(
                f"{folder} holds a run of another study or other inputs: {changed} differs. Use "
                "another folder, or begin anew with --fresh"
            )
        return
    made_folder(folder / "steps")
    with written_whole(file) as (temporary,):
        temporary.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")


def _first_difference(before: Any, now: Any, path: str = "") -> str:
    """Where two descriptions differ first, as a path of keys."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now} - {"fingerprint"}):
            if before.get(key) != now.get(key):
                inner = f"{path}.{key}" if path else key
                return _first_difference(before.get(key), now.get(key), inner)
    return path or "everything"


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Checkpoints: one file per step, good only for one study and only if unharmed."""

    folder: Path
    study: str

    def find(self, step: str) -> Part | None:
        """What a step gave before; None if it was not run, or its file is damaged."""
        body = _read_json(self._file(step))
        if not isinstance(body, dict) or body.get("study") != self.study:
            return None
        records = body.get("records")
        if body.get("checksum") != fingerprint(records) or not isinstance(records, dict):
            return None
        hints = get_type_hints(Result)
        try:
            return {name: typed(hints[name], values) for name, values in records.items()}
        except (KeyError, ValueError):  # written by another version of this very step
            return None

    def store(self, step: str, part: Part) -> Part:
        """Keep what a step gave."""
        records = {name: plain(values) for name, values in part.items()}
        body = {"study": self.study, "checksum": fingerprint(records), "records": records}
        made_folder(self.folder)
        with written_whole(self._file(step)) as (file,):
            file.write_text(json.dumps(body) + "\n", encoding="utf-8")
        return part

    def _file(self, step: str) -> Path:
        short = hashlib.sha256(step.encode()).hexdigest()[:8]
        safe = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in step)
        return self.folder / f"{safe[:80]}-{short}.json"


def _read_json(file: Path) -> Any:
    """The content of a file; None if there is none or it is damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
