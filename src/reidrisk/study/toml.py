"""Study files: `study.toml`, checked with the line of whatever is wrong."""

import difflib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reidrisk import data
from reidrisk.attacks import (
    Attack,
    Hamming,
    ProfileOverlap,
    TokenTable,
    TypeAware,
    WeightedHamming,
)
from reidrisk.errors import InvalidInput
from reidrisk.people.people import People
from reidrisk.releases import TopicsApi
from reidrisk.study.describe import hash_of_file
from reidrisk.study.quantities import share, size
from reidrisk.study.study import Repeats, Study

Size = Annotated[int, BeforeValidator(lambda value: _quantity(size, value))]
Share = Annotated[float, BeforeValidator(lambda value: _quantity(share, value))]
AttackName = Literal[
    "hamming", "weighted-hamming", "token-table", "type-aware", "profile-overlap",
    "denoised-profile-overlap",
]  # fmt: skip


_WITHOUT_RELEASE: dict[str, Callable[[], Attack]] = {
    "hamming": Hamming,
    "profile-overlap": ProfileOverlap,
}


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


_PEOPLE = {"synthetic": Synthetic, "table": Table, "history": History, "tfrecord": TfRecord}


class Release(_Section):
    """The Topics API; other switches as in `TopicsApi`."""

    kind: Literal["topics"] = "topics"
    topics: int | None = Field(default=None, ge=1)
    top: int = Field(default=5, ge=1)
    noise: Share = 0.05
    presence: float | list[float] | None = None
    memory: int = Field(default=3, ge=1)
    delay: float = Field(default=0.0, ge=0)
    per_call: int = Field(default=1, ge=1)
    every: int | None = Field(default=None, ge=1)
    blocked: float | list[float] = 0.0
    absence: Share = 0.0

    def release(self, people: People) -> TopicsApi:
        """The release, for people with this alphabet."""
        switches = self.model_dump(exclude={"kind", "topics"})
        for name in ("presence", "blocked"):
            if isinstance(switches[name], list):
                switches[name] = tuple(switches[name])
        return TopicsApi(topics=self.topics or people.tokens, **switches)


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
    targets: Size | None = 10_000
    precision: Share | None = None
    training: Share = 0.0
    attacks: list[AttackName] = ["hamming", "weighted-hamming"]
    models: list[AttackName] = []
    full_information: bool = False
    sizes: list[Size] = Field(default_factory=list)
    beyond: list[Size] = Field(default_factory=list)
    per_user: PerUser | None = None
    people: Annotated[Synthetic | Table | History | TfRecord, Field(discriminator="kind")]
    release: Release = Release()
    sweep: dict[str, list[Any]] = Field(default_factory=dict)


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read: the study, its people, and where they came from."""

    text: str
    study: Study
    people: People
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
    """A study from the text of a file, with its people; paths in it are relative to the folder."""
    model = parse(text, name)
    people = model.people.read(folder)
    names = [getattr(model.people, part, None) for part in ("path", "domains")]
    paths = [folder / part for part in names if part]
    inputs = {one.name: hash_of_file(one) for one in paths if one.is_file()}
    try:
        study = study_of(model, people)
    except InvalidInput as wrong:
        raise InvalidInput(f"{name}: {wrong}") from wrong
    return StudyFile(text, study, people, inputs)


def parse(text: str, name: str = "study.toml") -> StudyModel:
    """The checked content of a study file."""
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise InvalidInput(f"{name} is not TOML: {wrong}") from wrong
    try:
        return StudyModel.model_validate(body)
    except ValidationError as wrong:
        lines = [_explain(one, text, name) for one in wrong.errors()]
        raise InvalidInput("\n".join(lines)) from None


def study_of(model: StudyModel, people: People) -> Study:
    """The study of a model, for its people."""
    release = model.release.release(people)
    return Study(
        release=release,
        attacks=tuple(make_attack(name, release, people) for name in model.attacks),
        models=tuple(make_attack(name, release, people) for name in model.models),
        slots=None if model.slots is None else tuple(model.slots),
        per_user=None if model.per_user is None else Repeats(**model.per_user.model_dump()),
        sweep={key: tuple(_swept(key, one) for one in many) for key, many in model.sweep.items()},
        sizes=tuple(model.sizes),
        beyond=tuple(model.beyond),
        **model.model_dump(
            include={
                "title", "unit", "seed", "level", "targets", "precision", "training",
                "full_information",
            }
        ),
    )  # fmt: skip


def make_attack(name: str, release: TopicsApi | None, people: People | None = None) -> Attack:
    """An attack by its name; on synthetic people, one that knows types is given them.

    Without a release there are only attacks that need to know nothing of it.
    """
    if release is None:
        if name not in _WITHOUT_RELEASE:
            raise InvalidInput(
                f"{name} must know what showed the tokens: how many of a user it may show (top) "
                f"and the noise; without, there is {' and '.join(_WITHOUT_RELEASE)}"
            )
        return _WITHOUT_RELEASE[name]()
    interests = people.interests if isinstance(people, data.SyntheticTopics) else None
    if interests is not None and interests.size != release.top:
        interests = None
    makers: dict[str, Any] = {
        **_WITHOUT_RELEASE,
        "weighted-hamming": lambda: WeightedHamming(release),
        "token-table": lambda: TokenTable(
            release, pairs=None if interests is None else interests.pairs
        ),
        "type-aware": lambda: TypeAware(release, interests),
        "denoised-profile-overlap": lambda: ProfileOverlap(release),
    }
    if name not in makers:
        raise InvalidInput(
            f"there is no attack {name!r}{_meant(name, makers)} There are {', '.join(makers)}"
        )
    attack: Attack = makers[name]()
    return attack


def _swept(name: str, value: Any) -> Any:
    if name == "users":
        return size(value, "sweep.users")
    return share(value, f"sweep.{name}") if isinstance(value, str) else value


def _quantity(read: Any, value: Any) -> Any:
    """Read a quantity; pydantic turns ValueError into a message with its place."""
    try:
        return read(value)
    except InvalidInput as wrong:
        raise ValueError(str(wrong)) from None


def _explain(error: Any, text: str, name: str) -> str:
    """One line: file, line, key, what is wrong, what to do."""
    path = [part for part in error["loc"] if part not in _PEOPLE]
    key = ".".join(str(part) for part in path)
    return f"{name}, line {line_of(text, path)}: {key}: {_message(error, path)}"


def _message(error: Any, path: list[Any]) -> str:
    """What is wrong and what to do, in our words where those of pydantic are for programmers."""
    kind, given = error["type"], error["input"]
    if kind == "extra_forbidden":
        known = _known_keys(path[:-1], error["loc"])
        return f"there is no such key{_meant(str(path[-1]), known)} There are {', '.join(known)}"
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
        return f"there is no {given!r}{_meant(str(given), known)} There are {', '.join(known)}"
    if kind in {"model_type", "model_attributes_type"}:
        return f"this is a section of its own: [{path[-1]}], with its keys in the lines below"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}"


def _known_keys(parents: list[Any], loc: tuple[Any, ...]) -> list[str]:
    model: Any = StudyModel
    if parents[:1] == ["people"]:
        model = _PEOPLE[next(str(part) for part in loc if part in _PEOPLE)]
    elif parents:
        model = {"release": Release, "per_user": PerUser}[str(parents[0])]
    return sorted(model.model_fields)


def _meant(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f": did you mean {close[0]}?" if close else "."


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
