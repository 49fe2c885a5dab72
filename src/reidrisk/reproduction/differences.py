"""How far ours is from the published, in words."""

from reidrisk.estimates import Estimate
from reidrisk.reproduction.chapter import Mark


def apart(published: float, ours: Estimate, mark: Mark, because: str) -> str:
    """For a share that differs, by how many points and why we think so; else nothing."""
    if mark != "differs":
        return ""
    points = 100 * (ours.value - published)
    return f" Ours is {abs(points):.2g} points {'higher' if points > 0 else 'lower'}: {because}"
