"""The promises of scores, kept by ours and missed by broken ones."""

import numpy as np
import pytest

from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.scores import (
    GRID,
    CosineWeights,
    OverlapWeights,
    RepeatedTokens,
    TokenPairWeights,
    TokenWeights,
    TypeMixture,
)
from reidrisk.testing import check_score

RANDOM = np.random.default_rng(2)
SHARES = RANDOM.dirichlet(np.ones(5), 2)
MIXED = [0.3, 0.7], SHARES, SHARES[:, :, None] * SHARES[:, None, :]
SETS = Observations(
    RANDOM.integers(-1, 4, (40, 2, 3)), RANDOM.integers(-1, 4, (9, 2)), np.arange(9), tokens=4
)
BAGS = Observations(BagRows([[0, 3], [], [1]], tokens=4), [[0], [1, 2]], [0, 2], tokens=4)
WEIGHTS = TokenWeights([1, 2, 3, 4], -1)
OF_GAPS = TokenWeights([1, 2, 3, 4], -1, known_gap=[0, 1, 2, -1e4], shown_gap=-1, both_gaps=3)


@pytest.mark.parametrize(
    ("score", "seen"),
    [
        (WEIGHTS, None),
        (OF_GAPS, None),
        (OF_GAPS.normalised(), None),
        (WEIGHTS, SETS),
        (OF_GAPS, SETS),
        (TokenPairWeights(RANDOM.normal(size=(4, 4))), None),
        (TokenPairWeights(RANDOM.normal(size=(3, 5, 5)), gaps=True), None),
        (TypeMixture(*MIXED, gaps=True), None),
        (OverlapWeights([1, 2, 3, 4]), None),
        (OverlapWeights([1, 2, 3, 4]), SETS),
        (OverlapWeights([1, 2, 3, 4]), BAGS),
        (CosineWeights([1, 2, 3, 0]), None),
        (CosineWeights([1, 2, 3, 0]), SETS),
        (CosineWeights([1, 2, 3, 0]), BAGS),
        (RepeatedTokens([0.1, 0.2, 0.1, 0.5], 0.4, 0.1), None),
        (RepeatedTokens([0.1, 0.2, 0.1, 0.5], 0.4, 0.1), SETS),
    ],
)
def test_our_scores_keep_every_promise(score, seen):
    check_score(score, seen)


class Agreement:
    """A plug-in: whole numbers, and nothing else."""

    def check(self, observations):
        pass

    def of(self, known, shown):
        return (known == shown).sum(axis=1)


def test_a_plug_in_is_checked_without_a_world():
    check_score(Agreement())


class Floats(Agreement):
    def of(self, known, shown):
        return super().of(known, shown) / 3


class Short(Agreement):
    def of(self, known, shown):
        return super().of(known, shown)[:1]


class Places(Agreement):
    def of(self, known, shown):
        return super().of(known, shown) + np.arange(len(known))


class Neighbours(Agreement):
    def of(self, known, shown):
        return super().of(known, shown) + len(known)


class OneTarget(Agreement):
    def of(self, known, shown):
        return super().of(known, np.atleast_2d(shown)[0])


class AllSlots(Agreement):
    def of(self, known, shown):
        return (known == shown)[:, 2].astype(int)


class Model(Agreement):
    """A distribution that keeps its promises: any token, but for gaps, which say nothing."""

    gaps = False

    def of(self, known, shown):
        seen = np.broadcast_to(np.atleast_2d(shown) >= 0, known.shape)
        return -np.rint(np.log(4) * GRID).astype(np.int64) * seen.sum(axis=1)

    def normalised(self):
        return self

    def sample(self, known, *, seed):
        return np.random.default_rng(seed).integers(0, 4, known.shape)


def test_a_model_of_somebody_else_is_checked():
    check_score(Model())


class Unnormalised(Model):
    def of(self, known, shown):
        return super().of(known, shown) + GRID


class OtherAlphabet(Model):
    def sample(self, known, *, seed):
        return super().sample(known, seed=seed) + 1


class DrawsGaps(Model):
    def sample(self, known, *, seed):
        return super().sample(known, seed=seed) - 1


class Fixed(Model):
    def sample(self, known, *, seed):
        return np.zeros(known.shape, int)


class Unseeded(Model):
    def sample(self, known, *, seed):
        return np.random.default_rng().integers(0, 4, known.shape)


class TooFew(Model):
    def sample(self, known, *, seed):
        return super().sample(known, seed=seed)[1:]


class NoModel(Model):
    def normalised(self):
        return Agreement()


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Floats, "whole numbers"),
        (Short, "one score for each known row"),
        (Places, "order of rows changes nothing"),
        (Neighbours, "depends on no other row"),
        (OneTarget, "rows beside each other"),
        (AllSlots, "every number of slots; this one fails at 1"),
        (Unnormalised, "sum to 1 once normalised"),
        (OtherAlphabet, "tokens of its alphabet"),
        (DrawsGaps, "gaps only where they have chances"),
        (Fixed, "draws that follow it"),
        (Unseeded, "the same draws for the same seed"),
        (TooFew, "a row drawn for each known row"),
        (NoModel, "a normalised form that can be drawn from"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_score(broken())
