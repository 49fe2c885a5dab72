"""Risk over slots."""

import json
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
from reidrisk.study.saying.numbers import count, percent, share, share_with_interval
from reidrisk.study.saying.words import listed, opening, unit, units

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
            [
                *(_rise(result, [one for one in risks if one.attack == name]) for name in attacks),
                *_other_people(result, risks),
            ]
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


def _other_people(result: Result, risks: Sequence[Risk]) -> list[str]:
    """How many were assessed, if that changes along a curve."""
    longest = max(attacks_of(risks).values(), key=lambda some: len({one.targets for one in some}))
    if len({risk.targets for risk in longest}) == 1:
        return []
    counts = listed([f"{count(one.targets)} after {one.slots}" for one in longest])
    text = (
        f"Not everybody can be assessed after every number of {unit(result)}: {counts}. Where a "
        "curve falls, or rises, this may be because others are assessed, not because of more "
        f"{unit(result)}."
    )
    return [text]


def attacks_of(risks: Sequence[Risk]) -> dict[str, list[Risk]]:
    """The risks of each attack, by slots."""
    found: dict[str, list[Risk]] = {}
    for risk in sorted(risks, key=lambda risk: risk.slots):
        found.setdefault(risk.attack, []).append(risk)
    return found


def curves(
    rows: Sequence[Row], look: Look, attacks: Sequence[str], name: str, *, told: str = _TOLD
) -> Any:
    """A line with its interval for each attack, over slots; `told` says what is shown of each."""
    alt = guest("altair")
    data = [{**row, "said": share_with_interval(span(row))} for row in rows]
    ticks = sorted({int(row["slots"] or 0) for row in rows})
    axis: dict[str, Any] = {"values": ticks, "format": "d", "grid": False}
    title: str | list[str] = name
    if behind := _assessed(rows):
        # A second line under each tick.
        axis["labelExpr"] = f"[datum.label, {json.dumps(behind)}[datum.label]]"
        title = [name, "(second line: how many could be assessed)"]
    base = (
        chart(data)
        .transform_filter(SHOWN)
        .encode(x=alt.X("slots:Q", title=title, axis=alt.Axis(**axis)))
    )
    style = by_attack(attacks, look, dashed=True)
    share_axis = alt.Axis(title=told, labelExpr=PERCENT, tickCount=6)
    value = alt.Y("value:Q", axis=share_axis)
    tips = [
        alt.Tooltip("attack:N"),
        alt.Tooltip("slots:Q", title=name),
        alt.Tooltip("said:N", title="right"),
        alt.Tooltip("targets:Q", title="assessed", format=","),
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


def _assessed(rows: Sequence[Row]) -> dict[int, str]:
    """How many stand behind the points at each number of slots; nothing, if always as many."""
    by_slots: dict[int, set[int]] = {}
    for row in rows:
        by_slots.setdefault(int(row["slots"] or 0), set()).add(int(row["targets"] or 0))
    if len(set().union(*by_slots.values())) == 1:
        return {}
    return {
        slots: " to ".join(count(one) for one in sorted({min(some), max(some)}))
        for slots, some in sorted(by_slots.items())
    }
