"""The spectrum: from guessing over attacks and optima to what nobody can exceed."""

from collections.abc import Sequence
from typing import Any

from reidrisk.guests import guest
from reidrisk.report.drawing import PERCENT, Look, chart, decades, floor_of
from reidrisk.report.levels import empty, levels, number, proved, said
from reidrisk.report.numbers import at_most, interval, percent, share, times, times_at_most
from reidrisk.report.parts import NOTHING, Column, Exhibit, Key, Row, Section, words_column
from reidrisk.report.words import listed, units
from reidrisk.study.result import Bound, Result

# side: what the mark says, shape, glyph
_SIDES = {
    "lower": ("reached by guessing or by an attack", "circle", "●"),
    "estimate": ("best possible, if its model holds", "diamond", "◆"),
    "upper": ("limit: no attacker it covers does better", "triangle-left", "◀"),
}
_SHORT = {"lower": "reached", "estimate": "best, if its model holds", "upper": "limit"}
_FIT = {True: "fits", False: "does not fit", None: NOTHING}


def section(result: Result) -> Section | None:
    """All levels on one axis."""
    found = levels(result)
    if not found:
        return None
    sides = [side for side in _SIDES if any(level.side == side for level in found)]
    exhibit = Exhibit(
        name="spectrum",
        title=f"From guessing to certainty, after {units(result, found[0].slots)}",
        sentence=_sentence(found),
        rows=tuple(_row(level, result.users) for level in found),
        columns=(
            words_column("Level", "name"),
            Column("Right", lambda row: str(row["short"]), "number"),
            Column("How sure", _on_one_line, "sure", number=False),
            Column("Times guessing", lambda row: str(row["times"]), "times_guessing"),
            Column("Kind", lambda row: _SHORT[str(row["side"])], "side", number=False),
            words_column("Model", "fits"),
            words_column("Assumes", "assumes"),
        ),
        draw=_draw,
        keys=tuple(
            Key(_SIDES[side][0], _SIDES[side][2], list(_SIDES).index(side)) for side in sides
        ),
        open=True,
    )
    return Section("spectrum", "How strong can an attacker be?", exhibits=(exhibit,))


def _row(level: Bound, users: int) -> Row:
    upper = level.side == "upper"
    return {
        "name": level.name,
        "side": level.side,
        "slots": level.slots,
        "number": number(level),
        "short": _short(level),
        "sure": _sure(level),
        "value": level.value,
        "low": level.low,
        "high": level.high,
        "level": level.level,
        "trials": level.trials,
        "method": level.method,
        "times_guessing": number(level) * users,
        "times": times_at_most(number(level), 1 / users) if upper else times(level, 1 / users),
        "fits": _FIT[level.fits],
        "assumes": level.assumes or NOTHING,
    }


def _short(level: Bound) -> str:
    if level.side != "upper":
        return share(level)
    return f"{'' if empty(level) else 'at most '}{at_most(number(level))}"


def _sure(level: Bound) -> str:
    """The interval, or what stands in its place."""
    if level.side != "upper":
        return interval(level) or "computed"
    if empty(level):
        return "rules nothing out"
    return "proved" if proved(level) else f"{percent(level.level)} confidence"


def _on_one_line(row: Row) -> str:
    return str(row["sure"]).replace(" ", "\N{NO-BREAK SPACE}")


def _sentence(found: Sequence[Bound]) -> str:
    named = listed([f"{level.name} {said(level).split(' (')[0]}" for level in found])
    return f"Share of people correctly identified, from the weakest to the strictest: {named}."


def _draw(rows: Sequence[Row], look: Look) -> Any:
    """Names stand above their marks, so that a narrow screen keeps its width for the axis."""
    alt = guest("altair")
    floor = floor_of(float(row["number"] or 0) for row in rows)
    data = [
        {
            **row,
            "place": place,
            # A limit is one number, whatever it was computed from.
            "from": max(float(row["number" if row["side"] == "upper" else "low"] or 0), floor),
            "to": max(float(row["number" if row["side"] == "upper" else "high"] or 0), floor),
            "at": row["number"] or None,
            "what": _SIDES[str(row["side"])][0],
        }
        for place, row in enumerate(rows)
    ]
    legend = alt.Legend(title=None, orient="top", columns=1, labelLimit=400, symbolOpacity=1)
    legend = legend if look.legend else None
    words, shapes, _ = zip(*_SIDES.values(), strict=True)
    colours = [look.colour(place) for place in range(len(words))]
    side = {
        "color": alt.Color(
            "what:N", scale=alt.Scale(domain=list(words), range=colours), legend=legend
        ),
        "shape": alt.Shape(
            "what:N", scale=alt.Scale(domain=list(words), range=list(shapes)), legend=legend
        ),
    }
    where = alt.X(
        "from:Q",
        scale=alt.Scale(type="log", domain=[floor, 1], nice=False),
        axis=alt.Axis(
            title="share of people correctly identified", labelExpr=PERCENT, values=decades(floor)
        ),
    )
    base = chart(data).encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0.1)),
        tooltip=[
            alt.Tooltip("name:N", title="level"),
            alt.Tooltip("short:N", title="right"),
            alt.Tooltip("sure:N", title="how sure"),
            alt.Tooltip("times:N", title="times guessing"),
        ],
    )
    return alt.layer(
        base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=where, x2="to:Q", color=side["color"]),
        base.mark_point(filled=True, size=110, opacity=1).encode(x="at:Q", **side),
        base.mark_text(align="left", dy=-13, limit=230).encode(x=alt.value(0), text="name:N"),
        base.mark_text(align="right", dy=-13, color=look.muted).encode(
            x=alt.value("width"), text="short:N"
        ),
    ).properties(height=46 * len(rows))
