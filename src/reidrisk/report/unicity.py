"""The page about how many points single a person out."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reidrisk.core.sanitize import cleaned
from reidrisk.estimates import Estimate
from reidrisk.io.table_columns import column_name
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
from reidrisk.risk.tables._unicity import CLOSED_WORLD, KnownPoints, Unicity
from reidrisk.study.run_store import versions
from reidrisk.study.text.numbers import count, listed, opening, percent, share_with_interval
from reidrisk.study.text.verdict import Sentence

_NOT_COVERED = (
    "Attackers who know points only roughly or with errors, and those who know more.",
    "What else the data tell about a person who is found.",
    "People who are not in the data, and people with fewer points than an attacker knows.",
)
_KNOWN = {"random": "random points", "rarest": "the rarest points that the person has"}


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
    best = _headline(known)
    sheet = Sheet(
        title=f"How many points single a person out in {name}",
        statements=verdict(known),
        basis=basis(known),
        figure=best.singled_out if best else None,
        study={"point": list(known.point), "known": known.known, "targets": known.targets},
        command=command or "reidrisk unicity FILE",
        seed=known.seed,
        assumptions=_assumptions(known),
        not_covered=_NOT_COVERED,
        inputs=dict(inputs or {}),
        versions=versions(),
    )
    return save(sheet, sections(known), path)


def verdict(found: Unicity) -> tuple[Sentence, ...]:
    """Who is singled out by the most points, and what making them coarser helps."""
    best = _headline(found)
    if best is None or best.right is None:
        return (Sentence("found", "Nobody has as many points as were asked for."),)
    points = f"point{'s' * (best.points > 1)} ({_point(found)})"
    known = f"{count(best.points)} random {points}"
    if found.known == "rarest":
        known = (
            f"the {count(best.points)} rarest {points}"
            if best.points > 1
            else f"the rarest {points}"
        )
    first = (
        f"Whoever knows {known} of a person singles them out among {count(found.users)} in "
        f"{_share(best.singled_out)} of cases: nobody else has them all."
    )
    guess = (
        "By guessing among all who have the points, the attacker is right in "
        f"{_share(best.right)} of cases."
    )
    statements = [Sentence("found", first), Sentence("possible", guess)]
    coarser = [one for one in found if one.points == best.points and one.singled_out]
    least = min(coarser, key=lambda one: one.singled_out.value if one.singled_out else 1.0)
    if least is not best:
        way = (
            least.coarsening if least.coarsening.startswith("rounded") else f"by {least.coarsening}"
        )
        text = f"Known only {way}, they single out {_share(least.singled_out)} of people."
        statements.append(Sentence("remedy", text))
    return tuple(statements)


def sections(found: Unicity) -> tuple[Section, ...]:
    """Singled out, and right by guessing, over the number of points."""
    ways = list(dict.fromkeys(one.coarsening for one in found))
    singled = _exhibit(found, "singled", "Share of people singled out", ways)
    right = _exhibit(found, "right", "Share of people named by guessing among all who fit", ways)
    sentences = (f"The attacker knows {_KNOWN[found.known]}; a point is {_point(found)}.",)
    return (
        Section("singled", "How many points are enough?", sentences, (singled,)),
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
        sentence=" ".join(
            _rise([one for one in found if one.coarsening == way], name) for way in ways
        ),
        rows=rows,
        columns=(
            words_column("Known", "attack"),
            count_column("Points", "slots"),
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


def _rise(some: Sequence[KnownPoints], name: str) -> str:
    measured = [one for one in some if _figure(one, name)]
    if not measured:
        return opening(f"{some[0].coarsening}: nobody has so many points.")
    first, last = measured[0], measured[-1]
    end = f"{_share(_figure(last, name))} with {count(last.points)}"
    if first is last:
        return opening(f"{first.coarsening}: {end}.")
    begin = f"{_share(_figure(first, name))} with {count(first.points)}"
    return opening(f"{first.coarsening}: from {begin} to {end}.")


def _figure(one: KnownPoints, name: str) -> Estimate | None:
    return one.singled_out if name == "singled" else one.right


def _share(figure: Estimate | None) -> str:
    return "no" if figure is None else share_with_interval(figure)


def _point(found: Unicity) -> str:
    return listed([column_name(name) for name in found.point])


def _headline(found: Unicity) -> KnownPoints | None:
    """As written, with the most points that anybody has."""
    measured = [one for one in found if one.coarsening == "as written" and one.singled_out]
    return measured[-1] if measured else None


def basis(found: Unicity) -> str:
    """Whose points became known, who could be assessed, how sure figures are."""
    best = _headline(found)
    targets = f"Points of {count(found.targets)} of {count(found.users)} people became known."
    if best is None or best.singled_out is None:
        return targets
    missing = (
        f" {count(best.not_assessed)} of them have fewer than {count(best.points)} points and are "
        "in no such figure, which does not make them safe."
        if best.not_assessed
        else ""
    )
    level = best.singled_out.level
    ranges = (
        " These figures are exact." if level == 1 else f" Ranges are {percent(level)} intervals."
    )
    return f"{targets}{missing}{ranges}"


def _assumptions(found: Unicity) -> tuple[str, ...]:
    drawn = (
        "Points are drawn at random among those of a person, each as likely."
        if found.known == "random"
        else "The attacker happens to know the points that the fewest people have."
    )
    return (CLOSED_WORLD, drawn, "A point counts once, however often a person has it.")
