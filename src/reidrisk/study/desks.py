"""Where a step that takes long works, so that half of it is not lost."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reidrisk.learning.progress import Look

Watched = Callable[[str, Look, float], None]
"""Told of training: what is learned, what was reached, and the seconds left at most."""


@dataclass(frozen=True)
class Desk:
    """What a step gives does not depend on it.

    Attributes:
        folder: For what the step has begun, made when it is needed; None if nothing is kept.
        watch: Told how far it is.
    """

    folder: Path | None = None
    watch: Watched | None = None
