"""Bits of several epochs of the synthetic population, by Monte Carlo over exact probabilities.

The probability of a sequence is a sum over the types a user may have had, which a forward recursion
computes exactly. Only the mean of its logarithm is estimated, from sampled sequences.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, whole_number
from reidrisk.core.parallel import over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.information.records import Mean
from reidrisk.people.interests import Floats, Interests, shown, shown_pairs
from reidrisk.people.synthetic import SyntheticTopics

_BLOCK = 2048


@dataclass(frozen=True, slots=True)
class SequenceInformation:
    """Bits per epoch of a sequence: of a site, given another site's, and shared by the two.

    Args:
        epochs: Number of epochs.
        samples: Number of sampled sequences.
        entropy: Bits per epoch of one site.
        conditional_entropy: Bits per epoch of one site, given another.
        mutual_information: Bits per epoch that two sites share.

    Example:
        >>> interests = rr.data.Interests(topics=40, types=4)
        >>> bits = rr.data.sequence_information(interests, epochs=2, samples=1_000)
        >>> bits.epochs, round(bits.mutual_information.value, 2)
        (2, 0.58)
    """

    epochs: int
    samples: int
    entropy: Mean
    conditional_entropy: Mean
    mutual_information: Mean


@dataclass(frozen=True, eq=False)
class SequenceChances:
    """Chances of what one site and two sites show of a user of each type.

    Attributes:
        interests: The types.
        noise: Noise of the release.
        single: Topics x types, the chance that a site shows a topic.
        joint: Topics x topics x types, the chance that two sites show two topics in one epoch.

    Example:
        >>> chances = rr.data.SequenceChances.of(rr.data.Interests(topics=40, types=4), noise=0.05)
        >>> chances.single.shape, chances.joint.shape
        ((40, 4), (40, 40, 4))
    """

    interests: Interests
    noise: float
    single: Floats
    joint: Floats

    @classmethod
    def of(cls, interests: Interests, noise: float = 0.05) -> "SequenceChances":
        """Compute both tables: 62 MB for 64 types and 349 topics."""
        noise, size = probability("noise", noise), interests.size
        pairs = interests.type_pairs()
        single = shown(np.diagonal(pairs, axis1=1, axis2=2), size=size, noise=noise)
        joint = shown_pairs(pairs, size=size, noise=noise)
        return cls(
            interests,
            noise,
            np.ascontiguousarray(single.T),
            # Types last: what `_forward` takes of a token, or of a pair, lies side by side.
            np.ascontiguousarray(joint.transpose(1, 2, 0)),
        )

    def log2_single(self, tokens: NDArray[np.integer]) -> Floats:
        """Logarithm of the probability of each row, users x epochs, of one site.

        Args:
            tokens: Sequences of one site.
        """
        return self._forward([self.single[column] for column in tokens.T])

    def log2_joint(self, one: NDArray[np.integer], other: NDArray[np.integer]) -> Floats:
        """Logarithm of the probability that the same user shows both rows at two sites.

        Args:
            one: Sequences of one site.
            other: Those of another site, of the same users.
        """
        return self._forward([self.joint[a, b] for a, b in zip(one.T, other.T, strict=True)])

    def _forward(self, emissions: list[Floats]) -> Floats:
        """Sum over all ways through the types; `emissions` is one users x types per epoch."""
        keep = self.interests.persistence
        belief = np.broadcast_to(self.interests.type_weights, emissions[0].shape)
        total = np.zeros(len(belief))
        for epoch, emission in enumerate(emissions):
            # Who does not keep a type draws it anew from all, perhaps the same again.
            if epoch and keep < 1:
                belief = keep * belief + (1 - keep) * self.interests.type_weights
            belief = belief * emission
            # Scaled in every epoch: the product over many epochs would underflow.
            scale = belief.sum(axis=1, keepdims=True)
            belief = belief / scale
            total += np.log2(scale[:, 0])
        return total


def sequence_information(
    interests: Interests,
    epochs: int = 8,
    *,
    noise: float = 0.05,
    samples: int = 20_000,
    seed: int = 0,
) -> SequenceInformation:
    """Bits per epoch of sequences of `epochs` epochs, by Monte Carlo.  Paper: section 8.4.

    Args:
        interests: How interests are spread over users.
        epochs: Number of epochs.
        noise: Chance that a random token is shown instead.
        samples: Number of sampled sequences.
        seed: Seed of all random draws.

    Example:
        >>> interests = rr.data.Interests(topics=40, types=4)
        >>> bits = rr.data.sequence_information(interests, epochs=2, samples=1_000)
        >>> bits.entropy.value > bits.conditional_entropy.value
        True
    """
    samples = whole_number("samples", samples, least=2)
    people = SyntheticTopics(users=samples, epochs=epochs, seed=seed, interests=interests)
    chances = SequenceChances.of(interests, noise)

    def work(start: int, stop: int) -> Floats:
        one, other = (_site(people, site, noise, start, stop) for site in (1, 2))
        logs = (chances.log2_single(one), chances.log2_single(other))
        return np.column_stack([*logs, chances.log2_joint(one, other)])

    one, other, both = np.concatenate(over_blocks(work, samples, _BLOCK)).T / epochs
    return SequenceInformation(
        epochs,
        samples,
        # Both sites are shown draws of one distribution, so both count.
        entropy=mean_of(-(one + other) / 2),
        conditional_entropy=mean_of((one + other) / 2 - both),
        mutual_information=mean_of(both - one - other),
    )


def _site(
    people: SyntheticTopics, site: int, noise: float, start: int, stop: int
) -> NDArray[np.int32]:
    """What a site sees of users `start` to `stop`, users x epochs."""
    sets = people.sets(start, stop)
    epochs, size = sets.shape[1:]
    draws = uniforms(
        seed=people.seed,
        purpose=f"sequences/site {site}",
        users=np.arange(start, stop),
        count=3 * epochs,
    ).reshape(-1, epochs, 3)
    # Three draws in every epoch, whether used or not: no draw moves another (decision 3).
    slots = (draws[:, :, :1] * size).astype(np.int64)
    real = np.take_along_axis(sets, slots, axis=2)[:, :, 0]
    random = (draws[:, :, 1] * people.tokens).astype(np.int32)
    return np.where(draws[:, :, 2] < noise, random, real)


def mean_of(values: Floats) -> Mean:
    """The mean over users and its standard error."""
    return Mean(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size))
