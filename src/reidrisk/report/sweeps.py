"""Sweeps: the same study with a parameter changed, one panel for each parameter."""

from collections.abc import Mapping, Sequence
from typing import Any

from reidrisk.drawing import PERCENT, SHOWN, Look, by_attack, chart, switchable
from reidrisk.guests import guest
from reidrisk.report.parts import (
    Cell,
    Column,
    Exhibit,
    Row,
    Section,
    attack_keys,
    count_column,
    risk_row,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Result, Risk
from reidrisk.study.saying.numbers import percent, share, share_with_interval
from reidrisk.study.saying.words import opening, unit


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
    attacks = list(dict.fromkeys(risk.attack for risk in result.risks))
    used = list(dict.fromkeys(risk.attack for risk in risks))
    others = "".join(f", {key} = {_said(value)}" for key, value in rest.items())
    return Exhibit(
        name=f"sweep-{place}",
        title=f"Effect of {name}{others}",
        sentence=" ".join(
            _change(name, [risk for risk in risks if risk.attack == attack]) for attack in used
        ),
        rows=tuple(
            {"parameter": name, "at": risk.setting[name], "held": others[2:], **risk_row(risk)}
            for risk in risks
        ),
        columns=(
            Column(name, lambda row: _said(row["at"]), "at"),
            words_column("Attack", "attack"),
            count_column(unit(result).capitalize(), "slots"),
            *share_columns("Right", percent(result.level)),
            count_column("Assessed", "targets"),
            count_column("Not assessed", "not_assessed"),
        ),
        draw=lambda rows, look: _draw(rows, look, attacks, name),
        keys=attack_keys(attacks, used=used),
    )  # fmt: skip


def _change(name: str, risks: list[Risk]) -> str:
    """From one end of the sweep to the other, at the most slots."""
    slots = max(risk.slots for risk in risks)
    first, last = _ends([risk for risk in risks if risk.slots == slots], name)
    if first is last:
        return opening(
            f"{first.attack} is right in {share(first)} of cases with {name} = "
            f"{_said(first.setting[name])}."
        )
    return opening(
        f"{first.attack} is right in {share(first)} of cases with {name} = "
        f"{_said(first.setting[name])} and in {share(last)} with {_said(last.setting[name])}."
    )


def _said(value: Cell) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ends(risks: list[Risk], name: str) -> tuple[Risk, Risk]:
    """Numbers by size, words as they come."""
    numbers = all(isinstance(risk.setting[name], int | float) for risk in risks)
    ordered = sorted(risks, key=lambda risk: float(risk.setting[name])) if numbers else risks
    return ordered[0], ordered[-1]


def _draw(rows: Sequence[Row], look: Look, attacks: Sequence[str], name: str) -> Any:
    alt = guest("altair")
    slots = max(int(row["slots"] or 0) for row in rows)
    data = [
        {**row, "said": share_with_interval(span(row))} for row in rows if row["slots"] == slots
    ]
    numbers = all(isinstance(row["at"], int | float) for row in rows)
    x = alt.X(
        "at:Q" if numbers else "at:N",
        title=name,
        sort=None,
        axis=alt.Axis(grid=False, **(_ticks(data) if numbers else {})),
    )
    base = chart(data).transform_filter(SHOWN).encode(x=x)
    style = by_attack(attacks, look, dashed=True)
    axis = alt.Axis(title="share correctly identified", labelExpr=PERCENT, tickCount=5)
    tips = [
        alt.Tooltip("attack:N"),
        alt.Tooltip("at", type="nominal", title="value"),
        alt.Tooltip("said:N", title="right"),
        alt.Tooltip("targets:Q", title="assessed", format=","),
    ]
    value = alt.Y("value:Q", axis=axis)
    lines = base.mark_line(strokeWidth=2).encode(
        y=value, color=style["color"], strokeDash=style["strokeDash"]
    )
    return switchable(
        alt.layer(
            *([lines] if numbers else []),
            base.mark_rule(strokeWidth=2, opacity=0.6).encode(
                y=alt.Y("low:Q", axis=axis), y2="high:Q", color=style["color"]
            ),
            base.mark_point(filled=True, size=80, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=240)


def _ticks(rows: Sequence[Row]) -> dict[str, Any]:
    """Ticks where there are measurements."""
    places = list(dict.fromkeys(row["at"] for row in rows))
    return {"values": places, "labelExpr": "format(datum.value, '.4~g')"}
