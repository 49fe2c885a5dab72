"""The card of an attack or bound: what the attacker knows and assumes, and its limits.

Cards are made from what attacks and bounds state about themselves. The command line, the report and
the documentation show the same cards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from reidrisk.attacks.protocol import ALL_ROWS, NEEDS, ONE_ROW, Attack, uses_of
from reidrisk.estimates.estimate import Side

IN_SHORT = "In short"
NOT_STATED = "Not stated."

PAPER = "Carey et al. (SIGMOD 2023)"
"""Measuring Re-identification Risk: the paper that this package follows."""

WITHIN = "best within "
"""The optimum under the model of an attack is called this and the attack's name."""

SIDES: Mapping[Side | None, str] = {
    "lower": "Lower: attackers do at least this well.",
    "estimate": "Estimate: the best possible, if its model holds.",
    "upper": "Upper: no attacker whom it covers does better.",
    None: "Each figure says on which side it is.",
}
"""On which side of the truth a figure is, in a sentence."""

SETTING_NEEDS = {
    **NEEDS,
    "people": "the people behind the known rows",
    "seed": "the seed with which they were observed",
    "shared_bits": "the bits that two sites share about a user",
}
"""What an attack may need of a view, and a bound of a setting, in words."""

_USES = {
    ONE_ROW: "One anonymous row at a time: that of the target, besides what is known.",
    ALL_ROWS: "All anonymous rows at once: bounds for one random user do not cover it.",
}
"""Which anonymous rows the score of a pair depends on, in a sentence."""

_REACHED = (
    "How often one random target is named correctly: the average over the targets that could be "
    "assessed, in which a tie counts as a chance."
)
"""What the figure of every attack is."""

_WHOEVER = "anybody with this knowledge, where people and release are like those that were measured"
"""For whom the figure of every attack holds."""


@dataclass(frozen=True, slots=True)
class Card:
    """The threat model of an attack or a bound.

    Attributes:
        name: In study files and on the command line.
        kind: An attack that is carried out, or a bound on attackers.
        side: On which side of the truth its figures are; None if only the figures say.
        says: What it does: a sentence.
        knows: What its attacker knows, to end `an attacker who knows ...`.
        needs: What of a view, or of a setting, must be there; None if that is not stated.
        assumes: What it rests on.
        bounds: Which quantity its figure is.
        holds_for: For which attackers: a noun.
        limits: What it does not see or cover, and what would break it.
        cost: What it takes to compute.
        source: Where it is from: a place in the paper, or elsewhere.
        likelihood: Whether an attack knows how sure it is; None of a bound.
        uses: Which anonymous rows the score of a pair depends on: "one row" or "all rows"; None of
            a bound, and of an attack of which nothing but a record is left.

    Example:
        >>> card = rr.attacks.card_of(rr.Hamming())
        >>> card.side, card.source
        ('lower', 'Carey et al. (SIGMOD 2023), section 8.2.1.')
    """

    name: str
    kind: Literal["attack", "bound"]
    side: Side | None
    says: str
    knows: str
    needs: tuple[str, ...] | None
    assumes: str
    bounds: str
    holds_for: str
    limits: str
    cost: str
    source: str
    likelihood: bool | None = None
    uses: str | None = None

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """What the card says, as people read it: headings and sentences."""
        claims = () if self.likelihood is None else (("How sure", self._claims()),)
        uses = () if self.uses is None else (("Looks at", _USES.get(self.uses, NOT_STATED)),)
        return (
            ("Side", SIDES[self.side]),
            (IN_SHORT, _sentence(self.says)),
            ("Attacker", self._attacker()),
            ("Needs", self._needs()),
            *uses,
            ("Assumes", _sentence(self.assumes)),
            ("Figure", _sentence(self.bounds)),
            ("Holds for", _sentence(self.holds_for)),
            ("Limits", _sentence(self.limits)),
            *claims,
            ("Cost", _sentence(self.cost)),
            ("Source", _sentence(self.source)),
        )

    def _attacker(self) -> str:
        return self.knows if self.knows == NOT_STATED else _sentence(f"knows {self.knows}")

    def _needs(self) -> str:
        if self.needs is None:
            return NOT_STATED
        if not self.needs:
            return "Nothing besides the known and the anonymous rows."
        return _sentence("; ".join(SETTING_NEEDS.get(need, need) for need in self.needs))

    def _claims(self) -> str:
        if self.likelihood:
            return (
                "Its score is a likelihood, so it knows how sure it is of each guess, and the "
                f"figure {WITHIN}{self.name} is the best that its knowledge allows."
            )
        return "Its score is no likelihood: it does not know how sure it is."


def card_of(attack: Attack) -> Card:
    """The threat model of an attack, ours or of others, as it says itself.

    What a plug-in does not say, its card calls not stated. It may say `limits`, `cost` and `source`
    as it says `knows`.

    Args:
        attack: The attack.

    Example:
        >>> rr.attacks.card_of(rr.WeightedHamming()).needs
        ('release',)
    """
    return Card(
        name=attack.name,
        kind="attack",
        side="lower",
        says=first_sentence(type(attack)),
        knows=attack.knows,
        # A plug-in that needs nothing may leave `needs` out.
        needs=getattr(attack, "needs", ()),
        assumes=attack.assumes,
        bounds=_REACHED,
        holds_for=_WHOEVER,
        limits=_stated(attack, "limits"),
        cost=_stated(attack, "cost"),
        source=_stated(attack, "source"),
        likelihood=attack.likelihood,
        uses=uses_of(attack),
    )


def recorded_card(name: str, knows: str, assumes: str, *, likelihood: bool) -> Card:
    """The threat model of an attack from what a result records, without the attack itself."""
    return Card(
        name=name,
        kind="attack",
        side="lower",
        says=NOT_STATED,
        knows=knows,
        needs=None,
        assumes=assumes,
        bounds=_REACHED,
        holds_for=_WHOEVER,
        limits=NOT_STATED,
        cost=NOT_STATED,
        source=NOT_STATED,
        likelihood=likelihood,
    )


def first_sentence(part: Any) -> str:
    """The first line of a docstring; not the signature that dataclasses put in its place."""
    said = str(getattr(part, "__doc__", None) or "").strip().partition("\n")[0]
    made_up = said.startswith(f"{getattr(part, '__name__', '')}(")
    return NOT_STATED if made_up else said or NOT_STATED


def _stated(attack: Attack, what: str) -> str:
    """An optional text of an attack; something else of that name, say a parameter, is ignored."""
    said = getattr(attack, what, None)
    return said if isinstance(said, str) and said else NOT_STATED


def _sentence(text: str) -> str:
    """A text with a capital in front and a full stop behind."""
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."
