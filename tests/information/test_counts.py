"""Bits from counts against a slow reference, closed forms, and themselves."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.information import slow_counts as slow
from tests.snapshots import refuses

from reidrisk import InvalidInput, Observations, TooLarge, TopicsApi, data
from reidrisk.core import machine
from reidrisk.information import count_information, entropies
from reidrisk.information.counting import counted
from reidrisk.information.entropies import FOLDS, Figure, Tally, held_out

FIGURES = ("known_entropy", "entropy", "conditional_entropy", "mutual_information")
OF_COUNTS = ("plug-in", "miller-madow", "jackknife", "turing", "coverage")


def seen_of(known, shown, tokens):
    return Observations(known, shown, np.arange(len(known)), tokens=tokens)


@st.composite
def worlds(draw):
    """A few users, slots and tokens, with gaps, and sites that sometimes agree."""
    users, slots = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    tokens = draw(st.integers(1, 4))
    size = st.lists(st.integers(-1, tokens - 1), min_size=users * slots, max_size=users * slots)
    known = np.array(draw(size)).reshape(users, slots)
    other = np.array(draw(size)).reshape(users, slots)
    agree = np.array(draw(st.lists(st.booleans(), min_size=users * slots, max_size=users * slots)))
    return known, np.where(agree.reshape(users, slots), known, other), tokens


def pairs_of(known, shown):
    return [list(zip(*rows, strict=True)) for rows in zip(known, shown, strict=True)]


def agrees(pair):
    return pair[0] == pair[1]


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_every_way_equals_the_slow_reference(world):
    known, shown, tokens = world
    found = count_information(seen_of(known, shown, tokens)).pooled
    sides = known.tolist(), shown.tolist(), pairs_of(known.tolist(), shown.tolist())
    slowly = {
        "plug-in": [slow.plug_in(rows) for rows in sides],
        "miller-madow": [slow.miller_madow(rows) for rows in sides],
        "jackknife": [slow.jackknife(rows) for rows in sides],
        "turing": [slow.turing(rows) for rows in sides],
        "coverage": [slow.coverage(sides[0]), slow.coverage(sides[1]),
                     slow.coverage(sides[2], agrees)],
    }  # fmt: skip
    for name, (first, second, both) in slowly.items():
        way = found[name]
        assert way.known_entropy.value == pytest.approx(first, abs=1e-9)
        assert way.entropy.value == pytest.approx(second, abs=1e-9)
        assert way.conditional_entropy.value == pytest.approx(both - first, abs=1e-9)
        assert way.mutual_information.value == pytest.approx(first + second - both, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_held_out_losses_equal_the_slow_reference(world, random):
    known, shown, tokens = (*(np.where(side < 0, world[2], side) for side in world[:2]), world[2])
    symbols, order = tokens + 1, list(range(len(known)))
    random.shuffle(order)
    joint = Tally.of(known * symbols + shown, symbols**2, np.zeros_like)
    losses = held_out(joint, symbols, np.array(order), alphabet=symbols)
    folds = [order[fold::FOLDS] for fold in range(min(FOLDS, len(order)))]
    slowly = slow.held_out(known.tolist(), shown.tolist(), symbols, folds)
    quickly = [losses.known.mean(), losses.shown.mean(), losses.given.mean()]
    assert quickly == pytest.approx(slowly, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_what_unrelated_users_seem_to_share_equals_the_slow_reference(world, random):
    known, shown, tokens = world
    order = list(range(len(known)))
    random.shuffle(order)
    first, second, pairs = known.tolist(), shown.tolist(), pairs_of(known.tolist(), shown.tolist())
    mixed = []
    for shift in range(1, min(8, len(order) - 1) + 1):
        partners = {order[place]: order[place - shift] for place in range(len(order))}
        others = [second[partners[user]] for user in range(len(order))]
        mixed.append(pairs_of(first, others))
    alone = [slow.coverage(first), slow.coverage(second)]
    once = [list(slow.tally(rows).values()).count(1) for rows in (pairs, *mixed)]
    part = once[0] / max(np.mean(once[1:]), once[0], 1)
    seeming = sum(alone) - np.mean([slow.coverage(rows, agrees) for rows in mixed])
    balanced = sum(alone) - slow.coverage(pairs, agrees) - part * seeming
    shuffled = np.mean([slow.plug_in(rows) for rows in mixed]) - slow.plug_in(pairs)
    ways = counted(
        known + 1, shown + 1, np.array(order), symbols=tokens + 1, alphabet=tokens + 1
    ).ways
    assert ways["shuffled"].mutual.value == pytest.approx(shuffled, abs=1e-9)
    assert ways["balanced"].mutual.value == pytest.approx(balanced, abs=1e-9)


def test_how_unrelated_users_were_paired_is_part_of_the_noise():
    same = Figure.of(np.zeros(5)) - Figure.mean_drawn(np.array([1.0, 2.0, 3.0, 4.0]), 4) * 0.5
    assert same.value == -1.25
    from scipy.stats import t

    error = 0.5 * np.std([1, 2, 3, 4], ddof=1) / 2
    assert same.noise(0.9) == pytest.approx(t.ppf(0.95, 3) * error)


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_leaving_out_a_user_is_counting_without_them(world):
    """All slots of a user go together, so noise is that of people."""
    known, shown, tokens = world
    codes = (known + 1) * (tokens + 1) + shown + 1
    most = (tokens + 1) ** 2
    spread_of = (
        entropies.plug_in,
        entropies.miller_madow,
        entropies.turing,
        entropies.coverage,
    )
    for entropy in spread_of:
        spread = entropy(Tally.of(codes, most, np.zeros_like))
        for user in range(len(codes)):
            without = Tally.of_all(np.delete(codes, user, axis=0), most, np.zeros_like)
            assert spread[user + 1] == pytest.approx(entropy(without)[0], abs=1e-9)


def test_noise_is_the_jackknife_over_users_of_all_slots():
    random = np.random.default_rng(3)
    known = random.integers(0, 4, (30, 3))
    shown = np.where(random.random((30, 3)) < 0.5, known, random.integers(0, 4, (30, 3)))
    way = count_information(seen_of(known, shown, 4)).pooled["plug-in"].mutual_information

    def shared(users):
        rows = pairs_of(known[users].tolist(), shown[users].tolist())
        first, second = known[users].tolist(), shown[users].tolist()
        return slow.plug_in(first) + slow.plug_in(second) - slow.plug_in(rows)

    left = np.array([shared(np.arange(30) != user) for user in range(30)])
    error = math.sqrt(29 / 30 * ((left - left.mean()) ** 2).sum())
    from scipy.stats import t

    assert way.high - way.value == pytest.approx(t.ppf(0.975, 29) * error)
    assert way.value - way.low == pytest.approx(way.high - way.value)


def all_samples(chances, users):
    """Everything that users may show, with its chance."""
    import itertools

    pairs = list(np.ndindex(chances.shape))
    for sample in itertools.product(pairs, repeat=users):
        yield np.array(sample), math.prod(chances[pair] for pair in sample)


@pytest.mark.parametrize(
    "chances",
    [
        [[0.25, 0.25], [0.25, 0.25]],
        [[0.5, 0.0], [0.0, 0.5]],
        [[0.0, 0.6], [0.4, 0.0]],
        [[0.7, 0.1], [0.05, 0.15]],
        [[0.96, 0.01], [0.01, 0.02]],
    ],
)
@pytest.mark.parametrize("users", [2, 3])
def test_both_ends_hold_on_average_over_everything_that_users_may_show(chances, users):
    chances = np.array(chances)
    joint, first, second = (
        -sum(p * math.log2(p) for p in table.ravel() if p > 0)
        for table in (chances, chances.sum(axis=1), chances.sum(axis=0))
    )
    low = high = least = most = 0.0
    for sample, chance in all_samples(chances, users):
        if not chance:
            continue
        bits = count_information(seen_of(sample[:, :1], sample[:, 1:], 2)).pooled
        turing, held = bits["turing"], bits["held-out"]
        least += chance * turing.entropy.value
        most += chance * held.entropy.value
        low += chance * (turing.entropy.value - held.conditional_entropy.value)
        both = turing.known_entropy.value + turing.conditional_entropy.value
        high += chance * (held.known_entropy.value + held.entropy.value - both)
    assert least <= second + 1e-12
    assert second <= most + 1e-12
    assert low <= first + second - joint + 1e-12
    assert first + second - joint <= high + 1e-12


@pytest.mark.parametrize("users", [2, 3, 5])
def test_what_turing_leaves_out_are_the_later_terms_of_the_series(users):
    """E = sum over v below n of E[(1 - p)^v] / v, exactly, so it is never above the entropy."""
    chances = np.array([[0.6, 0.3, 0.1]])
    expected = sum(p * (1 - p) ** v / v for p in chances[0] for v in range(1, users))
    mean = sum(
        chance * entropies.turing(Tally.of_all(sample[:, 1:], 3, np.zeros_like))[0]
        for sample, chance in all_samples(chances, users)
    )
    assert mean == pytest.approx(expected / math.log(2), abs=1e-12)


@pytest.mark.parametrize("start", [1, 2, 30, 2_000, 20_000])
@pytest.mark.parametrize("odds", [1e-9, 1e-6, 1e-4, 1e-3, 0.05, 0.16, 0.5, 2.0, 50.0])
def test_the_series_of_the_tail_is_exact(start, odds):
    """Against a logarithm of 60 digits less the terms that are not in it, or all terms."""
    if odds < 1e-3:
        with localcontext(prec=60):
            q = 1 / (1 + Decimal(odds))
            exact = float((-(1 - q).ln() - sum(q**r / r for r in range(1, start))) / q**start)
    else:
        exact = math.fsum(math.exp(-k * math.log1p(odds)) / (start + k) for k in range(50_000))
    found = entropies._series(np.array([1.0 * start]), np.array([odds]))[0]  # noqa: SLF001
    assert found == pytest.approx(exact, rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_the_two_sites_share_what_they_share(world):
    known, shown, tokens = world
    one = count_information(seen_of(known, shown, tokens)).pooled
    other = count_information(seen_of(shown, known, tokens)).pooled
    for name in OF_COUNTS:
        assert one[name].mutual_information.value == pytest.approx(
            other[name].mutual_information.value, abs=1e-9
        )
        assert one[name].entropy.value == pytest.approx(other[name].known_entropy.value)
    assert one["plug-in"].mutual_information.value >= -1e-12


@settings(max_examples=40, deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_names_of_tokens_and_the_order_of_targets_change_nothing(world, random):
    known, shown, tokens = world
    names, targets = list(range(tokens)), list(range(len(known)))
    random.shuffle(names)
    random.shuffle(targets)
    renamed = [np.array([*names, -1])[side] for side in (known, shown)]
    one = count_information(seen_of(known, shown, tokens))
    other = count_information(
        Observations(renamed[0], renamed[1][targets], np.array(targets), tokens=tokens)
    )
    for first, second in zip(
        (*one.slots, one.summed, one.pooled),
        (*other.slots, other.summed, other.pooled),
        strict=True,
    ):
        for name in FIGURES:
            for ours, theirs in (
                (getattr(first, name), getattr(second, name)),
                *((getattr(way, name), getattr(second[way.name], name)) for way in first.ways),
            ):
                assert ours.value == pytest.approx(theirs.value, abs=1e-9)
                assert ours.low == pytest.approx(theirs.low, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_figures_lie_in_their_intervals_and_add_up(world):
    found = count_information(seen_of(*world))
    for bits in (*found.slots, found.summed, found.pooled):
        for name in FIGURES:
            figure = getattr(bits, name)
            assert 0 <= figure.low <= figure.value <= figure.high < math.inf
            assert figure.trials == len(world[0])
        assert bits.mutual_information.high <= min(bits.known_entropy.high, bits.entropy.high)
        if bits.entropy.value >= bits.mutual_information.value:
            assert bits.conditional_entropy.value == pytest.approx(
                bits.entropy.value - bits.mutual_information.value
            )
    for name in FIGURES:
        total = sum(getattr(bits["plug-in"], name).value for bits in found.slots)
        assert getattr(found.summed["plug-in"], name).value == pytest.approx(total)


def test_large_alphabets_are_counted_by_sorting_and_give_the_same(monkeypatch):
    random = np.random.default_rng(5)
    known, shown = random.integers(-1, 30, (2, 400, 3))
    one = count_information(seen_of(known, shown, 30))
    monkeypatch.setattr(entropies, "_DENSE", 0)
    assert count_information(seen_of(known, shown, 30)) == one


def test_a_large_alphabet_of_which_little_is_shown_takes_no_table():
    known = np.arange(40)[:, None] * 90_000_000
    found = count_information(seen_of(known, known, 40 * 90_000_000))
    assert found.pooled["plug-in"].mutual_information.value == pytest.approx(math.log2(40))


def test_unrelated_rows_share_nothing():
    """4,000 users, 5 tokens, 3 slots; the seed is fixed. Noise is about .001 bits."""
    known, shown = np.random.default_rng(1).integers(0, 5, (2, 4_000, 3))
    found = count_information(seen_of(known, shown, 5))
    assert not found.warnings
    assert found.pooled.mutual_information.value < 0.002
    assert found.pooled.mutual_information.low == 0
    assert found.pooled.mutual_information.high < 0.01
    for way in found.pooled.ways:
        assert abs(way.mutual_information.value) < 0.004


def binary(share):
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


def test_gaps_that_both_sites_share_are_shared_bits():
    """A quarter of the users was away: I' = h(1/4) + 3/4 I, exactly, of the counts."""
    random = np.random.default_rng(2)
    known = random.integers(0, 6, (300, 1))
    shown = np.where(random.random((300, 1)) < 0.4, known, random.integers(0, 6, (300, 1)))
    away = np.full((100, 1), -1)
    here = count_information(seen_of(known, shown, 6)).pooled["plug-in"]
    some = count_information(
        seen_of(np.concatenate([known, away]), np.concatenate([shown, away]), 6)
    ).pooled["plug-in"]
    for name in ("known_entropy", "entropy", "mutual_information"):
        expected = binary(0.25) + 0.75 * getattr(here, name).value
        assert getattr(some, name).value == pytest.approx(expected)


def test_gaps_of_one_site_that_are_chance_hide_their_share():
    """Of each pair one in four has a gap: I' = 3/4 I and H' = h(1/4) + 3/4 H, exactly."""
    random = np.random.default_rng(2)
    known = random.integers(0, 6, (300, 1))
    shown = np.where(random.random((300, 1)) < 0.4, known, random.integers(0, 6, (300, 1)))
    here = count_information(seen_of(known, shown, 6)).pooled["plug-in"]
    hidden = np.concatenate([shown, shown, shown, np.full((300, 1), -1)])
    some = count_information(seen_of(np.tile(known, (4, 1)), hidden, 6)).pooled["plug-in"]
    assert some.entropy.value == pytest.approx(binary(0.25) + 0.75 * here.entropy.value)
    expected = 0.75 * here.mutual_information.value
    assert some.mutual_information.value == pytest.approx(expected)


def test_gaps_of_a_release_are_in_the_bits():
    """40 topics, 20,000 users of whom a tenth is away each week: closed form from that without."""
    people = data.synthetic_topics(users=20_000, topics=40, epochs=2, types=6, seed=1)
    seen = TopicsApi(topics=40).observe(people, seed=7)
    away = np.random.default_rng(1).random((20_000, 2)) < 0.1
    known, shown = (np.where(away, -1, side) for side in (seen.true_rows, seen.anonymous))
    found = count_information(seen_of(known, shown, 40)).pooled
    exact = people.interests.information(0.05)
    expected = binary(0.1) + 0.9 * exact.mutual_information
    assert found.mutual_information.value == pytest.approx(expected, abs=0.02)
    assert found.mutual_information.low < expected < found.mutual_information.high
    assert found.entropy.value == pytest.approx(binary(0.1) + 0.9 * exact.entropy, abs=0.02)


def test_nothing_but_gaps_tells_nothing():
    found = count_information(seen_of([[-1], [-1]], [[-1], [-1]], 3))
    assert found.pooled["plug-in"].mutual_information.value == 0
    assert found.pooled.mutual_information.value == 0


def test_too_few_users_for_the_alphabet_are_warned_of():
    people = data.synthetic_topics(users=500, epochs=2, seed=1)
    found = count_information(TopicsApi().observe(people, seed=7))
    assert found.pooled.too_few
    assert all(bits.too_few for bits in found.slots)
    assert len(found.warnings) == 1
    assert "500 users are too few for the alphabet" in found.warnings[0]


def test_slots_may_be_too_few_where_all_together_are_enough():
    random = np.random.default_rng(1)
    known, shown = random.integers(0, 25, (2, 500, 8))
    found = count_information(seen_of(known, shown, 25))
    assert not found.pooled.too_few
    assert "500 users are too few for the alphabet slot by slot" in found.warnings[0]
    assert "all slots together are enough" in found.warnings[0]
    assert count_information(seen_of(known[:, :1], known[:, :1], 25)).warnings == ()


@pytest.mark.parametrize("users", [500, 2_000])
def test_bias_and_coverage_against_the_closed_form(users):
    """40 topics, 6 types, two weeks, 20 populations; fixed seeds. Exact: 0.468 bits.

    Noise of the mean of 20 is about 0.02 and 0.01 bits.
    """
    exact = data.Interests(topics=40, types=6).information(0.05)
    slot, pooled = [], []
    for seed in range(20):
        people = data.synthetic_topics(users=users, topics=40, types=6, epochs=2, seed=seed)
        found = count_information(TopicsApi(topics=40).observe(people, seed=seed))
        slot.append(found.slots[0])
        pooled.append(found.pooled)
    for bits, close in ((slot, {500: 0.15, 2_000: 0.05}), (pooled, {500: 0.08, 2_000: 0.03})):
        assert_held(bits, exact, close=close[users])
        assert mean(bits, "plug-in") > exact.mutual_information + 0.1
        assert mean(bits, "held-out") < exact.mutual_information


@pytest.mark.parametrize("neighbours", [False, True])
def test_every_way_leans_to_the_side_it_says(neighbours):
    """60 tokens by popularity 1/rank, shown again or the next one instead with chance .6."""
    popularity = 1 / np.arange(1, 61)
    popularity /= popularity.sum()
    again = np.roll(np.diag(popularity), 1, axis=1) if neighbours else np.diag(popularity)
    joint = 0.4 * np.outer(popularity, popularity) + 0.6 * again
    logs = joint / np.outer(joint.sum(axis=1), joint.sum(axis=0))
    exact = float((joint * np.log2(logs)).sum())
    chance = np.random.default_rng(0)
    found = []
    for _ in range(15):
        pairs = chance.choice(joint.size, size=400, p=joint.ravel())
        known, shown = np.divmod(pairs[:, None], len(popularity))
        found.append(count_information(seen_of(known, shown, len(popularity))).pooled)
    for way in found[0].ways:
        off = mean(found, way.name) - exact
        assert way.leans == "either" or (off > 0) == (way.leans == "high"), (way.name, off)


def mean(found, way):
    return np.mean([bits[way].mutual_information.value for bits in found])


def assert_held(found, exact, *, close):
    """Nine of ten intervals or more hold, of 95 %, and values are close on average."""
    for name in FIGURES:
        truth = exact.entropy if name == "known_entropy" else getattr(exact, name)
        figures = [getattr(bits, name) for bits in found]
        held = sum(figure.low <= truth <= figure.high for figure in figures)
        assert held >= 0.9 * len(figures), name
        assert np.mean([figure.value for figure in figures]) == pytest.approx(truth, abs=close)


@pytest.mark.slow
@pytest.mark.parametrize(("users", "close"), [(2_000, 0.08), (10_000, 0.04), (50_000, 0.02)])
def test_bias_and_coverage_on_the_embedded_population(users, close):
    """349 topics, 8 weeks together, 10 populations; exact: 7.59, 6.66 and 0.93 bits."""
    exact = data.Interests().information(0.05)
    found = [
        count_information(
            TopicsApi().observe(data.synthetic_topics(users=users, seed=seed), seed=seed)
        ).pooled
        for seed in range(10)
    ]
    assert_held(found, exact, close=close)
    assert mean(found, "shuffled") < exact.mutual_information < mean(found, "turing")


@pytest.mark.parametrize(
    ("copies", "exact"), [(1.0, 6.515), (0.6, 3.026), (0.2, 0.683), (0.0, 0.0)]
)
def test_other_worlds_are_within_the_interval_and_the_value_is_close(copies, exact):
    """Popularity as 1 / rank over 349 tokens, 10,000 users; some show a token again, exactly."""
    random = np.random.default_rng(4)
    chances = 1 / np.arange(1, 350)
    one, other = random.choice(349, (2, 10_000, 1), p=chances / chances.sum())
    shown = np.where(random.random((10_000, 1)) < copies, one, other)
    found = count_information(seen_of(one, shown, 349)).pooled.mutual_information
    assert found.low <= exact <= found.high
    assert found.value == pytest.approx(exact, abs=0.15)


@pytest.mark.parametrize(
    ("known", "shown", "code"),
    [
        ([[0]], [[0]], "too-few-targets"),
        ([[[0, 1]], [[1, 0]]], [[0], [1]], "wrong-kind-of-rows"),
    ],
)
def test_bad_input(known, shown, code):
    with refuses(code):
        count_information(seen_of(known, shown, 2))


def test_shards_and_repeats_are_refused():
    whole = seen_of([[0], [1], [0]], [[0], [1], [1]], 2)
    with refuses("incomplete-truth"):
        count_information(whole.shard(0, 2))
    twice = Observations([[0], [1]], [[0], [1], [1]], [0, 1, 1], tokens=2)
    with refuses("duplicate-target"):
        count_information(twice)


def test_more_than_can_be_held_is_refused_before_it_is_counted(monkeypatch):
    monkeypatch.setattr(machine, "usable_memory", lambda: 1 << 20)
    rows = np.zeros((20_000, 8), np.int8)
    with refuses("out-of-memory", TooLarge):
        count_information(seen_of(rows, rows, 2))


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_is_one(level):
    with pytest.raises(InvalidInput, match="level is"):
        count_information(seen_of([[0], [1]], [[0], [1]], 2), level=level)
