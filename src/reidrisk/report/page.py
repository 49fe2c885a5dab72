"""The report page: one HTML file that fetches and evaluates nothing."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reidrisk.core.sanitize import cleaned
from reidrisk.plotting import PAGE
from reidrisk.report import charts, jinja
from reidrisk.report.exhibits import Section
from reidrisk.report.jinja import foot, policy, resource, template, trusted
from reidrisk.report.sections import SectionOf, sections
from reidrisk.study.result import Result
from reidrisk.study.text.numbers import Interval, interval, share
from reidrisk.study.text.verdict import Sentence, basis, large, verdict

# A script element ends at the first `</script`, whatever it holds.
_ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Sheet:
    """What a page says around its sections.

    Attributes:
        title: Of the page.
        statements: The verdict.
        basis: What it rests on.
        figure: The number that stands large, if there is one.
        study: What was asked.
        command: That gives the page again.
        seed: Of all chance; None if there was none.
        assumptions: A sentence each.
        not_covered: A sentence each.
        inputs: Names and hashes of files read.
        versions: Of the package and its libraries.
    """

    title: str
    statements: tuple[Sentence, ...]
    basis: str
    figure: Interval | None
    study: Mapping[str, Any]
    command: str
    seed: int | None = None
    assumptions: Sequence[str] = ()
    not_covered: Sequence[str] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def render(result: Result, more: Sequence[SectionOf] = ()) -> str:
    """The page of a result; the same result gives the same text.

    Args:
        result: What a study found.
        more: Sections of others, which come last.
    """
    sheet = Sheet(
        result.title,
        verdict(result),
        basis(result),
        large(result),
        result.study,
        str(result.study.get("command") or "reidrisk study study.toml -o run/"),
        # Everybody is counted there, so that nothing is left to chance.
        None if result.singling else result.seed,
        result.assumptions,
        result.not_covered,
        result.inputs,
        result.versions,
    )
    return written(sheet, sections(result, more))


def written(sheet: Sheet, parts: Sequence[Section]) -> str:
    """A page of any content.

    Args:
        sheet: What it says around its sections.
        parts: Its sections.
    """
    style = resource("shared.css") + resource("page.css") + foot(sheet.title)
    library, script = charts.library(), resource("page.js")
    page: str = template("page.html").render(
        sheet=sheet,
        policy=policy(style, (library, script)),
        style=trusted(style),
        scripts=[trusted(library), trusted(script)],
        share=share(sheet.figure) if sheet.figure else "",
        interval=interval(sheet.figure) if sheet.figure else "",
        sections=parts,
        drawings=_drawings(parts),
        study=json.dumps(sheet.study, indent=2, ensure_ascii=False),
    )
    return page


def save(sheet: Sheet, parts: Sequence[Section], path: str | os.PathLike[str]) -> Path:
    """Write a page of any content: one file that needs no network and no other file.

    Args:
        sheet: What it says around its sections.
        parts: Its sections.
        path: Where to.
    """
    return jinja.saved(written(cleaned(sheet), parts), path)


def _drawings(parts: Any) -> dict[str, dict[str, Any]]:
    """For each chart its specification as JSON, and a still picture until it is drawn."""
    made = {}
    for section in parts:
        width = charts.PANEL_WIDTH if section.panels else charts.WIDTH
        for exhibit in section.exhibits:
            if exhibit.draw:
                spec = charts.specification(exhibit, PAGE, "container")
                made[exhibit.name] = {
                    "spec": trusted(_json(spec)),
                    "still": trusted(charts.inline_svg(spec, width, exhibit.name)),
                }
    return made


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join(_ESCAPES.get(character, character) for character in text)
