"""A run by parts: each searches some of the known rows, and the merge makes the run of them.

First the study is gone through with an engine that answers nothing and writes down what it is
asked; what it says instead is that everybody was named, so that the study goes on. Then the
questions are answered for the rows of one part. When all parts are there, the study is run in
earnest, with an engine that answers from what they found. What nobody asked before, because it
depends on other answers, it finds on its own: slower, and with the same bytes.

The folder of parts holds `parts.json` (of what), a file for each part that is done, a folder
`part-....begun` for each that is not (a file for each question), and `passes/`: what looking at all
known rows gave, so that not every part has to. Each file is written whole by one process, and none
is changed: parts may run at the same time.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.files import left_over, made_folder, written_whole
from reidrisk.core.locks import locked
from reidrisk.core.mapreduce import Work, kept
from reidrisk.core.matches import NOBODY, Matches, Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.packing import packed, unpacked
from reidrisk.core.rows import Rows
from reidrisk.core.settings_syntax import setting
from reidrisk.engines import LocalEngine
from reidrisk.engines.parts import (
    Question,
    answered_by_all,
    answered_in_part,
    rows_of_part,
)
from reidrisk.errors import InvalidInput
from reidrisk.scores import Score
from reidrisk.study.describe import describe
from reidrisk.study.desks import Watched
from reidrisk.study.fingerprints import fingerprint
from reidrisk.study.folder import NOTE as RUN_NOTE
from reidrisk.study.folder import Watcher as RunWatcher
from reidrisk.study.folder import first_difference, run_in
from reidrisk.study.part_files import (
    MATCHES,
    PASSED,
    SUFFIX,
    Parts,
    Whole,
    as_found,
    read_parts,
    read_sealed,
    stored,
    write_parts,
    write_sealed,
)
from reidrisk.study.result import Result
from reidrisk.study.strict_json import found_json
from reidrisk.study.toml import StudyFile, study_file

NOTE: Final = "parts.json"
PASSES: Final = "passes"
MOST_PARTS: Final = 100_000

_BEGUN = ".begun"
_NAMED = 10
_SAMPLE = 64

Watcher = Callable[[str, int, int], None]
"""Told which question is answered, and how many there are."""


@dataclass(frozen=True)
class Part:
    """One of several parts of a run, the first being 1.

    >>> Part.read("3/64")
    Part(number=3, of=64)
    """

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Part":
        """A part as people write it."""
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII)
        if found is None:
            raise InvalidInput(
                f"{text!r} is not a part; say which of how many, such as 3/64", code="invalid-part"
            )
        number, of = int(found[1]), int(found[2])
        if not 1 <= of <= MOST_PARTS:
            raise InvalidInput(
                f"a run has 1 to {MOST_PARTS:,} parts, got {of}", code="invalid-part"
            )
        if not 1 <= number <= of:
            raise InvalidInput(
                f"of {of} parts there are the numbers 1 to {of}, got {number}", code="invalid-part"
            )
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def name(self) -> str:
        """Of its file."""
        digits = max(4, len(str(self.of)))
        return f"part-{self.number:0{digits}}-of-{self.of:0{digits}}{SUFFIX}"


class Searched(NamedTuple):
    """A part that is done."""

    file: Path
    found: Parts
    anew: bool


def search_part(
    folder: Path,
    file: StudyFile,
    part: Part,
    *,
    paths: Path = Path(),
    engine: LocalEngine,
    watch: Watcher | None = None,
) -> Searched:
    """Search one part of the known rows for all that a study asks, or go on with it.

    Args:
        folder: Of all parts; made if it is not there.
        file: The study, its source and the text of it.
        part: Which.
        paths: What paths in the text are relative to.
        engine: Where it runs.
        watch: Told of each question.

    Returns:
        The file of the part, what it holds, and whether anything was searched for it.

    Raises:
        InvalidInput: The folder holds something else, or somebody else searches this part. Or the
            study cannot be run by parts.
    """
    study, source = file.study, file.source
    _check_fixed(file)
    asking = _Asking(engine)
    steps = study.steps(source, asking)  # refuses what cannot be run
    description = {"study": study.describe(source), "inputs": file.inputs}
    whole = Whole.of_study(description, part.of, file.text, paths)
    _claim(folder, whole)
    done = folder / part.name
    begun = done.with_suffix(_BEGUN)
    if done.exists():
        before = read_parts(done)
        whole.check_same(before.whole, "this study", str(done))
        if begun.is_dir():  # whoever wrote the part was killed right then
            _forget(begun)
        return Searched(done, before, anew=False)
    with locked(made_folder(begun)):
        passes = Passes(made_folder(folder / PASSES), whole.fingerprint)
        with kept(passes):
            records: dict[str, Any] = {}
            for step in steps:
                asking.step = step.name
                passes.enter(step.name)
                for name, values in step.run(records).items():
                    records[name] = records.get(name, ()) + tuple(values)
            answers = {}
            for place, (name, question) in enumerate(asking.asked.items()):
                if watch is not None:
                    watch(name.partition("/")[0], place, len(asking.asked))
                passes.enter(name)
                answers[name] = _answer(begun, whole, part, name, question, engine)
        found = Parts(whole, (part.number,), _rows(asking, part), answers)
        for one in left_over(done):
            one.unlink(missing_ok=True)
        write_parts(done, found)
    _forget(begun)
    return Searched(done, found, anew=True)


def _forget(begun: Path) -> None:
    """Remove what a part had done that is whole now, and nothing that is not ours."""
    with locked(begun):
        for one in (*begun.glob(f"*{SUFFIX}"), *left_over(begun / f"*{SUFFIX}")):
            one.unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps something of their own there
        begun.rmdir()


def _rows(asking: "_Asking", part: Part) -> int:
    """How many of the study's known rows are of this part."""
    first = next(iter(asking.asked.values()))
    start, stop = rows_of_part(first.seen.known.users, part.number, part.of)
    return stop - start


def run_merged(
    folder: str | Path,
    parts: Parts,
    *,
    passes: Path,
    engine: LocalEngine,
    comment: str = "",
    watch: RunWatcher | None = None,
    learning: Watched | None = None,
) -> tuple[StudyFile, Result, int]:
    """Run the study of which all parts are there, in a folder, as if it ran in one go.

    Args:
        folder: For the run.
        parts: All of them, merged.
        passes: Where parts kept what they knew of all known rows.
        engine: Where it runs.
        comment: Goes before the study file in the folder.
        watch: Called before each step.
        learning: Called while a model learns.

    Returns:
        The study, its result, and how many questions no part had answered.

    Raises:
        InvalidInput: A part is missing, or the files that the study reads have changed.
    """
    if parts.missing:
        raise InvalidInput(_missing(parts), code="missing-parts")
    whole = parts.whole
    file = study_file(whole.text, "the study of these parts", Path(whole.folder))
    now = {"study": file.study.describe(file.source), "inputs": file.inputs}
    if fingerprint(now) != whole.fingerprint:
        raise InvalidInput(
            "the study reads other files than its parts did: "
            f"{first_difference(whole.description, now)} differs; put back the files as they were, "
            "or search all parts again",
            code="parts-differ",
        )
    kept_passes = Passes(passes, whole.fingerprint, writes=False)
    answering = Answering(engine, parts, kept_passes)

    def told(step: str, place: int, steps: int, *, found: bool) -> None:
        answering.begin(step, found=found)
        if watch is not None:
            watch(step, place, steps, found=found)

    with kept(kept_passes):
        result = run_in(
            folder,
            file.study,
            file.source,
            engine=answering,
            fresh=None,
            inputs=file.inputs,
            text=comment + file.text,
            signoff=file.signoff,
            watch=told,
            learning=learning,
        )
    return file, result, answering.others


def _missing(parts: Parts) -> str:
    missing, of = parts.missing, parts.whole.of
    named = ", ".join(map(str, missing[:_NAMED]))
    more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
    return (
        f"of {of:,} parts {len(missing):,} {'is' if len(missing) == 1 else 'are'} missing: {named}"
        f"{more}; search {'it' if len(missing) == 1 else 'them'} first, or merge what is there "
        f"into a file that ends in {SUFFIX}"
    )


def _check_fixed(file: StudyFile) -> None:
    if file.study.precision is not None:
        raise InvalidInput(
            "a study with a precision decides while it runs how many targets it attacks, so it "
            f"cannot run by parts; leave {setting('precision')} out, and say how many targets",
            code="precision-not-supported",
        )


def _answer(
    begun: Path, whole: Whole, part: Part, name: str, question: Question, engine: LocalEngine
) -> list[Any]:
    """What this part gives to an answer; found if it was kept before."""
    file = begun / f"{_short(name)}{SUFFIX}"
    with suppress(InvalidInput):  # there is none, or it is damaged
        before = read_parts(file)
        whole.check_same(before.whole, "", "")
        if before.held == (part.number,) and name in before.answers:
            return before.answers[name]
    found = [stored(one) for one in answered_in_part(question, engine, part.number, part.of)]
    write_parts(file, Parts(whole, (part.number,), 0, {name: found}))
    return found


def _claim(folder: Path, whole: Whole) -> None:
    """Write down what the folder is for, if nobody did; refuse it if it is for something else."""
    made_folder(folder)
    note = folder / NOTE
    mine = {"schema": MATCHES, "version": version("reidrisk"), "of": whole.of, **whole.description}
    found = found_json(note)
    if found is None and any(not one.name.startswith(".") for one in folder.iterdir()):
        there = "a run" if (folder / RUN_NOTE).exists() else "other files"
        if note.exists():
            raise InvalidInput(
                f"{note} is damaged; use another folder for the parts", code="damaged-file"
            )
        raise InvalidInput(
            f"{folder}: holds {there}; use a folder of its own for the parts", code="file-not-ours"
        )
    if found is None:
        with written_whole(note) as (part,):
            part.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")
        return
    if not isinstance(found, dict) or found.get("schema") != MATCHES:
        raise InvalidInput(
            f"{note} was not written by a run by parts, so it is left alone; use another folder",
            code="file-not-ours",
        )
    if found.get("version") != mine["version"]:
        raise InvalidInput(
            f"{folder} holds parts of another version of reidrisk, {found.get('version')!r}; this "
            f"is {mine['version']!r}. Use another folder",
            code="unknown-schema",
        )
    study = {name: found.get(name) for name in ("study", "inputs")}
    before = Whole.of_study(study, found.get("of", 0), "", folder)
    whole.check_same(before, "this study", str(folder))


@dataclass
class Passes:
    """Keeps what passes over all known rows give, for all parts and for the merge.

    A pass is known by where in the study it is made: by the step or question that is its scope, and
    by how many came before it there. So whoever leaves out a step must not ask for later ones.

    Attributes:
        folder: Where.
        study: The fingerprint of the study and its inputs.
        writes: Whether what is not there is added.
        scope: The step or question; nothing is kept without one.
        before: How many passes it has made.
    """

    folder: Path
    study: str
    writes: bool = True
    scope: str = field(default="", init=False)
    before: int = field(default=0, init=False)

    def enter(self, scope: str, before: int = 0) -> None:
        """Another step begins, or another question is answered."""
        self.scope, self.before = scope, before

    @contextmanager
    def within(self, scope: str) -> Iterator[None]:
        """Answer a question in the middle of a step."""
        outside = self.scope, self.before
        self.enter(scope)
        yield
        self.enter(*outside)

    def __call__(self, rows: Rows, work: Work[Any], go: Callable[[], Any]) -> Any:
        """What a pass gave before, or gives now."""
        if not self.scope:
            return go()
        what = [rows.users, rows.slots, *_told(work)]
        place = (self.scope, self.before, fingerprint(what))
        known = (version("reidrisk"), self.study, *place)
        self.before += 1
        file = self.folder / f"{_short(repr(known))}.pass"
        with suppress(InvalidInput):  # there is none, or it is damaged
            before, found = unpacked(read_sealed(file, PASSED))
            if before == known:
                return found
        found = go()
        if self.writes and (content := _packed((known, found))) is not None:
            write_sealed(file, PASSED, content)
        return found


def _told(work: Any) -> list[Any]:
    """What is done to rows, as far as it can be told."""
    if isinstance(work, partial):
        return [*_told(work.func), describe(work.args), describe(work.keywords)]
    return [getattr(work, "__qualname__", type(work).__qualname__)]


def _packed(thing: Any) -> bytes | None:
    """The thing as bytes; None if it is of a kind that is not packed."""
    try:
        return packed(thing)
    except InvalidInput:
        return None


class _Asked:
    """An engine that makes a question of whatever it is asked."""

    engine: LocalEngine

    def hold(self, rows: Rows) -> Rows:
        """The rows where they are searched."""
        return self.engine.hold(rows)

    def search(
        self,
        observations: Observations,
        score: Score,
        *,
        list_best: int = 0,
        ranks: int | None = 1,
        second: bool = False,
    ) -> Matches:
        """Find the best score, its ties, the true score and its rank for every target."""
        wanted = Wanted(list_best, ranks, second)
        question = Question("search", observations, (score,), wanted=wanted)
        return self._answer(question)  # type: ignore[no-any-return]

    def curves(
        self,
        observations: Observations,
        scores: Sequence[Score],
        slots: Sequence[int],
        *,
        ranks: int | None = 1,
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots."""
        wanted = Wanted(ranks=ranks)
        question = Question("curves", observations, tuple(scores), tuple(slots), wanted)
        return self._answer(question)  # type: ignore[no-any-return]

    def evidence(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the logarithm of the sum over all known rows of exp(score)."""
        return self._answer(Question("evidence", observations, (score,)))  # type: ignore[no-any-return]

    def _answer(self, question: Question) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class _Asking(_Asked):
    """An engine that answers nothing, and writes down what it is asked.

    It says that everybody was named, by a sure attacker: no figure is made of it, but the study
    goes on.

    Attributes:
        engine: What holds rows.
        asked: All questions by their names.
        step: The step that asks.
    """

    engine: LocalEngine
    asked: dict[str, Question] = field(default_factory=dict)
    step: str = ""

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """Left to the merge: who is searched further depends on what was found."""
        return np.ones(len(observations.anonymous))

    def _answer(self, question: Question) -> Any:
        self.asked[name_of(self.step, question)] = question
        targets = len(question.seen.anonymous)
        if question.kind == "evidence":
            return np.zeros(targets)
        named = _all_named(targets, question.wanted)
        if question.kind == "search":
            return named
        return [dict.fromkeys(question.slots, named) for _ in question.scores]


@dataclass(eq=False)
class Answering(_Asked):
    """An engine that answers from what all parts found, and finds out the rest itself.

    Attributes:
        engine: Who finds out the rest.
        parts: What all parts found.
        passes: What they knew of all rows.
        step: The step that asks.
        others: How many questions no part had answered.
        skipped: Whether a step was found done.
    """

    engine: LocalEngine
    parts: Parts
    passes: Passes
    step: str = ""
    others: int = 0
    skipped: bool = False

    def begin(self, step: str, *, found: bool) -> None:
        """A step begins, or was found done: then those after it are not as they were."""
        self.step = step
        self.skipped |= found
        self.passes.enter("" if self.skipped else step)

    def credit(self, observations: Observations, score: Score) -> NDArray[np.float64]:
        """For each target, the chance of naming the right user."""
        self.others += 1
        return self.engine.credit(observations, score)

    def _answer(self, question: Question) -> Any:
        name = name_of(self.step, question)
        found = self.parts.answers.get(name)
        if not found:
            self.others += 1
            with self.engine.begin(1) as crew:
                return question.asked_of(crew)
        with self.passes.within(name):
            try:
                return answered_by_all(question, self.engine, [as_found(one) for one in found])
            except (ArithmeticError, LookupError, TypeError, ValueError) as wrong:
                raise InvalidInput(
                    f"what the parts found does not match the study, in {self.step}; search all "
                    "parts again",
                    code="parts-differ",
                ) from wrong


def name_of(step: str, question: Question) -> str:
    """A question by the step that asks it and by what it asks."""
    seen = question.seen
    some = np.linspace(0, seen.known.users - 1, min(_SAMPLE, seen.known.users), dtype=np.int64)
    asked = {
        "kind": question.kind,
        "known": [seen.known.users, describe(seen.known.take(some))],
        "shown": [describe(seen.anonymous), describe(seen.truth)],
        "scores": describe(question.scores),
        "slots": describe(question.slots),
        "wanted": describe(question.wanted),
    }
    return f"{step}/{fingerprint(asked)}"


def _all_named(targets: int, wanted: Wanted) -> Matches:
    best, one = np.zeros(targets, np.int64), np.ones(targets, np.int64)
    rows = np.full((targets, wanted.list_best), NOBODY)
    second = -one if wanted.second else None
    return Matches(best, one, best, rows, rows, best, best, wanted.ranks, second)


def _short(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]
