"""What others have published, and what comes out here: row by row, with why they differ.

`reidrisk.reproduction.run("folder/")` is what `reidrisk reproduce` runs.
"""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.reproduction._run import run, scaled
    from reidrisk.reproduction.chapter import Mark, Point, Row, Scale, Step
    from reidrisk.reproduction.page import html
    from reidrisk.reproduction.record import Part, Reproduction
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "chapter": ("Mark", "Point", "Row", "Scale", "Step"),
            "page": ("html",),
            "record": ("Part", "Reproduction"),
            "_run": ("run", "scaled"),
        },
    )

__all__ = [
    "Mark",
    "Part",
    "Point",
    "Reproduction",
    "Row",
    "Scale",
    "Step",
    "html",
    "run",
    "scaled",
]
