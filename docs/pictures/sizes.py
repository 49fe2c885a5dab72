"""Risk among fewer people and, extrapolated, among more."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Look


def compute() -> str:
    return "sizes"


def draw(name: str, look: Look) -> Chart:
    return exhibit(name, look)
