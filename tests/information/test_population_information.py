"""Bits of the embedded population: one epoch exactly, several by Monte Carlo, and fits to them."""

import itertools
import math

import numpy as np
import pytest
from tests.people.weighted_sets import chances_of_sets
from tests.snapshots import refuses

from reidrisk.data import (
    Interests,
    SequenceChances,
    SequenceTarget,
    fit_population,
    sequence_information,
    synthetic_topics,
)


def one_site(chosen, topics, noise):
    return [noise / topics + (1 - noise) / len(chosen) * (t in chosen) for t in range(topics)]


def slow_joint(model, noise):
    """Chance that two sites show two topics in one epoch, for each type, through all sets."""
    joint = np.zeros((model.types, model.topics, model.topics))
    for state, weights in enumerate(model.weights):
        for chosen, chance in chances_of_sets(weights, model.size).items():
            row = np.array(one_site(chosen, model.topics, noise))
            joint[state // model.moods] += chance * np.outer(row, row) / model.moods
    return joint


def slow_sequence(model, rows, noise):
    """Probability of what sites show over epochs, summed over all paths through the types."""
    joint, keep = slow_joint(model, noise), model.persistence
    total = 0.0
    for path in itertools.product(range(model.types), repeat=len(rows[0])):
        chance = 1 / model.types
        for before, after in itertools.pairwise(path):
            chance *= keep * (before == after) + (1 - keep) / model.types
        for epoch, one in enumerate(path):
            table = joint[one] if len(rows) > 1 else joint[one].sum(axis=1)
            chance *= table[tuple(row[epoch] for row in rows)]
        total += chance
    return total


SHAPES = [
    Interests(topics=5, types=3, size=2),
    Interests(topics=5, types=2, size=3, moods=2, mood_sigma=1.5),
    Interests(topics=4, types=3, size=1, persistence=0.6),
    Interests(topics=6, types=1, size=2, sigma=0),
]


@pytest.mark.parametrize("model", SHAPES)
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5, 1.0])
def test_bits_of_one_epoch_equal_going_through_all_sets(model, noise):
    joint = slow_joint(model, noise).mean(axis=0)
    alone = -sum(p * math.log2(p) for p in joint.sum(axis=0) if p > 0)
    both = -sum(p * math.log2(p) for p in joint.ravel() if p > 0)
    bits = model.information(noise)
    assert bits.entropy == pytest.approx(alone, abs=1e-12)
    assert bits.conditional_entropy == pytest.approx(both - alone, abs=1e-12)
    assert bits.mutual_information == pytest.approx(2 * alone - both, abs=1e-12)


@pytest.mark.parametrize("model", SHAPES)
def test_chances_of_sequences_equal_going_through_all_types(model):
    chances = SequenceChances.of(model, noise=0.1)
    one, other = (0, 2, 1), (1, 2, 0)
    single = chances.log2_single(np.array([one, other]))
    joint = chances.log2_joint(np.array([one]), np.array([other]))
    assert single.tolist() == pytest.approx(
        [math.log2(slow_sequence(model, [row], 0.1)) for row in (one, other)]
    )
    assert joint[0] == pytest.approx(math.log2(slow_sequence(model, [one, other], 0.1)))


@pytest.mark.parametrize("model", SHAPES)
def test_chances_of_all_sequences_add_up(model):
    rows = np.array(list(itertools.product(range(model.topics), repeat=3)))
    assert np.exp2(SequenceChances.of(model).log2_single(rows)).sum() == pytest.approx(1)


@pytest.mark.parametrize("model", SHAPES)
def test_monte_carlo_agrees_with_the_exact_bits(model):
    bits, exact = sequence_information(model, 1, samples=20_000, seed=3), model.information()
    for name in ("entropy", "conditional_entropy", "mutual_information"):
        found = getattr(bits, name)
        assert abs(found.value - getattr(exact, name)) < 4 * found.error


def test_monte_carlo_agrees_over_two_epochs():
    model = SHAPES[2]
    rows = np.array(list(itertools.product(range(model.topics), repeat=2)))
    logs = SequenceChances.of(model).log2_single(rows)
    exact = -(np.exp2(logs) * logs).sum() / 2
    found = sequence_information(model, 2, samples=20_000, seed=3).entropy
    assert abs(found.value - exact) < 4 * found.error


def test_monte_carlo_needs_two_samples():
    with refuses("not-a-whole-number"):
        sequence_information(Interests(topics=5, types=1), samples=1)


def test_noise_is_a_probability():
    with refuses("not-a-probability"):
        synthetic_topics(10).entropy(noise=-0.1)


def test_calibration_finds_the_embedded_population_again():
    found = fit_population(7.59, 0.93, types=64)
    assert found.fits
    assert found.interests.s == pytest.approx(1.005805, abs=2e-6)
    assert found.interests.sigma == pytest.approx(2.221981, abs=2e-6)
    assert str(found).startswith("types=64 s=1.00580")
    assert "fits" in str(found)


def test_calibration_says_when_it_cannot():
    """Sets that all types share cannot share so many bits with so much entropy."""
    found = fit_population(5.0, 4.9, types=2, like=Interests(topics=40, size=5))
    assert not found.fits
    assert found.miss > 0.1
    assert "does not fit" in str(found)


def test_calibration_chooses_the_number_of_types_by_several_epochs():
    truth = Interests(topics=40, types=8, size=3, s=0.9, sigma=1.5)
    bits = truth.information()
    many = sequence_information(truth, 6, samples=20_000, seed=8)
    target = SequenceTarget(6, many.entropy.value, many.mutual_information.value)
    found = fit_population(
        bits.entropy, bits.mutual_information, types=(2, 8, 32), sequence=target, like=truth
    )
    assert found.interests.types == 8
    assert found.interests.sigma == pytest.approx(1.5, abs=1e-4)
    assert found.sequence_miss < 0.05 < min(miss for _, miss in found.others)
    assert {other.types for other, _ in found.others} == {2, 32}
    assert "6 epochs" in str(found)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"entropy": 9.0}, "unreachable-goal"),
        ({"entropy": float("nan")}, "not-a-number"),
        ({"mutual_information": 8.0}, "unreachable-goal"),
        ({"mutual_information": -1}, "not-a-number"),
        ({"noise": 5}, "not-a-probability"),
        ({"types": ()}, "empty-list"),
        ({"types": 0}, "not-a-whole-number"),
    ],
)
def test_targets_that_cannot_be_are_refused(change, code):
    with refuses(code):
        fit_population(**change)
