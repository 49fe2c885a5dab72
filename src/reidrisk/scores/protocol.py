"""The protocol of scores, and the grid of whole numbers they are rounded to.

A higher score means more likely the same person. Gains are given in nats (natural logarithms of
likelihood ratios) or another `Unit`, and rounded once to whole multiples of 2**-40 of it. So sums
are exact in any order, and rows that match in the same way have equal scores on every machine: ties
can be counted. See decision 2.

A gap, a slot in which nothing came, adds nothing unless a score says what it is worth. Arrays hold
it as the last symbol, behind the tokens, so that `MISSING` as an index finds it: decision 12.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import MISSING, KnownShape, Observations, Tokens
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput

# Twelve digits behind the point of a nat, and room for sums of four million nats in 64 bits.
GRID = 2**40

# Sums of whole numbers stay below 2**62, so that differences of two sums do not overflow either.
_LARGEST_SUM = 2**62

IMPOSSIBLE_GAIN = -10_000.0
"""Gain, in nats, of what cannot happen: far below all others, but finite."""

Gains: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class Score(Protocol):
    """What every engine needs of a score.

    Example:
        >>> class Same:
        ...     def check(self, observations):
        ...         pass
        ...     def of(self, known, shown):
        ...         return (known == shown).all(axis=-1).astype(np.int64)
        >>> seen = rr.Observations([[3, 1], [0, 1], [2, 2]], [[0, 1]], truth=[1], tokens=4)
        >>> rr.LocalEngine().search(seen, Same()).credit.tolist()
        [1.0]
    """

    def check(self, observations: Observations) -> None:
        """Refuse observations that this score cannot rate.

        Args:
            observations: Known rows, anonymous rows and the truth.
        """

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row.

        Args:
            known: Known rows.
            shown: The anonymous row beside each known row, or one row for all.
        """


@dataclass(frozen=True, slots=True)
class Unit:
    """What the whole numbers of a score count.

    Args:
        name: What one unit is, in the plural.
        steps: Whole numbers in one unit.

    Example:
        >>> rr.TokenWeights.unit.name, rr.OverlapWeights.unit.name
        ('nats', 'weights in common')
    """

    name: str
    steps: int = GRID


NATS = Unit("nats")
"""Natural logarithms of likelihood ratios, on the grid."""


@runtime_checkable
class HasUnit(Protocol):
    """A score that says what its whole numbers count. All of ours do.

    Example:
        >>> isinstance(rr.TokenWeights(np.ones(4)), rr.scores.HasUnit)
        True
    """

    @property
    def unit(self) -> Unit:
        """What they count; only those that count nats are logarithms of chances."""


def in_units(score: Score, whole: Gains) -> Floats:
    """Scores in the units of a score; one that does not say counts nats, in steps of 2**-40.

    Args:
        score: The score.
        whole: Its whole numbers, or differences of them.

    Example:
        >>> weights = rr.TokenWeights(np.log([2.0, 4.0]))
        >>> gains = weights.of(np.array([[0]]), np.array([0]))
        >>> rr.scores.in_units(weights, gains).round(4).tolist()
        [0.6931]
    """
    # A score of a plug-in need not name its unit.
    unit = score.unit if isinstance(score, HasUnit) else NATS
    return np.asarray(whole / unit.steps)


@runtime_checkable
class Distribution(Score, Protocol):
    """A score that stands for a distribution of what is shown, given what is known.

    Example:
        >>> isinstance(rr.TokenWeights(np.ones(4)), rr.scores.Distribution)
        True
        >>> isinstance(rr.OverlapWeights(np.ones(4)), rr.scores.Distribution)
        False
    """

    @property
    def gaps(self) -> bool:
        """Whether a gap is one of the outcomes of a slot; if not, nothing shown says nothing."""

    def normalised(self) -> "Distribution":
        """The same score as the logarithm of that distribution: over all outcomes it sums to 1.

        Simplified weights and assumed pairs do not quite; they are divided by their sums. So is an
        empty known slot: where its gains are 0, any token is as likely as any other.
        """

    def sample(self, known: Tokens, *, seed: int) -> Tokens:
        """What the distribution may show beside each of these known rows.

        Args:
            known: Known rows.
            seed: Seed of all random draws.
        """


@runtime_checkable
class OfAnyone(Distribution, Protocol):
    """A distribution that also gives the chance of a row of an unknown member of the population.

    Example:
        >>> single = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> joint = single[:, :, None] * single[:, None, :]
        >>> isinstance(rr.TypeMixture([0.5, 0.5], single, joint), rr.scores.OfAnyone)
        True
    """

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that a member of the population shows each of these rows.

        Args:
            known: Members of the population, as far as the score does not know it itself.
            shown: Rows that were shown.
        """


def normalised(score: Score) -> Score:
    """The model that a score stands for; the score itself if it is no distribution.

    Args:
        score: How well a known row explains an anonymous one.

    Example:
        >>> model = rr.scores.normalised(rr.TokenWeights(np.log([3.0, 3.0])))
        >>> np.exp(model.of(np.array([[0]]), np.array([0])) / rr.scores.GRID).round(3).tolist()
        [0.75]
    """
    return score.normalised() if isinstance(score, Distribution) else score


def to_grid(weights: ArrayLike, name: str, dimensions: tuple[int, ...]) -> Gains:
    """Round weights to whole multiples of 2**-40, once."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim not in dimensions or values.size == 0:
        raise InvalidInput(
            f"{name} has shape {values.shape}, but needs one gain per token", code="wrong-shape"
        )
    if not np.isfinite(values).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(values))[0])
        raise InvalidInput(
            f"{name}{list(place)} is {values[place]}: a gain is a finite number; "
            "a token that can never be shown needs no gain, write 0",
            code="not-finite",
        )
    if np.abs(values).max() >= _LARGEST_SUM / GRID:
        raise InvalidInput(
            f"{name} reaches {np.abs(values).max():g}; gains stay below {_LARGEST_SUM // GRID:,}. "
            "Divide all gains by the same number: it changes no ranking",
            code="gain-too-large",
        )
    return frozen(np.asarray(np.rint(values * GRID), dtype=np.int64))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, from now on read-only."""
    array.flags.writeable = False
    return array


def by_slot(gain: NDArray[Any], slots: int) -> NDArray[Any]:
    """The gains of each slot, whether they were given for each or once for all.

    Args:
        gain: Gains, for each slot or once for all.
        slots: Number of slots.

    Example:
        >>> rr.scores.by_slot(np.array([[1.0, 2.0]]), 3).tolist()
        [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    """
    return np.broadcast_to(gain, (slots, *gain.shape[1:])) if len(gain) == 1 else gain[:slots]


def check_kind(name: str, observations: KnownShape, *kinds: Kind) -> None:
    """Refuse rows of another kind than a score takes.

    Args:
        name: Name for messages.
        observations: Known rows, and what they are compared with; or a view of them.
        *kinds: The kinds that the score rates.

    Example:
        >>> from reidrisk.core.rows import Kind
        >>> seen = rr.Observations([[3, 1], [0, 1]], [[0, 1]], truth=[1], tokens=4)
        >>> rr.scores.check_kind("my score", seen, Kind.TOKENS)
        >>> try:
        ...     rr.scores.check_kind("my score", seen, Kind.BAGS)
        ... except rr.InvalidInput as problem:
        ...     print(str(problem).split(":")[0])
        known holds one token for each slot; my score rates a bag of tokens, without slots
    """
    if observations.known.kind not in kinds:
        takes = " or ".join(kind.value for kind in kinds)
        raise InvalidInput(
            f"known holds {observations.known.kind.value}; {name} rates {takes}: use an attack for "
            "rows of that kind, or give it rows of this one",
            code="wrong-kind-of-rows",
        )


def check_shape(slots: int, tokens: int, observations: Observations) -> None:
    """Refuse another alphabet, and more slots than there are gains for."""
    if tokens != observations.tokens or 1 < slots < observations.slots:
        raise InvalidInput(
            f"the score has gains for {slots} slots and {tokens} tokens, the observations have "
            f"{observations.slots} slots and {observations.tokens} tokens",
            code="score-mismatch",
        )


def check_sum(gains: Gains, slots: int) -> None:
    """Refuse gains whose sums over slots could leave 64 bits."""
    largest = max(int(gains.max()), -int(gains.min()))
    if largest * slots >= _LARGEST_SUM:
        raise InvalidInput(
            f"gains of up to {largest / GRID:g} in {slots} slots sum to more than "
            f"{_LARGEST_SUM // GRID:,}, the largest exact score. Divide all gains by the same "
            "number: it changes no ranking",
            code="gain-too-large",
        )


def log_chance(chances: ArrayLike) -> NDArray[np.float64]:
    """Logarithm of chances; of what cannot happen, a very low number."""
    values = np.asarray(chances, np.float64)
    logs: NDArray[np.float64] = np.log(
        values, out=np.full(values.shape, IMPOSSIBLE_GAIN), where=values > 0
    )
    return logs


def log_sum(nats: Floats, axis: int) -> Floats:
    """Logarithm of the sum of exp along an axis, however small the terms."""
    # Relative to the largest term, no exponential overflows and the sum is at least 1.
    peak = np.expand_dims(nats.max(axis=axis), axis)
    return np.asarray(peak.squeeze(axis) + np.log(np.exp(nats - peak).sum(axis=axis)))


def coins(rows: int, count: int, seed: int) -> Floats:
    """Uniform draws by which outcomes are chosen, rows x count."""
    return uniforms(
        seed=seed, purpose="scores/drawn from a model", users=np.arange(rows), count=count
    )


def choose(chances: Floats, coins: Floats) -> NDArray[np.int64]:
    """For each row of weights, the place that a uniform draw falls on."""
    total = np.cumsum(chances, axis=1)
    places = (total <= coins[:, None] * total[:, -1:]).sum(axis=1)
    # Rounding may bring a draw near 1 up to the total.
    return np.asarray(np.minimum(places, chances.shape[1] - 1))


def as_tokens(symbols: NDArray[np.int64], tokens: int) -> NDArray[np.int64]:
    """Symbols as tokens: the symbol behind the last token is the gap."""
    return np.where(symbols == tokens, MISSING, symbols)
