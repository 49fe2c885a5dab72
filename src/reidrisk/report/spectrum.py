"""The spectrum: from guessing over attacks and optima to what nobody can exceed."""

from collections.abc import Sequence
from typing import Any

from reidrisk.guests import guest
from reidrisk.report.drawing import PERCENT, Look, chart, decades, floor_of
from reidrisk.report.numbers import at_most, percent, share, share_with_interval, times
from reidrisk.report.parts import (
    NOTHING,
    Column,
    Exhibit,
    Key,
    Row,
    Section,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.report.verdict import spectrum
from reidrisk.report.words import listed, units
from reidrisk.study.result import Bound, Result

# side: what the mark says, shape, glyph
_SIDES = {
    "lower": ("reached: guessing or an attack did this", "circle", "●"),
    "estimate": ("best possible, if the model holds", "diamond", "◆"),
    "upper": ("bound: not exceeded by those it speaks of", "triangle-left", "◀"),
}
_SHORT = {"lower": "reached", "estimate": "best possible", "upper": "limit"}
_FIT = {True: "fits", False: "does not fit", None: NOTHING}


def section(result: Result) -> Section | None:
    """All levels on one axis."""
    levels = spectrum(result)
    if not levels:
        return None
    sides = [side for side in _SIDES if any(level.side == side for level in levels)]
    exhibit = Exhibit(
        name="spectrum",
        title=f"From guessing to certainty, after {units(result, levels[0].slots)}",
        sentence=_sentence(levels),
        rows=tuple(_row(level, result.users) for level in levels),
        columns=(
            words_column("Level", "name"),
            *share_columns("Right", percent(result.level)),
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
    return {
        "name": level.name,
        "side": level.side,
        "slots": level.slots,
        "value": level.value,
        "low": level.low,
        "high": level.high,
        "level": level.level,
        "trials": level.trials,
        "method": level.method,
        "times_guessing": level.value * users,
        "times": times(level, 1 / users),
        "fits": _FIT[level.fits],
        "assumes": level.assumes or NOTHING,
    }


def _shown(level: Bound) -> str:
    return at_most(level.value) if level.side == "upper" else share(level)


def _sentence(levels: Sequence[Bound]) -> str:
    named = listed([f"{level.name} {_shown(level)}" for level in levels])
    return f"Share of people named rightly, weakest first: {named}."


def _draw(rows: Sequence[Row], look: Look) -> Any:
    """Names stand above their marks, so that a narrow screen keeps its width for the axis."""
    alt = guest("altair")
    floor = floor_of(float(row["value"] or 0) for row in rows)
    data = [
        {
            **row,
            "place": place,
            "from": max(float(row["low"] or 0), floor),
            "to": max(float(row["high"] or 0), floor),
            "at": row["value"] or None,
            "what": _SIDES[str(row["side"])][0],
            "said": _said(row),
            "short": _said(row).split(" (")[0],
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
            title="share of people named rightly", labelExpr=PERCENT, values=decades(floor)
        ),
    )
    base = chart(data).encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0.1)),
        tooltip=[
            alt.Tooltip("name:N", title="level"),
            alt.Tooltip("said:N", title="right"),
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


def _said(row: Row) -> str:
    if row["side"] == "upper":
        return f"at most {at_most(float(row['value'] or 0))}"
    return share_with_interval(span(row))
