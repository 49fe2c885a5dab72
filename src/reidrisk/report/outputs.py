"""What can be made of a result."""

import os
from collections.abc import Sequence
from pathlib import Path

from reidrisk.drawing import FILE
from reidrisk.files import made_folder, written_whole
from reidrisk.report import charts, page
from reidrisk.report.sections import SectionOf
from reidrisk.report.sections import sections as sections_of
from reidrisk.study.result import Result
from reidrisk.study.saying.words import cleaned


def html(
    result: Result, path: str | os.PathLike[str], *, sections: Sequence[SectionOf] = ()
) -> Path:
    """Write the report: one page that needs no network and no other file.

    Args:
        result: What a study found.
        path: Where to.
        sections: More sections, after ours: functions of the result that give a `Section` or None.
    """
    file, body = Path(path), page.render(cleaned(result), sections)
    with written_whole(file) as (part,):
        part.write_text(body, encoding="utf-8", newline="\n")
    return file


def files(
    result: Result, folder: str | os.PathLike[str], *, sections: Sequence[SectionOf] = ()
) -> tuple[Path, ...]:
    """Write every chart as SVG, PNG and the CSV of its data, and every other table as CSV.

    The folder is made if it is not there. `sections` are more sections, as in `html`.
    """
    place = made_folder(Path(folder))
    made: dict[Path, bytes] = {}
    for section in sections_of(cleaned(result), sections):
        for exhibit in section.exhibits:
            made[place / f"{exhibit.name}.csv"] = exhibit.csv().encode()
            if exhibit.draw:
                width = charts.PANEL_WIDTH if section.panels else charts.WIDTH
                spec = charts.specification(exhibit, FILE, width)
                made[place / f"{exhibit.name}.svg"] = charts.svg(spec, width).encode()
                made[place / f"{exhibit.name}.png"] = charts.png(spec, width)
    if made:
        with written_whole(*made) as parts:
            for part, content in zip(parts, made.values(), strict=True):
                part.write_bytes(content)
    return tuple(made)
