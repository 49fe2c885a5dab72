"""The page about how much two sites share, without any attack."""

import os
from collections.abc import Mapping
from pathlib import Path

from reidrisk.report import independence, information
from reidrisk.report.page import Sheet, save
from reidrisk.study.result import Result
from reidrisk.study.saying.numbers import count
from reidrisk.study.saying.statement import Statement
from reidrisk.study.saying.words import units
from reidrisk.study.words import versions
from reidrisk.visible import cleaned

_ASSUMED = (
    "Users are independent of each other, and like those whom the figures are asked about.",
    "A slot in which nothing came is a symbol like any other.",
)
_NOT_COVERED = (
    "How often a person is named. Bits are an average over people; attacks measure who is found.",
    "What models that are larger, or learn longer, would find besides.",
)


def html(
    found: Result, path: str | os.PathLike[str], *, command: str, inputs: Mapping[str, str]
) -> Path:
    """Write the page about information that was measured on rows.

    Args:
        found: What was measured: `reidrisk.study.reckoning.alone`.
        path: Where to.
        command: That measured it.
        inputs: Hashes of the files read, by name.
    """
    known = cleaned(found)
    best = [one for one in known.reckoned if one.figure == "mutual information" and not one.how]
    told = "; ".join(
        f"{one.bits:.3f} ({one.low:.3f} to {one.high:.3f}) over {units(known, one.slots)} by "
        f"{one.by}"
        for one in best
    )
    sheet = Sheet(
        title=known.title,
        statements=(
            Statement("found", f"Two sites share, in bits per slot: {told}."),
            *(Statement("possible", one.sentence) for one in known.independence if one.slots > 1),
        ),
        basis=f"Measured on {count(known.targets)} people of whom both sites were shown something.",
        figure=None,
        study={"models": [one.model for one in known.learned], "seed": known.seed},
        command=command,
        seed=known.seed,
        assumptions=_ASSUMED,
        not_covered=_NOT_COVERED,
        inputs=dict(inputs),
        versions=versions(("torch",) if known.learned else ()),
    )
    sections = (information.section(known), independence.section(known))
    return save(sheet, [one for one in sections if one is not None], path)
