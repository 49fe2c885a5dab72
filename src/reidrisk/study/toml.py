"""Read study files, with the line of whatever is wrong."""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from reidrisk.attacks import attack_named
from reidrisk.core.checks import meant, shown
from reidrisk.core.digest import sha256_json
from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import InvalidInput
from reidrisk.io.tables import is_path
from reidrisk.releases import AnyRelease
from reidrisk.releases.table import release_kind
from reidrisk.risk.arguments import SearchEngine
from reidrisk.study.keys import PATHS, PEOPLE, PEOPLE_KINDS, ReleaseSection, StudyModel, of_release
from reidrisk.study.parameters import faults, make_release
from reidrisk.study.portfolio import plan, within
from reidrisk.study.quantities import MOST
from reidrisk.study.result import Result, Signoff
from reidrisk.study.run_store import hashed_inputs
from reidrisk.study.source import Source, source_of
from reidrisk.study.study import Study

_Located = Callable[[list[Any], str], str]
"""Says where a message belongs: called with a path of keys and the message."""


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read: the study, its source, and the files of that.

    Its text is None where a study was described in Python and no file holds it.
    """

    text: str | None
    study: Study
    source: Source
    inputs: dict[str, str]
    signoff: Signoff | None = None

    def run(self, engine: SearchEngine | None = None) -> Result:
        """Run the study, in no folder.

        Args:
            engine: Where it runs; this machine, if not given.
        """
        found = self.study.run(self.source, engine=engine)
        return replace(found, inputs=self.inputs, signoff=self.signoff)


def read_study(path: str | Path) -> StudyFile:
    """Read a study file and its people; paths in it are relative to the file.

    Args:
        path: Of the file.
    """
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
    """Read a study from the text of a file, with its source.

    Args:
        text: Of the file.
        name: Of the file, for messages.
        folder: What paths in the file are relative to.
    """
    model = parse(text, name)
    located = _in_file(text, name)
    try:
        with speaking("keys", offers=type(model.people).model_fields.__contains__):
            source, inputs = _read_source(model.people, folder)
    except InvalidInput as wrong:
        # Readers begin a message with the path that it is about, which leads to the key.
        for part in PATHS:
            path = getattr(model.people, part, None)
            if path and str(wrong).startswith(str(folder / path)):
                message = located(["people", part], str(wrong))
                raise InvalidInput(message, code=wrong.code) from wrong
        raise
    study = _study(model, source, located)
    # Again: when the study was made, it knew no source.
    with _locating(model, located):
        study.check(source)
    return StudyFile(text, study, source, inputs, _signoff(model))


def _signoff(model: StudyModel) -> Signoff | None:
    """What the person who signs adds, if the file says it."""
    if model.signoff is None:
        return None
    said = model.signoff.model_dump()
    return Signoff(**{**said, "accept": tuple(said["accept"])})


def described_study(
    keys: Mapping[str, Any],
    people: Mapping[str, Any],
    release: Mapping[str, Any] | None,
    read: "Read",
    *,
    comment: str | None,
) -> StudyFile:
    """The study that a command or a function stands for, of a source that was read.

    Messages speak of options or arguments, not of lines in a file.

    Args:
        keys: What the file says besides its sections; strangers or training of 0 are left out.
        people: The section of people, with whole paths.
        release: The section of the release; None if there is none.
        read: The section of people, with paths as the user wrote them, and what was read by it.
        comment: The first line of the file; None where no file is written.
    """
    section, source, inputs = read
    shares = {
        "strangers": _written_share(keys["strangers"] or None),
        "present": _written_share(keys["present"]),
        "training": _written_share(keys.get("training") or None),
    }
    attacks = list(keys["attacks"]) or None  # as the study chooses, if none is named
    whole = {**keys, "attacks": attacks, **shares, "people": people, "release": release}
    said = {name: value for name, value in whole.items() if value is not None}
    model = _model({**said, "people": section}, _in_options)
    study = _study(model, source, _in_options)
    # The file names the usual attacks, so that it means the same in a later version.
    whole["attacks"] = attacks or [one.name for one in study.attacks]
    whole.pop("effort", None)  # the attacks say it
    return StudyFile(None if comment is None else _text(whole, comment), study, source, inputs)


def _written_share(value: float | None) -> float | str | None:
    """A share as study files take it: 1 alone might mean 1 %, so all is 100%."""
    return "100%" if value == 1 else value


Read = tuple[Any, Source, dict[str, str]]
"""A section of people, the source that it names, and names and hashes of its files."""


def read_section(people: Any, **how: Any) -> Read:
    """Read the people or tables of a section that no study file holds.

    Args:
        people: The section.
        how: What else its reader takes, such as `progress`.
    """
    return (people, *_read_source(people, **how))


def _read_source(people: Any, folder: Path = Path(), **how: Any) -> tuple[Source, dict[str, str]]:
    """Read the people or tables of a study.

    Args:
        people: The section of a study file that names them.
        folder: What paths are relative to.
        how: What else the reader of this section takes, such as `progress`.

    Returns:
        The source, and names and hashes of the files that it was read from.
    """
    given = [one for part in PATHS if (one := getattr(people, part, None)) is not None]
    with hashed_inputs([folder / one for one in given if is_path(one)]) as inputs:
        source = source_of(people.read(folder, **how))
    if not all(map(is_path, given)):
        # By what was read: the same for every kind of frame.
        inputs[_IN_MEMORY] = sha256_json(source.describe())
    return source, inputs


_IN_MEMORY = "table in memory"


def table_name(given: Any) -> str:
    """What a title calls a table.

    Args:
        given: Its path, or the table.
    """
    return Path(given).name if is_path(given) else f"a {_IN_MEMORY}"


def whole_path(given: Any) -> str | None:
    """A path for a study file that is kept elsewhere; None of a table in memory.

    Args:
        given: The path, or the table.
    """
    return str(Path(given).resolve()) if is_path(given) else None


@speaking("keys")
def parse(text: str, name: str = "study.toml") -> StudyModel:
    """Check the content of a study file.

    Args:
        text: Of the file.
        name: Of the file, for messages.
    """
    located = _in_file(text, name)
    model = _model(_body(text, name), located)
    wrongs = [
        located([*place, *key.split(".")], why)
        for place, section in _sections(model)
        for key, why in faults(section.kind, section.parameters).items()
    ]
    if wrongs:
        raise InvalidInput("\n".join(wrongs), code="invalid-parameters")
    return model


def _model(keys: Mapping[str, Any], located: _Located) -> StudyModel:
    try:
        model: StudyModel = StudyModel.model_validate(keys)
    except ValidationError as wrong:
        lines = [_explained(one, located) for one in wrong.errors()]
        raise InvalidInput("\n".join(lines), code="invalid-study-file") from None
    return model


def _in_file(text: str, name: str) -> _Located:
    """Messages with the line of what they are about."""
    return lambda path, why: _with_line(text, name, path, why) if path else f"{name}: {why}"


def _in_options(_path: list[Any], why: str) -> str:
    """Messages as they are: options have no lines."""
    return why


@contextmanager
def _locating(model: StudyModel, located: _Located) -> Iterator[None]:
    """Say what of a study a message is about."""
    try:
        yield
    except InvalidInput as wrong:
        message = located(_place_about(wrong, model), str(wrong))
        raise InvalidInput(message, code=wrong.code) from wrong


def _text(keys: Mapping[str, Any], comment: str) -> str:
    """Keys as the text of a study file, sections last."""
    plain = {name: one for name, one in keys.items() if not isinstance(one, Mapping)}
    lines = [f"# {comment}", *_lines(plain)]
    for name, section in keys.items():
        if isinstance(section, Mapping):
            lines += ["", f"[{name}]", *_lines(section)]
    return "\n".join(lines) + "\n"


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(one)}" for name, one in values.items() if one is not None]


def _key(name: str) -> str:
    """A key as TOML writes it: in quotes unless it is plain."""
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """A value as TOML writes it: JSON, but for tables, and for signs beyond 16 bits."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_lines(value))} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON escapes such a sign as a pair of surrogates, which TOML refuses.
    beyond = isinstance(value, str) and any(ord(sign) > _SIXTEEN_BITS for sign in value)
    return json.dumps(value, ensure_ascii=not beyond)


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
            raise InvalidInput(_with_line(text, name, path, why), code="out-of-range")
        if isinstance(value, dict | list):
            if len(path) == _DEEPEST:
                why = f"nothing in a study file is nested more than {_DEEPEST} levels deep"
                raise InvalidInput(_with_line(text, name, path[:1], why), code="nested-too-deeply")
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            left += [([*path, key], one) for key, one in inner]
    return body


_DEEPEST = 16
_SIXTEEN_BITS = 0xFFFF


def _sections(model: StudyModel) -> list[tuple[list[Any], ReleaseSection]]:
    """All releases that a file names, and where; the study's own first."""
    own = [] if model.release is None else [(["release"], model.release)]
    return own + [
        ([name, place], one)
        for name in type(model).model_fields
        for place, one in enumerate(_list(getattr(model, name)))
        if isinstance(one, ReleaseSection)
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _study(model: StudyModel, source: Source, located: _Located) -> Study:
    """The study that a file describes, of this source."""
    said = {one.name: getattr(model, one.name) for one in fields(Study)}
    said |= _releases(model, source, located)
    said |= _of_release(model, said["release"], located)
    with _locating(model, located):
        if said["attacks"] is None:
            said["attacks"] = [attack_named(name) for name in _usual_attacks(model, source, said)]
        return Study(**said)


def _releases(model: StudyModel, source: Source, located: _Located) -> dict[str, Any]:
    """The study's own release, and those beside it, by their keys."""
    found: dict[str, Any] = {"release": None}
    if model.release is None and source.people is not None:
        found["release"] = make_release(release_kind("topics"), {}, source)
    for place, section in _sections(model):
        try:
            # The study's own comes first: those beside it may be functions of what it shows.
            made = make_release(section.kind, section.parameters, source, found["release"])
        except InvalidInput as wrong:
            where = [*place, *_key_about(wrong, section.parameters)]
            raise InvalidInput(located(where, str(wrong)), code=wrong.code) from wrong
        key = place[0]
        found[key] = made if section is model.release else (*found.get(key, ()), made)
    return found


def _of_release(
    model: StudyModel, release: AnyRelease | None, located: _Located
) -> dict[str, dict[str, Any]]:
    """Settings whose entries wait for the release; all that is wrong with them at once."""
    found: dict[str, dict[str, Any]] = {}
    wrongs = []
    for setting in fields(Study):
        if (entries := of_release(setting.type)) is None:
            continue
        found[setting.name] = {}
        for key, value in getattr(model, setting.name).items():
            try:
                found[setting.name][key] = entries.read(release, key, value)
            except InvalidInput as wrong:
                wrongs.append(located([setting.name, key], str(wrong)))
    if wrongs:
        raise InvalidInput("\n".join(wrongs), code="invalid-parameters")
    return found


def _usual_attacks(model: StudyModel, source: Source, said: Mapping[str, Any]) -> tuple[str, ...]:
    """The attacks of the portfolio, as many as the effort allows."""
    planned = plan(
        source, said["release"], targets=model.targets, lengths=len(model.slots or (1,)),
        seed=model.seed,
    )  # fmt: skip
    return tuple(one.name for one in within(planned, model.effort))


def _explained(error: Any, located: _Located) -> str:
    """Explain an error of pydantic in one line: what is wrong, and what to do.

    Args:
        error: One of those that pydantic lists.
        located: Says where it is.
    """
    path = list(error["loc"])
    if path[:1] == ["people"] and path[1:2] and path[1] in PEOPLE:
        del path[1]  # the kind, by which pydantic chose the section
    return located(path, _message(error, path))


def _key_about(wrong: InvalidInput, given: Collection[str]) -> list[str]:
    """The key that a message is about, if it is one of the file: most messages say it first."""
    first = str(wrong).partition(" ")[0]
    return [first] if first in given else []


def _place_about(wrong: InvalidInput, model: StudyModel) -> list[Any]:
    """What of a file a message is about: a key, one of the release, or an attack; none if all."""
    release = {} if model.release is None else model.release.parameters
    return (
        _key_about(wrong, model.model_fields_set)
        or [part for key in _key_about(wrong, release) for part in ("release", key)]
        or _attack_about(wrong, model)
    )


def _attack_about(wrong: InvalidInput, model: StudyModel) -> list[Any]:
    first = str(wrong).partition(" ")[0]
    named = [("models", model.models), ("attacks", model.attacks or [])]
    places = [[key, place] for key, attacks in named for place, one in enumerate(attacks)
              if one.name == first]  # fmt: skip
    return places[0] if places else []


def _with_line(text: str, name: str, path: list[Any], why: str) -> str:
    """A message with its place."""
    key = ".".join(str(part) for part in path)
    return f"{name}, line {line_of(text, path)}: {key}: {why}"


def _message(error: Any, path: list[Any]) -> str:
    """What is wrong and what to do, in our words where those of pydantic are for programmers."""
    kind, given = error["type"], error["input"]
    if kind in {"extra_forbidden", "unexpected_keyword_argument"}:
        known = _known_keys(path[:-1], error["loc"])
        return f"there is no such key{meant(str(path[-1]), known)} There are {', '.join(known)}"
    if kind in {"union_tag_invalid", "literal_error"}:
        known = PEOPLE_KINDS
        if kind == "literal_error":
            # Choices stand in the text of the error only.
            known = re.findall("'([^']+)'", error["ctx"]["expected"])
        else:
            given = error["ctx"]["tag"]
        return f"there is no {shown(given)}{meant(str(given), known)} There are {', '.join(known)}"
    if kind in {"model_type", "model_attributes_type", "dataclass_type"}:
        header = f"[{path[-1]}]" if isinstance(path[-1], str) else f"[[{path[0]}]]"
        return f"this is a section of its own: {header}, with its keys in the lines below"
    message = error["msg"].removeprefix("Value error, ")
    usual, limits = f"{message[0].lower()}{message[1:]}", error.get("ctx", {})
    return {
        "missing": "this key is needed",
        "union_tag_not_found": f"this needs a kind: {', '.join(PEOPLE_KINDS)}",
        "greater_than_equal": f"this is at least {limits.get('ge')}, got {shown(given)}",
        "less_than_equal": f"this is at most {limits.get('le')}, got {shown(given)}",
        "int_type": f"this is a whole number, without quotes or a point; got {shown(given)}",
        "bool_type": f"this is true or false, got {shown(given)}",
    }.get(kind, usual)


def _known_keys(parents: list[Any], loc: tuple[Any, ...]) -> list[str]:
    section: Any = StudyModel
    if parents[:1] == ["people"]:
        section = PEOPLE[next(str(part) for part in loc if part in PEOPLE)]
    elif parents:
        # A section may be left out: its type is a union with None.
        kinds = get_args(section.model_fields[str(parents[0])].annotation)
        (section,) = (one for one in kinds if one is not type(None))
    if is_dataclass(section):
        return sorted(one.name for one in fields(section))
    return sorted(section.model_fields)


def line_of(text: str, path: list[Any]) -> int:
    """The line of a key, or of the nearest thing around it that has one.

    Args:
        text: Of the file.
        path: Keys from the outermost, and places in lists.
    """
    # tomllib does not tell where a key stands, so the lines are looked through again.
    wanted = [str(part) for part in path]
    table: list[str] = []
    counts: dict[str, int] = {}
    best, depth = 1, -1
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _header(line):
            table = header
            if line.lstrip().startswith("[["):  # one of several tables of this name
                counts[table[0]] = counts.get(table[0], -1) + 1
            # Paths number the tables of a list, as in `beside.0.noise`.
            if table[0] in counts:
                table.insert(1, str(counts[table[0]]))
            here = table
        elif key := _KEY.match(line):
            here = table + _parts(key[1])
        else:
            continue
        common = min(len(here), len(wanted))
        # Only if it is nearer: of lines that are as near the first is told.
        if here[:common] == wanted[:common] and common > depth:
            best, depth = number, common
    return best


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"'-]+)\s*=")


def _header(line: str) -> list[str]:
    """The keys of a line such as `[people]` or `[[beside]]`; none if it is no such line."""
    inside = line.partition("#")[0].strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        return []
    return _parts(inside.strip("[] \t"))


def _parts(key: str) -> list[str]:
    return [part.strip(" \t\"'") for part in key.split(".")]
