"""People for benchmarks: skewed tokens drawn apart, and the embedded population with its types."""

import numpy as np

from reidrisk.core.observations import Observations
from reidrisk.data import SequenceChances, synthetic_topics
from reidrisk.releases import TopicsApi
from reidrisk.scores import TypeMixture

TOKENS, SLOTS, EXPONENT, SAME = 349, 8, 0.73, 1 / 6
"""As in the main experiment of the paper: 349 tokens of 7.6 bits, 8 slots."""

ROWS_AT_A_TIME = 2_048


def popularity(tokens=TOKENS, exponent=EXPONENT):
    weights = np.arange(1, tokens + 1.0) ** -exponent
    return weights / weights.sum()


def draw(random, shape, chances):
    """Tokens drawn by popularity, a few million at a time."""
    rows = np.empty(shape, np.min_scalar_type(-len(chances)))
    flat, steps = rows.reshape(-1), np.cumsum(chances)[:-1]
    for start in range(0, flat.size, 1 << 22):
        part = flat[start : start + (1 << 22)]
        part[:] = np.searchsorted(steps, random.random(len(part)), side="right")
    return rows


def people(
    users, targets, slots=SLOTS, *, tokens=TOKENS, exponent=EXPONENT, sets=None, gaps=(0, 0), away=0
):
    """Known and anonymous rows; the same person shows the same token in one slot out of six.

    Args:
        users: Known rows.
        targets: Anonymous rows.
        slots: Of each row.
        tokens: How many there are.
        exponent: Of their popularity.
        sets: Known slots hold so many tokens each; one, if None.
        gaps: Share of known slots and of shown ones in which nothing came.
        away: Share of slots in which nothing came on either side.
    """
    random = np.random.default_rng(1)
    chances = popularity(tokens, exponent)
    known = draw(random, (users, slots) + (() if sets is None else (sets,)), chances)
    shown, truth = draw(random, (targets, slots), chances), random.integers(0, users, targets)
    same = random.random(shown.shape) < SAME
    shown[same] = (known if sets is None else known[:, :, 0])[truth][same]
    if away or any(gaps):
        gone = random.random((users, slots)) < away
        known[gone | (random.random(gone.shape) < gaps[0])] = -1
        shown[gone[truth] | (random.random(shown.shape) < gaps[1])] = -1
    return Observations(known, shown, truth, tokens=tokens)


def type_mixture(interests):
    """The score of who knows the types of users and what they are interested in."""
    chances = SequenceChances.of(interests, 0.05)
    tables = chances.single.T, chances.joint.transpose(2, 0, 1)
    return TypeMixture(interests.type_weights, *tables)


def typed_people(users, targets, *, topics=TOKENS, epochs=SLOTS):
    """The embedded population, and the mixture it comes from."""
    people = synthetic_topics(users=users, topics=topics, epochs=epochs, seed=1)
    seen = TopicsApi(topics=topics).observe(people, targets=targets, seed=7)
    return seen, type_mixture(people.interests)


def exact_bits(chances, known, shown):
    """Bits of each shown row alone, and given the known one of the same user."""
    parts = [
        (-chances.log2_single(shown[some]),
         chances.log2_single(known[some]) - chances.log2_joint(known[some], shown[some]))
        for start in range(0, len(shown), ROWS_AT_A_TIME)
        for some in [slice(start, start + ROWS_AT_A_TIME)]
    ]  # fmt: skip
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))
