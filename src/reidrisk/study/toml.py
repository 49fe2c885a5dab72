"""Study files: `study.toml`, checked with the line of whatever is wrong."""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reidrisk.attacks import attack_named
from reidrisk.core.checks import shown
from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import InvalidInput
from reidrisk.releases import AnyRelease
from reidrisk.releases.table import release_kind
from reidrisk.study.defaults import usual_attacks
from reidrisk.study.keys import PATHS, ReleaseSection, StudyModel
from reidrisk.study.parameters import faults, make_release, parameter_of, read_value
from reidrisk.study.quantities import MOST
from reidrisk.study.result import Signoff
from reidrisk.study.run_store import hashed_inputs
from reidrisk.study.source import Source, source_of
from reidrisk.study.study import Repeats, Study
from reidrisk.study.toml_errors import explained, key_about, place_about, with_line


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read: the study, its source, and the files of that."""

    text: str
    study: Study
    source: Source
    inputs: dict[str, str]
    signoff: Signoff | None = None


def read_study(path: str | Path) -> StudyFile:
    """Read a study file and its people; paths in it are relative to the file."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as wrong:
        raise InvalidInput(
            f"{file}: cannot be read ({wrong.strerror}); `reidrisk study new` writes a starter",
            code="cannot-read",
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise InvalidInput(
            f"{file} is not UTF-8 text ({wrong}); save it as UTF-8", code="not-utf8"
        ) from wrong
    return study_file(text, str(file), file.parent)


@speaking("keys")
def study_file(text: str, name: str = "study.toml", folder: Path = Path()) -> StudyFile:
    """A study from the text of a file, with its source; paths in it are relative to the folder."""
    model = parse(text, name)
    names = [getattr(model.people, part, None) for part in PATHS]
    with hashed_inputs([folder / part for part in names if part]) as inputs:
        source = _source(model, folder, text, name)
    release: AnyRelease | None = None
    if model.release is None and source.people is not None:
        release = make_release(release_kind("topics"), {}, source)
    beside: list[AnyRelease] = []
    for place, section in _sections(model):  # the study's own first
        try:
            made = make_release(section.kind, section.parameters, source, release)
        except InvalidInput as wrong:
            where = [*place, *key_about(wrong, section.parameters)]
            raise InvalidInput(with_line(text, name, where, str(wrong)), code=wrong.code) from wrong
        if section is model.release:
            release = made
        else:
            beside.append(made)
    sweep = _sweep(model, release, text, name)
    try:
        study = replace(_study(model, source, release, sweep), beside=tuple(beside))
        study.check(source)
    except InvalidInput as wrong:
        place = place_about(wrong, model)
        message = with_line(text, name, place, str(wrong)) if place else f"{name}: {wrong}"
        raise InvalidInput(message, code=wrong.code) from wrong
    signoff = None if model.signoff is None else Signoff(**model.signoff.model_dump())
    return StudyFile(text, study, source, inputs, signoff)


@speaking("keys")
def parse(text: str, name: str = "study.toml") -> StudyModel:
    """The checked content of a study file."""
    body = _body(text, name)
    try:
        model = StudyModel.model_validate(body)
    except ValidationError as wrong:
        lines = [explained(one, text, name) for one in wrong.errors()]
        raise InvalidInput("\n".join(lines), code="invalid-study-file") from None
    wrongs = [
        with_line(text, name, [*place, *key.split(".")], why)
        for place, section in _sections(model)
        for key, why in faults(section.kind, section.parameters).items()
    ]
    if wrongs:
        raise InvalidInput("\n".join(wrongs), code="invalid-parameters")
    return model


def _body(text: str, name: str) -> dict[str, Any]:
    """What the text says, before anybody asks what it means.

    TOML promises whole numbers of 64 bits and no more; what is larger, or nested beyond reason, is
    refused here, so that nothing behind this has to think of it.
    """
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise InvalidInput(f"{name} is not TOML: {wrong}", code="not-toml") from wrong
    except (RecursionError, ValueError) as wrong:  # Python reads no number of 5,000 digits
        why = "a number is too long" if isinstance(wrong, ValueError) else "it is nested too deeply"
        raise InvalidInput(
            f"{name} cannot be read: {why}; write it shorter", code="not-toml"
        ) from None
    left: list[tuple[list[Any], Any]] = [([], body)]
    while left:
        path, value = left.pop()
        if isinstance(value, int) and not -MOST - 1 <= value <= MOST:
            why = f"a whole number is at most {MOST:,} here, got {shown(value)}"
            raise InvalidInput(with_line(text, name, path, why), code="out-of-range")
        if isinstance(value, dict | list):
            if len(path) == _DEEPEST:
                why = f"nothing in a study file is nested more than {_DEEPEST} levels deep"
                raise InvalidInput(with_line(text, name, path[:1], why), code="nested-too-deeply")
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            left += [([*path, key], one) for key, one in inner]
    return body


_DEEPEST = 16


def _sections(model: StudyModel) -> list[tuple[list[Any], ReleaseSection]]:
    """All releases that a file names, and where."""
    own = [] if model.release is None else [(["release"], model.release)]
    return [*own, *((["beside", place], one) for place, one in enumerate(model.beside))]


def _source(model: StudyModel, folder: Path, text: str, name: str) -> Source:
    """Read the people or tables; what is wrong with a file is said beside the key that names it."""
    try:
        with speaking("keys", offers=type(model.people).model_fields.__contains__):
            return source_of(model.people.read(folder))
    except InvalidInput as wrong:
        for part in PATHS:
            path = getattr(model.people, part, None)
            if path and str(wrong).startswith(str(folder / path)):
                raise InvalidInput(
                    with_line(text, name, ["people", part], str(wrong)), code=wrong.code
                ) from wrong
        raise


def _sweep(
    model: StudyModel, release: AnyRelease | None, text: str, name: str
) -> dict[str, tuple[Any, ...]]:
    """Values of parameters; all that is wrong with them at once."""
    found, wrongs = {}, []
    for key, values in model.sweep.items():
        try:
            parameter = parameter_of(release, key)
            found[key] = tuple(read_value(parameter, value) for value in values)
        except InvalidInput as wrong:
            wrongs.append(with_line(text, name, ["sweep", key], str(wrong)))
    if wrongs:
        raise InvalidInput("\n".join(wrongs), code="invalid-parameters")
    return found


def _study(
    model: StudyModel, source: Source, release: AnyRelease | None, sweep: dict[str, tuple[Any, ...]]
) -> Study:
    attacks = model.attacks
    if attacks is None:
        attacks = [attack_named(name) for name in usual_attacks(source, release, seed=model.seed)]
    return Study(
        release=release,
        attacks=tuple(attacks),
        models=tuple(model.models),
        bounds=tuple(model.bounds),
        information=tuple(model.information),
        slots=None if model.slots is None else tuple(model.slots),
        per_user=None if model.per_user is None else Repeats(**model.per_user.model_dump()),
        sweep=sweep,
        analyses=model.analyses,
        sizes=tuple(model.sizes),
        beyond=tuple(model.beyond),
        guesses=tuple(model.guesses),
        targets=model.targets,
        **model.model_dump(
            include={
                "title", "unit", "seed", "level", "precision", "training",
                "full_information", "strangers", "present",
            }
        ),
    )  # fmt: skip
