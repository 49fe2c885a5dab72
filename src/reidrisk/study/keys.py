"""The keys of a study file, as pydantic models: settings of the study, and its sections."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from reidrisk import data
from reidrisk.attacks import attack_named
from reidrisk.core.checks import shown
from reidrisk.core.doubts import known_codes
from reidrisk.core.plugins import part_at
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout, Returns
from reidrisk.io.linked import RENAMED, Linked
from reidrisk.io.paired_columns import two_layouts
from reidrisk.io.tables import is_path
from reidrisk.people.protocol import People
from reidrisk.releases import AnyRelease
from reidrisk.releases.table import release_kind
from reidrisk.study.analyses.protocol import CustomAnalysis
from reidrisk.study.settings import AfterRelease, Count, ReadBy, Share, Size, named
from reidrisk.study.study import Study


def _attack(given: Any) -> Any:
    """An attack by its name; in Python it may be the attack itself."""
    return given if callable(getattr(given, "fit", None)) else named(attack_named).read(given)


def _at(folder: Path, given: Any) -> Any:
    """A path of a study file, which is relative to it; or a table in memory, as Python gives it."""
    return folder / given if is_path(given) else given


def _analyses(tables: Any) -> tuple[CustomAnalysis, ...]:
    """Analyses of others, by their paths."""
    if not isinstance(tables, dict):
        raise InvalidInput(
            'each analysis is a section of its own: [analyses."module:Name"]', code="wrong-type"
        )
    return tuple(_analysis(path, keys) for path, keys in tables.items())


def _analysis(path: str, keys: Any) -> CustomAnalysis:
    kind = part_at(path, "an analysis")
    if not (isinstance(kind, type) and issubclass(kind, CustomAnalysis)):
        raise InvalidInput(
            f"{path!r} should be an analysis, a class derived from "
            "reidrisk.study.CustomAnalysis; it is not",
            code="wrong-type",
        )
    try:
        found: CustomAnalysis = TypeAdapter(kind).validate_python(keys)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        place = ".".join([path, *map(str, first["loc"])])
        raise InvalidInput(f"{place}: {first['msg']}", code="invalid-value") from None
    return found


_Whole = Annotated[int, Field(strict=True)]
"""True is not a number here, nor is 3.0 or "3"."""
_Flag = Annotated[bool, Field(strict=True)]


class _Section(BaseModel):
    """Unknown keys are refused: most are slips of the pen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Laid(_Section):
    """What is said of a table: which column is what, and how it is cut."""

    user: str | None = None
    item: str | None = None
    count: str | None = None
    epoch: str | None = None
    header: _Flag | None = None
    separator: str | None = None
    encoding: str | None = None
    where: str | None = None
    time_format: str | None = None
    returns: Returns = "refuse"
    skip: _Whole | None = Field(default=None, ge=0)

    def layout(self, slots: tuple[str, ...] = ()) -> Layout:
        """The layout that these keys say."""
        said = {name: getattr(self, name) for name in _Laid.model_fields}
        return Layout(columns=slots, **said)


def layout_keys(layout: Layout) -> dict[str, Any]:
    """A layout as the keys of a table; what it leaves open is left out.

    Args:
        layout: Which column is what.
    """
    said = {name: (getattr(layout, name), key.default) for name, key in _Laid.model_fields.items()}
    keys = {name: value for name, (value, default) in said.items() if value != default}
    return keys | ({"columns": list(layout.columns)} if layout.columns else {})


class Synthetic(_Section):
    """The embedded population."""

    kind: Literal["synthetic"]
    users: Size = Field(le=10**12)
    epochs: Count = 8
    topics: Count = 349
    seed: _Whole = Field(default=0, ge=0)
    types: Count = 64
    size: Count = 5

    def read(self, _folder: Path) -> People:
        """Make the people."""
        return data.synthetic_topics(
            self.users, self.topics, self.epochs, self.seed, types=self.types, size=self.size
        )


class _LongTable(_Laid):
    """A long table of user, epoch, token and weight, in one file or in many."""

    path: str
    columns: dict[str, str] = Field(default_factory=dict)
    epochs: list[_Whole | str] | None = None
    absent: Literal["missing", "pad", "drop"] = "missing"
    duplicates: Literal["refuse", "add"] = "refuse"

    def _choices(self) -> dict[str, Any]:
        named = {
            name: getattr(self, name) for name in ("columns", "epochs", "absent", "duplicates")
        }
        return {"layout": self.layout(), **named}


class Table(_LongTable):
    """A table that is read at once."""

    kind: Literal["table"]

    def read(self, folder: Path) -> People:
        """Read the people."""
        return data.read_profiles(folder / self.path, **self._choices())


class Files(_LongTable):
    """A table in many files, each with whole users, which are read when they are asked for."""

    kind: Literal["files"]

    def read(self, folder: Path) -> People:
        """Open the people."""
        return data.open_profiles(folder / self.path, **self._choices())


class ItemLog(_Laid):
    """A table of user, item and perhaps count: plays, purchases, visits."""

    kind: Literal["items", "plays"]
    path: str

    def read(self, folder: Path, progress: Callable[[int, int], None] | None = None) -> People:
        """Read the people."""
        return data.read_plays(_at(folder, self.path), layout=self.layout(), progress=progress)


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


class Vectors(_Laid):
    """A table of users with a vector in each row: embeddings."""

    kind: Literal["vectors"]
    path: str
    vector: str | None = None
    vectors: str | list[str] = Field(default_factory=list)

    def read(self, folder: Path) -> People:
        """Read the people."""
        several = (self.vectors,) if isinstance(self.vectors, str) else tuple(self.vectors)
        layout = replace(self.layout(), vector=self.vector, vectors=several)
        return data.read_vectors(_at(folder, self.path), layout=layout)


def _pair(column: Any) -> Any:
    """A column of two tables: its name, or its name in the known table = that in the other."""
    names = list(column.values()) if isinstance(column, dict) else [column]
    if len(names) != 1 or not isinstance(names[0], str):
        raise InvalidInput(
            "this is the name of a column, or { name in the known table = name in the other }; got "
            f"{shown(column)}",
            code="wrong-type",
        )
    return column


_Pair = Annotated[Any, ReadBy(_pair)]


class TwoTables(_Laid):
    """What two sites saw: rows of known users, and rows whose user is wanted."""

    kind: Literal["linked"]
    known: str
    anonymous: str
    known_user: str | None = None
    anonymous_user: str | None = None
    item: _Pair = None
    count: _Pair = None
    epoch: _Pair = None
    time: _Pair = None
    vector: _Pair = None
    vectors: str | list[_Pair] | dict[str, str] = Field(default_factory=list)
    columns: list[_Pair] | dict[str, str] = Field(default_factory=list)
    user_pattern: str | None = None
    strangers: Literal["keep", "refuse"] = "keep"

    def layouts(self) -> tuple[Layout, Layout]:
        """The layout of the known table, and that of the anonymous one."""
        named = (*_Laid.model_fields, "time", "vector", "vectors")
        said = {name: getattr(self, name) for name in named}
        slots = () if self._renamed else self.columns
        users = {name: getattr(self, name) for name in ("known_user", "anonymous_user")}
        return two_layouts(columns=slots, **users, **said)

    @property
    def _renamed(self) -> dict[str, str]:
        """Names of our columns in both files, if that is what `columns` says."""
        if isinstance(self.columns, dict) and RENAMED.issuperset(self.columns):
            return self.columns
        return {}

    def read(self, folder: Path) -> Linked:
        """Read the tables."""
        here, there = self.layouts()
        return data.read_linked(
            _at(folder, self.known),
            _at(folder, self.anonymous),
            layout=here,
            anonymous_layout=there,
            columns=self._renamed,
            user_pattern=self.user_pattern,
            strangers=self.strangers,
        )


_People = Synthetic | Table | Files | ItemLog | History | TfRecord | Vectors | TwoTables
_KINDS = {one: get_args(one.model_fields["kind"].annotation) for one in get_args(_People)}
PEOPLE = {kind: one for one, kinds in _KINDS.items() for kind in kinds}
"""The sections of people by kind, also by what a kind was called once."""
PEOPLE_KINDS = [kinds[0] for kinds in _KINDS.values()]
"""The kinds, as they are called now."""
PATHS = ("path", "domains", "known", "anonymous")
"""Keys of people that name files."""


class ReleaseSection(BaseModel):
    """A release: its kind, and its parameters as keys."""

    # The release alone knows its parameters, so all keys pass here; `faults` checks them.
    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Annotated[Any, named(release_kind)] = Field(default="topics", validate_default=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """All keys but the kind."""
        return dict(self.model_extra or {})


def _code(name: str) -> str:
    (code,) = known_codes((name,), "accept")
    return code


class _SignoffSection(_Section):
    """What the person who signs adds."""

    scope: str = ""
    data: str = ""
    recipients: str = ""
    knowledge: str = ""
    before: str = ""
    limit: Share | None = None
    limit_source: str = ""
    valid_until: str = ""
    signer: str = ""
    role: str = ""
    accept: list[Annotated[str, named(_code)]] = []


def _in_file(kind: Any) -> Any:
    """The type of a key in a study file, from that of the setting."""
    if kind in get_args(AnyRelease):  # a union, which `| None` makes one of three
        return ReleaseSection
    if kind is bool:
        return _Flag
    if get_origin(kind) is tuple:
        return list[_in_file(get_args(kind)[0])]  # type: ignore[misc]
    if get_origin(kind) in {Union, UnionType}:
        return Union[tuple(map(_in_file, get_args(kind)))]  # noqa: UP007  of a tuple
    if of_release(kind) is not None:
        return dict[str, list[Any]]
    return kind


def of_release(kind: Any) -> AfterRelease | None:
    """How entries of a setting are read once the release is known, if they wait for it.

    Args:
        kind: The type of the setting, with its annotations.
    """
    return next((one for one in get_args(kind)[1:] if isinstance(one, AfterRelease)), None)


def _default(setting: dataclasses.Field[Any]) -> Any:
    if setting.default_factory is not dataclasses.MISSING:
        return Field(default_factory=setting.default_factory)
    return ... if setting.default is dataclasses.MISSING else setting.default


_Settings: Any = create_model(
    "_Settings",
    __base__=_Section,
    **{one.name: (_in_file(one.type), _default(one)) for one in dataclasses.fields(Study)},
)  # type: ignore[call-overload]
"""The settings of a study and of its analyses, as keys."""


class StudyModel(_Settings):  # type: ignore[misc]
    """Everything a study file may say."""

    attacks: list[Annotated[Any, ReadBy(_attack)]] | None = None
    effort: Literal["quick", "normal", "thorough"] = "normal"
    analyses: Annotated[Any, ReadBy(_analyses)] = ()
    signoff: _SignoffSection | None = None
    people: Annotated[_People, Field(discriminator="kind")]
