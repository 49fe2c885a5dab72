"""How measured risk is spread over people."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Style


def compute() -> str:
    return "per-user-1"


def draw(name: str, look: Style) -> Chart:
    return exhibit(name, look)
