"""The cards of all attacks, bounds and models."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from reidrisk.attacks.card import (
    NOT_STATED,
    PAPER,
    WITHIN,
    Card,
    card_of,
    first_sentence,
    recorded_card,
)
from reidrisk.attacks.table import all_attacks, attack_named, own_attack
from reidrisk.core.plugins import is_path, part_at
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds import BOUNDS, BoundOf, bound_named
from reidrisk.risk.bounds.protocol import RANDOM_USER, ThreatModel


class _Recorded(Protocol):
    """An attack as a result records it."""

    @property
    def name(self) -> str:
        """In study files, or in the spectrum."""
        ...

    @property
    def knows(self) -> str:
        """What the attacker knows."""
        ...

    @property
    def assumes(self) -> str:
        """What it rests on."""
        ...

    @property
    def likelihood(self) -> bool:
        """Whether it knows how sure it is."""
        ...


class _SpectrumFigure(Protocol):
    """A figure of a spectrum."""

    @property
    def name(self) -> str:
        """In study files, or in the spectrum."""
        ...

    @property
    def side(self) -> Side:
        """On which side of the truth it is."""
        ...

    @property
    def assumes(self) -> str:
        """What it rests on."""
        ...


def cards(name: str | None = None) -> tuple[Card, ...]:
    """Threat models of all attacks and bounds of this package, or of those of one name.

    Args:
        name: Name of an attack, a bound, or both; `module:Class` for an attack of someone else, and
            `module:function` for a bound.

    Example:
        >>> [(card.kind, card.side) for card in rr.risk.cards("full-information")]
        [('attack', 'lower'), ('bound', 'upper')]
    """
    if name is not None:
        return _of_others(name) if is_path(name) else _named(name)
    attacks = (card_of(attack_named(one)) for one in sorted(all_attacks()))
    return (*attacks, *(_card_of_bound(one, bound) for one, bound in BOUNDS.items()))


def _named(name: str) -> tuple[Card, ...]:
    own = own_attack(name)
    found = () if own is None else (card_of(own()),)
    if name in BOUNDS:
        found = (*found, _card_of_bound(name, BOUNDS[name]))
    if not found:
        names = sorted({*all_attacks(), *BOUNDS})
        raise InvalidInput(
            f"there is no attack and no bound {name!r}; there are {', '.join(names)}, and your own "
            "as module:Class or module:function",
            code="unknown-attack",
        )
    return found


def _of_others(path: str) -> tuple[Card, ...]:
    if isinstance(part_at(path, "an attack or a bound"), type):
        return (card_of(attack_named(path)),)
    return (_card_of_bound(path, bound_named(path)),)


def _card_of_bound(name: str, bound: BoundOf) -> Card:
    """The threat model of a bound: its module's `ABOUT`, if the function is called `bound`."""
    about = getattr(sys.modules.get(bound.__module__), "ABOUT", None)
    says = first_sentence(bound)
    if getattr(bound, "__name__", "") == "bound" and isinstance(about, ThreatModel):
        return _card(name, says, about)
    return _stated(name, None, says, NOT_STATED)


def _card(name: str, says: str, about: ThreatModel) -> Card:
    return Card(
        name=name,
        kind="bound",
        side=about.side,
        says=says,
        knows=about.knows,
        needs=about.needs,
        assumes=about.assumes,
        bounds=about.bounds,
        holds_for=about.holds_for,
        limits=about.limits,
        cost=about.cost,
        source=about.source,
    )


def _stated(name: str, side: Side | None, says: str, assumes: str) -> Card:
    """The card of a bound that states no threat model."""
    return Card(
        name=name,
        kind="bound",
        side=side,
        says=says,
        knows=NOT_STATED,
        needs=None,
        assumes=assumes,
        bounds=NOT_STATED,
        holds_for=NOT_STATED,
        limits=NOT_STATED,
        cost=NOT_STATED,
        source=NOT_STATED,
    )


def card_of_model(attack: Card) -> Card:
    """The threat model of the optimum under an attack's model, made from the attack's card."""
    return Card(
        name=f"{WITHIN}{attack.name}",
        kind="bound",
        side="estimate",
        says=f"How often the best attacker is right if the model of {attack.name} holds.",
        knows=attack.knows,
        needs=attack.needs,
        assumes=f"Users and slots are as {attack.name} takes them to be.",
        bounds=RANDOM_USER,
        holds_for=f"attackers who know {attack.knows}",
        limits=(
            "It is a ceiling only if the model holds, and only for attackers who know no more. The "
            "figure says where the model does not fit and where an attack exceeded it."
        ),
        cost="Goes through all outcomes where they are few; else draws some from the model.",
        source=f"{PAPER}, section 4, lemma 2.",
    )


def cards_of(
    attackers: Sequence[_Recorded], figures: Sequence[_SpectrumFigure]
) -> tuple[Card, ...]:
    """Threat models of a result: of its attacks, then of all other figures, each once.

    A result records what an attack knows and assumes. The rest is taken from the attack of that
    name in this package, if it still says the same. Reading a result must not run foreign code, so
    an attack of someone else is never loaded.

    Args:
        attackers: Attacks as the result records them.
        figures: Figures of the spectrum.
    """
    attacks = {one.name: _recorded(one) for one in attackers}
    others = {one.name: _of_figure(one, attacks) for one in figures if one.name not in attacks}
    return (*attacks.values(), *others.values())


def _recorded(one: _Recorded) -> Card:
    own = own_attack(one.name)
    if own is not None and (own().knows, own().assumes) == (one.knows, one.assumes):
        return card_of(own())
    return recorded_card(one.name, one.knows, one.assumes, likelihood=one.likelihood)


def _of_figure(figure: _SpectrumFigure, attacks: dict[str, Card]) -> Card:
    model = figure.name.removeprefix(WITHIN)
    if model != figure.name:
        own = own_attack(model)
        attack = attacks.get(model) or (None if own is None else card_of(own()))
        if attack is not None:
            return card_of_model(attack)
    for bound in BOUNDS.values():
        about = sys.modules[bound.__module__].ABOUT
        if figure.name in about.figures:
            return replace(_card(figure.name, first_sentence(bound), about), side=figure.side)
    if figure.side == "lower" and (own := own_attack(figure.name)) is not None:
        return card_of(own())  # older results do not record attacks in words
    return _stated(figure.name, figure.side, NOT_STATED, figure.assumes or NOT_STATED)
