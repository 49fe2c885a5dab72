"""Section: who is most at risk, and how sure an attacker can be."""

from collections.abc import Sequence
from typing import Any

from reidrisk.plotting import PERCENT, SHAPES, Style, chart, layer, of, settings, share_bars
from reidrisk.report.exhibits import (
    Column,
    Exhibit,
    Row,
    Section,
    count_column,
    figure_cells,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.analyses.claims import claimed
from reidrisk.study.result import Claims, Result, Selective, UserRisk
from reidrisk.study.text.numbers import (
    count,
    exactly,
    opening,
    percent,
    share_with_interval,
    unit,
    units,
)

ORDER = 60

_FIGURES = {
    "mean": "mean of everyone",
    "median": "half of all people have at most",
    "percentile_90": "90 in 100 people have at most",
    "percentile_99": "99 in 100 people have at most",
    "worst_decile": "mean of the tenth most at risk",
}
# How earlier results measured: percentiles of noisy risks, and the tenth that ranked highest in one
# half of the repeats, which is not quite the tenth most at risk.
_MEASURED, _TOO_LOW = "order statistics", "both halves"


def section(result: Result) -> Section | None:
    """The spread over users, the selective attacker, and what attackers claim."""
    level = percent(result.level)
    exhibits = (
        *(_spread(result, risk, place) for place, risk in enumerate(result.per_user, 1)),
        *(_percentiles(risk, place, level) for place, risk in enumerate(result.per_user, 1)),
        *((_selective(result, level),) if result.selections else ()),
        *(_claims(result, claims, place) for place, claims in enumerate(result.claims, 1)),
    )
    if not exhibits:
        return None
    return Section("people", "Who is most at risk?", (), exhibits)


def _spread(result: Result, risk: UserRisk, place: int) -> Exhibit:
    return Exhibit(
        name=f"per-user-{place}",
        title=f"Risk by person: {risk.attack}, {units(result, risk.slots)}",
        sentence=(
            f"The tenth of people most at risk are correctly identified in {_worst(risk)} of "
            f"cases, people on average in {share_with_interval(risk.mean)}. "
            f"{count(risk.users)} people were each attacked {count(risk.repeats)} times; bars "
            "count measured risks, which spread wider than the risks themselves."
        ),
        rows=tuple(
            {"attack": risk.attack, "slots": risk.slots, "from": low, "to": high, "share": part}
            for low, high, part in zip(risk.edges, risk.edges[1:], risk.shares, strict=False)
        ),
        columns=(
            Column("Risk from", lambda row: percent(float(row["from"] or 0)), "from"),
            Column("to", lambda row: percent(float(row["to"] or 0)), "to"),
            Column("Share of people", lambda row: exactly(float(row["share"] or 0)), "share"),
        ),
        draw=lambda rows, look: _draw_spread(rows, look, result.attacks.index(risk.attack)),
    )


def _worst(risk: UserRisk) -> str:
    least = "at least " if _too_low(risk) else ""
    return f"{least}{share_with_interval(risk.worst_decile)}"


def _too_low(risk: UserRisk) -> bool:
    return _TOO_LOW in risk.worst_decile.method


def _caveat(risk: UserRisk, part: str) -> str:
    """What a table must not hide."""
    if part == "worst_decile" and _too_low(risk):
        return ", at least"
    measured = part != "worst_decile" and getattr(risk, part).method == _MEASURED
    return ", as measured" if measured else ""


def _percentiles(risk: UserRisk, place: int, level: str) -> Exhibit:
    measured = risk.percentile_90.method == _MEASURED
    return Exhibit(
        name=f"percentiles-{place}",
        title=f"Percentiles: {risk.attack}",
        sentence=(
            "Percentiles are of measured risks, which spread wider than the risks themselves: the "
            "higher ones come out too high."
            if measured
            else "These are estimates of the risks themselves, not of the measured ones."
        )
        + (" That of the tenth most at risk comes out too low." if _too_low(risk) else ""),
        rows=tuple(
            {
                "figure": name + _caveat(risk, part),
                "attack": risk.attack,
                "slots": risk.slots,
                **figure_cells(getattr(risk, part)),
                "method": getattr(risk, part).method,
            }
            for part, name in _FIGURES.items()
        ),
        columns=(words_column("Risk of a person", "figure"), *share_columns("Risk", level)),
        open=True,
    )  # fmt: skip


def _selective(result: Result, level: str) -> Exhibit:
    return Exhibit(
        name="selective",
        title="An attacker who speaks only when sure",
        sentence=_sure(result.selections),
        rows=tuple(
            {
                "attack": one.attack,
                "slots": one.slots,
                "precision": one.precision,
                **figure_cells(one.named, "named_"),
                **figure_cells(one.right, "right_"),
                "expected_right": one.expected_right,
                "assessed": one.named.trials,
            }
            for one in result.selections
        ),
        columns=(
            words_column("Attack", "attack"),
            count_column(unit(result).capitalize(), "slots"),
            Column(
                "Asked to be right", lambda row: percent(float(row["precision"] or 0)), "precision"
            ),
            *share_columns("Named", level, "named_"),
            *share_columns("Right of those named", level, "right_"),
            count_column("Assessed", "assessed"),
        ),
        open=True,
    )


def _sure(selections: Sequence[Selective]) -> str:
    """The strongest attack at the precision nearest to 95 %: asked, named, right."""
    nearest = min(abs(one.precision - 0.95) for one in selections)
    close = [one for one in selections if abs(one.precision - 0.95) == nearest]
    best = max(close, key=lambda one: (one.slots, one.named.value))
    sure = f"sure enough to be right in {percent(best.precision)} of cases"
    who = f"An attacker ({best.attack}) who speaks only when {sure}"
    if best.right is None:
        return f"{who} names nobody: too few were attacked to show that any claim is so good."
    return (
        f"{who} names {share_with_interval(best.named)} of people, and was right about "
        f"{share_with_interval(best.right)} of those."
    )


def _claims(result: Result, claims: Claims, place: int) -> Exhibit:
    verdict = "the gap may be chance, so nothing speaks against its model"
    if not claims.fits:
        verdict = "chance alone does not explain the gap, so its model does not fit"
    return Exhibit(
        name=f"claims-{place}",
        title=f"Claimed and right: {claims.attack}, {units(result, claims.slots)}",
        sentence=opening(
            f"{claimed(claims, claims.attack)}: {verdict}."
        ),
        rows=tuple(
            {
                "attack": claims.attack, "slots": claims.slots, "claimed": one.claimed,
                **figure_cells(one.right), "targets": one.right.trials,
            }
            for one in claims.bins
        ),
        columns=(
            Column("Claimed", lambda row: exactly(float(row["claimed"] or 0)), "claimed"),
            *share_columns("Right", percent(result.level)),
            count_column("People", "targets"),
        ),
        draw=lambda rows, look: _draw_claims(rows, look, result.attacks.index(claims.attack)),
    )  # fmt: skip


def _draw_spread(rows: Sequence[Row], look: Style, attack: int) -> Any:
    bars = [
        {
            "label": f"{percent(float(row['from'] or 0))} to {percent(float(row['to'] or 0))}",
            "value": row["share"],
            "said": exactly(float(row["share"] or 0)),
        }
        for row in rows
    ]
    risk = "measured risk of a person"
    return share_bars(bars, look, "share of people", axis=risk, colour=attack)


def _draw_claims(rows: Sequence[Row], look: Style, attack: int) -> Any:
    data = [
        {
            **row,
            "said": share_with_interval(span(row)),
            "claim": exactly(float(row["claimed"] or 0)),
        }
        for row in rows
    ]
    whole = settings(domain=[0, 1])
    x = of("claimed:Q", scale=whole, axis=settings(title="claimed", labelExpr=PERCENT, tickCount=5))
    axis = settings(title="right", labelExpr=PERCENT, tickCount=5)
    base = chart(data).encode(x=x)
    tips = [
        of("claim:N", title="claimed"),
        of("said:N", title="right"),
        of("targets:Q", format=","),
    ]
    return layer(
        # The diagonal, on which claims lie that come true as often as they say.
        chart([{"claimed": 0, "value": 0}, {"claimed": 1, "value": 1}])
        .mark("line", color=look.muted, strokeWidth=1, opacity=0.6)
        .encode(x=x, y=of("value:Q", scale=whole, axis=axis)),
        base.mark("rule", color=look.colour(attack), strokeWidth=2, opacity=0.6).encode(
            y=of("low:Q", scale=whole, axis=axis), y2="high:Q"
        ),
        base.mark(
            "point",
            filled=True,
            size=80,
            opacity=1,
            color=look.colour(attack),
            shape=SHAPES[attack % len(SHAPES)],
        ).encode(y=of("value:Q", scale=whole, axis=axis), tooltip=tips),
    ).properties(height=320)
