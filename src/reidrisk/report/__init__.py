"""The report of a study: a page that needs nothing else, files of its charts, words."""

from reidrisk.report import comparing, informing, singling, unicity
from reidrisk.report.outputs import files, html
from reidrisk.report.parts import Column, Exhibit, Section
from reidrisk.report.sections import section_at
from reidrisk.study.saying.verdict import text

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
