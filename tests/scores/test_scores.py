"""Scores: whole numbers, neutral gaps, and clear words about gains that cannot be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.observations import Observations
from reidrisk.scores import (
    GRID,
    CosineWeights,
    Distribution,
    OverlapWeights,
    TokenPairWeights,
    TokenWeights,
)

ROWS = np.array([[0, 1, 2]])
SEEN = Observations(ROWS, ROWS, [0], tokens=3)
SETS = Observations(ROWS[:, :, None], ROWS, [0], tokens=3)


def test_hamming_counts_the_slots_that_agree():
    score = TokenWeights(np.ones(3))
    known = np.array([[0, 1, 2], [0, 1, 1], [2, 2, 0]])
    assert (score.of(known, np.array([0, 1, 2])) / GRID).tolist() == [3, 2, 0]


def test_gains_belong_to_the_token_shown_and_the_slot():
    score = TokenWeights([[1, 2, 3], [10, 20, 30]], [[-1, -2, -3], [-4, -5, -6]])
    known = np.array([[2, 0], [0, 0], [2, 1], [-1, 1]])
    assert (score.of(known, np.array([2, 1])) / GRID).tolist() == [3 - 5, -3 - 5, 23, 20]


def test_a_set_matches_if_it_holds_the_token():
    score = TokenWeights([1, 2, 4], -0.5)
    known = np.array([[[0, 1], [2, -1]], [[2, 2], [-1, -1]]])
    assert (score.of(known, np.array([1, 2])) / GRID).tolist() == [6, -0.5]


def test_a_profile_counts_every_common_token_once():
    score = OverlapWeights([1, 2, 4, 8])
    known = np.array([[3, 0, 0], [1, 1, 2], [-1, -1, -1], [2, 3, 1]])
    assert (score.of(known, np.array([0, 0, 3])) / GRID).tolist() == [9, 0, 0, 8]
    assert (score.of(known, np.array([1, -1, 1])) / GRID).tolist() == [0, 2, 0, 2]


@given(st.integers(0, 2**32), st.booleans())
def test_a_profile_is_an_overlap_of_sets(seed, sets):
    random = np.random.default_rng(seed)
    known = random.integers(-1, 6, (20, 4, 3) if sets else (20, 4))
    shown, gains = random.integers(-1, 6, (20, 4)), random.integers(-9, 9, 6)
    common = [set(a.ravel()) & set(b) - {-1} for a, b in zip(known, shown, strict=True)]
    expected = [sum(int(gains[token]) for token in tokens) for tokens in common]
    assert (OverlapWeights(gains).of(known, shown) // GRID).tolist() == expected


def test_a_table_is_read_by_shown_and_known():
    table = np.arange(9).reshape(3, 3)
    known, shown = np.array([[2, 0], [0, -1]]), np.array([1, 2])
    assert (TokenPairWeights(table).of(known, shown) / GRID).tolist() == [5 + 6, 3]
    stacked = TokenPairWeights(np.stack([table, -table]))
    assert (stacked.of(known, shown) / GRID).tolist() == [5 - 6, 3]


@pytest.mark.parametrize(
    "score", [TokenWeights([3.0, 1.0], -7.0), TokenPairWeights([[5.0, -2.0], [1.0, 4.0]])]
)
def test_missing_slots_are_neutral_on_either_side(score):
    full = score.of(np.array([[0]]), np.array([1]))
    assert score.of(np.array([[0, -1, 1]]), np.array([1, 0, -1])) == full


@given(st.permutations(range(8)), st.integers(0, 2**32))
def test_the_order_of_slots_does_not_matter(order, seed):
    random = np.random.default_rng(seed)
    gains = random.normal(size=20)
    shown, known = random.integers(0, 20, 8), random.integers(0, 20, (50, 8))
    score = TokenWeights(gains, -gains / 3)
    np.testing.assert_array_equal(score.of(known, shown), score.of(known[:, order], shown[order]))


def test_gains_are_rounded_to_the_grid_once():
    assert TokenWeights([0.1]).match.tolist() == [[round(0.1 * GRID)]]
    assert TokenWeights([1e-300, -1e-13]).match.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: TokenWeights([1, np.nan]), "not-finite"),
        (lambda: TokenWeights([1.0], -np.inf), "not-finite"),
        (lambda: TokenPairWeights([[0, 1], [np.inf, 0]]), "not-finite"),
        (lambda: TokenWeights([1e300]), "gain-too-large"),
        (lambda: TokenWeights([]), "wrong-shape"),
        (lambda: TokenWeights(1.0), "wrong-shape"),
        (lambda: TokenWeights([1, 2], [1, 2, 3]), "wrong-shape"),
        (lambda: TokenPairWeights([[1, 2]]), "wrong-shape"),
        (lambda: TokenPairWeights([1, 2]), "wrong-shape"),
        (lambda: TokenWeights([1, 2]).check(SEEN), "score-mismatch"),
        (lambda: TokenWeights(np.ones((2, 3))).check(SEEN), "score-mismatch"),
        (lambda: TokenPairWeights(np.eye(4)).check(SEEN), "score-mismatch"),
        (lambda: TokenWeights([1, 2, 4e6]).check(SEEN), "gain-too-large"),
        (lambda: TokenPairWeights(np.eye(3) * -4e6).check(SEEN), "gain-too-large"),
        (lambda: TokenWeights([1, 2], known_gap=1.0), "missing-argument"),
        (
            lambda: TokenWeights([1, 2], 0, known_gap=[1, 2, 3], shown_gap=0, both_gaps=0),
            "wrong-shape",
        ),
        (
            lambda: TokenWeights(np.ones((2, 3)), 0, known_gap=0, shown_gap=[1, 2, 3], both_gaps=0),
            "slot-mismatch",
        ),
        (lambda: TokenPairWeights([[1.0]], gaps=True), "wrong-shape"),
        (lambda: TokenPairWeights(np.eye(3), gaps=True).check(SEEN), "score-mismatch"),
        (lambda: OverlapWeights(np.eye(2)), "wrong-shape"),
        (lambda: OverlapWeights([1, np.nan]), "not-finite"),
        (lambda: OverlapWeights([1, 2]).check(SEEN), "score-mismatch"),
        (lambda: OverlapWeights([1, 2, 4e6]).check(SEEN), "gain-too-large"),
        (lambda: TokenPairWeights(np.eye(3)).check(SETS), "wrong-kind-of-rows"),
        (lambda: CosineWeights([1, -1]), "invalid-weights"),
        (lambda: CosineWeights([1, np.nan]), "invalid-weights"),
        (lambda: CosineWeights([1, 2]).check(SEEN), "score-mismatch"),
    ],
)
def test_impossible_gains_are_refused(make, code):
    with refuses(code):
        make()


def test_longer_scores_serve_shorter_rows():
    TokenWeights(np.ones((5, 3))).check(SEEN)
    TokenWeights(np.ones((5, 3))).check(SETS)


IMPOSSIBLE = -1e4


@st.composite
def distributions(draw):
    """Scores of every kind that stand for a distribution, with awkward gains."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.sampled_from([[0.0], [-3.0, 0.0, 0.1, 2.0], [IMPOSSIBLE, 0.0, 1.0], [9e3, 0]]))
    tokens, gaps = draw(st.integers(1, 4)), draw(st.booleans())
    rows = draw(st.sampled_from([(), (3,)]))
    if draw(st.booleans()):
        size = tokens + gaps
        return TokenPairWeights(random.choice(values, (*rows, size, size)), gaps=gaps)
    of_gaps = {
        "known_gap": random.choice(values, (*rows, tokens)),
        "shown_gap": random.choice(values, rows),
        "both_gaps": random.choice(values, rows),
    }
    match, mismatch = random.choice(values, (2, *rows, tokens))
    return TokenWeights(match, mismatch, **(of_gaps if gaps else {}))


def outcomes(score, slots):
    """Everything that can be shown."""
    symbols = np.append(np.arange(score.tokens), -1)[: score.tokens + score.gaps]
    return symbols[np.indices((len(symbols),) * slots).reshape(slots, -1).T]


def known_rows(score, slots, *, sets, seed):
    shape = (6, slots, 2) if sets else (6, slots)
    return np.random.default_rng(seed).integers(-1, score.tokens, shape)


@settings(deadline=None)
@given(distributions(), st.integers(1, 3), st.booleans(), st.integers(0, 2**32))
def test_a_normalised_score_is_a_distribution(score, slots, sets, seed):
    known = known_rows(score, slots, sets=sets and isinstance(score, TokenWeights), seed=seed)
    shown, model = outcomes(score, slots), score.normalised()
    assert isinstance(model, Distribution)
    assert model.normalised().gaps == score.gaps
    for row in known:
        same = np.broadcast_to(row, (len(shown), *row.shape))
        nats, raw = model.of(same, shown) / GRID, score.of(same, shown) / GRID
        assert np.exp(nats).sum() == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(nats - nats.max(), raw - raw.max(), atol=1e-9)


@settings(deadline=None)
@given(distributions(), st.booleans(), st.integers(0, 2**32))
def test_where_gaps_are_neutral_a_shown_gap_says_nothing(score, sets, seed):
    known = known_rows(score, 3, sets=sets and isinstance(score, TokenWeights), seed=seed)
    nothing = score.normalised().of(known, np.full(3, -1))
    assert score.gaps or (nothing == 0).all()


@settings(deadline=None)
@given(distributions(), st.integers(0, 2**32))
def test_normalised_weights_are_a_table_of_single_tokens(score, seed):
    if isinstance(score, TokenPairWeights):
        return
    model = score.normalised()
    known = known_rows(score, 3, sets=False, seed=seed)
    for shown in outcomes(score, 3):
        expected = model.of(known, shown)
        np.testing.assert_array_equal(model.as_table().of(known, shown), expected)
        np.testing.assert_array_equal(model.of(known[:, :, None], shown), expected)


@settings(deadline=None, max_examples=30)
@given(distributions(), st.booleans(), st.integers(0, 2**32))
def test_samples_follow_the_distribution(score, sets, seed):
    """Each outcome of one slot within six standard deviations of its expected number."""
    row = known_rows(score, 1, sets=sets and isinstance(score, TokenWeights), seed=seed)[:1]
    rows, shown = np.repeat(row, 4000, axis=0), outcomes(score, 1)
    drawn = score.sample(rows, seed=seed)
    chances = np.exp(score.normalised().of(np.repeat(row, len(shown), axis=0), shown) / GRID)
    counts = [(drawn == symbol).sum() for symbol in shown]
    assert sum(counts) == 4000
    spread = 6 * np.sqrt(4000 * chances * (1 - chances)) + 1e-6
    assert (np.abs(counts - 4000 * chances) <= spread).all()


@pytest.mark.parametrize("sets", [False, True])
def test_gaps_have_gains_of_their_own(sets):
    score = TokenWeights([[1, 2], [3, 4]], -1, known_gap=[[5, 6], [7, 8]], shown_gap=[20, 30],
                         both_gaps=[100, 200])  # fmt: skip
    known = np.array([[0, -1], [-1, -1], [1, 0]])
    known = np.stack([known, np.full((3, 2), -1)], axis=2) if sets else known
    assert (score.of(known, np.array([0, 1])) / GRID).tolist() == [1 + 8, 5 + 8, -1 - 1]
    assert (score.of(known, np.array([-1, -1])) / GRID).tolist() == [20 + 200, 300, 20 + 30]


def test_a_table_holds_gaps_behind_the_tokens():
    table = np.arange(9).reshape(3, 3)
    score = TokenPairWeights(table, gaps=True)
    known, shown = np.array([[1, 0, -1, -1]]), np.array([0, -1, 1, -1])
    assert (score.of(known, shown) / GRID).tolist() == [1 + 6 + 5 + 8]
