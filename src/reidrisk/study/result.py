"""What a study found: plain records that become `result.json` and the report.

Every record is flat and frozen, so that a result is a value: two runs of one study are equal. What
differs from run to run, such as time and machine, is not part of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.files import made_folder, written_whole
from reidrisk.guests import frame, html_table, risk_chart

SCHEMA = "reidrisk/1"

_SCALARS: dict[type, tuple[type, ...]] = {
    int: (int,), float: (float, int), str: (str,), bool: (bool,),
}  # fmt: skip

Side = Literal["lower", "estimate", "upper"]
Setting = Mapping[str, float | int | str]
"""Parameters of a sweep in which a record differs from the study; empty for the study itself."""


@dataclass(frozen=True)
class Figure:
    """A measured or computed number; the fields of `Estimate`."""

    value: float
    low: float
    high: float
    level: float
    trials: int
    method: str

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        """The same number as a record."""
        return cls(*(getattr(estimate, part.name) for part in fields(Estimate)))


@dataclass(frozen=True)
class Risk:
    """How often an attack names the right user: one row of `risks`, `sizes` and sweeps."""

    attack: str
    slots: int
    users: int
    targets: int
    not_assessed: int
    value: float
    low: float
    high: float
    level: float
    method: str
    guessing: float
    setting: Setting = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return Estimate(self.value, self.low, self.high, self.level, self.targets, self.method)


@dataclass(frozen=True)
class Bound:
    """A level of the spectrum: guessing, attacks, optima under models, bounds; weakest first."""

    name: str
    side: Side
    slots: int
    value: float
    low: float
    high: float
    level: float
    trials: int
    method: str
    assumes: str
    fits: bool | None = None
    setting: Setting = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return Estimate(self.value, self.low, self.high, self.level, self.trials, self.method)


@dataclass(frozen=True)
class Selection:
    """An attacker who names people only when sure: share named, share right among them."""

    attack: str
    slots: int
    precision: float
    named: Figure
    right: Figure | None
    expected_right: float


@dataclass(frozen=True)
class ClaimBin:
    """Targets with similar claims: mean claim and share right."""

    claimed: float
    right: Figure


@dataclass(frozen=True)
class Claims:
    """What an attacker claimed beside what came true."""

    attack: str
    slots: int
    claimed: float
    right: Figure
    gap: Figure
    fits: bool
    bins: tuple[ClaimBin, ...]


@dataclass(frozen=True)
class UserRisk:
    """How risk is spread over users.

    `shares[i]` of them have a risk between `edges[i]` and the next edge.
    """

    attack: str
    slots: int
    users: int
    repeats: int
    mean: Figure
    median: Figure
    percentile_90: Figure
    percentile_99: Figure
    worst_decile: Figure
    edges: tuple[float, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Extrapolation:
    """Risk among more users than were measured, by a law fitted to nested smaller crowds.

    `predicted` holds (users, figure) beyond the measured sizes; `held_out` compares what the law
    predicts for measured sizes it was not fitted on.
    """

    attack: str
    slots: int
    law: str
    parameters: Mapping[str, float]
    fitted: tuple[tuple[int, Figure], ...]
    predicted: tuple[tuple[int, Figure], ...]
    held_out: tuple[tuple[int, Figure, Figure], ...]  # users, predicted, measured


@dataclass(frozen=True)
class Bits:
    """An information figure: bits per slot, with its standard error (0 if exact)."""

    name: str
    slots: int
    value: float
    error: float
    note: str


@dataclass(frozen=True)
class Result:
    """Everything a study found.

    Attributes:
        title: Of the study, in the words of who wrote it.
        study: What was run, resolved: people, release, attacks and all parameters.
        users: How many the attacker chooses among.
        targets: How many were attacked.
        slots: Numbers of slots measured, ascending; the last is the headline.
        level: Of all intervals.
        seed: Of all chance.
        risks: By attack and slots, sweeps included (`setting`).
        bounds: The spectrum, at one or more numbers of slots.
        sizes: By attack and number of users.
        extrapolations: Beyond the users measured.
        selections: The selective attacker.
        claims: Calibration of attackers.
        per_user: Spread over users.
        information: Bits.
        assumptions: What was assumed, a sentence each.
        not_covered: What this does not speak about, a sentence each.
        inputs: Names and hashes of files read.
        versions: Of the package and its libraries.
    """

    title: str
    study: Mapping[str, Any]
    users: int
    targets: int
    slots: tuple[int, ...]
    level: float
    seed: int
    risks: tuple[Risk, ...]
    bounds: tuple[Bound, ...] = ()
    sizes: tuple[Risk, ...] = ()
    extrapolations: tuple[Extrapolation, ...] = ()
    selections: tuple[Selection, ...] = ()
    claims: tuple[Claims, ...] = ()
    per_user: tuple[UserRisk, ...] = ()
    information: tuple[Bits, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """As the text of `result.json`: same result, same text."""
        body = {"schema": SCHEMA, **plain(self)}
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "result.json") -> Self:
        """Read what `to_json` wrote; `name` is for messages."""
        try:
            body = json.loads(text, parse_constant=_refuse)
        except ValueError as wrong:
            raise InvalidInput(f"{name} is not JSON: {wrong}; run the study again") from wrong
        schema = body.pop("schema", None) if isinstance(body, dict) else None
        if schema != SCHEMA:
            raise InvalidInput(
                f"{name} has schema {schema!r} and this version reads {SCHEMA!r}; run the study "
                "again, or use the version that wrote it"
            )
        try:
            return typed(cls, body)  # type: ignore[no-any-return]
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            raise InvalidInput(f"{name} is damaged ({wrong}); run the study again") from wrong

    def to_frame(self) -> Any:
        """All risks, sweeps included, as a data frame of pandas, or else of polars."""
        rows = [{**plain(risk), **risk.setting} for risk in self.risks]
        return frame([{key: row[key] for key in row if key != "setting"} for row in rows])

    def plot(self) -> Any:
        """A chart of altair: risk over slots with intervals, one line per attack."""
        rows = [plain(risk) for risk in self.risks if not risk.setting]
        return risk_chart(rows, "slots", title=self.title, scale="linear")

    def _repr_html_(self) -> str:
        rows = [
            (one.attack, str(one.slots), *(f"{x:.4%}" for x in (one.value, one.low, one.high)))
            for one in self.risks
            if not one.setting
        ]
        headings = ("attack", "slots", "named rightly", "low", "high")
        return html_table(self.title, headings, rows)

    def save(self, folder: str | Path) -> Path:
        """Write `result.json` into a folder, which is made if it is not there."""
        file = made_folder(folder) / "result.json"
        with written_whole(file) as (part,):
            part.write_text(self.to_json(), encoding="utf-8")
        return file

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result: `result.json`, or the folder that holds it."""
        file = Path(path) / "result.json" if Path(path).is_dir() else Path(path)
        if not file.is_file():
            raise InvalidInput(f"{file}: there is no such file; run a study first")
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as wrong:
            raise InvalidInput(f"{file} is damaged ({wrong}); run the study again") from wrong
        return cls.from_json(text, str(file))


def plain(value: Any) -> Any:
    """Records as dictionaries, tuples as lists."""
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def typed(kind: Any, value: Any) -> Any:
    """The reverse, following the annotations of records."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{key: typed(hints[key], item) for key, item in value.items()})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        if kinds[-1] is Ellipsis:
            return tuple(typed(kinds[0], item) for item in value)
        return tuple(typed(one, item) for one, item in zip(kinds, value, strict=True))
    if get_origin(kind) is UnionType:
        records = [one for one in get_args(kind) if is_dataclass(one)]
        return typed(records[0], value) if records and value is not None else value
    if kind in _SCALARS and (
        not isinstance(value, _SCALARS[kind]) or (isinstance(value, bool) and kind is not bool)
    ):
        raise TypeError(f"{value!r} instead of a value of type {kind.__name__}")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
