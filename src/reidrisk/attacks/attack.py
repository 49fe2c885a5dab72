"""What every attack promises, ours and those of others."""

from typing import Protocol

from reidrisk.observations import Observations
from reidrisk.scores import Score


class Attack(Protocol):
    """How an attacker rates known users; fitted on what the attacker may see.

    Attributes:
        name: Short, in lower case, as on the command line.
        knows: What the attacker needs to know, beside the rows: part of a sentence.
        assumes: Under what the attack is the best possible: a sentence.
        likelihood: Whether a fitted score is the logarithm of a chance, `log Pr(shown | known)`, up
            to what is the same for all users. Only then does an attacker know how sure it is.

    A plug-in is a frozen dataclass with these; `reidrisk.testing.check_attack` tests one.
    """

    @property
    def name(self) -> str: ...  # noqa: D102  explained above

    @property
    def knows(self) -> str: ...  # noqa: D102

    @property
    def assumes(self) -> str: ...  # noqa: D102

    @property
    def likelihood(self) -> bool: ...  # noqa: D102

    def fit(self, seen: Observations) -> Score:
        """The score, from what an attacker sees: never from `seen.truth`."""
        ...
