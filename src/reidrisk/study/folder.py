"""A run in a folder: every step is kept as soon as it is done, and found again after a crash.

The folder holds `run.json` (what is run, with a fingerprint), `study.toml` (the file it came from,
if there was one), `steps/` (one file per step, with a checksum) and in the end `result.json`. All
are written whole or not at all, by one process at a time, so whatever happens, the same command
goes on where it stopped and ends with the same bytes. Nothing is replaced or removed that is not a
run's own.
"""

import json
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from reidrisk.core.digest import sha256, sha256_json
from reidrisk.core.files import left_over, made_folder, written_whole
from reidrisk.core.locks import Lock, locked
from reidrisk.core.settings_syntax import setting
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.risk.engine import Engine
from reidrisk.study.analyses.protocol import Part, Step
from reidrisk.study.assumptions import guests_of
from reidrisk.study.checkpoints import Checkpoints, checkpoints_in, forget_begun
from reidrisk.study.desks import Desk, Watched
from reidrisk.study.result import SCHEMA, Result, Signoff
from reidrisk.study.source import AnySource, source_of
from reidrisk.study.step_files import STEPS
from reidrisk.study.strict_json import found_json
from reidrisk.study.study import Keep, Study
from reidrisk.study.validators import unsound

NOTE, RESULT, FILE = "run.json", "result.json", "study.toml"


class Watcher(Protocol):
    """Someone who is told what a run does."""

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step begins, or was found done."""


def run_in(
    folder: str | Path,
    study: Study,
    source: AnySource,
    *,
    engine: Engine | None = None,
    fresh: bool | None = False,
    inputs: dict[str, str] | None = None,
    text: str | None = None,
    signoff: Signoff | None = None,
    watch: Watcher | None = None,
    learning: Watched | None = None,
) -> Result:
    """Run a study in a folder, or go on with a run that was stopped.

    A finished run of this very study is found, and nothing is written.

    Args:
        folder: Made if it is not there.
        study: What to measure.
        source: Of whom: people, or two tables.
        engine: Where it runs; this machine, if not given.
        fresh: Forget what the folder holds of another study, or of this one. None is no, by who
            has no such choice to offer.
        inputs: Names and hashes of the files that the source came from.
        text: Of the study file, to be kept as `study.toml`.
        signoff: What the person who signs adds; it may change without anything being run again.
        watch: Called before each step, unless the run is finished.
        learning: Called while a model learns.

    Raises:
        InvalidInput: The folder holds a run of another study, of other people, or of another
            version; or what is not of a run at all; or another process runs there. Or it was
            removed or renamed meanwhile.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
        >>> result = rr.study.run_in("weeks", study, people)
        >>> rr.study.run_in("weeks", study, people) == result
        True
    """
    engine, source = LocalEngine() if engine is None else engine, source_of(source)
    # First, since it refuses what cannot be run: then the folder stays as it is.
    steps = study.steps(source, engine)
    names = [step.name for step in steps]
    what = {"study": study.describe(source), "inputs": inputs or {}}
    run = _Run(Path(folder), what, guests_of(study), text, fresh)

    def finished(keep: Keep, kept: Checkpoints) -> Result:
        found = study.carried_out(steps, source, keep)
        return replace(
            found, inputs=dict(inputs or {}), signoff=signoff, versions=dict(kept.ran_with)
        )

    if not fresh:
        run.check()
        kept = run.checkpoints()
        done = {name: part for name in names if (part := kept.find(name)) is not None}
        if done.keys() == set(names):
            result = finished(lambda step, _: done[step.name], kept)
            if run.holds(result):
                return result
    with locked(made_folder(run.folder)) as lock:
        run.claim()
        kept = run.checkpoints()

        def keep(step: Step, parts: Part) -> Part:
            run.still_there(lock)
            found = kept.find(step.name)
            if watch is not None:
                watch(step.name, names.index(step.name), len(names), found=found is not None)
            if found is not None:
                return found
            desk = Desk(kept.begun(step.name), learning)
            part = step.run(parts) if step.run_at is None else step.run_at(parts, desk)
            run.still_there(lock)
            return kept.store(step.name, part)

        result = finished(keep, kept)
        if fault := unsound(result):
            raise InvalidInput(
                f"the study gave an impossible result ({fault}), so it is not kept; if an attack, "
                "a release or a bound of your own takes part, correct it",
                code="impossible-result",
            )
        run.still_there(lock)
        forget_begun(run.folder / STEPS)
        result.save(run.folder)
        run.still_there(lock)
    return result


@dataclass(frozen=True)
class _Run:
    """What is to be run in a folder.

    Attributes:
        folder: Where.
        description: The study and its inputs.
        guests: Libraries besides the usual ones that its figures come from.
        text: Of the study file.
        fresh: Whether what is there may be replaced; None if nobody can ask for that.
    """

    folder: Path
    description: dict[str, Any]
    guests: tuple[str, ...]
    text: str | None
    fresh: bool | None

    def checkpoints(self) -> Checkpoints:
        """Of this study."""
        return Checkpoints(self.folder / STEPS, sha256_json(self.description), self.guests)

    def note(self) -> dict[str, Any]:
        """What `run.json` says."""
        kept = {} if self.text is None else {"file": sha256(self.text)}
        return {
            "schema": SCHEMA,
            "version": version("reidrisk"),
            "fingerprint": sha256_json(self.description),
            **kept,
            **self.description,
        }

    def check(self) -> None:
        """Refuse a folder that holds what this run may not replace."""
        before, mine = _found(self.folder), self.note()
        if before is None:
            self._check_without_note()
        if _bare(self.folder):
            return  # whoever was here has done nothing that could be lost
        for part, what in (("schema", "schema"), ("version", "version of reidrisk")):
            if before is not None and before.get(part) != mine[part]:
                raise InvalidInput(
                    f"{self.folder} holds a run of another {what}, {before.get(part)!r}; this is "
                    f"{mine[part]!r}. {self._instead}",
                    code="another-run",
                )
        if before is not None and before.get("fingerprint") != mine["fingerprint"]:
            changed = first_difference(before, mine)
            raise InvalidInput(
                f"{self.folder} holds a run of another study or other inputs: {changed} differs. "
                f"{self._instead}",
                code="another-run",
            )

    def claim(self) -> None:
        """Write down what is run here, if it may be; with `fresh`, in place of what was."""
        before = _found(self.folder)
        if not self.fresh:
            self.check()
        self._check_file(before)
        if self.fresh:
            _clear(self.folder)
        made_folder(self.folder / STEPS)
        _sweep_up(self.folder)
        if self.text is not None and _content(self.folder / FILE) != self.text.encode():
            with written_whole(self.folder / FILE) as (part,):
                part.write_bytes(self.text.encode())
        mine = self.note()
        if self.fresh or before != mine:  # last, so that it never knows a file that is not there
            with written_whole(self.folder / NOTE) as (part,):
                part.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")

    def holds(self, result: Result) -> bool:
        """Whether the folder holds this very result."""
        return _content(self.folder / RESULT) == result.to_json().encode()

    def still_there(self, lock: Lock) -> None:
        """Refuse to go on in a folder that is no longer the one that was claimed."""
        if not (lock.holds and (self.folder / NOTE).is_file()):
            raise InvalidInput(
                f"{self.folder} was removed, renamed or emptied while the study ran, so what it "
                "finds cannot be kept there; leave the folder alone, and run the study again",
                code="folder-removed",
            )

    @property
    def _instead(self) -> str:
        if self.fresh is None:
            return "Use another folder, or remove this one"
        return f"Use another folder, or begin anew with {setting('fresh', value=True)}"

    def _check_without_note(self) -> None:
        """A note that is damaged is written again if all else is of this study."""
        note, result = self.folder / NOTE, self.folder / RESULT
        kept = self.checkpoints()
        if note.exists() and not kept.fit and not (_bare(self.folder) and not _content(note)):
            raise InvalidInput(
                f"{note} is damaged, and what lies beside it does not show that it is of this "
                f"study. {self._instead}",
                code="damaged-file",
            )
        if result.exists() and not kept.fit:
            raise InvalidInput(
                f"{result} already exists, and nothing shows that a run of this study wrote it. "
                "Use another folder",
                code="file-not-ours",
            )

    def _check_file(self, before: dict[str, Any] | None) -> None:
        """A study file that no run put there, or that somebody changed, is somebody's own."""
        there = _content(self.folder / FILE)
        if self.text is None or there is None or there == self.text.encode():
            return
        if before is None or before.get("file") != sha256(there):
            raise InvalidInput(
                f"{self.folder / FILE} is not what a run here wrote, and it is left alone. Use "
                "another folder for the run, or move the file away",
                code="file-not-ours",
            )


def held_in(folder: str | Path) -> str | None:
    """What a folder holds that a fresh run would replace, in words; None if nothing."""
    place = Path(folder)
    note = _found(place) or {}
    if not note and not _ours(place):
        return None
    study = note.get("study")
    title = study.get("title") if isinstance(study, dict) else None
    kind = "the finished run" if (place / RESULT).exists() else "a run that is not finished"
    return kind if title is None else f"{kind} of {title!r}"


def _found(folder: Path) -> dict[str, Any] | None:
    """What the note in a folder says; None if there is none, or if it is damaged.

    Raises:
        InvalidInput: It is somebody else's file of that name.
    """
    body = found_json(folder / NOTE)
    if not isinstance(body, dict):
        return None
    if not _has_our_schema(body):
        raise InvalidInput(
            f"{folder / NOTE} was not written by a run of reidrisk, so it is left alone; use "
            "another folder",
            code="file-not-ours",
        )
    return body


def _ours(folder: Path) -> bool:
    """Whether anything in a folder shows that it is that of a run."""
    return (
        _has_our_schema(found_json(folder / NOTE))
        or _has_our_schema(found_json(folder / RESULT))
        or any(True for _ in checkpoints_in(folder / STEPS))
    )


def _clear(folder: Path) -> None:
    """Remove what a run left, and nothing else.

    Its note stays until another takes its place: it alone tells that the study file beside it is
    not somebody's own.
    """
    _found(folder)  # refuses what is somebody else's
    if not _ours(folder):
        for name in (NOTE, RESULT):
            if (folder / name).exists():
                raise InvalidInput(
                    f"{folder / name} exists, and nothing shows that a run of reidrisk wrote it; "
                    "it is left alone: use another folder",
                    code="file-not-ours",
                )
        return
    (folder / RESULT).unlink(missing_ok=True)  # first, so that it never outlives its steps
    forget_begun(folder / STEPS)
    for file, _ in checkpoints_in(folder / STEPS):
        file.unlink(missing_ok=True)


def _sweep_up(folder: Path) -> None:
    """Remove what writes that were killed left behind."""
    for file in (*(folder / name for name in (NOTE, RESULT, FILE)), folder / STEPS / "*.json"):
        for part in left_over(file):
            part.unlink(missing_ok=True)


def _bare(folder: Path) -> bool:
    """Whether nothing was done in a folder yet."""
    return not (folder / RESULT).exists() and not any(True for _ in checkpoints_in(folder / STEPS))


def _has_our_schema(body: Any) -> bool:
    schema = body.get("schema") if isinstance(body, dict) else None
    return isinstance(schema, str) and schema.startswith(SCHEMA.partition("/")[0] + "/")


def _content(file: Path) -> bytes | None:
    """The bytes of a file; None if there is none."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def first_difference(before: Any, now: Any, path: str = "") -> str:
    """Where two descriptions differ first, as a path of keys."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted({*before, *now} - {"fingerprint", "file"}):
            if before.get(key) != now.get(key):
                inner = f"{path}.{key}" if path else key
                return first_difference(before.get(key), now.get(key), inner)
    return path or "everything"
