"""Risk over weeks, from the report of a study."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Style


def compute() -> str:
    return "slots"


def draw(name: str, look: Style) -> Chart:
    return exhibit(name, look)
