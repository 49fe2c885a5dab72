"""A chart of the gallery."""

from pictures._gallery import draw, exhibit

from reidrisk.report.exhibits import Exhibit

__all__ = ["compute", "draw"]


def compute() -> Exhibit:
    return exhibit("noise-levels")
