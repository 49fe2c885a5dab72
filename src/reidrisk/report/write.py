"""Write a result as a page, tables, charts or a sign-off."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from reidrisk.core.files import made_folder, written_whole
from reidrisk.core.sanitize import cleaned
from reidrisk.errors import InvalidInput
from reidrisk.plotting import FILE
from reidrisk.report import charts, page, signoff
from reidrisk.report.jinja import saved
from reidrisk.report.sections import SectionOf
from reidrisk.report.sections import sections as sections_of
from reidrisk.study.result import Result
from reidrisk.study.text.numbers import listed
from reidrisk.study.text.verdict import text

__all__ = ["files", "html", "text"]

_Edition = Literal["long", "signoff"]
_EDITIONS: tuple[_Edition, ...] = get_args(_Edition)
"""The kinds of page that can be made of a result."""


def html(
    result: Result,
    path: str | os.PathLike[str],
    *,
    edition: _Edition = "long",
    sections: Sequence[SectionOf] = (),
    digest: str | None = None,
) -> Path:
    """Write the report: one page that needs no network and no other file.

    Args:
        result: What a study found.
        path: Where to.
        edition: "long" holds everything; "signoff" prints on two pages, with a place to sign.
        sections: More sections of the long edition, after ours: functions of the result that give a
            `Section` or None.
        digest: For the sign-off, the SHA-256 of the file that the result was read from, if an
            earlier version wrote it; else that of `result.json` as it is saved today.

    Raises:
        InvalidInput: There is no such edition, or it has no place for what is given.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> result = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40)).run(people)
        >>> rr.report.html(result, "report.html").name
        'report.html'
    """
    return saved(page_of(result, edition, sections, digest), path)


def page_of(
    result: Result,
    edition: _Edition = "long",
    sections: Sequence[SectionOf] = (),
    digest: str | None = None,
) -> str:
    """The text of the report, as `html` writes it.

    Args:
        result: What a study found.
        edition: As in `html`.
        sections: As in `html`.
        digest: As in `html`.
    """
    if edition not in _EDITIONS:
        raise InvalidInput(
            f"there is no edition {edition!r}; there are {listed(_EDITIONS)}",
            code="unknown-edition",
        )
    if edition == "signoff":
        if sections:
            raise InvalidInput(
                "sections go with the long edition only; leave one of the two out",
                code="conflicting-arguments",
            )
        return signoff.render(result, digest)
    if digest is not None:
        raise InvalidInput(
            "a digest goes with the sign-off edition only; leave it out",
            code="conflicting-arguments",
        )
    return page.render(cleaned(result), sections)


def files(
    result: Result, folder: str | os.PathLike[str], *, sections: Sequence[SectionOf] = ()
) -> tuple[Path, ...]:
    """Write every chart as SVG, PNG and the CSV of its data, and every other table as CSV.

    The folder is made if it is not there. `sections` are more sections, as in `html`.

    Args:
        result: What a study found.
        folder: Folder to write to; it is made if absent.
        sections: More sections, as in `html`.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> result = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40)).run(people)
        >>> sorted(path.name for path in rr.report.files(result, "charts"))[:3]
        ['information.csv', 'information.png', 'information.svg']
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
    # Everything is drawn before anything is written, so a chart that fails leaves no half folder.
    if made:
        with written_whole(*made) as parts:
            for part, content in zip(parts, made.values(), strict=True):
                part.write_bytes(content)
    return tuple(made)
