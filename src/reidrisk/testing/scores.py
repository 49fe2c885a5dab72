"""`check_score`: what every score must do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import Kind
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.scores import GRID, Distribution, Score
from reidrisk.testing.check import promise

_USERS, _TARGETS, _SLOTS, _TOKENS = 60, 12, 3, 4
_MOST_OUTCOMES = 100_000
_ROWS = 5
_DRAWS = 2_000
_STANDARD_DEVIATIONS = 6
_CLOSE = 1e-6


def check_score(score: Score, seen: Observations | None = None) -> None:
    """Check that a score keeps the promises of `reidrisk.scores.Score`.

    Scores are whole numbers, one for each pair of rows, and depend on nothing but these two: not on
    the rows beside them, nor on their order. They work for every number of slots, on every engine
    alike. If the score is a `Distribution`, its normalised form sums to 1 over everything that may
    be shown beside a known row, and what is drawn from it follows it.

    Args:
        score: The one to check.
        seen: Small observations that it can rate; if not given, rows of 3 slots and 4 tokens, with
            gaps.

    Raises:
        AssertionError: A promise is broken; the message says which.

    Example:
        >>> rr.testing.check_score(rr.TokenWeights(np.ones(4)))
    """
    seen = _small_world() if seen is None else seen
    score.check(seen)
    known, shown = seen.known.block(0, seen.known.users), np.asarray(seen.anonymous)
    true_rows = np.asarray(seen.true_rows)
    scores = np.asarray(score.of(known, shown[0]))
    _promise(scores.shape == (len(known),), "one score for each known row")
    _promise(np.issubdtype(scores.dtype, np.integer), "whole numbers")
    order = np.arange(len(known))[::-1]
    same = np.array_equal(score.of(known[order], shown[0]), scores[order])
    _promise(same, "that the order of rows changes nothing")
    alone = [score.of(known[row : row + 1], shown[0])[0] for row in range(len(known))]
    _promise(np.array_equal(alone, scores), "that a row's score depends on no other row")
    beside = score.of(true_rows, shown)
    pairs = zip(true_rows, shown, strict=True)
    one_by_one = [score.of(row[None], target)[0] for row, target in pairs]
    _promise(np.array_equal(beside, one_by_one), "the same score for rows beside each other")
    for slots in sorted({1, seen.slots}):
        _check_prefix(score, seen.prefix(slots))
    if isinstance(score, Distribution) and seen.known.kind is not Kind.BAGS:
        _check_distribution(score, seen)


def _promise(kept: bool, what: str) -> None:
    promise(kept, "a score", what)


def _check_prefix(score: Score, seen: Observations) -> None:
    try:
        score.check(seen)
        slow = ReferenceEngine().search(seen, score)
    except Exception as error:
        raise AssertionError(
            f"a score promises to rate every number of slots; this one fails at {seen.slots}"
        ) from error
    # Few rows at a time, so that even a small world has several blocks to merge.
    fast = LocalEngine(rows=7).search(seen, score)
    names = ("best", "ties", "true_score")
    same = all(np.array_equal(getattr(fast, name), getattr(slow, name)) for name in names)
    _promise(same, "the same answer on every engine")


def _check_distribution(score: Distribution, seen: Observations) -> None:
    model = score.normalised()
    _promise(isinstance(model, Distribution), "a normalised form that can be drawn from")
    symbols = seen.tokens + model.gaps
    slots = max((n for n in range(1, seen.slots + 1) if symbols**n <= _MOST_OUTCOMES), default=0)
    if not slots:
        return
    short = seen.prefix(slots)
    outcomes = np.indices((symbols,) * slots).reshape(slots, -1).T
    outcomes = np.where(outcomes == seen.tokens, MISSING, outcomes)
    for row in short.true_rows[:_ROWS]:
        beside = np.broadcast_to(row, (len(outcomes), *row.shape))
        chances = np.exp(model.of(beside, outcomes) / GRID)
        _promise(abs(chances.sum() - 1) < _CLOSE, "chances that sum to 1 once normalised")
    _check_draws(model, short.prefix(1))


def _check_draws(model: Distribution, seen: Observations) -> None:
    row = seen.true_rows[:1]
    drawn = np.asarray(model.sample(np.repeat(row, _DRAWS, axis=0), seed=1))
    _promise(drawn.shape == (_DRAWS, 1), "a row drawn for each known row")
    symbols = np.append(np.arange(seen.tokens), MISSING)[: seen.tokens + model.gaps]
    _promise(bool(np.isin(drawn, symbols).all()), "to draw tokens of its alphabet, and gaps only "
             "where they have chances")  # fmt: skip
    again = model.sample(np.repeat(row, _DRAWS, axis=0), seed=1)
    _promise(np.array_equal(drawn, again), "the same draws for the same seed")
    chances = _chances(model, row, symbols)
    counts = (drawn == symbols).sum(axis=0)
    spread = _STANDARD_DEVIATIONS * np.sqrt(_DRAWS * chances * (1 - chances)) + _CLOSE * _DRAWS
    _promise(bool((np.abs(counts - _DRAWS * chances) <= spread).all()), "draws that follow it")


def _chances(model: Distribution, row: NDArray[Any], symbols: NDArray[Any]) -> NDArray[np.float64]:
    beside = np.repeat(row, len(symbols), axis=0)
    return np.asarray(np.exp(model.of(beside, symbols[:, None]) / GRID))


def _small_world() -> Observations:
    random = np.random.default_rng(1)
    known = random.integers(-1, _TOKENS, (_USERS, _SLOTS))
    shown = random.integers(-1, _TOKENS, (_TARGETS, _SLOTS))
    return Observations(known, shown, random.integers(0, _USERS, _TARGETS), tokens=_TOKENS)
