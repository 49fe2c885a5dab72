"""What goes over known rows gives what it gives if it has them all, wherever they are, any cut."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from tests.apart import ApartRows
from tests.snapshots import refuses
from tests.threads import interrupt_main

from reidrisk import BagRows, LocalEngine, Observations, TokenRows, TopicsApi
from reidrisk.attacks import Hamming, View, WeightedHamming
from reidrisk.attacks.gap_chances import share_of_gaps
from reidrisk.attacks.learned_pairs.columns import drawn_chances
from reidrisk.attacks.support import times_held
from reidrisk.core import mapreduce, parallel
from reidrisk.core.mapreduce import unit
from reidrisk.core.observations import MISSING
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import SetRows
from reidrisk.learning import latent_types
from reidrisk.learning.latent_types import sample_of_rows
from reidrisk.learning.splits import MULTIPLIER, contents_of, times_before
from reidrisk.releases import popularity
from reidrisk.risk import _optimum
from reidrisk.risk.eligibility import SubsetRows, UserSubset, among
from reidrisk.scores import GRID, TokenPairWeights, TokenWeights, population
from reidrisk.scores.protocol import by_slot
from reidrisk.study.parameters import make_release

USERS, SLOTS, TOKENS = 13_001, 3, 6
API = TopicsApi(topics=TOKENS, top=2, noise=0.1)
HIDES = TopicsApi(topics=TOKENS, top=2, noise=0.1, absence=0.2)
WHERE = {
    "here": lambda rows: rows,
    **{f"elsewhere {seed}": lambda rows, seed=seed: ApartRows(rows, seed) for seed in range(4)},
}


def values(seed=1, users=USERS):
    """Rows with gaps, some of which are empty."""
    random = np.random.default_rng(seed)
    rows = np.minimum(random.geometric(0.4, (users, SLOTS)) - 2, TOKENS - 1)
    rows[random.random(users) < 0.03] = MISSING
    return rows


def sets():
    """A set of two tokens for each slot, some of them empty."""
    return np.stack([values(1), values(2)], axis=2)


@pytest.fixture(params=WHERE.values(), ids=WHERE)
def where(request):
    """Where rows are."""
    return request.param


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("made", [values, sets])
def test_popularity(where, made, pooled):
    rows = made()
    kind = TokenRows if rows.ndim == 2 else SetRows
    found = popularity(where(kind(rows, tokens=TOKENS)), API, pooled=pooled)
    places = rows.reshape(USERS, 1 if pooled else SLOTS, -1)
    counts = np.stack([np.bincount(slot[slot >= 0], minlength=TOKENS)
                       for slot in places.transpose(1, 0, 2)])  # fmt: skip
    seen = (places >= 0).sum(axis=2)
    raw = (counts / counts.sum(axis=1, keepdims=True) - API.q_out) / (API.q_in - API.q_out)
    np.testing.assert_array_equal(found.raw, raw)
    np.testing.assert_array_equal(found.users, seen.sum(axis=0) ** 2 / (seen**2).sum(axis=0))


def test_popularity_of_a_larger_alphabet(where):
    rows = values()
    found = popularity(where(TokenRows(rows, tokens=99)), API)
    np.testing.assert_array_equal(found.raw, popularity(rows, API).raw)
    rows[77, 1] = 9
    with refuses("token-out-of-range"):
        popularity(where(TokenRows(rows, tokens=99)), API)


@pytest.mark.parametrize("made", [values, sets])
def test_shares_of_gaps(where, made):
    rows = made()
    kind = TokenRows if rows.ndim == 2 else SetRows
    known = where(kind(rows, tokens=TOKENS))
    view = SimpleNamespace(known=known, slots=SLOTS, complete=known.complete)
    gaps = (rows.reshape(USERS, SLOTS, -1) == MISSING).all(axis=2)
    np.testing.assert_array_equal(share_of_gaps(view), gaps.sum(axis=0) / USERS)


@pytest.mark.parametrize("kind", ["tokens", "sets", "bags"])
def test_times_held(where, kind, monkeypatch):
    monkeypatch.setattr("reidrisk.attacks.support._PLACES", 1 << 12)
    rows = {"tokens": values, "sets": sets, "bags": values}[kind]().reshape(USERS, -1)
    handle = {
        "tokens": lambda: TokenRows(rows, tokens=TOKENS),
        "sets": lambda: SetRows(sets(), tokens=TOKENS),
        "bags": lambda: BagRows([row[row >= 0] for row in rows], tokens=TOKENS),
    }[kind]()
    times = np.stack([(rows == token).sum(axis=1) for token in range(TOKENS)])
    slow = [np.bincount(np.minimum(each, 2), minlength=3) for each in times]
    np.testing.assert_array_equal(times_held(where(handle), 2), slow)


def test_chances_of_tokens_that_are_drawn(where):
    rows, shown = values(), values(5, 40)
    np.testing.assert_array_equal(
        drawn_chances(where(TokenRows(rows, tokens=TOKENS)), shown),
        drawn_chances(TokenRows(rows, tokens=TOKENS), shown),
    )


@pytest.mark.parametrize("first", [0, 1])
def test_chances_of_anyone_by_table(where, first):
    random, rows, shown = np.random.default_rng(3), values(), values(5, 40)
    table = random.integers(-5 * GRID, 0, (SLOTS if first else 1, TOKENS + 1, TOKENS + 1))
    nats = population.by_table(table, where(TokenRows(rows, tokens=TOKENS)), shown)
    slow = np.zeros(len(shown))
    for slot, gains in enumerate(by_slot(table, SLOTS)):
        counts = np.bincount(rows[:, slot] % (TOKENS + 1), minlength=TOKENS + 1).astype(float)
        held = counts > 0
        terms = gains[np.ix_(shown[:, slot], np.flatnonzero(held))] / GRID
        slow += np.logaddexp.reduce(terms + np.log(counts[held] / USERS), axis=1)
    np.testing.assert_array_equal(nats, slow)


@pytest.mark.parametrize("made", [values, sets])
def test_chances_of_anyone_by_weights(where, made):
    """Sums of floats: the same bits wherever rows are; all at once, the same but for rounding."""
    rows, shown = made(), values(5, 40)
    handle = (TokenRows if rows.ndim == 2 else SetRows)(rows, tokens=TOKENS)
    view = View.of(Observations(handle, shown[:1], [0], tokens=TOKENS), release=HIDES)
    weights = WeightedHamming(HIDES).fit(view)
    model = weights.normalised()
    here, there = (model.of_anyone(each(handle), shown) for each in (WHERE["here"], where))
    assert here.tobytes() == there.tobytes()
    slow = [weights.by_slot(rows, one) / GRID - model.log_sums(rows) / GRID for one in shown]
    slow = [np.logaddexp.reduce(each, axis=0).sum() - SLOTS * np.log(USERS) for each in slow]
    np.testing.assert_allclose(here, slow, rtol=1e-12)


def slow_sample(rows, users, seed):
    """Everything of everybody at hand."""
    seen = (rows != MISSING).any(axis=1)
    places, content = np.flatnonzero(seen), contents_of(rows)[seen]
    names = content + times_before(content) * MULTIPLIER
    draws = uniforms(seed=seed, purpose="types/users", users=names, count=1)[:, 0]
    return rows[places[np.lexsort((content, draws))[:users]]]


@pytest.mark.parametrize("users", [1, 500, 100_000])
def test_samples_of_rows(where, users):
    rows = values()
    found = sample_of_rows(where(TokenRows(rows, tokens=TOKENS)), TOKENS, users, 3)
    np.testing.assert_array_equal(found, slow_sample(rows, users, 3))


@pytest.mark.parametrize("users", [20, 5000])
def test_samples_of_more_rows_than_are_held(where, users, monkeypatch):
    """So many are chosen by their numbers, and the others are as if they were not there."""
    monkeypatch.setattr(latent_types, "MOST_USERS", 400)
    rows = values()
    seen = np.flatnonzero((rows != MISSING).any(axis=1))
    draws = uniforms(seed=3, purpose="types/rows", users=seen, count=1)[:, 0]
    chosen = np.sort(seen[np.argsort(draws)[:400]])
    handle = TokenRows(rows, tokens=TOKENS)
    found = sample_of_rows(where(handle), TOKENS, users, 3)
    np.testing.assert_array_equal(found, slow_sample(rows[chosen], users, 3))


def test_who_is_traced(where):
    rows = values()
    mask = (rows != MISSING).any(axis=1)
    traced = UserSubset.of(where(TokenRows(rows, tokens=TOKENS)))
    assert (traced.users, traced.are_all) == (mask.sum(), False)
    np.testing.assert_array_equal(traced.mask, mask)
    some = np.array([0, 5, 4095, 4096, 9000, traced.users - 1, 5])
    np.testing.assert_array_equal(traced.rows(some), np.flatnonzero(mask)[some])
    np.testing.assert_array_equal(traced.numbers(traced.rows(some)), some)
    full = UserSubset.of(where(TokenRows(np.abs(rows), tokens=TOKENS)))
    assert (full.users, full.are_all) == (USERS, True)
    one = np.zeros((1, 2), int)
    assert UserSubset.of(where(TokenRows(one, tokens=1))).mask.tolist() == [True]


def test_rows_of_those_who_are_traced(where):
    rows = values()
    mask = (rows != MISSING).any(axis=1)
    inner = where(TokenRows(rows, tokens=TOKENS))
    some, few = SubsetRows(inner, UserSubset.of(inner)), TokenRows(rows[mask], tokens=TOKENS)
    places = np.array([7, 0, 4090, few.users - 1])
    np.testing.assert_array_equal(some.take(places), few.take(places))
    np.testing.assert_array_equal(some.select(places).values, few.take(places))
    np.testing.assert_array_equal(some.prefix(2).take(places), few.prefix(2).take(places))
    for name in ("kind", "users", "slots", "set_size", "tokens", "complete"):
        assert getattr(some, name) == getattr(few, name)
    for how in ({"step": 1024}, {"most": 999}, {}):
        parts = some.over(_blocks, dict.__or__, **how)
        starts = sorted(parts)
        np.testing.assert_array_equal(
            np.concatenate([parts[start] for start in starts]), few.values
        )
        assert starts == [0, *np.cumsum([len(parts[start]) for start in starts])[:-1]]
        assert max(map(len, parts.values())) <= how.get("step", how.get("most", unit(USERS)))


def _blocks(blocks):
    return {start: rows.copy() for start, rows in blocks}


@pytest.mark.parametrize(
    "score", [TokenWeights(np.full(TOKENS, 1.0)), None], ids=["weights", "table"]
)
def test_searching_among_those_who_are_traced(where, score):
    """As if nobody else were there."""
    random, rows = np.random.default_rng(4), values()
    if score is None:
        score = TokenPairWeights(random.normal(size=(TOKENS + 1, TOKENS + 1)), gaps=True)
    mask = (rows != MISSING).any(axis=1)
    truth = random.choice(np.flatnonzero(mask), 50, replace=False)
    shown = np.where(random.random((50, SLOTS)) < 0.7, rows[truth], 0)
    handle = where(TokenRows(rows, tokens=TOKENS))
    seen = Observations(handle, shown, truth, tokens=TOKENS)
    targets = np.arange(50) % 3 > 0
    some = among(seen, UserSubset.of(handle), targets)
    few = Observations(rows[mask], shown[targets], (np.cumsum(mask) - 1)[truth[targets]],
                       tokens=TOKENS)  # fmt: skip
    assert some.users == few.users
    np.testing.assert_array_equal(some.true_rows, few.true_rows)
    found, slow = (LocalEngine().search(each, score, list_best=3) for each in (some, few))
    for name in ("best", "ties", "true_score", "best_rows", "above"):
        np.testing.assert_array_equal(getattr(found, name), getattr(slow, name))
    here, there = (LocalEngine().evidence(each, score) for each in (some, few))
    np.testing.assert_allclose(here, there, atol=1e-6)


def test_different_rows_are_counted(where):
    rows = values()
    handle = where(TokenRows(rows, tokens=TOKENS))
    seen = Observations(handle, rows[:1], [0], tokens=TOKENS)
    known, count = _optimum._different(seen)  # noqa: SLF001
    codes = (rows - MISSING) @ (TOKENS + 1) ** np.arange(SLOTS)
    _, first, slow = np.unique(codes, return_index=True, return_counts=True)
    np.testing.assert_array_equal(known.values, rows[first])
    np.testing.assert_array_equal(count, slow)


def test_nothing_shown_is_expected_of(where):
    rows = sets()
    handle = SetRows(rows, tokens=TOKENS)
    view = View.of(Observations(handle, values(3, 1), [0], tokens=TOKENS), release=HIDES)
    score = WeightedHamming(HIDES).fit(view).normalised()
    slow = np.exp(score.of(rows, np.full(SLOTS, MISSING)) / GRID).sum()
    here, there = (_optimum._showing_nothing(each(handle), None, score)  # noqa: SLF001
                   for each in (WHERE["here"], where))  # fmt: skip
    assert here == there
    assert here == pytest.approx(slow, rel=1e-12)


def test_the_usual_absence_is_the_share_of_gaps(where):
    from reidrisk.data import Linked

    rows = values()
    tables = Linked(
        TokenRows(rows, tokens=TOKENS), rows[:3], np.arange(3), np.arange(USERS), np.arange(TOKENS)
    )
    object.__setattr__(tables, "known", where(tables.known))
    made = make_release(TopicsApi, {}, tables)
    assert made.absence == (rows == MISSING).mean()


def test_a_fit_asks_for_no_rows():
    """Nothing but passes and a few rows: `ApartRows` refuses more."""
    rows = ApartRows(TokenRows(values(), tokens=TOKENS))
    seen = Observations(rows, values(5, 3), [0, 1, 2], tokens=TOKENS)
    for attack in (Hamming(), WeightedHamming(HIDES)):
        attack.fit(View.of(seen, release=HIDES))
    assert rows.passes


def pace(seconds, most=1 << 20, users=1 << 24, threads=2):
    """The sizes of blocks, if rows take so many seconds: a function of their number."""
    pacing, left, sizes = mapreduce._Pace(most, users, threads), users, []  # noqa: SLF001
    while left > 0:
        size = min(pacing.size(left), left)
        sizes.append(size)
        pacing.took(size, seconds(size))
        left -= size
    assert sum(sizes) == users
    return sizes


def test_blocks_of_quick_work_are_as_large_as_may_be():
    sizes = pace(lambda rows: rows * 1e-7)
    assert sizes[0] < max(sizes) == 1 << 20
    assert len(sizes) < 20
    assert sizes[-1] == sizes[-2]


def test_blocks_of_slow_work_are_worked_on_in_half_a_second():
    sizes = pace(lambda rows: rows * 1e-3, users=1 << 16)
    assert set(sizes[8:]) <= {256, 128}


def test_blocks_are_not_smaller_if_that_saves_no_time():
    sizes = pace(lambda rows: 2.0 + rows * 1e-9)
    assert min(sizes) >= 1 << 17
    assert sorted(sizes)[len(sizes) // 2] == 1 << 18


def test_blocks_grow_again_after_one_that_was_slow_by_chance():
    first = iter([9.0])  # a kernel that is compiled
    sizes = pace(lambda rows: next(first, rows * 1e-7))
    assert max(sizes) == 1 << 20


@pytest.mark.parametrize(("most", "users", "threads"), [(1, 5, 2), (10, 1, 8), (7, 100, 3)])
def test_blocks_are_never_larger_than_allowed(most, users, threads):
    assert max(pace(lambda _: 0.0, most, users, threads)) <= most
    assert max(pace(lambda _: 9.0, most, users, threads)) <= most


def test_nobody_is_told_of_rows_that_come_after_an_interrupt(monkeypatch):
    monkeypatch.setattr(parallel, "_MOMENT", 0.01)
    let_go, told = threading.Event(), []

    def work(blocks):
        next(blocks)
        interrupt_main()
        assert let_go.wait(timeout=60)
        next(blocks)

    rows = TokenRows(values(), tokens=TOKENS)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        mapreduce.over_here(rows, work, max, most=100, threads=1, done=told.append)
    (left,) = set(threading.enumerate()) - before
    let_go.set()
    left.join(timeout=10)
    assert not left.is_alive()
    assert not told
