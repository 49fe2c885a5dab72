"""Section: what noise buys: found, possible and ruled out, by the scale of the noise."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reidrisk.attacks.protocol import ONE_ROW
from reidrisk.plotting import (
    COLOURS,
    GLYPHS,
    PERCENT,
    Chart,
    Style,
    chart,
    decades,
    fixed,
    floor_of,
    layer,
    log_range,
    marked,
    of,
    settings,
)
from reidrisk.report.exhibits import (
    NOTHING,
    Column,
    Exhibit,
    Key,
    Row,
    Section,
    count_column,
    figure_cells,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.result import NoiseLevel, Result
from reidrisk.study.text.bounds import proved
from reidrisk.study.text.numbers import (
    at_most,
    count,
    listed,
    opening,
    percent,
    share,
    share_with_interval,
    unit,
)

ORDER = 15

_FOUND = "found: the strongest attack that was tried"
_POSSIBLE = "possible: the best that anybody could do"
_PROVED = "ruled out: nobody can be right more often"
_RING = "\N{LARGE CIRCLE}"
_OWN = "this study"
_KINDS = (_FOUND, _POSSIBLE, _PROVED)
_DRAWN = "datum.at > 0"
"""A logarithmic axis has no 0, so such a figure has no mark."""
_LINE: dict[str, Any] = {"strokeWidth": 2.2}
_INTERVAL: dict[str, Any] = {"strokeWidth": 2, "opacity": 0.6}
_TIPS = [
    of("kind:N", title=" "),
    of("said:N", title="right"),
    of("by:N"),
    of("scale:Q"),
    of("epsilon:N"),
    of("mu:N"),
]
_TITLE = "What this noise buys"
_HEIGHT, _LETTERS = 400, 92
_HIGH, _LOW = 0.3, 0.25
"""There is room for the name of an area at its end if what was found is above, the limit below."""


def section(result: Result) -> Section | None:
    """One chart of all scales, and its table."""
    levels = result.noise_levels
    if not levels:
        return None
    place, own, reading = _place(result), _own(result), _reading(levels)
    keys = [
        Key(_FOUND, GLYPHS[0], place % COLOURS),
        Key(_POSSIBLE, "◆"),
        Key(_PROVED, "▼"),
        Key(f"{_OWN}: scale {_number(own)}", _RING) if own is not None else None,
    ]
    exhibit = Exhibit(
        name="noise-levels",
        title=_TITLE,
        sentence=reading,
        rows=tuple(_row(one, own) for one in levels),
        columns=_columns(result),
        draw=lambda rows, look: _draw(rows, look, place, reading),
        keys=tuple(key for key in keys if key is not None),
        open=True,
    )
    return Section("noise-levels", "What does this noise buy?", _explained(levels), (exhibit,))


def _own(result: Result) -> float | None:
    release = result.study.get("release")
    found = release.get("scale") if isinstance(release, dict) else None
    return found if isinstance(found, int | float) else None


def _place(result: Result) -> int:
    """The place of the attack that is the strongest at the study's own scale, for its colour."""
    own = [one for one in result.noise_levels if one.scale == _own(result)]
    return result.attacks.index((own or result.noise_levels)[0].attack)


def _reading(levels: Sequence[NoiseLevel]) -> str:
    first, last = levels[0], levels[-1]
    limit = "no limit is proved"
    if last.proved is not None:
        sure = "" if proved(last.proved) else f", with {percent(last.proved.level)} confidence"
        limit = f"nobody can name more than {at_most(last.proved.high)}{sure}"
    if first is last:
        return (
            f"With noise of {_said(last)} the strongest attack names "
            f"{share_with_interval(last.found)} of people, and {limit}."
        )
    return (
        f"Noise of {_said(last)} takes the strongest attack from {share(first.found)} of people, "
        f"at {_said(first)}, to {share_with_interval(last.found)}, and {limit}."
    )


def _said(level: NoiseLevel) -> str:
    return f"scale {_number(level.scale)} (epsilon {_number(level.epsilon)})"


def _explained(levels: Sequence[NoiseLevel]) -> tuple[str, ...]:
    delta = levels[0].delta
    fails = f" It may fail with a chance of delta = {delta:g}." if delta else ""
    text = (
        "Found is what the strongest attack does; possible, what anybody could do who knows all "
        "vectors and the noise; ruled out, what nobody exceeds, whatever they know. Epsilon: "
        "replacing a person's vector by any other makes what is shown at most e^epsilon times as "
        f"likely.{fails} Mu is the length to which vectors are clipped, in scales of the noise. "
        "Lines only join what was computed at the marks."
    )
    crowds = sorted({one.attack for one in levels if one.uses != ONE_ROW})
    if not crowds:
        return (text,)
    verb = "compares" if len(crowds) == 1 else "compare"
    return text, opening(
        f"{listed(crowds)} {verb} the rows of all targets with each other; what is possible or "
        "ruled out is said of attackers who see one row."
    )


def _row(level: NoiseLevel, own: float | None) -> Row:
    limit = level.proved
    return {
        "scale": level.scale,
        "own": _OWN if level.scale == own else "",
        "slots": level.slots,
        "users": level.users,
        "mu": level.mu,
        "epsilon": level.epsilon,
        "delta": level.delta,
        "attack": level.attack,
        **figure_cells(level.found),
        "targets": level.found.trials,
        **figure_cells(level.possible, "possible_"),
        "proved": None if limit is None else limit.high,
        "proved_by": NOTHING if limit is None else limit.name,
        "proved_level": None if limit is None else limit.level,
        "sure": _sure(level),
    }


def _sure(level: NoiseLevel) -> str:
    if level.proved is None:
        return NOTHING
    return "proved" if proved(level.proved) else f"{percent(level.proved.level)} confidence"


def _columns(result: Result) -> tuple[Column, ...]:
    level = percent(result.level)
    return (
        Column("Scale", _scale, "scale"),
        Column("Mu", lambda row: _number(row["mu"]), "mu"),
        Column("Epsilon", lambda row: _number(row["epsilon"]), "epsilon"),
        *share_columns("Found", level),
        *share_columns("Possible", level, "possible_"),
        Column("Ruled out above", _limit, "proved"),
        Column("How sure", _on_one_line, "sure", number=False),
        words_column("Limit by", "proved_by"),
        words_column("Strongest attack", "attack"),
        count_column("Assessed", "targets"),
        count_column(unit(result).capitalize(), "slots"),
    )


def _scale(row: Row) -> str:
    return f"{_number(row['scale'])}{f' ({_OWN})' if row['own'] else ''}"


def _limit(row: Row) -> str:
    return NOTHING if row["proved"] is None else at_most(float(row["proved"]))


def _on_one_line(row: Row) -> str:
    return str(row["sure"]).replace(" ", "\N{NO-BREAK SPACE}")


def _number(value: Any) -> str:
    """Three digits, and no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004  three digits


def _draw(rows: Sequence[Row], look: Style, place: int, reading: str) -> Any:
    """Both axes logarithmic; below each scale its epsilon and mu.

    Coloured is what was found, grey what is ruled out; what lies between is open.
    """
    guessing = 1 / float(rows[0]["users"] or 1)
    floor = floor_of([guessing, *(float(row["value"] or 0) for row in rows)])
    shares = {
        "scale": settings(type="log", nice=False, domain=[floor, 1]),
        "axis": settings(
            title="share of people correctly identified", labelExpr=PERCENT, values=decades(floor)
        ),
    }
    y = of("at:Q", **shares)
    colours = dict(zip(_KINDS, (look.colour(place), look.ink, look.muted), strict=True))
    style = marked(
        "kind", _KINDS, list(colours.values()), ("circle", "diamond", "triangle-down"), look
    )
    base = chart(list(_marks(rows, floor))).encode(x=_across(rows))
    drawn = layer(
        *_lines(base, colours, y, {"y": of("from:Q", **shares), "y2": "to:Q"}),
        # A file has no key beside the chart that would say what the ring is.
        *([] if look.legend else [_ring(base, look).encode(y=y)]),
        base.filter(_DRAWN)
        .mark("point", filled=True, size=85, opacity=1)
        .encode(y=y, **style, tooltip=_TIPS),
        *_guess(guessing, look, y),
        *_zones(rows, look, colours),
    ).properties(height=_HEIGHT)
    return drawn.properties(title=_title(reading, look)) if look.legend else drawn


def _lines(base: Chart, colours: Mapping[str, str], y: Any, ends: Mapping[str, Any]) -> list[Chart]:
    """Areas, intervals, and lines from mark to mark; what was found is above the others."""
    found, possible, limit = (base.filter(f"datum.kind == '{kind}'") for kind in _KINDS)
    some = found.filter(_DRAWN)
    return [
        limit.mark("area", color=colours[_PROVED], opacity=0.16).encode(**ends),
        some.mark("area", color=colours[_FOUND], opacity=0.14).encode(y=y, y2="floor:Q"),
        possible.mark("rule", color=colours[_POSSIBLE], **_INTERVAL).encode(**ends),
        found.mark("rule", color=colours[_FOUND], **_INTERVAL).encode(**ends),
        limit.mark("line", color=colours[_PROVED], strokeDash=[7, 3], **_LINE).encode(y=y),
        possible.filter(_DRAWN)
        .mark("line", color=colours[_POSSIBLE], strokeDash=[2, 3], **_LINE)
        .encode(y=y),
        some.mark("line", color=colours[_FOUND], **_LINE).encode(y=y),
    ]


def _ring(base: Chart, look: Style) -> Chart:
    """Around what was found at the study's own scale."""
    own = base.filter(f"datum.own != '' && datum.kind == '{_FOUND}' && {_DRAWN}")
    return own.mark("point", filled=False, size=280, color=look.ink, strokeWidth=1.5)


def _across(rows: Sequence[Row]) -> Any:
    """The axis of scales, with a tick at each."""
    scales = [float(row["scale"] or 0) for row in rows]
    return of(
        "scale:Q",
        scale=settings(type="log", nice=False, domain=list(log_range(scales)), padding=24),
        axis=settings(
            title=["scale of the noise →", "(below it: epsilon ε and mu μ)"],
            values=scales, labelExpr=_ticks(rows), grid=False,
        ),
    )  # fmt: skip


def _title(reading: str, look: Style) -> Any:
    """What a picture says by itself, where no page stands around it."""
    lines = textwrap.wrap(reading, _LETTERS)
    return settings(
        text=_TITLE, subtitle=lines, fontSize=17, subtitleFontSize=12.5,
        subtitleColor=look.muted, subtitlePadding=6, offset=14,
    )  # fmt: skip


def _marks(rows: Sequence[Row], floor: float) -> Iterator[Row]:
    """A row for each mark: what was found, what is possible, and the limit, of each scale."""
    for row in rows:
        about: Row = {
            "scale": row["scale"],
            "own": row["own"],
            "epsilon": _number(row["epsilon"]),
            "mu": _number(row["mu"]),
            "floor": floor,
        }
        limit = 1.0 if row["proved"] is None else float(row["proved"])
        words = "nothing is ruled out" if row["proved"] is None else f"never above {at_most(limit)}"
        yield {
            **about, "kind": _PROVED, "by": row["proved_by"], "said": words,
            "at": limit, "from": limit, "to": 1.0,
        }  # fmt: skip
        for kind, prefix, by in (
            (_POSSIBLE, "possible_", "whoever knows all vectors and the noise"),
            (_FOUND, "", row["attack"]),
        ):
            if row[f"{prefix}value"] is not None:
                ends = span(row, prefix)
                yield {
                    **about, "kind": kind, "by": by, "said": share_with_interval(ends),
                    "at": ends.value, "from": max(ends.low, floor), "to": max(ends.high, floor),
                }  # fmt: skip


def _ticks(rows: Sequence[Row]) -> str:
    """What stands below each scale, in three lines, as an expression of the place on the axis."""
    labels = [
        [_number(row["scale"]), f"ε {_number(row['epsilon'])}", f"μ {_number(row['mu'])}"]
        for row in rows
    ]
    places = json.dumps([row["scale"] for row in rows])
    return f"{json.dumps(labels, ensure_ascii=False)}[indexof({places}, datum.value)]"


def _guess(guessing: float, look: Style, y: Any) -> Iterator[Chart]:
    """Guessing, as a line with its name."""
    guess = chart([{"at": guessing, "text": f"guessing: one of {count(1 / guessing)}"}])
    guess = guess.encode(y=y)
    yield guess.mark("rule", color=look.muted, strokeDash=[1, 3], strokeWidth=1.5)
    yield guess.mark("text", align="left", dx=6, dy=-8, color=look.muted).encode(
        x=fixed(0), text="text:N"
    )


def _zones(rows: Sequence[Row], look: Style, colours: Mapping[str, str]) -> Iterator[Chart]:
    """Names of the areas, where there is room for them."""
    first, last = rows[0], rows[-1]
    zone = {"fontWeight": "bold", "fontSize": 13}
    if float(first["value"] or 0) > _HIGH:
        named = chart([{"scale": first["scale"], "text": "found"}])
        yield named.mark("text", align="left", dx=12, color=colours[_FOUND], **zone).encode(
            x=of("scale:Q"), y=fixed(_HEIGHT / 2), text="text:N"
        )
    if last["proved"] is not None and float(last["proved"]) < _LOW:
        named = chart([{"scale": last["scale"], "text": "ruled out"}])
        yield named.mark("text", align="right", dx=-12, color=look.muted, **zone).encode(
            x=of("scale:Q"), y=fixed(18), text="text:N"
        )
