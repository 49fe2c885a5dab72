"""Arguments that all measurements share: an engine, numbers of slots, an attack or a fitted one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import Attack, View, check_needs
from reidrisk.core.checks import whole_number
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.core.rows import Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores import Score

Floats = NDArray[np.float64]
Slots = Sequence[int] | int | None


class SearchEngine(Protocol):
    """What measuring needs of an engine: `LocalEngine`, `ReferenceEngine`, or another."""

    def hold(self, rows: Rows) -> Rows:
        """The same known rows, made where this engine searches them."""
        ...

    def search(
        self,
        observations: Observations,
        score: Score,
        *,
        list_best: int = 0,
        ranks: int | None = 1,
        second: bool = False,
    ) -> Matches:
        """Find the best score, its ties, the true score and its rank for every target."""
        ...

    def curves(
        self,
        observations: Observations,
        scores: Sequence[Score],
        slots: Sequence[int],
        *,
        ranks: int | None = 1,
    ) -> list[dict[int, Matches]]:
        """For each score, the search after each number of slots."""
        ...

    def credit(self, observations: Observations, score: Score) -> Floats:
        """For each target, the chance of naming the right user."""
        ...

    def evidence(self, observations: Observations, score: Score) -> Floats:
        """For each target, the logarithm of the sum over all known rows of exp(score)."""
        ...


def checked_slots(seen: Observations, slots: Slots) -> list[int]:
    """Numbers of slots that the observations have, ascending, each once; all if None."""
    if slots is None:
        return [seen.slots]
    wanted = list(slots) if isinstance(slots, Sequence) else [slots]
    lengths = sorted({whole_number("slots", length, least=1) for length in wanted})
    if not lengths or lengths[-1] > seen.slots:
        raise InvalidInput(
            f"the observations have {seen.slots} slots, so slots are numbers from 1 to "
            f"{seen.slots}; got {wanted}",
            code="slot-out-of-range",
        )
    return lengths


def one_length(seen: Observations, slots: int | None) -> int:
    """A single number of slots; all if None."""
    (length,) = checked_slots(seen, None if slots is None else [slots])
    return length


@dataclass(frozen=True, eq=False, slots=True)
class Fitted:
    """An attack with its score. It may be passed wherever an attack may, and is not fitted again.

    Attributes:
        attack: The attack.
        score: Its score after fitting.

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
    """Fit an attack; one that was fitted before is returned as it is.

    Args:
        attack: The attack.
        seen: What the attacker has seen, which is all it knows if there is no view.
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
