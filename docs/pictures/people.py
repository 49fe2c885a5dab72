"""How measured risk is spread over people."""

from pictures._topics import exhibit

from reidrisk.plotting import Chart, Look


def compute() -> str:
    return "per-user-1"


def draw(name: str, look: Look) -> Chart:
    return exhibit(name, look)
