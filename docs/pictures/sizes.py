"""Risk among fewer people and, extrapolated, among more."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Style


def compute() -> str:
    return "sizes"


def draw(name: str, look: Style) -> Chart:
    return exhibit(name, look)
