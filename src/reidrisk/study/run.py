"""Run a study in a folder: each step is kept as soon as it is done, and found again after a crash.

The folder holds `run.json` (what is run, with a fingerprint), `study.toml` (the file it came from,
if there was one), `steps/` (one file per step, with a checksum) and in the end `result.json`.
Nothing is replaced or removed that is not a run's own.
"""

import json
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

from reidrisk.core.checks import shown
from reidrisk.core.digest import sha256, sha256_json
from reidrisk.core.files import made_folder, written_whole
from reidrisk.core.locks import Lock
from reidrisk.core.settings_syntax import setting
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.analyses.protocol import Part, Step, Watched, Workspace
from reidrisk.study.assumptions import guests_of
from reidrisk.study.records import plain, typed
from reidrisk.study.result import SCHEMA, Result, Signoff
from reidrisk.study.run_store import (
    NOTE,
    RESULT,
    RunStore,
    Watcher,
    first_difference,
    found_json,
    has_schema,
)
from reidrisk.study.source import AnySource, source_of
from reidrisk.study.study import Keep, Study
from reidrisk.study.validators import first_fault

FILE = "study.toml"
"""The study file in the folder of a run."""


def run_in(
    folder: str | Path,
    study: Study,
    source: AnySource,
    *,
    engine: SearchEngine | None = None,
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
    kept = _StudyStore.of(Path(folder), what, guests_of(study), text, fresh)

    def finished(keep: Keep) -> Result:
        # Steps note the versions they ran with, so `ran_with` is complete only after this.
        found = study.carried_out(steps, source, keep)
        return replace(
            found, inputs=dict(inputs or {}), signoff=signoff, versions=dict(kept.ran_with)
        )

    if not fresh:
        kept.check()
        done = {name: part for name in names if (part := kept.find(name)) is not None}
        # A finished run is read without a lock, so that several processes may look at it.
        if done.keys() == set(names):
            result = finished(lambda step, _: done[step.name])
            # The sign-off may have changed: then the result is written anew, and no step is run.
            if kept.holds(result):
                return result
        # Steps are found once more under the lock, and note their versions then.
        kept.ran_with.clear()
    with kept.locked(names, watch) as run:
        kept.claim()

        def keep(step: Step, parts: Part) -> Part:
            def now() -> Part:
                if step.run_at is None:
                    return step.run(parts)
                return step.run_at(parts, Workspace(kept.begun(step.name), learning))

            part: Part = run.done(step.name, now, _encoded)
            return part

        result = finished(keep)
        if fault := first_fault(result):
            raise InvalidInput(
                f"the study gave an impossible result ({fault}), so it is not kept; if an attack, "
                "a release or a bound of your own takes part, correct it",
                code="impossible-result",
            )
        # Before anything is removed: another run may own a folder of this name by now.
        run.still_there()
        kept.forget_begun()
        result.save(kept.folder)
        run.still_there()
    return result


def _encoded(part: Part) -> dict[str, Any]:
    return {name: plain(values) for name, values in part.items()}


@dataclass(frozen=True)
class _StudyStore(RunStore):
    """The folder of a study.

    Attributes:
        description: The study and its inputs.
        text: Of the study file; None if there is none.
        fresh: Whether what is there may be replaced; None if nobody can ask for that.
    """

    outputs: ClassVar[tuple[str, ...]] = (RESULT, NOTE, FILE)

    description: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    fresh: bool | None = None

    @classmethod
    def of(
        cls,
        folder: Path,
        description: dict[str, Any],
        guests: tuple[str, ...],
        text: str | None,
        fresh: bool | None,
    ) -> "_StudyStore":
        """The store of a study with this description.

        Args:
            folder: Where.
            description: The study and its inputs.
            guests: Libraries besides the usual ones that its figures come from.
            text: Of the study file.
            fresh: Whether what is there may be replaced.
        """
        run = {"schema": SCHEMA, "study": sha256_json(description)}
        return cls(folder, run, guests, description=description, text=text, fresh=fresh)

    def decode(self, records: Any) -> Part:
        """Records by the field of the result that they belong to."""
        kinds = get_type_hints(Result)
        return {
            # Records of analyses of others are no fields of `Result` and stay plain.
            name: typed(kinds[name], values) if name in kinds else tuple(values)
            for name, values in records.items()
        }

    def is_step(self, body: Any) -> bool:
        """Whether this is a step of a study; those of earlier versions did not name their step."""
        return isinstance(body, dict) and {"study", "checksum", "records"} <= body.keys()

    def note(self) -> dict[str, Any]:
        """What `run.json` says."""
        file = {} if self.text is None else {"file": sha256(self.text)}
        return {
            "schema": SCHEMA,
            "version": version("reidrisk"),
            "fingerprint": self.run["study"],
            **file,
            **self.description,
        }

    def check(self) -> None:
        """Refuse a folder that holds what this run may not replace."""
        before, mine = self.read_note(), self.note()
        if before is None:
            self._check_without_note()
        if self._bare:
            return  # whoever was here has done nothing that could be lost
        for part, what in (("schema", "schema"), ("version", "version of reidrisk")):
            if before is not None and before.get(part) != mine[part]:
                raise InvalidInput(
                    f"{self.folder} holds a run of another {what}, {shown(before.get(part))}; "
                    f"this is {mine[part]!r}. {self._instead}",
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
        before = self.read_note()
        if not self.fresh:
            self.check()
        # Before anything is removed or written, so that a refusal leaves the folder as it was.
        self._check_file(before)
        if self.fresh:
            self.clear()
        made_folder(self.steps_folder)
        self.sweep_up()
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

    def is_held(self, lock: Lock) -> bool:
        """Whether the folder is still the one that was claimed."""
        return lock.holds and (self.folder / NOTE).is_file()

    def gone(self) -> InvalidInput:
        """The refusal to go on."""
        return InvalidInput(
            f"{self.folder} was removed, renamed or emptied while the study ran, so what it "
            "finds cannot be kept there; leave the folder alone, and run the study again",
            code="folder-removed",
        )

    def clear(self) -> None:
        """Remove what a run left, and nothing else.

        Its note stays until another takes its place: it alone tells that the study file beside it
        is not somebody's own.
        """
        self.read_note()  # refuses what is somebody else's
        if self.is_ours():
            # Even one whose schema cannot be read: the folder is ours, and its result is damaged.
            (self.folder / RESULT).unlink(missing_ok=True)
            super().clear()
            return
        for name in (NOTE, RESULT):
            if (self.folder / name).exists():
                raise InvalidInput(
                    f"{self.folder / name} exists, and nothing shows that a run of reidrisk wrote "
                    "it; it is left alone: use another folder",
                    code="file-not-ours",
                )

    def is_ours(self) -> bool:
        """Whether anything in the folder shows that it is that of a study."""
        return self.has_schema(NOTE) or self.has_schema(RESULT) or any(self.step_files())

    @property
    def _instead(self) -> str:
        if self.fresh is None:
            return "Use another folder, or remove this one"
        return f"Use another folder, or begin anew with {setting('fresh', value=True)}"

    def _check_without_note(self) -> None:
        """A note that is damaged is written again if all else is of this study."""
        note, result = self.folder / NOTE, self.folder / RESULT
        if note.exists() and not self.fit and not (self._bare and not _content(note)):
            raise InvalidInput(
                f"{note} is damaged, and what lies beside it does not show that it is of this "
                f"study. {self._instead}",
                code="damaged-file",
            )
        if result.exists() and not self.fit:
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

    @property
    def _bare(self) -> bool:
        """Whether nothing was done in the folder yet."""
        return not (self.folder / RESULT).exists() and not any(self.step_files())

    def read_note(self) -> dict[str, Any] | None:
        """What the note in the folder says; None if there is none, or if it is damaged.

        Raises:
            InvalidInput: It is somebody else's file of that name.
        """
        body = found_json(self.folder / NOTE)
        if not isinstance(body, dict):
            return None
        if not has_schema(body, SCHEMA):
            raise InvalidInput(
                f"{self.folder / NOTE} was not written by a run of reidrisk, so it is left alone; "
                "use another folder",
                code="file-not-ours",
            )
        return body


def held_in(folder: str | Path) -> str | None:
    """What a folder holds that a fresh run would replace, in words; None if nothing.

    Args:
        folder: Of a run.
    """
    store = _StudyStore(Path(folder), {})
    note = store.read_note() or {}
    if not note and not store.is_ours():
        return None
    study = note.get("study")
    title = study.get("title") if isinstance(study, dict) else None
    kind = "the finished run" if (store.folder / RESULT).exists() else "a run that is not finished"
    return kind if title is None else f"{kind} of {title!r}"


def _content(file: Path) -> bytes | None:
    """The bytes of a file; None if there is none."""
    try:
        return file.read_bytes()
    except OSError:
        return None
