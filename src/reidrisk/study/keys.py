"""The keys of a study file, as pydantic models."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from reidrisk import data
from reidrisk.attacks import attack_named
from reidrisk.core.checks import shown
from reidrisk.core.plugins import part_at
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.io.linked import Linked
from reidrisk.people.protocol import People
from reidrisk.releases.table import release_kind
from reidrisk.risk.bounds import bound_named
from reidrisk.study.analyses.protocol import CustomAnalysis
from reidrisk.study.information import check_method
from reidrisk.study.quantities import share, size


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
            raise InvalidInput(f"a name is text in quotes; got {shown(name)}", code="wrong-type")
        return find(name)

    return found


def _bound_name(name: str) -> str:
    bound_named(name)
    return name


def _way_name(name: str) -> str:
    check_method(name)
    return name


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


Whole = Annotated[int, Field(strict=True)]
"""True is not a number here, nor is 3.0 or "3"."""
Count = Annotated[Whole, Field(ge=1, le=10**6)]
Flag = Annotated[bool, Field(strict=True)]
Size = Annotated[int, _read(size)]
Share = Annotated[float, _read(share)]
Targets = Annotated[int | None, _read(lambda value: None if value == "all" else size(value))]
NamedAttack = Annotated[Any, _read(_named(attack_named))]
NamedWay = Annotated[str, _read(_named(_way_name))]
NamedBound = Annotated[str, _read(_named(_bound_name))]
Kind = Annotated[Any, _read(_named(release_kind))]


class _Section(BaseModel):
    """Unknown keys are refused: most are slips of the pen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Laid(_Section):
    """What is said of a table: which column is what, and how it is cut."""

    user: str | None = None
    item: str | None = None
    count: str | None = None
    epoch: str | None = None
    header: Flag | None = None
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
    seed: Whole = Field(default=0, ge=0)
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
    epochs: list[Whole | str] | None = None
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

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Kind = Field(default="topics", validate_default=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """All keys but the kind."""
        return dict(self.model_extra or {})


class PerUser(_Section):
    """Whose release is repeated."""

    users: Size = 200
    repeats: Count = Field(default=50, ge=2)


class SignoffSection(_Section):
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


class StudyModel(_Section):
    """Everything a study file may say."""

    title: str = "Re-identification risk"
    unit: str = "slots"
    seed: Whole = Field(default=0, ge=0)
    level: Share = 0.95
    slots: list[Count] | None = None
    targets: Targets = 10_000
    precision: Share | None = None
    training: Share = 0.0
    attacks: list[NamedAttack] | None = None
    models: list[NamedAttack] = []
    full_information: Flag = False
    bounds: list[NamedBound] = []
    sizes: list[Size] = Field(default_factory=list)
    beyond: list[Size] = Field(default_factory=list)
    guesses: list[Count] = Field(default_factory=list)
    strangers: Share = 0.0
    present: Share | None = None
    information: list[NamedWay] = []
    per_user: PerUser | None = None
    signoff: SignoffSection | None = None
    people: Annotated[
        Synthetic | Table | Files | Plays | History | TfRecord | TwoTables,
        Field(discriminator="kind"),
    ]
    release: ReleaseSection | None = None
    beside: list[ReleaseSection] = []
    analyses: Annotated[Any, _read(_analyses)] = ()
    sweep: dict[str, list[Any]] = Field(default_factory=dict)
