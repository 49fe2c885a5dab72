"""Risk over slots."""

from collections.abc import Sequence
from typing import Any

from reidrisk.drawing import (
    PERCENT,
    SHOWN,
    Look,
    by_attack,
    chart,
    switchable,
)  # fmt: skip
from reidrisk.guests import guest
from reidrisk.report.parts import (
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
from reidrisk.study.saying.words import opening, unit, units

_TOLD = "share of people correctly identified"


def section(result: Result) -> Section | None:
    """One curve for each attack, of the study itself; nothing grows after one number of slots."""
    risks = [risk for risk in result.risks if not risk.setting and risk.users == result.users]
    if len({risk.slots for risk in risks}) <= 1:
        return None
    attacks = list(dict.fromkeys(risk.attack for risk in risks))
    exhibit = Exhibit(
        name="slots",
        title=f"Risk over {unit(result)}",
        sentence=" ".join(
            _rise(result, [risk for risk in risks if risk.attack == attack]) for attack in attacks
        ),
        rows=tuple(risk_row(risk) for risk in risks),
        columns=(
            words_column("Attack", "attack"),
            count_column(unit(result).capitalize(), "slots"),
            *share_columns("Right", percent(result.level)),
            count_column("Assessed", "targets"),
            count_column("Not assessed", "not_assessed"),
        ),
        draw=lambda rows, look: curves(rows, look, attacks, unit(result)),
        keys=attack_keys(attacks),
    )
    return Section("slots", f"How does risk grow with more {unit(result)}?", exhibits=(exhibit,))


def _rise(result: Result, risks: list[Risk]) -> str:
    first, last = (pick(risks, key=lambda risk: risk.slots) for pick in (min, max))
    if first is last:
        return opening(
            f"{first.attack} is right in {share_with_interval(first)} of cases after "
            f"{units(result, first.slots)}."
        )
    return opening(
        f"{first.attack} goes from {share(first)} after {units(result, first.slots)} to "
        f"{share_with_interval(last)} after {last.slots}."
    )


def curves(
    rows: Sequence[Row], look: Look, attacks: Sequence[str], name: str, *, told: str = _TOLD
) -> Any:
    """A line with its interval for each attack, over slots; `told` says what is shown of each."""
    alt = guest("altair")
    data = [{**row, "said": share_with_interval(span(row))} for row in rows]
    ticks = sorted({int(row["slots"] or 0) for row in rows})
    base = (
        chart(data)
        .transform_filter(SHOWN)
        .encode(x=alt.X("slots:Q", title=name, axis=alt.Axis(values=ticks, format="d", grid=False)))
    )
    style = by_attack(attacks, look, dashed=True)
    share_axis = alt.Axis(title=told, labelExpr=PERCENT, tickCount=6)
    value = alt.Y("value:Q", axis=share_axis)
    tips = [
        alt.Tooltip("attack:N"),
        alt.Tooltip("slots:Q", title=name),
        alt.Tooltip("said:N", title="right"),
    ]
    return switchable(
        alt.layer(
            base.mark_area(opacity=0.16).encode(
                y=alt.Y("low:Q", axis=share_axis), y2="high:Q", color=style["color"]
            ),
            base.mark_line(strokeWidth=2.5).encode(
                y=value, color=style["color"], strokeDash=style["strokeDash"]
            ),
            base.mark_point(filled=True, size=80, opacity=1).encode(
                y=value, color=style["color"], shape=style["shape"], tooltip=tips
            ),
        ),
        attacks,
    ).properties(height=340)
