"""What sums under a type mixture leave out: little, on the right side, whatever the cuts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.apart import ApartRows
from tests.engines.strategies import typed_people

from reidrisk.core import mapreduce
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.strategies.sums import LEVELS, count_levels, level_edges, who_counts
from reidrisk.scores import TypeMixture

ENGINE = LocalEngine(threads=1)


@pytest.fixture
def many(monkeypatch):
    """Few products are taken to be many, of which some are left out."""
    monkeypatch.setattr("reidrisk.engines.strategies.sums._FEW", 0)


def with_gaps(seen, share=0.2):
    """The same, but for gaps on both sides."""
    random = np.random.default_rng(3)
    known, anonymous = np.array(seen.known), np.array(seen.anonymous)
    for rows in (known, anonymous):
        rows[random.random(rows.shape) < share] = -1
    return Observations(known, anonymous, seen.truth, tokens=seen.tokens)


def mixture_with_gaps(score, share=0.2):
    """The same, but that each side misses a slot with some chance, whatever is there."""
    chances, tokens = score.chances, score.tokens
    types = len(chances.weights)
    joint = np.zeros((types, tokens + 1, tokens + 1))
    joint[:, :tokens, :tokens] = (1 - share) ** 2 * chances.joint[:tokens, :tokens].transpose(
        2, 0, 1
    )
    joint[:, tokens, :tokens] = joint[:, :tokens, tokens] = (
        share * (1 - share) * chances.single[:tokens].T
    )
    joint[:, tokens, tokens] = share**2
    return TypeMixture(chances.weights, joint.sum(axis=1), joint, gaps=True)


def of_many_types():
    return typed_people(4_000, 70, types=90, tokens=40)


def with_impossible_tokens():
    """Each type shows half of the tokens."""
    seen, score = typed_people(6_000, 100, slots=4)
    chances, random = score.chances, np.random.default_rng(5)
    tokens, types = score.tokens, len(chances.weights)
    shows = random.random((types, tokens)) < 0.5
    shows[:, 0] = True
    joint = chances.joint[:tokens, :tokens].transpose(2, 0, 1)
    joint = joint * shows[:, :, None] * shows[:, None, :]
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    return seen, TypeMixture(chances.weights, joint.sum(axis=1), joint)


def all_equal():
    seen, score = typed_people(5_000, 33)
    known = np.repeat(np.array(seen.known)[:1], 5_000, axis=0)
    return Observations(known, seen.anonymous, seen.truth, tokens=seen.tokens), score


def gaps_that_say_nothing():
    seen, score = typed_people(6_000, 100)
    return with_gaps(seen), score


def gaps_with_chances():
    seen, score = typed_people(6_000, 100)
    return with_gaps(seen), mixture_with_gaps(score)


def one_target():
    seen, score = typed_people(6_000, 40)
    return seen.only([7]), score


WORLDS = [
    of_many_types,
    with_impossible_tokens,
    all_equal,
    gaps_that_say_nothing,
    gaps_with_chances,
    one_target,
]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("world", WORLDS)
def test_little_is_left_out_and_nothing_is_added(world):
    seen, score = world()
    fast, slow = ENGINE.evidence(seen, score), ReferenceEngine().evidence(seen, score)
    possible = slow > -1e5
    np.testing.assert_allclose(fast[~possible], slow[~possible], rtol=1e-12)
    left_out = -np.expm1(fast - slow)[possible]
    assert left_out.min() > -1e-9
    assert left_out.max() < 1e-3
    assert left_out.mean() < 1e-4


def exact(seen, score):
    """The evidence in fractions."""
    chances, evidence = score.chances, []
    weights = [Fraction(weight) for weight in chances.weights]

    def total(table, *rows):
        terms = weights
        for tokens in zip(*rows, strict=True):
            terms = [term * Fraction(one) for term, one in zip(terms, table[tokens], strict=True)]
        return sum(terms)

    for shown in seen.anonymous.tolist():
        known = np.array(seen.known).tolist()
        sums = (total(chances.joint, shown, row) / total(chances.single, row) for row in known)
        evidence.append(math.log(sum(sums)))
    return np.array(evidence)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("slots", [1, 5, 9])
def test_sums_are_those_of_fractions(gaps, slots, monkeypatch):
    seen, score = typed_people(40, 12, slots=slots, types=3, tokens=5)
    seen = with_gaps(seen, gaps)
    expected = exact(seen, score)
    np.testing.assert_allclose(ENGINE.evidence(seen, score), expected, atol=1e-12)
    monkeypatch.setattr("reidrisk.engines.strategies.sums._FEW", 0)
    left_out = -np.expm1(ENGINE.evidence(seen, score) - expected)
    assert left_out.min() > 0
    assert left_out.max() < 1e-4


@pytest.mark.usefixtures("many")
def test_long_rows_are_not_summed_twice(monkeypatch):
    """Their products leave the range of single precision, so they are made in double precision."""
    seen, score = typed_people(3_000, 40, slots=60)
    slow = ReferenceEngine().evidence(seen, score)
    monkeypatch.setattr("reidrisk.engines.strategies.definition.evidence", None)
    np.testing.assert_allclose(ENGINE.evidence(seen, score), slow, rtol=1e-7)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("world", [gaps_that_say_nothing, of_many_types])
def test_no_cut_changes_a_bit(world, monkeypatch):
    monkeypatch.setattr(mapreduce, "_LEAST_UNIT", 64)
    seen, score = world()
    expected = ENGINE.evidence(seen, score).tobytes()
    assert LocalEngine(threads=2).evidence(seen, score).tobytes() == expected
    for seed in range(4):
        apart = seen.changed(known=ApartRows(seen.known, seed))
        assert ENGINE.evidence(apart, score).tobytes() == expected
    monkeypatch.setattr("reidrisk.engines.strategies.sums._BYTES_TOGETHER", 1)
    assert ENGINE.evidence(seen, score).tobytes() == expected


def test_levels_hold_the_chances_between_their_edges():
    edges, counts = level_edges(), np.zeros((1, LEVELS), np.int64)
    chances = np.concatenate([edges[1:-1], np.nextafter(edges[1:-1], 0), [0.0, 1e-300, 1.0]])
    count_levels(chances[:, None].view(np.int64), counts)
    np.testing.assert_array_equal(counts[0], np.histogram(chances, edges)[0])
    assert edges[LEVELS - 1] == 1.0


def test_what_does_not_count_is_within_the_budget():
    seen, score = typed_people(3_000, 50)
    counts = np.zeros((16, LEVELS), np.int64)
    chances = score.types_of(np.array(seen.known))
    count_levels(chances.view(np.int64), counts)
    few, most = (who_counts(score, seen.anonymous, counts, budget) for budget in (1e-6, 1e-3))
    assert few.per_row > most.per_row > 1
    for bars in (few, most):
        assert (np.diff(bars.levels, axis=1) >= 0).all()
        assert (np.sort(bars.order, axis=1) == np.arange(50)).all()
