"""The page about who is alone in a table of people."""

import os
from collections.abc import Mapping
from pathlib import Path

from reidrisk.report import write
from reidrisk.report.sections.singling import sections
from reidrisk.risk.tables.records import SinglingRecord

__all__ = ["html", "sections"]


def html(
    found: SinglingRecord,
    path: str | os.PathLike[str],
    *,
    name: str = "a table",
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Path:
    """Write the page about a table: the report of its result.

    Args:
        found: What `singling` found.
        path: Where to.
        name: Of the table.
        command: That found it, if it was one.
        inputs: Hashes of the files read, by name.
    """
    return write.html(found.result(name=name, command=command, inputs=inputs), path)
