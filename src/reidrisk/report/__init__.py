"""The report of a study: a page that needs nothing else, files of its charts, words."""

from reidrisk.report.outputs import files, html, text

__all__ = ["files", "html", "text"]
