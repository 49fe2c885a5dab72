"""How the time for training is shared, and why training may be impossible here."""

from importlib.util import find_spec

from reidrisk.reproduction.chapter import Scale

ATTACK, ONE_EPOCH, ALL_EPOCHS = 0.4, 0.2, 0.4
"""Shares of the budget: the attack that learns; bits of one epoch; bits of all."""

GUESTS = ("torch",)


def missing(scale: Scale) -> str:
    """Why nothing can be learned here; empty if it can."""
    if scale.seconds <= 0:
        return "Nothing was learned: --seconds is 0. Give it some time, such as --seconds 300."
    if any(find_spec(name) is None for name in GUESTS):
        return "Nothing was learned: torch is not installed; pip install 'reidrisk[torch]'."
    return ""
