"""Reproductions that take no time."""

from types import ModuleType

from reidrisk.estimates import Estimate
from reidrisk.reproduction import ChapterStep, Point, Row, Scale

TINY = Scale("laptop", users=400, targets=100, seconds=0)


def chapter(name, runs, title="A chapter"):
    """A chapter whose steps note that they ran, and give a row each."""
    made = ModuleType(f"chapters.{name}")
    made.TITLE, made.SOURCE = title, "Nobody, nothing (1900)"

    def step(number):
        def run():
            runs.append(f"{name} {number}")
            ours = Estimate(0.1 * number, 0.05 * number, 0.15 * number, 0.95, 10, "by hand")
            points = tuple(Point("hamming", at, ours) for at in (1, 2))
            return (
                Row(f"Lemma {number}", "what", "0.1", ours, "%", "reproduced", "by hand",
                    axis="epochs", points=points),
            )  # fmt: skip

        return ChapterStep(f"step {number}", run)

    made.steps = lambda _scale: (step(number) for number in (1, 2, 3))
    return made
