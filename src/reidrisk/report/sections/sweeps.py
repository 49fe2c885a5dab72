"""Section: the study with a parameter changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.plotting import (
    PERCENT,
    SHOWN,
    Style,
    by_attack,
    chart,
    fixed,
    layer,
    of,
    settings,
    switchable,
)
from reidrisk.report.exhibits import (
    Cell,
    Column,
    Exhibit,
    Key,
    Row,
    Section,
    attack_keys,
    count_column,
    risk_row,
    said_rows,
    share_columns,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Result, Risk
from reidrisk.study.text.numbers import opening, percent, share, unit

ORDER = 80

_OWN = "this study"
_RING = "\N{LARGE CIRCLE}"


@dataclass(frozen=True)
class _Point:
    """A risk at a value of the parameter; own, if the study itself has that value."""

    at: Any
    risk: Risk
    own: bool


def section(result: Result) -> Section | None:
    """Panels side by side."""
    swept = [risk for risk in result.risks if risk.setting]
    panels: dict[tuple[str, tuple[tuple[str, Any], ...]], list[Risk]] = {}
    for risk in swept:
        panels.setdefault(_panel(risk.setting), []).append(risk)
    if not panels:
        return None
    exhibits = tuple(
        _exhibit(result, place, name, dict(rest), risks)
        for place, ((name, rest), risks) in enumerate(panels.items(), 1)
    )
    return Section("sweeps", "What if the release were different?", (), exhibits, panels=True)


def _panel(setting: Mapping[str, Cell]) -> tuple[str, tuple[tuple[str, Any], ...]]:
    """The first parameter is drawn; a panel holds the others still."""
    (name, _), *rest = setting.items()
    return name, tuple(rest)


def _exhibit(
    result: Result, place: int, name: str, rest: Mapping[str, Cell], risks: list[Risk]
) -> Exhibit:
    points = _points(result, name, rest, risks)
    used = list(dict.fromkeys(point.risk.attack for point in points))
    others = "".join(f", {key} = {_said(value)}" for key, value in rest.items())
    own = [point for point in points if point.own]
    return Exhibit(
        name=f"sweep-{place}",
        title=f"Effect of {name}{others}",
        sentence=" ".join(
            _change(name, [point for point in points if point.risk.attack == attack])
            for attack in used
        ),
        rows=tuple(
            {
                "parameter": name,
                "at": point.at,
                "held": others[2:],
                "own": _OWN if point.own else "",
                **risk_row(point.risk),
            }
            for point in points
        ),
        columns=(
            Column(name, _value, "at"),
            words_column("Attack", "attack"),
            count_column(unit(result).capitalize(), "slots"),
            *share_columns("Right", percent(result.level)),
            count_column("Assessed", "targets"),
            count_column("Not assessed", "not_assessed"),
        ),
        draw=lambda rows, look: _draw(rows, look, result.attacks, name),
        keys=(
            *attack_keys(result.attacks, used=used),
            *(Key(f"{_OWN}: {name} = {_said(own[0].at)}", _RING) for _ in own[:1]),
        ),
    )


def _points(
    result: Result, name: str, rest: Mapping[str, Cell], risks: Sequence[Risk]
) -> list[_Point]:
    """All risks along the parameter, and those of the study itself where it has a value of it."""
    value = _own(result, name)
    stays = all(_own(result, other) == held for other, held in rest.items())
    points = [
        _Point(risk.setting[name], risk, stays and risk.setting[name] == value) for risk in risks
    ]
    # Where the sweep has the study's own value, the study's figure would be drawn twice.
    if value is not None and stays and not any(point.own for point in points):
        attacks = {risk.attack for risk in risks}
        points += [
            _Point(value, risk, own=True)
            for risk in result.risks
            if not risk.setting
            and risk.attack in attacks
            and risk.users == result.users
            and risk.slots in {one.slots for one in risks}
        ]
    if all(isinstance(point.at, int | float) for point in points):
        return sorted(points, key=lambda point: float(point.at))
    return points


def _own(result: Result, name: str) -> Cell:
    """The study's own value of a parameter; None if it has none that can be drawn."""
    if name == "users":
        return result.users
    release = result.study.get("release")
    value = release.get(name) if isinstance(release, Mapping) else None
    return value if isinstance(value, str | int | float) else None


def _change(name: str, points: Sequence[_Point]) -> str:
    """From one end of the sweep to the other, at the most slots."""
    slots = max(point.risk.slots for point in points)
    # Twice over, so that there is a first and a last even of a single point.
    first, *_, last = [one for one in points if one.risk.slots == slots] * 2
    one, other = first.risk, last.risk
    if one is other:
        return opening(
            f"{one.attack} is right in {share(one)} of cases with {name} = {_said(first.at)}."
        )
    return opening(
        f"{one.attack} is right in {share(one)} of cases with {name} = {_said(first.at)} and in "
        f"{share(other)} with {_said(last.at)}."
    )


def _said(value: Cell) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value(row: Row) -> str:
    return f"{_said(row['at'])} ({row['own']})" if row["own"] else _said(row["at"])


def _draw(rows: Sequence[Row], look: Style, attacks: Sequence[str], name: str) -> Any:
    """A ring is around what the study itself has."""
    slots = max(int(row["slots"] or 0) for row in rows)
    data = said_rows([row for row in rows if row["slots"] == slots])
    numbers = all(isinstance(row["at"], int | float) for row in rows)
    x = of(
        "at:Q" if numbers else "at:N",
        title=name,
        sort=None,
        axis=settings(grid=False, **(_ticks(data) if numbers else {})),
    )
    base = chart(data).filter(SHOWN).encode(x=x)
    style = by_attack(attacks, look, {str(row["attack"]) for row in rows})
    axis = settings(title="share correctly identified", labelExpr=PERCENT, tickCount=5)
    tips = [
        of("attack:N"),
        of("at:N", title="value"),
        of("said:N", title="right"),
        of("targets:Q", title="assessed", format=","),
    ]
    value = of("value:Q", axis=axis)
    lines = base.mark("line", strokeWidth=2).encode(
        y=value, color=style["color"], strokeDash=style["strokeDash"]
    )
    ring = base.filter("datum.own != ''").mark(
        "point", filled=False, size=260, color=look.ink, strokeWidth=1.5
    )
    own = any(row["own"] for row in data)
    return switchable(
        layer(
            # Between values that are no numbers there is nothing that a line could stand for.
            *([lines] if numbers else []),
            base.mark("rule", strokeWidth=2, opacity=0.6).encode(
                y=of("low:Q", axis=axis), y2="high:Q", color=style["color"]
            ),
            *([ring.encode(y=value)] if own else []),
            base.mark("point", filled=True, size=80, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
            *([_note(data, look)] if own and look.legend else []),
        ),
        attacks,
    ).properties(height=240)


def _note(data: Sequence[Row], look: Style) -> Any:
    """What the ring is, where nothing beside the chart says it."""
    value = next(row["at"] for row in data if row["own"])
    note = chart([{"text": f"ring: {_OWN}, {_said(value)}"}])
    return note.mark("text", align="right", color=look.muted).encode(
        x=fixed("width"), y=fixed(6), text="text:N"
    )


def _ticks(rows: Sequence[Row]) -> dict[str, Any]:
    """Ticks where there are measurements."""
    places = list(dict.fromkeys(row["at"] for row in rows))
    return {"values": places, "labelExpr": "format(datum.value, '.4~g')"}
