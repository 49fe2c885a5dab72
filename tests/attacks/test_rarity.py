"""Rarity overlap against its definition, in plain Python, on rows of every kind."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine
from reidrisk.attacks import Overlap, RarityOverlap, View
from reidrisk.attacks.support import times_held
from reidrisk.core.rows import BagRows, SetRows, TokenRows
from reidrisk.scores import GRID
from reidrisk.testing import check_attack, check_score

BAGS = [[0, 1, 1], [0, 2], [0], [0, 1, 3, 3, 3], []]
SEEN = Observations(BagRows(BAGS, tokens=5), [[1, 0, 1], [4, 3, 0], []], [0, 3, 4], tokens=5)
EVERY = [Overlap(), *(RarityOverlap(weighting) for weighting in ("log", "cosine", "support"))]


def sides(known, shown):
    return {*map(int, known)} - {-1}, {*map(int, shown)} - {-1}


def rated(weighting, bags, known, shown):
    """The score of two rows, as the attack is described."""
    held, seen = sides(known, shown)
    holders = {token: max(sum(token in bag for bag in bags), 1) for token in held | seen}
    log = {token: math.log(len(bags) / number) for token, number in holders.items()}
    if weighting == "overlap":
        return len(held & seen)
    if weighting == "log":
        return sum(log[token] for token in held & seen)
    if weighting == "support":
        return sum(1 / math.log(max(holders[token], 2)) for token in held & seen)
    length = math.prod(math.hypot(*(log[token] for token in side)) for side in (held, seen))
    both = sum(log[token] ** 2 for token in held & seen)
    return both / length if both else 0.0


@pytest.mark.parametrize("attack", EVERY)
def test_bags_are_rated_as_described(attack):
    score = attack.fit(View.of(SEEN))
    weighting = getattr(attack, "weighting", "overlap")
    bags = [set(bag) for bag in BAGS]
    for shown in SEEN.anonymous:
        found = score.of(SEEN.known.block(0, 5), shown) / GRID
        expected = [rated(weighting, bags, bag, shown) for bag in BAGS]
        np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("attack", EVERY)
def test_every_promise_is_kept_on_rows_of_every_kind(attack):
    random = np.random.default_rng(3)
    shown = random.integers(-1, 9, (7, 4))
    seen = [SEEN] + [
        Observations(kind, shown, np.arange(7), tokens=9)
        for kind in (
            TokenRows(random.integers(-1, 9, (30, 4)), tokens=9),
            SetRows(random.integers(-1, 9, (30, 4, 3)), tokens=9),
        )
    ]
    for one in seen:
        check_attack(attack, one)
        check_score(attack.fit(View.of(one)), one)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(EVERY), st.sampled_from([0, 3]))
def test_unequal_bags_are_searched_like_the_reference(seed, attack, list_best):
    """Bags of any size, empty ones, duplicates, frequent tokens and rare ones, in shards."""
    random = np.random.default_rng(seed)
    tokens = int(random.choice([2, 70, 400]))

    def bags(count):
        sizes = np.where(random.random(count) < 0.1, 150, random.integers(0, 9, count))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        values = (tokens * random.random(starts[-1]) ** 3).astype(int)
        return BagRows.of(values, starts, tokens=tokens)

    users, targets = random.integers(1, 90, 2)
    seen = Observations(
        bags(users), bags(targets), random.integers(0, users, targets), tokens=tokens
    )
    score = attack.fit(View.of(seen))
    slow = ReferenceEngine().search(seen, score, list_best=list_best)
    cut = int(random.integers(0, users))
    parts = [seen] if cut == 0 else [seen.shard(0, cut), seen.shard(cut, int(users))]
    engine = LocalEngine(threads=2, rows=17)
    found = [engine.search(part, score, list_best=list_best) for part in parts]
    fast = found[0] if cut == 0 else found[1].merge(found[0])
    for name in ("best", "ties", "true_score", "best_rows", "best_scores"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), name)


@pytest.mark.parametrize("attack", EVERY)
def test_slots_are_forgotten(attack):
    """Tokens in slots, the same in sets, and the same in bags have the same answer."""
    random = np.random.default_rng(5)
    rows, shown = random.integers(0, 40, (300, 6)), random.integers(0, 40, (50, 6))
    truth, answers = np.arange(50), []
    for known, row in (
        (rows, shown),
        (rows[:, ::-1], shown[:, [3, 1, 0, 2, 5, 4]]),
        (rows[:, :, None], shown),
        (BagRows(rows, tokens=40), shown),
    ):
        seen = Observations(known, row, truth, tokens=40)
        answers.append(LocalEngine().search(seen, attack.fit(View.of(seen))))
    for name in ("best", "ties", "true_score"):
        assert len({getattr(answer, name).tobytes() for answer in answers}) == 1


def test_times_held_are_counted_over_blocks(monkeypatch):
    monkeypatch.setattr("reidrisk.attacks.support.ROWS_AT_A_TIME", 2)
    assert times_held(SEEN.known, 2).tolist() == [
        [1, 4, 0], [3, 1, 1], [4, 1, 0], [4, 0, 1], [5, 0, 0]
    ]  # fmt: skip
    rows = TokenRows([[0, -1, 0], [1, 0, -1]], tokens=2)
    assert times_held(rows, 1).tolist() == [[0, 2], [1, 1]]


def test_what_everybody_holds_counts_nothing():
    score = RarityOverlap().fit(View.of(Observations([[0, 1], [0, 2]], [[0, 3]], [0], tokens=4)))
    assert score.match[0] == 0
    assert score.match[1] == score.match[2] > 0


def test_another_weighting_is_refused():
    with refuses("unknown-choice"):
        RarityOverlap("idf")
