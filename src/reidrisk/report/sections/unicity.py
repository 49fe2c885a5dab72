"""Sections about how many points single a person out."""

from collections.abc import Sequence
from typing import Any

from reidrisk.estimates import Estimate
from reidrisk.plotting import Style, over_slots
from reidrisk.report.exhibits import (
    Exhibit,
    Row,
    Section,
    attack_keys,
    count_column,
    figure_cells,
    said_rows,
    share_columns,
    words_column,
)  # fmt: skip
from reidrisk.risk.tables.records import KnownPoints, Unicity
from reidrisk.study.text import unicity as words
from reidrisk.study.text.numbers import percent


def sections(found: Unicity) -> tuple[Section, ...]:
    """Singled out, and right by guessing, over the number of points.

    Args:
        found: How many points single a person out.
    """
    ways = list(dict.fromkeys(one.coarsening for one in found))
    singled = _exhibit(found, "singled", "Share of people singled out", ways)
    right = _exhibit(found, "right", "Share of people named by guessing among all who fit", ways)
    return (
        Section("singled", "How many points are enough?", (words.knowledge(found),), (singled,)),
        Section("right", "How often is an attacker right?", (), (right,)),
    )


def _exhibit(found: Unicity, name: str, title: str, ways: Sequence[str]) -> Exhibit:
    rows = tuple(_row(one, name) for one in found)
    level = next((one.right.level for one in found if one.right), 1.0)
    drawn = [row for row in rows if row["value"] is not None]

    def draw(_: Sequence[Row], look: Style) -> Any:
        return over_slots(said_rows(drawn), look, ways, "points known", told=title.lower())

    return Exhibit(
        name=name,
        title=title,
        sentence=" ".join(_rise(found, way, name) for way in ways),
        rows=rows,
        columns=(
            words_column("Known", "attack"),
            count_column("Points", "slots"),
            # At level 1 figures are exact and have no interval to show.
            *share_columns("Share", percent(level))[: 2 if level < 1 else 1],
            count_column("Assessed", "targets"),
            count_column("With fewer points", "not_assessed"),
        ),
        draw=draw if drawn else None,
        keys=attack_keys(ways) if len(ways) > 1 else (),
        open=len(ways) == 1,
    )  # fmt: skip


def _row(one: KnownPoints, name: str) -> Row:
    return {
        "attack": one.coarsening,
        "slots": one.points,
        **figure_cells(_figure(one, name)),
        "targets": one.assessed,
        "not_assessed": one.not_assessed,
    }


def _figure(one: KnownPoints, name: str) -> Estimate | None:
    return one.singled_out if name == "singled" else one.right


def _rise(found: Unicity, way: str, name: str) -> str:
    some = [one for one in found if one.coarsening == way]
    return words.rise(some, [_figure(one, name) for one in some])
