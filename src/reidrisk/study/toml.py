"""Study files: `study.toml`, checked with the line of whatever is wrong."""

import re
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reidrisk import data
from reidrisk.attacks import attack_named
from reidrisk.errors import InvalidInput
from reidrisk.inputs.linked import Linked
from reidrisk.people.people import People
from reidrisk.releases import Release, ShowsOneOfTop
from reidrisk.risk.bounds import bound_named
from reidrisk.study.describe import hash_of_file
from reidrisk.study.parameters import faults, make_release, meant, parameter_of, read_value
from reidrisk.study.parameters import release_kind as kind_of
from reidrisk.study.quantities import share, size
from reidrisk.study.setup import Source
from reidrisk.study.study import Repeats, Study


def _read(read: Callable[[Any], Any]) -> BeforeValidator:
    """Reads something; pydantic turns ValueError into a message with its place."""

    def validate(value: Any) -> Any:
        try:
            return read(value)
        except InvalidInput as wrong:
            raise ValueError(str(wrong)) from None

    return BeforeValidator(validate)


def _named(find: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Finds a part by its name, which is text."""

    def found(name: Any) -> Any:
        if not isinstance(name, str):
            raise InvalidInput(f"a name is text in quotes; got {name!r}")
        return find(name)

    return found


def _bound_name(name: str) -> str:
    bound_named(name)
    return name


Size = Annotated[int, _read(size)]
Share = Annotated[float, _read(share)]
Targets = Annotated[int | None, _read(lambda value: None if value == "all" else size(value))]
NamedAttack = Annotated[Any, _read(_named(attack_named))]
NamedBound = Annotated[str, _read(_named(_bound_name))]
Kind = Annotated[Any, _read(_named(kind_of))]


class _Section(BaseModel):
    """Unknown keys are refused: most are slips of the pen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Synthetic(_Section):
    """The embedded population."""

    kind: Literal["synthetic"]
    users: Size
    epochs: int = Field(default=8, ge=1)
    topics: int = Field(default=349, ge=1)
    seed: int = Field(default=0, ge=0)
    types: int = Field(default=64, ge=1)
    size: int = Field(default=5, ge=1)

    def read(self, _folder: Path) -> People:
        """Make the people."""
        return data.synthetic_topics(
            self.users, self.topics, self.epochs, self.seed, types=self.types, size=self.size
        )


class Table(_Section):
    """A long table of user, epoch, token and weight."""

    kind: Literal["table"]
    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    epochs: list[int | str] | None = None
    absent: Literal["missing", "pad", "drop"] = "missing"
    duplicates: Literal["refuse", "add"] = "refuse"

    def read(self, folder: Path) -> People:
        """Read the people."""
        return data.read_profiles(
            folder / self.path,
            columns=self.columns,
            epochs=self.epochs,
            absent=self.absent,
            duplicates=self.duplicates,
        )


class History(_Section):
    """Visits of user, timestamp and domain, and a table of domain and token."""

    kind: Literal["history"]
    path: str
    domains: str
    columns: dict[str, str] = Field(default_factory=dict)
    absent: Literal["missing", "pad", "drop"] = "missing"

    def read(self, folder: Path) -> People:
        """Read the people."""
        return data.read_histories(
            folder / self.path, folder / self.domains, columns=self.columns, absent=self.absent
        )


class TfRecord(_Section):
    """The input of the paper authors' simulator."""

    kind: Literal["tfrecord"]
    path: str
    absent: Literal["missing", "pad", "drop"] = "missing"

    def read(self, folder: Path) -> People:
        """Read the people."""
        return data.read_tfrecord_profiles(folder / self.path, absent=self.absent)


class TwoTables(_Section):
    """What two sites saw: rows of known users, and rows whose user is wanted."""

    kind: Literal["linked"]
    known: str
    anonymous: str
    columns: dict[str, str] = Field(default_factory=dict)
    strangers: Literal["refuse", "drop"] = "refuse"

    def read(self, folder: Path) -> Linked:
        """Read the tables."""
        return data.read_linked(
            folder / self.known,
            folder / self.anonymous,
            columns=self.columns,
            strangers=self.strangers,
        )


_PEOPLE = {
    "synthetic": Synthetic,
    "table": Table,
    "history": History,
    "tfrecord": TfRecord,
    "linked": TwoTables,
}
_PATHS = ("path", "domains", "known", "anonymous")


class ReleaseSection(BaseModel):
    """A release: its kind, and its parameters as keys."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Kind = Field(default="topics", validate_default=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """All keys but the kind."""
        return dict(self.model_extra or {})


class PerUser(_Section):
    """Whose release is repeated."""

    users: Size = 200
    repeats: int = Field(default=50, ge=2)


class StudyModel(_Section):
    """Everything a study file may say."""

    title: str = "Re-identification risk"
    unit: str = "slots"
    seed: int = Field(default=0, ge=0)
    level: Share = 0.95
    slots: list[int] | None = None
    targets: Targets = 10_000
    precision: Share | None = None
    training: Share = 0.0
    attacks: list[NamedAttack] | None = None
    models: list[NamedAttack] = []
    full_information: bool = False
    bounds: list[NamedBound] = []
    sizes: list[Size] = Field(default_factory=list)
    beyond: list[Size] = Field(default_factory=list)
    per_user: PerUser | None = None
    people: Annotated[
        Synthetic | Table | History | TfRecord | TwoTables, Field(discriminator="kind")
    ]
    release: ReleaseSection | None = None
    sweep: dict[str, list[Any]] = Field(default_factory=dict)


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read: the study, its source, and the files of that."""

    text: str
    study: Study
    source: Source
    inputs: dict[str, str]


def read_study(path: str | Path) -> StudyFile:
    """Read a study file and its people; paths in it are relative to the file."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as wrong:
        raise InvalidInput(
            f"{file}: cannot be read ({wrong.strerror}); `reidrisk study new` writes a starter"
        ) from wrong
    except UnicodeDecodeError as wrong:
        raise InvalidInput(f"{file} is not UTF-8 text ({wrong}); save it as UTF-8") from wrong
    return study_file(text, str(file), file.parent)


def study_file(text: str, name: str = "study.toml", folder: Path = Path()) -> StudyFile:
    """A study from the text of a file, with its source; paths in it are relative to the folder."""
    model = parse(text, name)
    source = model.people.read(folder)
    names = [getattr(model.people, part, None) for part in _PATHS]
    paths = [folder / part for part in names if part]
    inputs = {one.name: hash_of_file(one) for one in paths if one.is_file()}
    try:
        release = _release(model, source)
    except InvalidInput as wrong:
        given = {} if model.release is None else model.release.parameters
        place = ["release", *_about(wrong, given)]
        raise InvalidInput(_line(text, name, place, str(wrong))) from wrong
    sweep = _sweep(model, release, text, name)
    try:
        study = _study(model, release, sweep)
    except InvalidInput as wrong:
        place = _about(wrong, model.model_fields_set)
        message = _line(text, name, place, str(wrong)) if place else f"{name}: {wrong}"
        raise InvalidInput(message) from wrong
    return StudyFile(text, study, source, inputs)


def parse(text: str, name: str = "study.toml") -> StudyModel:
    """The checked content of a study file."""
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise InvalidInput(f"{name} is not TOML: {wrong}") from wrong
    try:
        model = StudyModel.model_validate(body)
    except ValidationError as wrong:
        lines = [_explain(one, text, name) for one in wrong.errors()]
        raise InvalidInput("\n".join(lines)) from None
    if model.release is not None:
        wrongs = faults(model.release.kind, model.release.parameters)
        if wrongs:
            lines = [_line(text, name, ["release", key], why) for key, why in wrongs.items()]
            raise InvalidInput("\n".join(lines))
    return model


def _release(model: StudyModel, source: Source) -> Release | None:
    """The release that a file names; for people the Topics API, if it names none."""
    if model.release is not None:
        return make_release(model.release.kind, model.release.parameters, source)
    return None if isinstance(source, Linked) else make_release(kind_of("topics"), {}, source)


def _sweep(
    model: StudyModel, release: Release | None, text: str, name: str
) -> dict[str, tuple[Any, ...]]:
    """Values of parameters; all that is wrong with them at once."""
    found, wrongs = {}, []
    for key, values in model.sweep.items():
        try:
            parameter = parameter_of(release, key)
            found[key] = tuple(read_value(parameter, value) for value in values)
        except InvalidInput as wrong:
            wrongs.append(_line(text, name, ["sweep", key], str(wrong)))
    if wrongs:
        raise InvalidInput("\n".join(wrongs))
    return found


def _study(model: StudyModel, release: Release | None, sweep: dict[str, tuple[Any, ...]]) -> Study:
    attacks = model.attacks
    if attacks is None:
        shows: object = release
        names = (
            ("hamming", "weighted-hamming") if isinstance(shows, ShowsOneOfTop) else ("hamming",)
        )
        attacks = [attack_named(name) for name in names]
    return Study(
        release=release,
        attacks=tuple(attacks),
        models=tuple(model.models),
        bounds=tuple(model.bounds),
        slots=None if model.slots is None else tuple(model.slots),
        per_user=None if model.per_user is None else Repeats(**model.per_user.model_dump()),
        sweep=sweep,
        sizes=tuple(model.sizes),
        beyond=tuple(model.beyond),
        targets=model.targets,
        **model.model_dump(
            include={
                "title", "unit", "seed", "level", "precision", "training",
                "full_information",
            }
        ),
    )  # fmt: skip


def _explain(error: Any, text: str, name: str) -> str:
    """One line: file, line, key, what is wrong, what to do."""
    path = [part for part in error["loc"] if part not in _PEOPLE]
    return _line(text, name, path, _message(error, path))


def _about(wrong: InvalidInput, given: Collection[str]) -> list[str]:
    """The key that a message is about, if it is one of the file: most messages say it first."""
    first = str(wrong).partition(" ")[0]
    return [first] if first in given else []


def _line(text: str, name: str, path: list[Any], why: str) -> str:
    """A message with its place."""
    key = ".".join(str(part) for part in path)
    return f"{name}, line {line_of(text, path)}: {key}: {why}"


def _message(error: Any, path: list[Any]) -> str:
    """What is wrong and what to do, in our words where those of pydantic are for programmers."""
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        known = _known_keys(path[:-1], error["loc"])
        return f"there is no such key{meant(str(path[-1]), known)} There are {', '.join(known)}"
    if kind == "missing":
        return "this key is needed"
    if kind == "union_tag_not_found":
        return f"this needs a kind: {', '.join(_PEOPLE)}"
    if kind in {"union_tag_invalid", "literal_error"}:
        known = list(_PEOPLE)
        if kind == "literal_error":
            known = re.findall("'([^']+)'", error["ctx"]["expected"])
        else:
            given = error["ctx"]["tag"]
        return f"there is no {given!r}{meant(str(given), known)} There are {', '.join(known)}"
    if kind in {"model_type", "model_attributes_type"}:
        return f"this is a section of its own: [{path[-1]}], with its keys in the lines below"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


def _known_keys(parents: list[Any], loc: tuple[Any, ...]) -> list[str]:
    model: Any = StudyModel
    if parents[:1] == ["people"]:
        model = _PEOPLE[next(str(part) for part in loc if part in _PEOPLE)]
    elif parents:
        model = {"per_user": PerUser}[str(parents[0])]
    return sorted(model.model_fields)


def line_of(text: str, path: list[Any]) -> int:
    """The line of a key, or of the nearest thing around it that has one."""
    table: list[str] = []
    best, depth = 1, -1
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$", line)
        key = re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line)
        if header:
            table = [part.strip(" \"'") for part in header[1].split(".")]
            here = table
        elif key:
            here = table + [part.strip(" \"'") for part in key[1].split(".")]
        else:
            continue
        common = min(len(here), len(path))
        if here[:common] == [str(part) for part in path[:common]] and common > depth:
            best, depth = number, common
    return best
