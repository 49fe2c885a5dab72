"""The page about the bits that two sites share."""

import os
from collections.abc import Mapping
from pathlib import Path

from reidrisk.core.sanitize import cleaned
from reidrisk.report.page import Sheet, save
from reidrisk.report.sections import independence, information
from reidrisk.study.analyses.information import INTERVALS, LAST_DIGITS
from reidrisk.study.result import Result
from reidrisk.study.run_store import versions
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import count, percent

_ASSUMED = (
    "Users are independent of each other, and like the people whom the figures are to describe.",
    "A slot in which nothing came is a symbol like any other.",
)
_NOT_COVERED = (
    "How often a person is named. Bits are an average over people; attacks measure who is found.",
    "What larger models, or longer training, would find in addition.",
)


def _basis(known: Result) -> str:
    """Of whom the figures are."""
    counted = f"Counted on {count(known.targets)} people of whom both sites were shown something"
    models = "; a model is measured on those of them from whom it did not learn"
    ranges = f"Ranges are {percent(known.level)} intervals."
    return f"{counted}{models if known.learned else ''}. {ranges}"


def html(
    found: Result, path: str | os.PathLike[str], *, command: str, inputs: Mapping[str, str]
) -> Path:
    """Write the page about information that was measured on rows.

    Args:
        found: What was measured: `reidrisk.study.analyses.information.result_of`.
        path: Where to.
        command: That measured it.
        inputs: Hashes of the files read, by name.
    """
    known = cleaned(found)
    bits, slots = information.section(known), independence.section(known)
    assert bits is not None
    sheet = Sheet(
        title=known.title,
        statements=(
            Sentence("found", bits.exhibits[0].sentence),
            *(Sentence("possible", one.sentence) for one in known.independence if one.slots > 1),
        ),
        basis=_basis(known),
        figure=None,
        study={"models": [one.model for one in known.learned], "seed": known.seed},
        command=command,
        seed=known.seed,
        assumptions=(*_ASSUMED, *((INTERVALS, LAST_DIGITS) if known.learned else ())),
        not_covered=_NOT_COVERED,
        inputs=dict(inputs),
        versions=versions(("torch",) if known.learned else ()),
    )
    return save(sheet, [one for one in (bits, slots) if one is not None], path)
