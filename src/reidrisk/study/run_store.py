"""The store of a run: its folder, a file for each step, checksums, versions, strict JSON, locks.

Studies and reproductions both keep their steps here. Every file is written whole or not at all, by
one process at a time, so a run that was stopped goes on where it stopped and ends with the same
bytes.
"""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from reidrisk.core.digest import sha256, sha256_file, sha256_json
from reidrisk.core.files import PART, left_over, made_folder, written_whole
from reidrisk.core.locks import NOTE as LOCK
from reidrisk.core.locks import Lock, locked
from reidrisk.errors import InvalidInput
from reidrisk.study.records import typed
from reidrisk.study.result import SCHEMA, Result
from reidrisk.study.validators import first_fault

NOTE, RESULT, STEPS = "run.json", "result.json", "steps"
"""In the folder of a study: what is run, what it gave, and the folder of its steps."""

_BEGUN = ".begun"
"""How the names of folders end that hold what a step has begun."""

_SAVED = (".safetensors", PART, LOCK)
"""How names of files end in them: models, whole or as a write left them that was killed."""

_MOST_DIGITS = 308
"""As many as the largest number with a point has."""

_SECOND = 1_000_000_000
"""In nanoseconds. A file that changes twice within a tick of the system's clock shows one time."""


class Watcher(Protocol):
    """Called when a step of a run begins, or was found done."""

    def __call__(self, step: str, place: int, steps: int, *, found: bool) -> None:
        """A step begins.

        Args:
            step: Its name.
            place: Which of the steps it is, from 0.
            steps: How many there are.
            found: Whether it was done before.
        """


@dataclass(frozen=True)
class RunStore:
    """The folder of a run, with a file for each step that is done.

    A step file is good for one step of one run only, by this version, and only if unharmed.

    Attributes:
        folder: Where the run is.
        run: What is run, as every step file says it.
        guests: Libraries besides the usual ones that its figures come from.
        ran_with: The versions with which the steps ran that were found or kept; several of one
            library if a run went on with another.
    """

    schema: ClassVar[str] = SCHEMA
    outputs: ClassVar[tuple[str, ...]] = ()
    """Names of the files that the run writes beside its steps, the result first."""

    folder: Path
    run: Mapping[str, Any]
    guests: tuple[str, ...] = ()
    ran_with: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse a folder that holds what this run may not replace."""
        raise NotImplementedError

    def decode(self, records: Any) -> Any:
        """What a step gave, from the records in its file.

        Raises:
            KeyError, ValueError: They are those of another state of this step.
        """
        raise NotImplementedError

    def is_step(self, body: Any) -> bool:
        """Whether a file is a step file of this kind of run, whatever was run."""
        raise NotImplementedError

    def is_held(self, lock: Lock) -> bool:
        """Whether the folder is still the one that was locked.

        Args:
            lock: Of the folder.
        """
        return lock.holds

    def gone(self) -> InvalidInput:
        """The refusal to go on in a folder that is no longer the one that was locked."""
        raise NotImplementedError

    def find(self, step: str) -> Any:
        """What a step gave before; None if it was not run, or its file is damaged.

        Args:
            step: Its name.
        """
        body = found_json(self._file(step))
        # A file that was renamed or copied still says of which step it is.
        if not self._fits(body) or body["step"] != step:
            return None
        try:
            given = self.decode(body["records"])
        except (KeyError, ValueError):  # written by another state of this very step
            return None
        self._note_versions(body["versions"])
        return given

    def store(self, step: str, records: Any) -> None:
        """Write the file of a step.

        Args:
            step: Its name.
            records: What it gave, as JSON has it.
        """
        body: dict[str, Any] = {
            **self.run,
            "step": step,
            "versions": versions(self.guests),
            "checksum": "",
            "records": records,
        }
        body["checksum"] = checksum_of(body)
        self.steps_folder.mkdir(exist_ok=True)  # not its parents: they may have been moved away
        with written_whole(self._file(step)) as (file,):
            file.write_text(json.dumps(body) + "\n", encoding="utf-8")
        self._note_versions(body["versions"])

    def begun(self, step: str) -> Path:
        """The folder for what a step has begun: models hold what people have in common.

        Args:
            step: Its name.
        """
        return self._file(step).with_suffix(_BEGUN)

    @property
    def steps_folder(self) -> Path:
        """The folder of step files."""
        return self.folder / STEPS

    @property
    def fit(self) -> bool:
        """Whether there are step files, all of them of this run."""
        found = [body for _, body in self.step_files()]
        return bool(found) and all(map(self._fits, found))

    def step_files(self) -> Iterator[tuple[Path, Any]]:
        """All step files of this kind of run, of whatever run and version, with what they say."""
        for file in sorted(self.steps_folder.glob("*.json")):
            if self.is_step(body := found_json(file)):
                yield file, body

    def has_schema(self, name: str) -> bool:
        """Whether a file of the folder was written by this kind of run, of any version.

        Args:
            name: Of the file.
        """
        return has_schema(found_json(self.folder / name), self.schema)

    def clear(self) -> None:
        """Remove result and steps, and nothing else; the result first: it never outlives them."""
        if self.has_schema(self.outputs[0]):
            (self.folder / self.outputs[0]).unlink(missing_ok=True)
        self.forget_begun()
        for file, _ in self.step_files():
            file.unlink(missing_ok=True)

    def sweep_up(self) -> None:
        """Remove what writes that were killed left behind."""
        for file in (*(self.folder / name for name in self.outputs), self.steps_folder / "*.json"):
            for part in left_over(file):
                part.unlink(missing_ok=True)

    def forget_begun(self) -> None:
        """Remove what steps have begun, and nothing that is not ours."""
        for begun in self.steps_folder.glob(f"*{_BEGUN}"):
            for path in sorted(begun.rglob("*"), reverse=True):  # what is in a folder before it
                if path.name.endswith(_SAVED) and not path.is_dir():
                    path.unlink(missing_ok=True)
                elif path.is_dir():
                    _remove_if_empty(path)
            _remove_if_empty(begun)

    @contextmanager
    def locked(self, steps: Sequence[str], watch: Watcher | None) -> Iterator["_OpenRun"]:
        """Make the folder and keep other processes out of it.

        Args:
            steps: The names of all steps, in order.
            watch: Called before each step.
        """
        with locked(made_folder(self.folder)) as lock:
            yield _OpenRun(self, lock, tuple(steps), watch)

    def _fits(self, body: Any) -> bool:
        """Whether this is of a step of what is run, by this version, as it was written."""
        return (
            as_written(body)
            and all(body.get(key) == value for key, value in self.run.items())
            # Other libraries may change between steps; `ran_with` tells them.
            and body["versions"].get("reidrisk") == versions()["reidrisk"]
        )

    def _file(self, step: str) -> Path:
        # Names of attacks of others may hold anything; the digest keeps two of them apart that
        # become alike.
        safe = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in step)
        return self.steps_folder / f"{safe[:80]}-{sha256(step)[:8]}.json"

    def _note_versions(self, these: dict[str, str]) -> None:
        for name, one in these.items():
            known = self.ran_with.get(name, one).split(", ")
            self.ran_with[name] = ", ".join(dict.fromkeys([*known, one]))


@dataclass(frozen=True)
class _OpenRun:
    """A run whose folder this process has locked.

    Attributes:
        kept: The store.
        lock: Of its folder.
        steps: The names of all steps, in order.
        watch: Called before each step.
    """

    kept: RunStore
    lock: Lock
    steps: tuple[str, ...]
    watch: Watcher | None

    def done(self, step: str, run: Callable[[], Any], encode: Callable[[Any], Any]) -> Any:
        """What a step gives: found in its file, or run now and kept.

        Args:
            step: Its name.
            run: Runs it.
            encode: Makes JSON of what it gave.
        """
        self.still_there()
        found = self.kept.find(step)
        if self.watch is not None:
            place = self.steps.index(step)
            self.watch(step, place, len(self.steps), found=found is not None)
        if found is None:
            # A step may take hours, so the folder is looked at again before anything is stored.
            found = run()
            self.still_there()
            self.kept.store(step, encode(found))
        return found

    def still_there(self) -> None:
        """Refuse to go on in a folder that is no longer the one that was locked."""
        if not self.kept.is_held(self.lock):
            raise self.kept.gone()


@dataclass(frozen=True)
class Stored:
    """A result and the file that it was read from.

    Attributes:
        result: What the file says.
        file: Which.
        sha256: Of the very bytes that were read, as `sha256sum` prints it.
        sealed: Whether the file carries a checksum; those of earlier versions do not.
    """

    result: Result
    file: Path
    sha256: str
    sealed: bool

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a result.

        Args:
            path: Of `result.json`, or of the folder that holds it.
        """
        file = Path(path) / RESULT if Path(path).is_dir() else Path(path)
        if not file.is_file() and (Path(path) / NOTE).is_file():
            raise InvalidInput(
                f"{path}: the run is not finished, so it has no result yet; run the command "
                "that began it again, and it goes on",
                code="unfinished-run",
            )
        if not file.is_file():
            raise InvalidInput(
                f"{file}: there is no such file; run a study first", code="file-not-found"
            )
        content = file.read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as wrong:
            raise InvalidInput(
                f"{file} is damaged ({wrong}); run the study again", code="damaged-file"
            ) from wrong
        result, sealed = parsed(text, str(file))
        return cls(result, file, sha256(content), sealed)


def parsed(text: str, name: str) -> tuple[Result, bool]:
    """What the text of a `result.json` says, and whether it carries a checksum.

    Figures that cannot be are refused here, whoever wrote them, before a gate or a chart.

    Args:
        text: Of the file.
        name: Of the file, for messages.
    """
    try:
        body = read_json(text)
    except ValueError as wrong:
        raise InvalidInput(
            f"{name} is not JSON: {wrong}; run the study again", code="damaged-file"
        ) from wrong
    schema = body.get("schema") if isinstance(body, dict) else None
    if schema != SCHEMA:
        raise InvalidInput(
            f"{name} has schema {schema!r} and this version reads {SCHEMA!r}; run the study "
            "again, or use the version that wrote it",
            code="unknown-schema",
        )
    sealed, changed = "checksum" in body, False
    try:
        changed = sealed and body["checksum"] != checksum_of(body)
        result: Result = typed(
            Result, {key: body[key] for key in body if key not in {"schema", "checksum"}}
        )
        fault = first_fault(result)
    except ValueError as wrong:
        fault = str(wrong)
    if changed:
        # Said before the fault, which is then what somebody's change has made of the file.
        more = f" ({fault})" if fault else ""
        raise InvalidInput(
            f"{name} was changed after it was written, since its checksum does not match{more}; "
            "restore the original, or run the study again",
            code="checksum-mismatch",
        )
    if fault:
        raise InvalidInput(f"{name} is damaged ({fault}); run the study again", code="damaged-file")
    return result, sealed


def checksum_of(body: dict[str, Any]) -> str:
    """What must stand in a file that says this: blanks and the order of keys are free.

    Raises:
        ValueError: It is nested too deeply.
    """
    try:
        return sha256_json({key: body[key] for key in body if key != "checksum"})
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def as_written(body: Any) -> bool:
    """Whether this is what some step gave, whatever was run, and nothing in it was changed.

    Args:
        body: What a file says.
    """
    return (
        isinstance(body, dict)
        and isinstance(body.get("step"), str)
        and isinstance(body.get("versions"), dict)
        and body.get("checksum") == checksum_of(body)
    )


def has_schema(body: Any, schema: str) -> bool:
    """Whether what a file says has this schema, in any version of it.

    Args:
        body: What the file says.
        schema: A name and a version: `reidrisk/1`.
    """
    found = body.get("schema") if isinstance(body, dict) else None
    return isinstance(found, str) and found.startswith(schema.partition("/")[0] + "/")


_MODULES = {"scikit-learn": "sklearn"}
"""Modules of libraries that are called otherwise."""

_LIBRARIES = ("reidrisk", "numpy", "scipy", "numba", "duckdb", "pyarrow")
"""What figures come from: the loops, and what reads tables."""


def versions(guests: Sequence[str] = ()) -> dict[str, str]:
    """Versions of the package and the libraries that its figures come from.

    Args:
        guests: Other libraries, named if they are installed.
    """
    here = [name for name in guests if find_spec(_MODULES.get(name, name)) is not None]
    return {name: version(name) for name in (*_LIBRARIES, *here)}


def first_difference(before: Any, now: Any, path: str = "") -> str:
    """Where two descriptions differ first, as a path of keys.

    Args:
        before: The one.
        now: The other.
        path: Where they are.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        # The fingerprint differs whenever anything does, the text of the file even by a blank.
        for key in sorted({*before, *now} - {"fingerprint", "file"}):
            if before.get(key) != now.get(key):
                inner = f"{path}.{key}" if path else key
                return first_difference(before.get(key), now.get(key), inner)
    return path or "everything"


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # somebody keeps something of their own there
        folder.rmdir()


def read_json(text: str) -> Any:
    """Read JSON that says nothing twice and holds only numbers.

    Args:
        text: Of a file.

    Raises:
        ValueError: It is not JSON, says something twice, or holds what is not a number; says which.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse,
            parse_float=_real,
            parse_int=_whole,
            object_pairs_hook=_once,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def found_json(file: Path) -> Any:
    """What a file of JSON says; None if there is none, or if it is damaged.

    Args:
        file: Which.
    """
    try:
        return read_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _real(text: str) -> float:
    # 1e999 is good JSON, and Python reads it as infinity.
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a number that can be held")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:20]}... is not a number that can be held")
    return int(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    # Python's reader would keep the last of two equal keys, and say nothing.
    if len(body) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands there twice")
    return body


@contextmanager
def hashed_inputs(paths: Sequence[Path]) -> Iterator[dict[str, str]]:
    """Names and SHA-256 of files, and of those in folders, while they are read inside.

    They are hashed first. What was read has these hashes if nobody changed the files meanwhile,
    which is looked up afterwards: identity, size and both times of each must be what they were. A
    file that had just been written is hashed once more, since times are only so fine.

    Raises:
        InvalidInput: A file was changed, or came to a folder, while it was read.
    """
    # Before the hashes are computed, so that a change during hashing shows as well.
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
            # Readers of folders leave out such names too: hidden files, and marks such as _SUCCESS.
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
    # Both: whoever changes a file can set its mtime back, but not its ctime.
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, *times, max(times)
