"""The distribution of interests: types of users, and the topic weights of each type.

All figures of a single epoch have a closed form, given here; `reidrisk.information.sequences`
treats several epochs. The distribution is a model, not a census: `docs/concepts/population.md`.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.core.parallel import over_blocks
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.people.weighted_sets import pair_chances, tail_polynomials

Floats = NDArray[np.float64]

_SHAPE_SEED = 20230407
"""Seed of what makes types differ. It is fixed: the seed of users draws users, not populations."""

_MOST_TOPICS = 10_000
"""Most topics for which a table of pairs is made; it has the square of this many entries."""

MOST_TYPE_PAIRS = 250_000_000
"""Entries of a table of pairs for each type, 2 GB."""


@dataclass(frozen=True)
class Information:
    """Bits that one epoch shows: of a site, of a site given another, and shared by the two.

    Args:
        entropy: Entropy of what one site sees, in bits.
        conditional_entropy: Entropy given what another site sees, in bits.
        mutual_information: What two sites share, in bits.

    Example:
        >>> bits = rr.data.Interests(topics=40, types=6).information(noise=0.05)
        >>> round(bits.entropy, 2), round(bits.mutual_information, 2)
        (4.92, 0.47)
    """

    entropy: float
    conditional_entropy: float
    mutual_information: float


@dataclass(frozen=True)
class Interests:
    """A mixture of equally likely types of users.

    Type z weighs the topic of popularity rank t by `t^-s * exp(sigma * g[z, t])`, g standard
    normal and fixed. Each epoch a user of the type has a set of `size` distinct topics, with
    probability proportional to the product of their weights.

    Args:
        topics: Size of the taxonomy.
        types: Number of types.
        s: How fast popularity falls with rank; 0 makes all topics alike.
        sigma: How much types differ; 0 makes all types alike, which is independent Zipf sets.
        size: Topics of one user in one epoch.
        persistence: Chance that a user keeps the type from one epoch to the next; else it is
            drawn anew from all types.
        moods: In each epoch a user is also in one of this many moods of its type, drawn anew.
        mood_sigma: How much the moods of a type differ.

    Example:
        >>> interests = rr.data.Interests(topics=40, types=6)
        >>> round(interests.information(noise=0.05).mutual_information, 2)
        0.47
    """

    topics: int = 349
    types: int = 64
    s: float = 1.005805
    sigma: float = 2.221981
    size: int = 5
    persistence: float = 1.0
    moods: int = 1
    mood_sigma: float = 0.0

    def __post_init__(self) -> None:
        for name in ("topics", "types", "size", "moods"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=1))
        for name in ("s", "sigma", "mood_sigma"):
            number = real_number(name, getattr(self, name), least=0)
            if not np.isfinite(number):
                raise InvalidInput(f"{name} is a finite number, got {number}", code="not-finite")
            object.__setattr__(self, name, number)
        object.__setattr__(self, "persistence", probability("persistence", self.persistence))
        if self.size > self.topics:
            raise InvalidInput(
                f"size is the number of distinct topics of a user, got {self.size} of "
                f"{self.topics} topics; lower size or raise topics",
                code="out-of-range",
            )
        # Every chance is divided by one of these.
        if not (np.isfinite(self._norms) & (self._norms > 0)).all():
            raise InvalidInput(
                f"sets of {self.size} topics with s={self.s:g}, sigma={self.sigma:g} and "
                f"mood_sigma={self.mood_sigma:g} have chances beyond the range of floating point; "
                "lower one of them",
                code="overflow",
            )

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle the parameters only: weights and pairs are made again."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def states(self) -> int:
        """Number of pairs of type and mood; state = type * moods + mood."""
        return self.types * self.moods

    @property
    def type_weights(self) -> Floats:
        """Share of each type."""
        return np.full(self.types, 1 / self.types)

    @cached_property
    def weights(self) -> Floats:
        """Weights of topics in each state, states x topics; each row sums to `size`."""
        chance = np.random.default_rng(_SHAPE_SEED)
        # Drawn before the moods, so that types are the same however many moods they have.
        of_types = chance.standard_normal((self.types, self.topics))
        exponent = self.sigma * np.repeat(of_types, self.moods, axis=0)
        if self.moods > 1:
            exponent += self.mood_sigma * chance.standard_normal((self.states, self.topics))
        exponent -= self.s * np.log(np.arange(1, self.topics + 1))
        # A common factor of the weights changes no chance. The largest exponent is subtracted so
        # that none overflows; the sum is set to `size` so that polynomials stay near 1.
        weights: Floats = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        weights *= self.size / weights.sum(axis=1, keepdims=True)
        return weights

    @cached_property
    def _norms(self) -> Floats:
        return tail_polynomials(self.weights, self.size)[:, self.size, 0]

    def type_pairs(self) -> Floats:
        """Chance that two topics are in a user's set, for each type: types x topics x topics.

        The diagonal is the chance that one topic is.
        """
        if self.types * self.topics**2 > MOST_TYPE_PAIRS:
            raise TooLarge(
                f"pairs of {self.topics} topics for each of {self.types} types would take "
                f"{self.types * self.topics**2 * 8 / 1e9:.0f} GB; use fewer topics or types",
                code="too-many-types",
            )
        pairs = np.empty((self.types, self.topics, self.topics))
        tails = tail_polynomials(self.weights, self.size)

        def work(start: int, stop: int) -> None:
            for one in range(start, stop):
                pairs[one] = self._pairs_of(range(one * self.moods, (one + 1) * self.moods), tails)

        over_blocks(work, self.types, 1)
        return pairs

    def type_inclusion(self) -> Floats:
        """Chance that a topic is in a user's set, for each type: types x topics."""
        states = inclusion(self.weights, self.size)
        means: Floats = states.reshape(self.types, self.moods, self.topics).mean(axis=1)
        return means

    @property
    def popularity(self) -> Floats:
        """Chance that a topic is in the set of a random user."""
        means: Floats = self.type_inclusion().mean(axis=0)
        return means

    @cached_property
    def pairs(self) -> Floats:
        """Chance that two topics are in the set of a random user; the diagonal is popularity."""
        if self.topics > _MOST_TOPICS:
            raise TooLarge(
                f"a table of pairs of {self.topics} topics is too large; use up to {_MOST_TOPICS}",
                code="too-many-tokens",
            )
        tails = tail_polynomials(self.weights, self.size)
        # A fixed number of parts, whatever the cores: sums of floats depend on their order.
        parts = over_blocks(
            lambda start, stop: self._pairs_of(range(start, stop), tails) * (stop - start),
            self.states,
            max(1, self.states // 16),
        )
        pairs: Floats = np.add.reduce(parts) / self.states
        return pairs

    def _pairs_of(self, states: range, tails: Floats) -> Floats:
        """Mean table of pairs of some states."""
        total = np.zeros((self.topics, self.topics))
        pairs = np.empty_like(total)
        for state in states:
            pair_chances(self.weights[state], tails[state], pairs)
            total += pairs
        return total / len(states)

    def information(self, noise: float = 0.05) -> Information:
        """Bits of one epoch, exactly, when sites show one topic each.  Paper: section 8.4."""
        joint = shown_pairs(self.pairs, size=self.size, noise=probability("noise", noise))
        alone = _entropy(joint.sum(axis=0))
        both = _entropy(joint)
        # Sites are alike, so H(B|A) = H(A,B) - H(A) and I(A;B) = 2 H(A) - H(A,B).
        return Information(alone, both - alone, 2 * alone - both)


def inclusion(weights: Floats, size: int) -> Floats:
    """Chance that each token is in a set, states x tokens.

    Sets with a token are its weight times the sets one smaller of the tokens before and after it.
    """
    after = tail_polynomials(weights, size)[:, :, 1:]
    before = tail_polynomials(weights[:, ::-1], size)[:, :, :0:-1]
    norms = tail_polynomials(weights, size)[:, size, :1]
    without = sum(before[:, degree] * after[:, size - 1 - degree] for degree in range(size))
    chances: Floats = weights * without / norms
    return chances


def shown(inclusion: Floats, *, size: int, noise: float) -> Floats:
    """Chance that a site shows a topic, given the chance that it is in the set."""
    chances: Floats = noise / inclusion.shape[-1] + (1 - noise) / size * inclusion
    return chances


def shown_pairs(pairs: Floats, *, size: int, noise: float) -> Floats:
    """Chance that two sites show two topics in one epoch, given the chance that both are in."""
    out, rise = noise / pairs.shape[-1], (1 - noise) / size
    joint: Floats = np.empty_like(pairs)
    for place in np.ndindex(pairs.shape[:-2]):  # one table at a time: it fits in the cache
        single = np.diagonal(pairs[place])
        either = single[:, None] + single
        # Noise at both sites, at one of the two, at neither.
        joint[place] = out**2 + out * rise * either + rise**2 * pairs[place]
    return joint


def _entropy(chances: Floats) -> float:
    positive = chances[chances > 0]
    return float(-(positive * np.log2(positive)).sum())
