"""`check_engine`: what every engine must answer."""

import operator
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.mapreduce import Blocks
from reidrisk.core.matches import UNCOUNTED, Matches, merge_all
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows, TokenRows
from reidrisk.engines import Engine, ReferenceEngine
from reidrisk.scores import (
    OverlapWeights,
    Score,
    Shortlisted,
    ShortlistedChances,
    TokenPairWeights,
    TokenWeights,
    TypeChain,
    TypeMixture,
)
from reidrisk.testing.check import promise

_FIELDS = tuple(field.name for field in fields(Matches))
_COUNTED = ("above", "level", "ranks")
_FOUND = tuple(name for name in _FIELDS if name not in (*_COUNTED, "second"))
_WAYS_TO_ASK = (
    (0, 1, False),
    (3, 1, False),
    (0, 4, False),
    (3, None, False),
    (0, 1, True),
    (1, 4, True),
)
"""Rows to list, ranks to count, and whether the second best is wanted."""
_TOKENS = 5


class OneSlot:
    """A score that no engine knows: only the first slot counts."""

    def check(self, observations: Observations) -> None:
        """Rate everything."""

    def of(self, known: NDArray[Any], shown: NDArray[Any]) -> NDArray[np.int64]:
        """1 where the first slots agree."""
        agrees = known[:, 0] == np.atleast_2d(shown)[:, 0]
        return np.asarray(agrees.reshape(len(known), -1).any(axis=1), np.int64)


def check_engine(engine: Any) -> None:
    """Check that an engine keeps its promises, in small worlds with ties, gaps, sets and bags.

    `reduce` lets every row be seen once, in blocks of the size asked for, and loses no part. For
    every kind of score, one that it has never heard of included, `search`, `curves` and `credit`
    equal those of `ReferenceEngine` in every field, ranks included, and `evidence` up to rounding.
    Shards merge to the whole, in any order.

    Args:
        engine: What `LocalEngine()` is: `room`, `reduce`, and the questions of `Searches`.

    Raises:
        AssertionError: A promise is broken; the message says which.

    Example:
        >>> class Forgetful(rr.engines.Searches):
        ...     room = rr.LocalEngine().room
        ...     def reduce(self, rows, work, merge, **how):
        ...         return work(iter([]))
        >>> try:
        ...     rr.testing.check_engine(Forgetful())
        ... except AssertionError as broken:
        ...     print(str(broken).split(";")[0])
        an engine promises to let every row be seen once, in its place
    """
    _check_reduce(engine)
    for seen, score in _questions():
        _check_answers(engine, seen, score)
    _check_shards(engine)


def _promise(kept: bool, what: str) -> None:
    promise(kept, "an engine", what)


def _check_reduce(engine: Engine) -> None:
    # No multiple of 64, and less than 4,096: a last block that is short, and a single block.
    rows = TokenRows(np.arange(700)[:, None] % _TOKENS, tokens=_TOKENS)

    def work(blocks: Blocks) -> dict[int, list[int]]:
        return {start: block[:, 0].tolist() for start, block in blocks}

    for step in (None, 1, 64, 1 << 12):
        parts = engine.reduce(rows, work, operator.or_, step=step, pairs=1)
        together = [token for start in sorted(parts) for token in parts[start]]
        _promise(together == rows[:, 0].tolist(), "to let every row be seen once, in its place")
        if step is not None:
            _promise(sorted(parts) == list(range(0, 700, step)), "blocks of the size asked for")
    count = engine.reduce(rows, _count, operator.add, step=4)
    _promise(count == rows.users, "to merge what every piece of work gives, and nothing twice")


def _count(blocks: Blocks) -> int:
    return sum(len(block) for _, block in blocks)


def _check_answers(engine: Any, seen: Observations, score: Score) -> None:
    slow, what = ReferenceEngine(), f"the reference's answer for {type(score).__name__}"
    for list_best, ranks, second in _WAYS_TO_ASK:
        found, expected = (
            each.search(seen, score, list_best=list_best, ranks=ranks, second=second)
            for each in (engine, slow)
        )
        _promise(_same(found, expected, _FOUND), what)
        _promise(_same(found, expected, _COUNTED), f"{what}, ranks")
        _promise(_same(found, expected, ("second",)), f"{what}, the second best")
    met = Observations(
        seen.known, seen.anonymous, seen.truth, tokens=seen.tokens, strangers=seen.anonymous
    ).of_strangers()
    found, expected = (each.search(met, score, second=True) for each in (engine, slow))
    _promise(_same(found, expected), f"{what}, if strangers are met")
    lengths = sorted({1, seen.slots})
    for ranks in (1, 4):
        ours, theirs = (
            each.curves(seen, [score], lengths, ranks=ranks)[0] for each in (engine, slow)
        )
        same = all(_same(ours[length], theirs[length]) for length in lengths)
        _promise(same, f"{what}, curves")
    credit = engine.credit(seen, score)
    _promise(bool((credit == slow.credit(seen, score)).all()), f"{what}, credit")
    # Sums of floats depend on the order in which an engine adds; all else is equal exactly.
    sums = engine.evidence(seen, score)
    _promise(bool(np.allclose(sums, slow.evidence(seen, score), atol=1e-6)), f"{what}, evidence")


def _check_shards(engine: Any) -> None:
    seen, score = _people(200, 2, gaps=0.1), TokenWeights(np.ones(_TOKENS))
    parts = [
        engine.search(seen.shard(start, stop), score, list_best=4, second=True)
        # One of them has a single row.
        for start, stop in ((0, 60), (60, 61), (61, 200))
    ]
    # Nobody is compared with a truth that is in another shard.
    uncounted = np.full(len(seen.truth), UNCOUNTED)
    whole = ReferenceEngine().search(seen, score, list_best=4, second=True)
    whole = replace(whole, above=uncounted, level=uncounted)
    for order in ([0, 1, 2], [2, 0, 1]):
        merged = merge_all([parts[place] for place in order])
        _promise(_same(merged, whole), "that shards merge to the whole, in any order")


def _same(one: Matches, other: Matches, names: tuple[str, ...] = _FIELDS) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _questions() -> list[tuple[Observations, Score]]:
    """Small worlds, in which many rows are equal, and scores of every kind."""
    random = np.random.default_rng(5)
    tokens, gapped = _people(150, 3), _people(150, 3, gaps=0.3)
    sets = random.integers(-1, _TOKENS, (120, 3, 2))
    # Only 120 rows are known here, so the truth is folded into them.
    in_sets = Observations(sets, tokens.anonymous, tokens.truth % 120, tokens=_TOKENS)
    bags = [random.integers(0, _TOKENS, size) for size in random.integers(0, 4, 60)]
    in_bags = Observations(BagRows(bags, tokens=_TOKENS), bags[:20], np.arange(20), tokens=_TOKENS)
    weights = TokenWeights([0, 1, 2, 2, 3], -1, known_gap=0.5, shown_gap=-3, both_gaps=4)
    chances = random.dirichlet(np.ones(_TOKENS), 2)
    mixture = TypeMixture([0.5, 0.5], chances, chances[:, :, None] * chances[:, None, :])
    table = TokenPairWeights(random.integers(-2, 3, (_TOKENS, _TOKENS)))
    overlap = OverlapWeights([1, 1, 2, 2, -1])
    known, other = random.dirichlet(np.ones(_TOKENS + 1), (2, 3))
    chain = TypeChain(np.full(3, 1 / 3), [0, 0.5, 0.9], known, np.full(known.shape, 0.3), other)
    return [
        (tokens, TokenWeights(np.ones(_TOKENS))),
        (gapped, weights),
        (gapped, weights.normalised()),
        (in_sets, weights),
        (in_sets, weights.normalised()),
        (gapped, table),
        (gapped, mixture),
        (gapped, chain),
        (gapped, Shortlisted(table, weights, 7)),
        (gapped, ShortlistedChances(chain, overlap, 30)),
        (gapped, overlap),
        (in_sets, overlap),
        (in_bags, overlap),
        (gapped, OneSlot()),
    ]


def _people(users: int, slots: int, gaps: float = 0.0) -> Observations:
    random = np.random.default_rng(users)
    known = random.integers(0, _TOKENS, (users, slots))
    known[random.random(known.shape) < gaps] = -1
    truth = random.integers(0, users, 40)
    shown = np.where(random.random((40, slots)) < 0.5, known[truth], 0)
    return Observations(known, shown, truth, tokens=_TOKENS)
