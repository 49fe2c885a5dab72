"""Fit attacks once, for several measurements."""

from dataclasses import dataclass
from typing import TypeAlias

from reidrisk.attacks.protocol import Attack, View, check_needs
from reidrisk.core.observations import Observations
from reidrisk.scores import Score


@dataclass(frozen=True, eq=False, slots=True)
class Fitted:
    """An attack with its score: whatever takes an attack takes this, and does not fit it again.

    Attributes:
        attack: How users are rated.
        score: What fitting gave.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> subject = rr.risk.fitted(rr.Hamming(), seen)
        >>> subject.attack.name, type(subject.score).__name__
        ('hamming', 'TokenWeights')
    """

    attack: Attack
    score: Score


Subject: TypeAlias = Attack | Fitted
"""What can be measured: an attack, or one that was fitted before."""


def fitted(attack: Subject, seen: Observations, view: View | None = None) -> Fitted:
    """An attack with its score; one that was fitted before as it is.

    Args:
        attack: Which.
        seen: What the attacker has seen: all it knows, unless there is a view.
        view: What the attacker may use to fit.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> view = rr.attacks.View.of(seen, release=api)
        >>> subject = rr.risk.fitted(rr.WeightedHamming(), seen, view)
        >>> print(rr.measure(seen, subject)[2])
        2.3442% [1.3669%, 3.7266%] (95%, n=1,000)
    """
    if isinstance(attack, Fitted):
        return attack
    view = View.of(seen) if view is None else view
    check_needs(attack, view)
    return Fitted(attack, attack.fit(view))


def attack_of(subject: Subject) -> Attack:
    """The attack, whether it was fitted or not."""
    return subject.attack if isinstance(subject, Fitted) else subject
