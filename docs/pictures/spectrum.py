"""Guessing, attacks, the best possible and ceilings, on one axis."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Style


def compute() -> str:
    return "spectrum"


def draw(name: str, look: Style) -> Chart:
    return exhibit(name, look)
