"""Attack: compare how often each token came; tokens that come again are the user's own.

References:
    N. Jha, M. Trevisan, E. Leonardi and M. Mellia, On the robustness of Topics API to a
    re-identification attack, PoPETs 2023: profiles without tokens that came less than twice.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View
from reidrisk.attacks.support import times_held
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.scores.repetition import MOST_TIMES, RepeatedTokens, own_given_times

Floats = NDArray[np.float64]

_ROUNDS = 200
# Chances stay this far from 0 and 1, and learning ends when none moves by more.
_LEAST = 1e-9
_PRIOR = 0.5  # users who have a token with the chance that any token has


@dataclass(frozen=True, slots=True)
class Repetition:
    """Guess the user whose tokens came about as often, in whatever slots.

    A token is taken to be a user's own, for good, or not. Own ones come in a share of the slots,
    others now and then; both shares, and how many users have a token of their own, are learned from
    how often tokens come again in the known rows. So a token that came once counts for little where
    that may be noise, and one that came often counts in full. The release need not be known.

    Gaps count as slots in which the token did not come. Sets count with all their tokens. Bags have
    no slots in which a token could come again, and are refused.

    Example:
        >>> random = np.random.default_rng(1)
        >>> own, noise = np.arange(100)[:, None], random.integers(0, 100, (2, 100, 8))
        >>> known, shown = np.where(random.random((2, 100, 8)) < 0.3, own, noise)
        >>> seen = rr.Observations(known, shown, np.arange(100), tokens=100)
        >>> attacks = (rr.Overlap(), rr.Repetition())
        >>> [round(rr.measure(seen, attack)[8].value, 2) for attack in attacks]
        [0.05, 0.57]
    """

    name: ClassVar[str] = "repetition"
    knows: ClassVar[str] = (
        "nothing but what both sides saw, and learns from it how often tokens come again"
    )
    assumes: ClassVar[str] = (
        "Best if every user has lasting tokens that all come equally often, tokens are "
        "independent, and the slot in which a token came says nothing."
    )
    limits: ClassVar[str] = (
        "Where interests change from slot to slot, little comes again and other attacks are "
        "stronger. Takes a gap for a slot in which the token did not come. Refuses bags, in "
        "which nothing can come again."
    )
    cost: ClassVar[str] = (
        "One pass over the known rows, then EM on the counts. The search compares every target "
        "with every known row."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: compare the threshold of Jha, Trevisan, Leonardi and Mellia, PoPETs 2023."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()
    uses: ClassVar[str] = ONE_ROW

    def fit(self, view: View) -> RepeatedTokens:
        """Gains by how often a token came on either side."""
        if view.known.kind is Kind.BAGS:
            raise InvalidInput(
                "known holds a bag of tokens, without slots; repetition counts the slots in which "
                "a token came again: use polya, which takes counts, or give it rows with slots",
                code="wrong-kind-of-rows",
            )
        # Sets count with all their tokens, so a token may come once in each place.
        places = view.slots * view.set_size
        users = times_held(view.known, min(places, MOST_TIMES))
        found = _learn(users.astype(np.float64), places)
        return RepeatedTokens(found.own, found.often, found.seldom)


class _Learned(NamedTuple):
    """Chance of a token to be a user's own, and how often such tokens and others come."""

    own: Floats
    often: float
    seldom: float


def _learn(users: Floats, places: int) -> _Learned:
    """Expectation maximisation of two kinds of tokens, given how many users hold them how often.

    It begins with what came again as own; if nothing ever did, with all that came. Only counts of
    users are seen, so their order cannot matter.
    """
    times = np.arange(users.shape[1])
    again = 1 if users[:, 2:].any() else 0
    chance = np.broadcast_to(np.where(times > again, 1.0, _LEAST), users.shape)
    for _ in range(_ROUNDS):
        owners, others = users * chance, users * (1 - chance)
        often = _chance((owners @ times).sum() / (owners.sum() * places))
        rest = (others @ times).sum() / max(others.sum() * places, 1.0)
        seldom = _chance(min(rest, often / 2))  # own tokens come more often, or are none
        prior = _PRIOR * owners.sum() / users.sum()
        own = _chance((owners.sum(axis=1) + prior) / (users.sum(axis=1) + _PRIOR))
        before, chance = chance, own_given_times(own, float(often), float(seldom), places)
        if np.abs(chance - before).max() < _LEAST:
            break
    return _Learned(own, float(often), float(seldom))


def _chance(value: Floats) -> Floats:
    return np.clip(value, _LEAST, 1 - _LEAST)
