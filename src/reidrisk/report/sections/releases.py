"""Section: releases side by side."""

from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Any

from reidrisk.plotting import PERCENT, Style, by_attack, chart, layer, of, settings
from reidrisk.report.exhibits import (
    NOTHING,
    Column,
    Exhibit,
    Key,
    Row,
    Section,
    attack_keys,
    count_column,
    figure_cells,
    share_columns,
    span,
    words_column,
)  # fmt: skip
from reidrisk.study.analyses.releases import (
    compared,
    extremes,
    left_out,
    of_vectors,
    spared,
    usefulness,
)
from reidrisk.study.result import Compared, Result
from reidrisk.study.text.numbers import at_most, percent, share_with_interval, unit

ORDER = 90

_USES = ("real", "variation", "withheld", "products", "neighbours")
_POINTS = ("variation", "neighbours")
"""What is kept, on the axis of the chart."""

_TITLE = "How would other releases compare?"


def section(result: Result) -> Section | None:
    """A chart of risk against utility, and a table of all."""
    if not result.releases:
        return None
    shown = [one for one in result.releases if not one.cannot]
    if not shown:
        return Section("releases", _TITLE, tuple(left_out(result)))
    sentences = (*compared(result), *left_out(result), *spared(shown))
    rows, level = tuple(map(_row, range(len(shown)), shown)), percent(result.level)
    risk = Exhibit(
        name="releases",
        title="Risk against utility",
        sentence=extremes(shown),
        rows=rows,
        columns=_risk_columns(result, level),
        draw=_drawn(result) if any(_has_point(row) for row in rows) else None,
        keys=(
            *(Key(str(row["release"]), _letter(row)) for row in rows if _has_point(row)),
            *attack_keys(
                result.attacks,
                used=[str(row["attack"]) for row in rows if _has_point(row)],
                switch=False,
            ),
        ),
        open=True,
    )
    use = Exhibit(
        name="utility",
        title="How useful each is",
        sentence=usefulness(shown),
        rows=tuple(
            {key: row[key] for key in row if key == "release" or key.startswith(_USES)}
            for row in rows
        ),
        columns=(words_column("Release", "release"), *_use_columns(result, level)),
        open=True,
    )
    return Section("releases", _TITLE, sentences, (risk, use))


def _use_columns(result: Result, level: str) -> tuple[Column, ...]:
    """What is kept of vectors, or of tokens."""
    if of_vectors(result):
        return (
            *share_columns("Products kept", level, "products_"),
            *share_columns("Neighbours kept", level, "neighbours_"),
        )
    return (
        *share_columns("Real", level, "real_"),
        *share_columns("Frequencies off by", level, "variation_"),
        *share_columns("Withheld", level, "withheld_"),
    )


def _row(place: int, one: Compared) -> Row:
    risk, ceiling = one.strongest, one.ceiling
    cells: dict[str, Any] = {"release": one.release, "place": place, "slots": one.slots}
    cells |= {"attack": None if risk is None else risk.attack, **figure_cells(risk)}
    cells |= {
        "not_assessed": None if risk is None else risk.not_assessed,
        "targets": None if risk is None else risk.targets + risk.not_assessed,
        "ceiling": None if ceiling is None else ceiling.high,
        "ceiling_name": None if ceiling is None else ceiling.name,
    }
    for use in _USES:
        cells |= figure_cells(getattr(one, use), f"{use}_")
    return cells


def _risk_columns(result: Result, level: str) -> tuple[Column, ...]:
    return (
        words_column("Release", "release"),
        count_column(unit(result).capitalize(), "slots"),
        Column("Strongest attack", lambda row: str(row["attack"] or NOTHING), "attack",
               number=False),
        *share_columns("Right", level),
        Column("Not assessed", _not_assessed, "not_assessed"),
        Column("Ceiling", _ceiling, "ceiling"),
    )  # fmt: skip


def _not_assessed(row: Row) -> str:
    missed, of = row["not_assessed"], row["targets"]
    return NOTHING if missed is None else f"{missed:,} of {of:,}"


def _ceiling(row: Row) -> str:
    return "none" if row["ceiling"] is None else at_most(float(row["ceiling"]))


def _has_point(row: Row) -> bool:
    return any(row[f"{use}_value"] is not None for use in _POINTS) and row["value"] is not None


def _letter(row: Row) -> str:
    """Stands for a release: A to Z, then numbers."""
    place = int(row["place"] or 0)
    return ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)


def _drawn(result: Result) -> Callable[[Sequence[Row], Style], Any]:
    return lambda rows, look: _draw(rows, look, result.attacks)


def _draw(rows: Sequence[Row], look: Style, attacks: Sequence[str]) -> Any:
    """Risk upwards, utility to the right: the lower right corner is best.

    A letter names the release; colour and shape are those of the attack that was strongest.
    """
    data = [
        {
            **row,
            **_kept(row),
            "said": share_with_interval(span(row)),
            # A file has no key beside the chart, so whole names stand at its marks.
            "letter": f"{_letter(row)} {row['release']}" if look.legend else _letter(row),
        }
        for row in rows
        if _has_point(row)
    ]
    style = by_attack(attacks, look, {str(row["attack"]) for row in data})
    colour, shape = style["color"], style["shape"]
    vectors = any(row["neighbours_value"] is not None for row in data)
    across = settings(
        title=f"{'neighbours' if vectors else 'token frequencies'} kept",
        labelExpr=PERCENT,
        tickCount=5,
        grid=False,
    )
    up = settings(title="share correctly identified", labelExpr=PERCENT, tickCount=5)
    x, y = of("kept:Q", axis=across), of("value:Q", axis=up)
    base = chart(data)
    return layer(
        base.mark("rule", strokeWidth=1, opacity=0.5).encode(
            x=of("least:Q", axis=across), x2="most:Q", y=y, color=colour
        ),
        base.mark("rule", strokeWidth=1, opacity=0.5).encode(
            x=x, y=of("low:Q", axis=up), y2="high:Q", color=colour
        ),
        base.mark("point", filled=True, size=90, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape,
            tooltip=[
                of("release:N"),
                of("attack:N", title="strongest attack"),
                of("said:N", title="right"),
                of("use:N", title="neighbours kept" if vectors else "frequencies off by"),
            ],
        ),
        *(
            chart(some)
            .mark("text", dx=away, dy=-9, align=align, color=look.ink)
            .encode(x=x, y=y, text="letter:N")
            for align, away, some in _aligned(data)
        ),
    ).properties(height=300)  # fmt: skip


def _kept(row: Row) -> dict[str, Any]:
    """How much is kept, from 0 to 1, with its interval; and the figure that says so."""
    if row["neighbours_value"] is not None:
        ends = {"kept": "value", "least": "low", "most": "high"}
        kept = {name: row[f"neighbours_{end}"] for name, end in ends.items()}
        return {**kept, "use": share_with_interval(span(row, "neighbours_"))}
    return {
        "kept": 1 - float(row["variation_value"] or 0),
        "least": 1 - float(row["variation_high"] or 0),
        "most": 1 - float(row["variation_low"] or 0),
        "use": share_with_interval(span(row, "variation_")),
    }


def _aligned(data: Sequence[Row]) -> list[tuple[str, int, list[Row]]]:
    """Names of releases stand on the side of their mark where there is more room."""
    left = [row for row in data if float(row["kept"] or 0) <= 0.5]  # noqa: PLR2004  the middle
    right = [row for row in data if row not in left]
    sides = (("left", 9, left), ("right", -9, right))
    return [(align, away, some) for align, away, some in sides if some]
