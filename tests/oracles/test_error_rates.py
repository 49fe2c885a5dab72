"""Error rates and linkability: against slow definitions, and against the package `audmetric`."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.people_scores import IMPOSSIBLE, scores

from reidrisk.estimates import equal_error_rate, error_tradeoff, global_linkability

SEEDS = range(6)


def rates(mated, nonmated, threshold):
    """FMR and FNMR of ISO/IEC 19795-1: pairs match at or above the threshold."""
    flat = [score for row in nonmated for score in row]
    matched = sum(score >= threshold for score in flat)
    missed = sum(score < threshold for score in mated)
    return Fraction(matched, len(flat)), Fraction(missed, len(mated))


def equal_error(mated, nonmated):
    """Where the line through all pairs of rates meets the diagonal, in fractions."""
    values = sorted({*mated, *(score for row in nonmated for score in row)})
    points = [rates(mated, nonmated, value) for value in values] + [(Fraction(0), Fraction(1))]
    for (fmr, fnmr), (next_fmr, next_fnmr) in pairwise(points):
        if fmr >= fnmr and next_fmr < next_fnmr:
            part = (fmr - fnmr) / ((fmr - fnmr) - (next_fmr - next_fnmr))
            return fmr + part * (next_fmr - fmr)
    raise AssertionError("the rates never meet")


def by_definition(mated, nonmated, omega=Fraction(1)):
    """D_sys of Gomez-Barrero et al., equations 7 and 8, of scores that take few values."""
    flat = [score for row in nonmated for score in row]
    total = Fraction(0)
    for value in {*mated, *flat}:
        of_mated = Fraction(mated.count(value), len(mated))
        of_nonmated = Fraction(flat.count(value), len(flat))
        if not of_mated:
            continue
        if not of_nonmated:
            total += of_mated
            continue
        ratio = of_mated / of_nonmated
        if ratio * omega > 1:
            total += of_mated * (2 * ratio * omega / (1 + ratio * omega) - 1)
    return total


def as_pairs(mated, nonmated):
    """Truth and prediction, as `audmetric` takes them."""
    flat = nonmated.ravel()
    return [True] * len(mated) + [False] * len(flat), [*mated.tolist(), *flat.tolist()]


@settings(max_examples=150)
@given(scores())
def test_every_threshold_has_the_rates_of_the_standard(given_scores):
    mated, nonmated = given_scores
    found = error_tradeoff(mated, nonmated)
    assert found.thresholds.tolist() == sorted({*mated, *np.ravel(nonmated).tolist()})
    for place, threshold in enumerate(found.thresholds.tolist()):
        fmr, fnmr = rates(mated, nonmated, threshold)
        assert found.false_match[place] == float(fmr)
        assert found.false_non_match[place] == float(fnmr)
    assert (found.false_match[-1], found.false_non_match[-1]) == (0, 1)


@settings(max_examples=150)
@given(scores(least=2))
def test_the_equal_error_rate_is_where_the_rates_meet(given_scores):
    mated, nonmated = given_scores
    found = equal_error_rate(mated, nonmated)
    assert found.value == pytest.approx(float(equal_error(mated, nonmated)), abs=1e-14)
    assert found.low <= found.value <= found.high


@settings(max_examples=100)
@given(scores(least=40, most=60, values=(-IMPOSSIBLE, -1, 0, 3)), st.integers(1, 9))
def test_linkability_is_its_definition_where_scores_take_few_values(given_scores, nine):
    mated, nonmated = given_scores
    omega = Fraction(nine, 3)
    found = global_linkability(mated, nonmated, omega=float(omega))
    assert found.value == pytest.approx(float(by_definition(mated, nonmated, omega)), abs=1e-12)
    assert found.low <= found.value <= found.high


class TestAudmetric:
    """The same figures of a package for speech; skipped where it is not installed."""

    @pytest.fixture
    def audmetric(self):
        return pytest.importorskip("audmetric", reason="the oracle audmetric is not installed")

    @staticmethod
    def world(seed, steps):
        random = np.random.default_rng(seed)
        mated, nonmated = random.normal(1.5, 1, 300), random.normal(0, 1, (300, 7))
        return np.round(mated * steps) / steps, np.round(nonmated * steps) / steps

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("steps", [1, 4, 10**6])
    def test_the_whole_curve_is_equal(self, audmetric, seed, steps):
        mated, nonmated = self.world(seed, steps)
        fmr, fnmr, thresholds = audmetric.detection_error_tradeoff(*as_pairs(mated, nonmated))
        found = error_tradeoff(mated, nonmated)
        np.testing.assert_array_equal(found.thresholds, thresholds)
        np.testing.assert_array_equal(found.false_match[:-1], fmr)
        np.testing.assert_array_equal(found.false_non_match[:-1], fnmr)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("steps", [1, 4, 10**6])
    def test_the_equal_error_rate_is_between_the_same_two_thresholds(self, audmetric, seed, steps):
        """It takes the mean of both rates at one threshold; we take where they would be equal."""
        mated, nonmated = self.world(seed, steps)
        theirs, details = audmetric.equal_error_rate(*as_pairs(mated, nonmated))
        found = error_tradeoff(mated, nonmated)
        place = int(np.flatnonzero(found.false_match >= found.false_non_match)[-1])
        gaps = np.abs(np.diff(found.false_match)), np.abs(np.diff(found.false_non_match))
        step = max(gap[place] for gap in gaps)
        assert details.threshold in found.thresholds[place : place + 2]
        assert equal_error_rate(mated, nonmated).value == pytest.approx(theirs, abs=step)
        if steps == 10**6:
            assert step < 0.005

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("omega", [1.0, 0.25, 3.0])
    def test_linkability_in_the_same_bins_differs_by_how_the_ends_are_added_up(
        self, audmetric, seed, omega
    ):
        """Its trapezoids count the first and last bin half; the definition counts them whole."""
        mated, nonmated = self.world(seed, 10**6)
        bins = 30
        both = np.concatenate([mated, nonmated.ravel()])
        edges = np.linspace(both.min(), both.max(), bins + 1)
        own, others = (
            np.clip(np.searchsorted(edges, side, side="right") - 1, 0, bins - 1)
            for side in (mated, nonmated)
        )
        theirs = audmetric.linkability(*as_pairs(mated, nonmated), omega=omega, nbins=bins)
        of_ends = 0.0
        for end in (0, bins - 1):
            p, q = (own == end).mean(), (others == end).mean()
            if omega * p > q:
                of_ends += p * (omega * p - q) / (omega * p + q)
        ours = global_linkability(own, others, omega=omega).value
        assert ours - of_ends / 2 == pytest.approx(theirs, abs=1e-12)
        assert ours >= theirs - 1e-12
