"""Risk over weeks, from the report of a study."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Look


def compute() -> str:
    return "slots"


def draw(name: str, look: Look) -> Chart:
    return exhibit(name, look)
