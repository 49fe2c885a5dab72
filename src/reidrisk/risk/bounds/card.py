"""The threat model that a bound states about itself."""

from dataclasses import dataclass

from reidrisk.estimates.estimate import Side

ANYONE = "any attacker who names a person by what one site is shown of them"
"""Whom most upper bounds cover."""

RANDOM_USER = "How often one random user is named correctly by what one site is shown of them."
"""What most bounds bound."""

WHICHEVER = "Over all users, or over those whom attacks can assess, whichever is larger."
"""What small worlds and full information count: attacks leave out whom they cannot assess."""

AS_LIKELY = "Every user is as likely to be the target as any other"
AS_IT_SAYS = "the release does what its parameters say"

NOT_COVERED = (
    "It does not cover an attacker who sees rows of several sites and knows that they are one "
    "person's, or who sees everybody's rows at once."
)
"""What a bound on one row of one person leaves out."""


@dataclass(frozen=True, slots=True)
class About:
    """The threat model of a bound; with its first sentence and its module's name it is a card.

    Attributes:
        figures: Names of its figures in a spectrum.
        side: Which side they are on.
        knows: What the attackers whom it covers may know, to end `an attacker who knows ...`.
        needs: What of a setting must be there, or it does not apply.
        assumes: What it rests on.
        bounds: Which quantity it bounds.
        holds_for: For which attackers: a noun.
        limits: What it does not cover, and where it is left out.
        cost: What it takes to compute.
        source: Where it is proved.
    """

    figures: tuple[str, ...]
    side: Side
    knows: str
    needs: tuple[str, ...]
    assumes: str
    bounds: str
    holds_for: str
    limits: str
    cost: str
    source: str

    @property
    def figure(self) -> str:
        """The name of its only figure."""
        (only,) = self.figures
        return only
