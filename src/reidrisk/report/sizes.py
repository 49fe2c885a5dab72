"""Risk against the number of people to choose among, and beyond those measured."""

from collections.abc import Sequence
from typing import Any

from reidrisk.drawing import (
    PEOPLE,
    PERCENT,
    SHOWN,
    Look,
    by_attack,
    chart,
    decades,
    floor_of,
    switchable,
)  # fmt: skip
from reidrisk.guests import guest
from reidrisk.report.parts import (
    Exhibit,
    Row,
    Section,
    attack_keys,
    count_column,
    figure_cells,
    risk_row,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Extrapolation, Result, Risk
from reidrisk.study.saying.numbers import count, percent, share, share_with_interval
from reidrisk.study.saying.words import opening, units

_CROWDS = (
    "In a smaller crowd are the right person and others, drawn at random from all. Each point is "
    "the mean over every such crowd; its interval says how much depends on who was attacked."
)


def section(result: Result) -> Section | None:
    """Measured sizes, and the law beyond them, at the most slots."""
    slots = max((risk.slots for risk in result.sizes), default=0)
    sizes = [risk for risk in result.sizes if risk.slots == slots and not risk.setting]
    laws = [law for law in result.extrapolations if law.slots == slots]
    if not sizes:
        return None
    # Before there were credits, a result had one crowd of each size.
    sentences = ((_CROWDS,) if result.credits else ()) + tuple(
        f"The dashed line is a law fitted to smaller crowds ({law}). Beyond all people nothing was "
        "measured."
        for law in dict.fromkeys(law.law for law in laws)
    )
    checks = (_check(result, laws),) if any(law.held_out for law in laws) else ()
    exhibits = (_exhibit(result, slots, sizes, laws), *checks)
    return Section("sizes", "What if there were more people?", sentences, exhibits)


def _exhibit(result: Result, slots: int, sizes: list[Risk], laws: list[Extrapolation]) -> Exhibit:
    attacks = list(dict.fromkeys(risk.attack for risk in result.risks + result.sizes))
    used = list(dict.fromkeys(risk.attack for risk in sizes))
    return Exhibit(
        name="sizes",
        title=f"Risk against the number of people, after {units(result, slots)}",
        sentence=" ".join(_fall(attack, sizes, laws) for attack in used),
        rows=(
            *({**risk_row(risk), "kind": "measured"} for risk in sizes),
            *(row for law in laws for row in _law_rows(law)),
        ),
        columns=(
            words_column("Attack", "attack"),
            count_column("People", "users"),
            words_column("Kind", "kind"),
            *share_columns("Right", percent(result.level)),
        ),
        draw=lambda rows, look: _draw(rows, look, attacks),
        keys=attack_keys(attacks, used=used),
    )


def _law_rows(law: Extrapolation) -> list[Row]:
    return [
        {
            "attack": law.attack,
            "slots": law.slots,
            "users": users,
            **figure_cells(figure),
            "level": figure.level,
            "method": figure.method,
            "kind": kind,
        }
        for kind, figures in (("law", law.fitted), ("extrapolated", law.predicted))
        for users, figure in figures
    ]


def _fall(attack: str, sizes: list[Risk], laws: list[Extrapolation]) -> str:
    own = [risk for risk in sizes if risk.attack == attack]
    few, many = (pick(own, key=lambda risk: risk.users) for pick in (min, max))
    text = (
        f"{opening(attack)} goes from {share(few)} among {count(few.users)} people to "
        f"{share(many)} among {count(many.users)}"
    )
    for law in laws:
        if law.attack == attack and law.predicted:
            users, figure = law.predicted[-1]
            said = share_with_interval(figure)
            text += f"; extrapolated, not measured: {said} among {count(users)}"
    return text + "."


def _check(result: Result, laws: list[Extrapolation]) -> Exhibit:
    return Exhibit(
        name="held-out",
        title="How well did the law predict sizes that were measured?",
        sentence=(
            "Each size below was left out of the fit, predicted from smaller ones, and compared "
            "with what was measured."
        ),
        rows=tuple(
            {
                "attack": law.attack,
                "users": users,
                **figure_cells(predicted, "predicted_"),
                **figure_cells(measured, "measured_"),
                "overlap": "yes" if _overlap(predicted, measured) else "no",
            }
            for law in laws
            for users, predicted, measured in law.held_out
        ),
        columns=(
            words_column("Attack", "attack"),
            count_column("People", "users"),
            *share_columns("Predicted", percent(result.level), "predicted_"),
            *share_columns("Measured", percent(result.level), "measured_"),
            words_column("Intervals overlap", "overlap"),
        ),
        open=True,
    )


def _overlap(one: Any, other: Any) -> bool:
    return bool(one.low <= other.high and other.low <= one.high)


def _draw(rows: Sequence[Row], look: Look, attacks: Sequence[str]) -> Any:
    """Both axes logarithmic; the band of the law begins where its fit ends."""
    alt = guest("altair")
    floor = floor_of(float(row["value"] or 0) for row in rows)
    last = {row["attack"]: row["users"] for row in rows if row["kind"] == "law"}
    data = [
        {
            **row,
            "at": row["value"] or None,
            "from": max(float(row["low"] or 0), floor),
            "to": max(float(row["high"] or 0), floor),
            "said": share_with_interval(span(row)),
            "beyond": row["kind"] == "extrapolated" or row["users"] == last.get(row["attack"]),
        }
        for row in rows
    ]
    log, style = alt.Scale(type="log", nice=False), by_attack(attacks, look)
    across = alt.Axis(
        title="people to choose among", labelExpr=PEOPLE, values=_tens(rows), grid=False
    )
    up = alt.Axis(
        title="share of people correctly identified", labelExpr=PERCENT, values=decades(floor)
    )
    x, y = alt.X("users:Q", scale=log, axis=across), alt.Y("at:Q", scale=log, axis=up)
    ends = {"y": alt.Y("from:Q", scale=log, axis=up), "y2": "to:Q"}
    marks = {
        "y": y,
        "shape": style["shape"],
        "tooltip": [
            alt.Tooltip("attack:N"),
            alt.Tooltip("users:Q", title="people", format=","),
            alt.Tooltip("said:N", title="right"),
            alt.Tooltip("kind:N"),
        ],
    }
    base = chart(data).transform_filter(SHOWN).encode(x=x, color=style["color"])
    points = base.transform_filter("datum.kind == 'measured'")
    law = base.transform_filter("datum.kind != 'measured'")
    beyond = base.transform_filter("datum.kind == 'extrapolated'")
    layers = (
        law.transform_filter("datum.beyond").mark_area(opacity=0.16).encode(**ends),
        law.mark_line(strokeDash=[5, 4], strokeWidth=1.8).encode(y=y),
        points.mark_line(strokeWidth=1.2, opacity=0.6).encode(y=y),
        points.mark_rule(strokeWidth=2, opacity=0.6).encode(**ends),
        points.mark_point(filled=True, size=80, opacity=1).encode(**marks),
        beyond.mark_point(filled=False, size=80, opacity=1).encode(**marks),
        *_edge(rows, look, x),
    )
    return switchable(alt.layer(*layers), attacks).properties(height=360)


def _edge(rows: Sequence[Row], look: Look, x: Any) -> tuple[Any, ...]:
    """A line where measurement ends."""
    if all(row["kind"] != "extrapolated" for row in rows):
        return ()
    alt = guest("altair")
    measured = max(int(row["users"] or 0) for row in rows if row["kind"] == "measured")
    edge = chart([{"users": measured, "text": "extrapolated"}]).encode(x=x)
    return (
        edge.mark_rule(color=look.muted, strokeDash=[2, 3]),
        edge.mark_text(align="right", color=look.muted).encode(
            x=alt.value("width"), y=alt.value(6), text="text:N"
        ),
    )


def _tens(rows: Sequence[Row]) -> list[int]:
    """Powers of ten among the sizes."""
    most = max(int(row["users"] or 0) for row in rows)
    return [10**power for power in range(13) if 10**power <= most]
