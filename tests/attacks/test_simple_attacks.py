"""Hamming, weighted Hamming, full information and overlap against their definitions."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk import (
    LocalEngine,
    Observations,
    ReferenceEngine,
    TopicsApi,
    data,
    theory,
)
from reidrisk.attacks import (
    DenoisedOverlap,
    FullInformation,
    Hamming,
    Overlap,
    View,
    WeightedHamming,
)
from reidrisk.attacks.weighted_hamming import chances
from reidrisk.releases import popularity
from reidrisk.scores import GRID

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=3_000, seed=2)
SEEN = API.observe(PEOPLE, targets=300, seed=3)
VIEW = View.of(SEEN, release=API)


def authors_weights(api, p):
    """Distances of the paper's experiments, written as the paper has them."""
    rise = api.q_in - api.q_out
    match = -math.log(api.q_out + rise * api.q_in * p / (api.q_out + rise * p))
    also = (api.top - 1) * p / (api.top - p)
    return match, -math.log(api.q_out + rise * also)


def test_hamming_counts_the_slots_that_agree():
    score = Hamming().fit(VIEW)
    agreeing = (SEEN.known[:50] == SEEN.anonymous[7]).sum(axis=1)
    np.testing.assert_array_equal(score.of(SEEN.known[:50], SEEN.anonymous[7]), agreeing * GRID)


@pytest.mark.parametrize("pooled", [True, False])
def test_weights_are_those_of_the_paper(pooled):
    score = WeightedHamming(API, pooled=pooled).fit(VIEW)
    found = popularity(SEEN, API, pooled=pooled)
    positive = found.raw > 0
    assert score.match.shape == found.raw.shape
    assert positive.sum() > 100
    for place in np.argwhere(positive & (found.raw == found.in_use)):
        match, mismatch = authors_weights(API, found.raw[tuple(place)])
        assert score.match[tuple(place)] / GRID == pytest.approx(-match, abs=1e-11)
        assert score.mismatch[tuple(place)] / GRID == pytest.approx(-mismatch, abs=1e-11)


def test_a_match_on_a_rare_token_says_more():
    score = WeightedHamming().fit(VIEW)
    popular = popularity(SEEN, API, pooled=True).in_use[0]
    # Below, a sighting is noise as likely as not, and says less again.
    order = np.flatnonzero(popular > 1e-3)[np.argsort(popular[popular > 1e-3])]
    lead = (score.match - score.mismatch)[0]
    assert len(order) > 100
    assert (np.diff(lead[order]) <= 0).all()
    assert lead.min() > 0


@pytest.mark.parametrize("sites", [1, 2, 3])
def test_chances_of_several_sites(sites):
    """Given the popularity p of a token, by adding up what the sites may show of it."""
    api = TopicsApi(topics=6, top=2, noise=0.3)
    q_in, q_out, p = Fraction(7, 20) + Fraction(1, 20), Fraction(1, 20), Fraction(1, 3)
    joint = Fraction(0)
    shown = Fraction(0)
    for inside, weight in ((q_in, p), (q_out, 1 - p)):
        for outcome in product([0, 1], repeat=sites):
            chance = weight
            for hit in outcome:
                chance *= inside if hit else 1 - inside
            shown += chance * any(outcome)
            joint += chance * any(outcome) * inside
    match, mismatch = chances(api, np.array([float(p)]), sites=sites)
    assert match[0] == pytest.approx(float(joint / shown))
    if sites == 1:
        also = (2 - 1) * p / (2 - p)
        assert mismatch[0] == pytest.approx(float(q_out + (q_in - q_out) * also))
    else:
        assert mismatch[0] < chances(api, np.array([float(p)]), sites=sites - 1)[1][0]


def test_several_sites_name_more():
    one = API.observe(PEOPLE, targets=400, seed=3)
    three = API.observe(PEOPLE, targets=400, sites=4, seed=3)
    for attack in (Hamming(), WeightedHamming(API)):
        alone, together = (
            LocalEngine().search(seen, attack.fit(View.of(seen))).credit.mean()
            for seen in (one, three)
        )
        assert together > 1.5 * alone


def test_without_noise_everything_is_finite():
    api = TopicsApi(topics=5, top=1, noise=0)
    seen = Observations([[0], [1], [1], [3]], [[0], [3]], [0, 3], tokens=5)
    for attack in (WeightedHamming(api), FullInformation(api)):
        known = seen if attack.name != "full-information" else sets_of(seen)
        matches = ReferenceEngine().search(known, attack.fit(View.of(known)))
        assert matches.credit.tolist() == [1, 1]


def sets_of(seen):
    return Observations(seen.known[:, :, None], seen.anonymous, seen.truth, tokens=seen.tokens)


def test_full_information_is_the_best_rule_of_the_theory():
    """Over all outcomes of a small world, in exact rows."""
    api = TopicsApi(topics=4, top=2, noise=0.2)
    people = data.synthetic_topics(users=6, topics=4, epochs=2, size=2, types=3, seed=5)
    rows = api.rows(people, seed=1)
    revealed = api.reveal(people, targets=3, seed=1)
    outcomes = rows.outcomes
    everything = Observations(
        revealed.known, outcomes, np.zeros(len(outcomes), int), tokens=api.topics
    )
    score = FullInformation(api).fit(View.of(everything))
    matches = ReferenceEngine().search(everything, score)
    best = np.exp(matches.best / GRID).sum() / people.users
    assert best == pytest.approx(theory.random_user_optimum(rows.chances))
    largest = rows.chances.toarray().max(axis=0)
    np.testing.assert_allclose(np.exp(matches.best / GRID), largest)


def test_what_is_revealed_agrees_with_what_is_observed():
    revealed = API.reveal(PEOPLE, targets=300, seed=3)
    np.testing.assert_array_equal(revealed.anonymous, SEEN.anonymous)
    np.testing.assert_array_equal(revealed.truth, SEEN.truth)
    np.testing.assert_array_equal(revealed.known, PEOPLE.top_sets(0, 3_000, top=5, seed=3))


@pytest.mark.parametrize(
    "switch", [{"presence": 0.5}, {"per_call": 3}, {"delay": 1.0}, {"blocked": 0.1}, {"every": 2}]
)
def test_other_rules_are_not_revealed(switch):
    with refuses("unsupported-release"):
        TopicsApi(**switch).reveal(PEOPLE, targets=3, seed=1)


def test_overlap_ignores_the_week():
    known = [[3, 1, 4], [1, 1, 5], [9, 2, 6]]
    seen = Observations(known, [[5, 1, 1], [4, 3, -1]], [1, 0], tokens=10)
    score = Overlap().fit(View.of(seen))
    matches = ReferenceEngine().search(seen, score)
    assert matches.best.tolist() == [2 * GRID, 2 * GRID]
    assert matches.credit.tolist() == [1, 1]


def test_denoised_profiles_leave_out_what_is_mostly_noise():
    api = TopicsApi(noise=0.5)
    seen = api.observe(PEOPLE, targets=3, seed=3)
    score = DenoisedOverlap(api).fit(View.of(seen))
    popular = popularity(seen, api, pooled=True).in_use[0]
    noise = (api.q_in - api.q_out) * popular < api.q_out
    assert 0 < noise.sum() < 349
    np.testing.assert_array_equal(np.ravel(score.match) == 0, noise)


@pytest.mark.parametrize("attack", [WeightedHamming, DenoisedOverlap])
def test_another_alphabet_is_refused(attack):
    other = TopicsApi(topics=9)
    for made, view in ((attack(other), VIEW), (attack(), View.of(SEEN, release=other))):
        with refuses("alphabet-mismatch"):
            made.fit(view)


def test_the_release_given_wins_over_the_one_of_the_view():
    other = TopicsApi(noise=0.4)
    given, seen = WeightedHamming(other).fit(VIEW), WeightedHamming(other).fit(View.of(SEEN))
    np.testing.assert_array_equal(given.match, seen.match)
    assert (given.match != WeightedHamming().fit(VIEW).match).all()


def test_full_information_needs_sets():
    with refuses("needs-top-sets"):
        FullInformation(API).fit(VIEW)


def test_all_sets_of_a_tiny_world_are_equally_good_guesses_under_noise_only():
    """With every set equally often known, a match has the chance that enumeration gives."""
    api = TopicsApi(topics=4, top=2, noise=0.4)
    sets = list(combinations(range(4), 2))
    q_in, q_out = Fraction(3, 10) + Fraction(1, 10), Fraction(1, 10)
    both = sum((q_in if 0 in one else q_out) ** 2 for one in sets) / len(sets)
    alone = sum(q_in if 0 in one else q_out for one in sets) / len(sets)
    match, _ = chances(api, np.array([0.5]))
    assert match[0] == pytest.approx(float(both / alone))
