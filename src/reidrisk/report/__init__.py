"""The report of a study: a page that needs nothing else, files of its charts, words."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.report import comparing, informing, singling, unicity
    from reidrisk.report.exhibits import Column, Exhibit, Section
    from reidrisk.report.outputs import files, html
    from reidrisk.report.sections import section_at
    from reidrisk.study.text.verdict import text
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            ".study.text.verdict": ("text",),
            "comparing": (),
            "informing": (),
            "outputs": ("files", "html"),
            "exhibits": ("Column", "Exhibit", "Section"),
            "sections": ("section_at",),
            "singling": (),
            "unicity": (),
        },
    )

__all__ = [
    "Column",
    "Exhibit",
    "Section",
    "comparing",
    "files",
    "html",
    "informing",
    "section_at",
    "singling",
    "text",
    "unicity",
]
