"""The page about how many points single a person out."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reidrisk.core.sanitize import cleaned
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
from reidrisk.report.page import Sheet, save
from reidrisk.risk.tables._unicity import KnownPoints, Unicity
from reidrisk.study.run_store import versions
from reidrisk.study.text import unicity as words
from reidrisk.study.text.numbers import percent


def html(
    found: Unicity,
    path: str | os.PathLike[str],
    *,
    name: str = "a table",
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Path:
    """Write the page about points of people.

    Args:
        found: What `unicity` found.
        path: Where to.
        name: Of the table.
        command: That found it, if it was one.
        inputs: Hashes of the files read, by name.
    """
    known = cleaned(found)
    best = words.headline(known)
    sheet = Sheet(
        title=f"How many points single a person out in {name}",
        statements=words.verdict(known),
        basis=words.basis(known),
        figure=best.singled_out if best else None,
        study={"point": list(known.point), "known": known.known, "targets": known.targets},
        command=command or "reidrisk unicity FILE",
        seed=known.seed,
        assumptions=words.assumptions(known),
        not_covered=words.NOT_COVERED,
        inputs=dict(inputs or {}),
        versions=versions(),
    )
    return save(sheet, sections(known), path)


def sections(found: Unicity) -> tuple[Section, ...]:
    """Singled out, and right by guessing, over the number of points."""
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
