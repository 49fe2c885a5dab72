"""`check_analysis`: what every analysis of a study must do."""

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_type_hints

from reidrisk import data
from reidrisk.attacks import Hamming
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.releases import TopicsApi
from reidrisk.study.analyses.protocol import Analysis, CustomAnalysis, Part, Step
from reidrisk.study.records import plain, typed
from reidrisk.study.result import Result
from reidrisk.study.source import AnySource, Source, source_of
from reidrisk.study.study import Study
from reidrisk.testing.check import is_frozen, promise

_USERS, _TOKENS, _SLOTS = 200, 20, 2
_CLOSE = 1e-9
_NAME = re.compile("[A-Za-z0-9-]+")


def check_analysis(
    analysis: CustomAnalysis | Analysis,
    study: Study | None = None,
    source: AnySource | None = None,
) -> None:
    """Check that an analysis keeps the promises of `reidrisk.study.CustomAnalysis`.

    Its steps have names of their own and can be listed again. A step gives the same records when it
    is run again and on every engine, up to rounding, changes nothing of what earlier steps gave,
    and its records come back from `result.json` as they were. Assumptions are whole sentences.

    Args:
        analysis: The one to check.
        study: A small study that asks for it; if not given, one of 2 slots with one attack. An
            analysis of someone else is added to it.
        source: Whom the study is of; if not given, 200 synthetic people.

    Raises:
        AssertionError: A promise is broken; the message says which.

    Example:
        >>> from dataclasses import dataclass
        >>> from typing import ClassVar
        >>> @dataclass(frozen=True)
        ... class Known:
        ...     users: int
        >>> @dataclass(frozen=True)
        ... class CountKnown(rr.study.CustomAnalysis):
        ...     name: ClassVar[str] = "known"
        ...     record: ClassVar[type] = Known
        ...     def steps(self, context):
        ...         yield rr.study.Step("known", lambda parts: {"known": (Known(context.users),)})
        >>> rr.testing.check_analysis(CountKnown())
    """
    study = _small_study() if study is None else study
    people = data.synthetic_topics(_USERS, _TOKENS, _SLOTS, seed=1) if source is None else source
    known = source_of(people)
    if isinstance(analysis, CustomAnalysis):
        _check_kind(analysis)
        study = dataclasses.replace(study, analyses=(*study.analyses, analysis))
    analysis.check(study, None)
    analysis.check(study, known)
    _check_sentences(analysis, study, known)
    found = _run(analysis, study, known)
    for engine in (LocalEngine(rows=7), ReferenceEngine()):
        # Another context, as after a crash: of the steps before, only records are left.
        _check_again(analysis.steps(study.context(known, engine)), found)


def _promise(kept: bool, what: str) -> None:
    promise(kept, "an analysis", what)


def _check_kind(analysis: CustomAnalysis) -> None:
    name, record = getattr(analysis, "name", None), getattr(analysis, "record", None)
    _promise(isinstance(name, str) and bool(_NAME.fullmatch(name)), "a name of letters, digits and "
             "hyphens")  # fmt: skip
    _promise(dataclasses.is_dataclass(record), "a record that is a dataclass")
    _promise(is_frozen(analysis), "to be a frozen value: a frozen dataclass is one")


def _check_sentences(analysis: CustomAnalysis | Analysis, study: Study, source: Source) -> None:
    said = getattr(analysis, "assumptions", None)
    for one in () if said is None else said(study, source):
        _promise(isinstance(one, str) and one.endswith("."), "assumptions that are sentences")


def _run(
    analysis: CustomAnalysis | Analysis, study: Study, source: Source
) -> dict[str, tuple[Part, Part]]:
    """The records before each step of the analysis and those that it gave, by its name."""
    steps = list(analysis.steps(study.context(source, LocalEngine())))
    own = {step.name: step for step in steps}
    _promise(len(own) == len(steps), "a name of its own for each step")
    found: dict[str, tuple[Part, Part]] = {}

    def keep(step: Step, parts: Part) -> Part:
        if step.name not in own:
            return step.run(parts)
        before = dict(parts)
        # The study runs the step with plain records, as a result holds them; this gives its own.
        given = own[step.name].run(parts)
        _promise(dict(parts) == before, "to leave the records of earlier steps as they are")
        _check_stored(analysis, given)
        found[step.name] = before, given
        return step.run(parts)

    study.run(source, keep=keep)
    _promise(list(found) == list(own), "the same steps when they are listed again")
    return found


def _check_again(steps: Iterable[Step], found: Mapping[str, tuple[Part, Part]]) -> None:
    for step in steps:
        before, given = found[step.name]
        same = _alike(plain(dict(step.run(before))), plain(dict(given)))
        _promise(same, "the same records when a step is run again, on every engine")


def _alike(one: Any, other: Any) -> bool:
    """Whether plain values are equal, but for the last digits of sums in another order."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _check_stored(analysis: CustomAnalysis | Analysis, given: Part) -> None:
    """Records come back from the files of a run as they were."""
    for name, records in given.items():
        kind: Any = get_type_hints(Result).get(name)
        if isinstance(analysis, CustomAnalysis):
            _promise(name == analysis.name, f"records named {analysis.name}")
            kind = tuple[analysis.record, ...]  # type: ignore[name-defined]
        _promise(kind is not None, "records that are fields of the result")
        try:
            back = typed(kind, plain(tuple(records)))
        except ValueError as wrong:
            raise AssertionError(
                f"an analysis promises records that can be stored; of this one {wrong}"
            ) from wrong
        _promise(back == tuple(records), "records that come back from a file as they were")


def _small_study() -> Study:
    return Study(attacks=(Hamming(),), release=TopicsApi(topics=_TOKENS), targets=50, seed=1)
