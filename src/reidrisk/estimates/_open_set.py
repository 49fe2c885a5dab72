"""Choose thresholds on strangers, and measure who is named rightly or accused above them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.checks import probability
from reidrisk.core.ranges import Chance, NotEmpty, Share
from reidrisk.errors import InvalidInput
from reidrisk.estimates.credits import mean_of_credits
from reidrisk.estimates.estimate import Estimate
from reidrisk.estimates.inputs import Numbers, numbers
from reidrisk.estimates.intervals import confidence

Rule = Literal["score", "gap", "posterior"]
"""By what an attacker decides whether to speak."""

ACCUSED = (0.001, 0.01, 0.05)
"""Shares of strangers that an attacker may be ready to accuse."""

FEWEST = 2
"""Least number of strangers, one to choose a threshold and one to judge it; and of known users, one
of whom is second best."""

# Thresholds along a trade-off, besides those asked for and the one that names everybody.
_POINTS = 45
# Rounding that makes products such as 0.29 * 100 the whole numbers they stand for.
_DIGITS = 9


@dataclass(frozen=True)
class Decision:
    """A threshold above which an attacker names somebody, chosen and judged on different strangers.

    Attributes:
        threshold: The threshold, in the units of the rule.
        wanted: Largest share of strangers that it was chosen to accuse; None if it was not.
        right: Share of those present who are named rightly.
        wrong: Share of those present for whom someone else is named.
        accused: Share of strangers for whom somebody is named.
        false: Share of claims that are false; None if there were none.

    Example:
        >>> sure, strangers = np.linspace(0.0, 1.0, 200), np.linspace(0.0, 0.5, 200)
        >>> right = np.where(sure > 0.4, 1.0, 0.0)
        >>> found = rr.estimates.open_set(sure, right, strangers, present=0.5, wanted=[0.05])
        >>> (careful,) = [one for one in found if one.wanted == 0.05]
        >>> print(careful.right)
        52.0000% [43.8576%, 60.0664%] (95%, n=200)
        >>> print(careful.accused)
        5.0000% [1.3719%, 12.2766%] (95%, n=100)
    """

    threshold: float
    wanted: Annotated[float | None, Share]
    right: Estimate
    wrong: Estimate
    accused: Estimate
    false: Estimate | None


@dataclass(frozen=True)
class OpenSet:
    """An attacker who may meet strangers, and names somebody only if a rule says so.

    Attributes:
        attack: Name of the attack.
        rule: The rule that decides whether somebody is named.
        slots: Number of slots it has seen.
        users: Number of known users.
        targets: Number of them who were attacked and could be assessed.
        strangers: Number of strangers who were attacked and could be assessed.
        not_assessed: Targets and strangers of whom nothing was seen.
        present: Share of visitors who are known, for `false` and for the posterior.
        decisions: Thresholds along the trade-off, the highest first; the last names everybody.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, strangers=0.3, seed=7)
        >>> found, *_ = rr.measure_strangers(seen, rr.Hamming(), present=0.5)
        >>> found.attack, found.targets, found.strangers
        ('hamming', 725, 275)
        >>> print(found.decisions[-1].accused)
        100.0000% [96.8521%, 100.0000%] (95%, n=137)
    """

    attack: str
    rule: Rule
    slots: int
    users: int
    targets: int
    strangers: int
    not_assessed: int
    present: Annotated[float, Chance]
    decisions: Annotated[tuple[Decision, ...], NotEmpty()]

    def at(self, wanted: float) -> Decision:
        """The decision that was to accuse at most this share of strangers."""
        for one in self.decisions:
            if one.wanted == wanted:
                return one
        there = ", ".join(f"{one.wanted:g}" for one in self.decisions if one.wanted is not None)
        raise InvalidInput(
            f"no threshold was chosen for at most {wanted:g} of strangers accused; there is "
            f"{there or 'none'}: a small share needs many strangers",
            code="no-threshold",
        )

    def __str__(self) -> str:
        head = (
            f"{self.attack} by {self.rule}, {self.users:,} known, {self.present:.0%} of visitors "
            f"among them, after {self.slots} slots"
        )
        points = [
            f"  at most {one.wanted:.1%} of strangers accused: {_said(one)}"
            for one in self.decisions
            if one.wanted is not None
        ]
        return "\n".join([head, *points, f"  everybody named: {_said(self.decisions[-1])}"])


def _said(one: Decision) -> str:
    false = "" if one.false is None else f", {one.false.value:.2%} of claims false"
    return f"right {one.right}, accused {one.accused.value:.2%}{false}"


def open_set(
    sure: ArrayLike,
    credits: ArrayLike,
    strangers: ArrayLike,
    *,
    present: float,
    wanted: Sequence[float] = ACCUSED,
    level: float = 0.95,
    assessed: ArrayLike | None = None,
) -> tuple[Decision, ...]:
    """Measure who is named rightly and who is accused, for thresholds from high to none.

    Every second stranger chooses thresholds; the other strangers and all targets judge them, so
    each interval is of draws independent of the threshold (decision 8). Only guesses that are surer
    than the threshold are named, so equal ones are named all or none. For a wanted share, the
    threshold is the lowest at which a new stranger is accused with at most this chance, whatever
    the distribution: of m strangers who choose, the one with number `floor(wanted (m + 1))` from
    above. A share so small that this number is 0 has no threshold.

    Args:
        sure: How sure the attacker is of its guess for each target, in any unit.
        credits: Credit of the guess for each target.
        strangers: How sure the attacker is of its guess for each stranger. Targets and strangers
            are independent, strangers in random order; two at least.
        present: Share of visitors who are known.
        wanted: Shares of strangers whom the attacker may accuse.
        level: Chance with which each interval holds what it estimates.
        assessed: Whether each target counts among those named rightly or wrongly; all if not given.
            Claims about the others still count as claims, and are false.

    Example:
        >>> sure, strangers = np.linspace(0.0, 1.0, 200), np.linspace(0.0, 0.5, 200)
        >>> right = np.where(sure > 0.4, 1.0, 0.0)
        >>> found = rr.estimates.open_set(sure, right, strangers, present=0.5, wanted=[0.05])
        >>> (careful,) = [one for one in found if one.wanted == 0.05]
        >>> round(careful.threshold, 2), careful.right.value, careful.accused.value
        (0.48, 0.52, 0.05)
    """
    everything = -np.inf, np.inf
    named = numbers("sure", sure, low=everything[0], high=everything[1])
    right = numbers("credits", credits)
    others = numbers("strangers", strangers, low=everything[0], high=everything[1], least=2)
    if len(named) != len(right):
        raise InvalidInput(
            f"sure has {len(named)} targets and credits {len(right)}; pass both for the same "
            "targets, in the same order",
            code="length-mismatch",
        )
    share, level = share_present(present), confidence(level)
    counted = np.ones(len(named), bool) if assessed is None else np.asarray(assessed, bool)
    shares = [probability("wanted", one) for one in wanted]
    chosen = _thresholds(-np.sort(-others[::2]), shares)
    lowest = float(np.nextafter(min(named.min(), others.min()), -np.inf))
    return tuple(
        _decision(edge, asked, (named, right, others[1::2]), counted, share, level)
        for edge, asked in [*chosen, (lowest, None)]
    )


def share_present(present: float) -> float:
    """Check the share of visitors who are known."""
    share = probability("present", present)
    if not share:
        raise InvalidInput(
            "present is a share of visitors above 0: somebody must be known",
            code="share-out-of-range",
        )
    return share


def _thresholds(choosing: Numbers, wanted: Sequence[float]) -> list[tuple[float, float | None]]:
    """Thresholds, the highest first, with the share that each was chosen for, if any.

    Args:
        choosing: How sure the attacker is of strangers who choose, highest first.
        wanted: Shares of strangers whom the attacker may accuse.
    """
    size = len(choosing)
    asked = [(int(round(share * (size + 1), _DIGITS)), share) for share in wanted]
    chosen: list[tuple[float, float | None]] = [
        (float(choosing[min(place, size) - 1]), share) for place, share in asked if place
    ]
    taken = {edge for edge, _ in chosen}
    places = np.unique(np.geomspace(1, size, _POINTS).round().astype(np.intp))
    along = dict.fromkeys(choosing[places - 1].tolist())
    chosen += [(edge, None) for edge in along if edge not in taken]
    return sorted(chosen, key=lambda one: (-one[0], one[1] is None, one[1] or 0.0))


def _decision(
    edge: float,
    wanted: float | None,
    judged: tuple[Numbers, Numbers, Numbers],
    assessed: NDArray[np.bool_],
    present: float,
    level: float,
) -> Decision:
    sure, credit, strangers = judged
    speaks = sure > edge
    parts = np.where(speaks, credit, 0.0), np.where(speaks, 1 - credit, 0.0), strangers > edge
    right, wrong, accused = (
        mean_of_credits(part, level=level)
        for part in (parts[0][assessed], parts[1][assessed], parts[2])
    )
    said = int(speaks.sum()) + (int(parts[2].sum()) if present < 1 else 0)
    false = _false_claims(parts, present, said, level) if said else None
    return Decision(edge, wanted, right, wrong, accused, false)


def _false_claims(parts: Sequence[ArrayLike], present: float, said: int, level: float) -> Estimate:
    """Share of claims that are false: it grows with wrong and accused, and falls with right.

    Its ends follow from the opposite ends of its parts. They hold if the intervals of all parts
    hold, so each part gets an equal share of the error (union bound).
    """
    counted = 3 if present < 1 else 2
    each = 1 - (1 - level) / counted
    right, wrong, accused = (mean_of_credits(part, level=each) for part in parts)

    def share(well: float, badly: float, of_strangers: float) -> float:
        false = present * badly + (1 - present) * of_strangers
        return false / (present * well + false) if false else 0.0

    return Estimate(
        value=share(right.value, wrong.value, accused.value),
        low=share(right.high, wrong.low, accused.low),
        high=share(right.low, wrong.high, accused.high),
        level=level,
        trials=said,
        method="union of parts",
    )
