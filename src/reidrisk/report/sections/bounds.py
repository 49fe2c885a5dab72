"""Section: all figures from guessing to what nobody can exceed."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import (
    PERCENT,
    SHAPES,
    Style,
    chart,
    decades,
    fixed,
    floor_of,
    layer,
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
    attack_keys,
    words_column,
)  # fmt: skip
from reidrisk.study.result import Bound, Result
from reidrisk.study.text.attacks import shortlists
from reidrisk.study.text.bounds import bounds_of, empty, met, number, proved, said
from reidrisk.study.text.numbers import (
    after,
    at_most,
    count,
    interval,
    listed,
    percent,
    share,
    times,
    times_at_most,
)

ORDER = 10

# side: what a mark that is no attack's says, shape, glyph
_SIDES = {
    "lower": ("reached without any attack", "circle", "●"),
    "estimate": ("best possible, if its model holds", "diamond", "◆"),
    "upper": ("limit: no attacker it covers does better", "triangle-left", "◀"),
}
_SHORT = {"lower": "reached", "estimate": "best, if its model holds", "upper": "limit"}
_FIT = {True: "fits", False: "does not fit", None: NOTHING}


def section(result: Result) -> Section | None:
    """All figures on one axis."""
    found = bounds_of(result)
    if not found:
        return None
    used = [bound.name for bound in found if _is_attack(bound, result)]
    sides = {bound.side for bound in found if not _is_attack(bound, result)}
    exhibit = Exhibit(
        name="spectrum",
        title=f"From guessing to certainty, {after(result, found[0].slots)}",
        sentence=_sentence(found),
        rows=tuple(_row(bound, result) for bound in found),
        columns=(
            words_column("Attacker or limit", "name"),
            Column("Right", lambda row: str(row["short"]), "number"),
            Column("How sure", _on_one_line, "sure", number=False),
            Column("Cases", _cases, "trials"),
            Column("Times guessing", lambda row: str(row["times"]), "times_guessing"),
            Column("Kind", _kind, "side", number=False),
            words_column("Assumes", "assumes"),
        ),
        draw=lambda rows, look: _draw(rows, look, result.attacks),
        keys=(
            *attack_keys(result.attacks, used, switch=False),
            *(Key(text, glyph) for side, (text, _, glyph) in _SIDES.items() if side in sides),
        ),
        open=True,
    )
    sentences = (*met(result), *shortlists(result))
    return Section("spectrum", "How strong can an attacker be?", sentences, (exhibit,))


def _is_attack(bound: Bound, result: Result) -> bool:
    return bound.side == "lower" and bound.name in result.attacks


def _row(bound: Bound, result: Result) -> Row:
    users = result.users
    return {
        "name": bound.name,
        "side": bound.side,
        "mark": bound.name if _is_attack(bound, result) else _SIDES[bound.side][0],
        "slots": bound.slots,
        "number": number(bound),
        "short": _short(bound),
        "sure": _sure(bound),
        "value": bound.value,
        "low": bound.low,
        "high": bound.high,
        "level": bound.level,
        "trials": bound.trials,
        "method": bound.method,
        "times_guessing": number(bound) * users,
        "times": _times(bound, users),
        "fits": _FIT[bound.fits],
        "assumes": bound.assumes or NOTHING,
    }


def _times(bound: Bound, users: int) -> str:
    """How many times guessing it is; a bound that allows everything is `users` times guessing."""
    if bound.side != "upper":
        return times(bound, 1 / users)
    return count(users) if empty(bound) else times_at_most(number(bound), 1 / users)


def _short(bound: Bound) -> str:
    if bound.side != "upper":
        return share(bound)
    return f"{'' if empty(bound) else 'at most '}{at_most(number(bound))}"


def _sure(bound: Bound) -> str:
    """The interval, or what stands in its place."""
    if bound.side != "upper":
        return interval(bound) or "computed"
    if empty(bound):
        return "rules nothing out"
    return "proved" if proved(bound) else f"{percent(bound.level)} confidence"


def _cases(row: Row) -> str:
    return count(float(row["trials"])) if row["trials"] else NOTHING


def _kind(row: Row) -> str:
    """On which side of the truth it is, and whether its model fits, if it has one."""
    kind = _SHORT[str(row["side"])]
    return kind if row["fits"] == NOTHING else f"{kind}, which {row['fits']}"


def _on_one_line(row: Row) -> str:
    return str(row["sure"]).replace(" ", "\N{NO-BREAK SPACE}")


def _sentence(found: Sequence[Bound]) -> str:
    named = listed([f"{bound.name} {said(bound).split(' (')[0]}" for bound in found])
    return f"Share of people correctly identified, from the weakest to the strictest: {named}."


def _draw(rows: Sequence[Row], look: Style, attacks: Sequence[str]) -> Any:
    """A mark with its interval for each figure, on a logarithmic axis."""
    # Names stand above their marks, so that the axis has the whole width of a narrow screen.
    # Colours stand for attacks, so other figures are drawn in ink.
    floor = floor_of(float(row["number"] or 0) for row in rows)
    data = [
        {
            **row,
            "place": place,
            # A limit is one number, whatever it was computed from.
            "from": max(float(row["number" if row["side"] == "upper" else "low"] or 0), floor),
            "to": max(float(row["number" if row["side"] == "upper" else "high"] or 0), floor),
            # A logarithmic axis has no 0, so such a figure has no mark.
            "at": row["number"] or None,
        }
        for place, row in enumerate(rows)
    ]
    words, shapes, _ = zip(*_SIDES.values(), strict=True)
    side = marked(
        "mark",
        [*attacks, *words],
        [*(look.colour(place) for place in range(len(attacks))), *(look.ink for _ in words)],
        [*(SHAPES[place % len(SHAPES)] for place in range(len(attacks))), *shapes],
        look,
        list(dict.fromkeys(str(row["mark"]) for row in rows)),
    )
    where = of(
        "from:Q",
        scale=settings(type="log", domain=[floor, 1], nice=False),
        axis=settings(
            title="share of people correctly identified", labelExpr=PERCENT, values=decades(floor)
        ),
    )
    base = chart(data).encode(
        y=of("place:O", axis=None, scale=settings(paddingInner=0.1)),
        tooltip=[
            of("name:N", title="attacker or limit"),
            of("short:N", title="right"),
            of("sure:N", title="how sure"),
            of("times:N", title="times guessing"),
        ],
    )
    return layer(
        base.mark("rule", strokeWidth=3, opacity=0.45).encode(
            x=where, x2="to:Q", color=side["color"]
        ),
        base.mark("point", filled=True, size=110, opacity=1).encode(x="at:Q", **side),
        base.mark("text", align="left", dy=-13, limit=230).encode(x=fixed(0), text="name:N"),
        base.mark("text", align="right", dy=-13, color=look.muted).encode(
            x=fixed("width"), text="short:N"
        ),
    ).properties(height=46 * len(rows))
