"""How risk is spread over users."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.estimates import mean_of_numbers, per_user_risk
from reidrisk.estimates.per_user import picked_by_the_others

TABLES = st.integers(2, 5).flatmap(
    lambda repeats: st.lists(
        st.lists(st.sampled_from([0, 0.5, 1]), min_size=repeats, max_size=repeats),
        min_size=1,
        max_size=40,
    )
)
FIGURES = ("median", "percentile_90", "percentile_99", "worst_decile")


def point(_, users):
    return np.full(users, 0.3)


def two_groups(rng, users):
    return np.where(rng.random(users) < 0.3, 0.6, 0.1)


def beta(rng, users):
    return rng.beta(0.3, 5, users)


def heavy_tail(rng, users):
    return np.minimum(0.01 * (rng.pareto(1.0, users) + 1), 1)


def truth(risk_of):
    """Percentiles and worst decile of a million users."""
    risks = np.sort(risk_of(np.random.default_rng(0), 1_000_000))
    return dict(
        zip(FIGURES, [*risks[[499_999, 899_999, 989_999]], risks[-100_000:].mean()], strict=True)
    )


def study(rng, risk_of, *, users=200, repeats=20, ties=1):
    """Credits of users; where they are named, they are tied with `ties - 1` others."""
    hits = rng.random((users, repeats)) < ties * risk_of(rng, users)[:, None]
    return per_user_risk(hits / ties)


def bias_and_misses(risk_of, studies, **size):
    """Bias of the worst decile, and how often each figure was missed."""
    rng, known = np.random.default_rng(7), truth(risk_of)
    found = [study(rng, risk_of, **size) for _ in range(studies)]
    missed = {
        name: sum(
            not getattr(one, name).low <= known[name] <= getattr(one, name).high for one in found
        )
        for name in FIGURES
    }
    return np.mean([one.worst_decile.value for one in found]) - known["worst_decile"], missed


@pytest.mark.parametrize("repeats", [10, 20])
@pytest.mark.parametrize(
    ("risk_of", "tolerance"), [(point, 0.08), (two_groups, 0.06), (beta, 0.03), (heavy_tail, 0.05)]
)
def test_the_worst_decile_is_neither_too_low_nor_flattered(risk_of, tolerance, repeats):
    """6 studies of 200 users; ranking by halves is 0.05 to 0.08 too low for `beta`."""
    bias, missed = bias_and_misses(risk_of, 6, repeats=repeats)
    assert abs(bias) < tolerance
    assert max(missed.values()) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [10, 50])
@pytest.mark.parametrize("risk_of", [point, two_groups, beta, heavy_tail])
def test_all_intervals_cover(risk_of, repeats):
    """24 studies of 200 users at level 95 %: 1.2 misses are expected, 5 have a chance of 1 %."""
    bias, missed = bias_and_misses(risk_of, 24, repeats=repeats)
    assert abs(bias) < {10: 0.07, 50: 0.04}[repeats]
    assert max(missed.values()) <= 4


def test_ties_do_not_change_what_is_found():
    """Credits of a half: as many users at each risk, found through twice as many hits."""

    def some(rng, users):
        return beta(rng, users) / 2

    plain, tied = (bias_and_misses(some, 6, ties=ties) for ties in (1, 2))
    assert plain[0] == pytest.approx(tied[0], abs=0.03)
    assert max(tied[1].values()) <= 1


def test_luck_does_not_make_a_worst_decile():
    """Everyone is at risk 2 %; the tenth that was named most often is not in more danger."""
    seen = study(np.random.default_rng(1), lambda *_: np.full(5_000, 0.02), users=5_000, repeats=10)
    flattered = np.sort(seen.risks)[-500:].mean()
    assert flattered > 0.1
    assert seen.worst_decile.value == pytest.approx(0.02, abs=0.01)
    assert seen.worst_decile.low < 0.02 < seen.worst_decile.high


def test_the_worst_decile_finds_those_at_risk():
    risks = np.repeat([0.001, 0.5], [900, 100])
    seen = study(np.random.default_rng(2), lambda *_: risks, users=1_000)
    assert seen.worst_decile.value == pytest.approx(0.5, abs=0.03)
    assert seen.worst_decile.low > 0.35


def test_nobody_named_is_not_nobody_at_risk():
    """None of 200 users was named: 1.8 % of people may always be, 18 % of the worst tenth."""
    seen = per_user_risk(np.zeros((200, 20)))
    assert seen.worst_decile.value < 0.01
    assert seen.worst_decile.high == pytest.approx(0.184, abs=0.03)


@given(TABLES, st.sampled_from([0.5, 0.95]))
@settings(max_examples=10)
def test_figures_never_contradict_each_other(rows, level):
    values = np.array(rows, dtype=float)
    seen = per_user_risk(values, level=level)
    assert seen.risks.tolist() == values.mean(axis=1).tolist()
    assert seen.repeats == values.shape[1]
    assert seen.mean == mean_of_numbers(seen.risks, level=level)
    assert seen.worst_decile.value >= seen.mean.value
    figures = [getattr(seen, name) for name in FIGURES]
    for one in figures:
        assert 0 <= one.low <= one.value <= one.high <= 1
        assert (one.level, one.trials) == (level, len(values))
    for side in ("value", "low", "high"):
        median, nine, _, worst = (getattr(one, side) for one in figures)
        assert median <= nine <= worst
    assert "at least" in seen.worst_decile.method


@given(TABLES, st.randoms(use_true_random=False))
@settings(max_examples=5)
def test_the_order_of_users_and_repeats_does_not_matter(rows, random):
    values = np.array(rows, dtype=float)
    mixed = values[random.sample(range(len(values)), len(values))]
    one, other = per_user_risk(values), per_user_risk(mixed)
    for name in FIGURES:
        assert getattr(one, name) == getattr(other, name)


@given(st.integers(2, 6), st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_those_picked_are_measured_where_they_were_not_picked(repeats, named):
    """Each hit in each place once: leave out a repeat, rank by the others, ties share the edge."""
    named = np.minimum(named, repeats)
    others, here = [], []
    for count in named:
        for place in range(repeats):
            others.append(count - (place < count))
            here.append(place < count)
    others, here, left, right = np.array(others), np.array(here), len(others) / 10, 0.0
    for count in sorted(set(others), reverse=True):
        block = here[others == count]
        right += block.mean() * min(left, len(block))
        left -= min(left, len(block))
    counts = np.bincount(named, minlength=repeats + 1)[None]
    assert picked_by_the_others(counts)[0] == pytest.approx(right / (len(others) / 10))


@pytest.mark.parametrize(
    ("credits_", "code"),
    [
        ([], "wrong-shape"),
        ([0.5, 0.5], "wrong-shape"),
        ([[0.5], [0.5]], "wrong-shape"),
        (np.zeros((0, 3)), "wrong-shape"),
        ([[0.5, 2]], "out-of-range"),
        ([[0.5, np.nan]], "out-of-range"),
        ([["a", "b"]], "not-a-number"),
    ],
)
def test_bad_tables_are_refused(credits_, code):
    with refuses(code):
        per_user_risk(credits_)


def test_bad_levels_are_refused():
    with refuses("invalid-level"):
        per_user_risk([[0, 1]], level=1)
