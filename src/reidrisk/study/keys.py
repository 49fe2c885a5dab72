"""The keys of a study file, as pydantic models: settings of the study, and its sections."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from reidrisk import data
from reidrisk.attacks import attack_named
from reidrisk.core.plugins import part_at
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.io.linked import Linked
from reidrisk.people.protocol import People
from reidrisk.releases import AnyRelease
from reidrisk.releases.table import release_kind
from reidrisk.study.analyses.protocol import CustomAnalysis
from reidrisk.study.settings import AfterRelease, Count, ReadBy, Share, Size, named
from reidrisk.study.study import Study


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

    def layout(self, slots: tuple[str, ...] = ()) -> Layout:
        """The layout that these keys say."""
        said = {name: getattr(self, name) for name in _Laid.model_fields}
        return Layout(columns=slots, **said)


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


class Plays(_Laid):
    """A table of user, item and perhaps count: plays, purchases, visits."""

    kind: Literal["plays"]
    path: str

    def read(self, folder: Path, progress: Callable[[int, int], None] | None = None) -> People:
        """Read the people."""
        return data.read_plays(folder / self.path, layout=self.layout(), progress=progress)


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


class TwoTables(_Laid):
    """What two sites saw: rows of known users, and rows whose user is wanted."""

    kind: Literal["linked"]
    known: str
    anonymous: str
    columns: list[str] | dict[str, str] = Field(default_factory=list)
    strangers: Literal["keep", "refuse"] = "keep"

    def read(self, folder: Path) -> Linked:
        """Read the tables."""
        renamed = self.columns if isinstance(self.columns, dict) else {}
        slots = () if isinstance(self.columns, dict) else tuple(self.columns)
        return data.read_linked(
            folder / self.known,
            folder / self.anonymous,
            layout=self.layout(slots),
            columns=renamed,
            strangers=self.strangers,
        )


PEOPLE = {
    "synthetic": Synthetic,
    "table": Table,
    "files": Files,
    "plays": Plays,
    "history": History,
    "tfrecord": TfRecord,
    "linked": TwoTables,
}
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

    attacks: list[Annotated[Any, named(attack_named)]] | None = None
    analyses: Annotated[Any, ReadBy(_analyses)] = ()
    signoff: _SignoffSection | None = None
    people: Annotated[
        Synthetic | Table | Files | Plays | History | TfRecord | TwoTables,
        Field(discriminator="kind"),
    ]
