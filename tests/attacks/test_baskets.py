"""Attacks on baskets: what each one finds, and that none knows more than the rows."""

import numpy as np
import pytest
from tests.baskets import bags_of, baskets, permuted
from tests.snapshots import refuses

from reidrisk import (
    Cosine,
    CosineCsls,
    Latent,
    LocalEngine,
    Observations,
    Overlap,
    SelfTrained,
    Stacked,
    Unshared,
)
from reidrisk.attacks import View
from reidrisk.attacks.bag_tables import standing_out, tables_of
from reidrisk.core.machine import take_cores
from reidrisk.core.mapreduce import Elsewhere
from reidrisk.core.products import Vectors
from reidrisk.testing import check_attack

SEEN = baskets()
OTHERS = baskets(seed=5)
ALONE = [Cosine(), CosineCsls(), Latent(), Unshared(), SelfTrained()]
ATTACKS = [
    *(pytest.param(one, id=one.name) for one in ALONE),
    pytest.param(Stacked(SEEN.only(slice(0, 60))), id="stacked"),
    pytest.param(Stacked(OTHERS), id="stacked on other people", marks=pytest.mark.slow),
]
each = pytest.mark.parametrize("attack", ATTACKS)


def credit(attack, seen):
    return LocalEngine().credit(seen, attack.fit(View.of(seen)))


@each
def test_an_attack_keeps_its_promises_on_bags(attack):
    check_attack(attack, SEEN)


@each
def test_the_order_of_rows_orders_the_answer_and_changes_nothing_else(attack):
    other, targets = permuted(SEEN)
    np.testing.assert_array_equal(credit(attack, other), credit(attack, SEEN)[targets])


@each
def test_the_number_of_threads_changes_no_score(attack):
    scores = []
    for threads in (1, 3):
        take_cores(threads)
        try:
            score = attack.fit(View.of(SEEN))
        finally:
            take_cores(None)
        known = SEEN.known.block(0, 120)
        scores.append([score.of(known, shown) for shown in SEEN.anonymous])
    np.testing.assert_array_equal(*scores)


@each
def test_with_the_truth_permuted_an_attack_is_at_guessing(attack):
    """Of 120 targets one is named by chance; five or more are in one of 250 worlds."""
    truth = np.random.default_rng(3).permutation(SEEN.truth)
    wrong = Observations(SEEN.known, SEEN.anonymous, truth, tokens=SEEN.tokens)
    if isinstance(attack, Stacked):  # what it is taught is as wrong, and those taught are left out
        attack = Stacked(wrong.only(slice(0, 60)))
        wrong = wrong.only(slice(60, 120))
    found = LocalEngine().credit(wrong, attack.fit(View.of(SEEN)))
    assert found.sum() < 5


@pytest.mark.slow
@each
def test_in_a_larger_world_with_the_truth_permuted_an_attack_is_at_guessing(attack):
    seen = baskets(1500, tokens=400, size=25, seed=7)
    truth = np.random.default_rng(4).permutation(seen.truth)
    wrong = Observations(seen.known, seen.anonymous, truth, tokens=seen.tokens)
    if isinstance(attack, Stacked):
        attack, wrong = Stacked(wrong.only(slice(0, 750))), wrong.only(slice(750, 1500))
    assert LocalEngine().credit(wrong, attack.fit(View.of(seen))).sum() < 6


def test_counts_and_tastes_find_more_than_common_items():
    found = {one.name: credit(one, SEEN).mean() for one in (Overlap(), *ALONE)}
    assert found["cosine"] > 1.2 * found["overlap"] > 0.1
    assert found["self-trained"] > 1.2 * found["overlap"]
    assert found["latent"] > 10 / 120


def test_who_shares_nothing_is_found_by_what_goes_together():
    seen = baskets(200, tokens=200, size=60, disjoint=True)
    assert credit(Overlap(), seen).mean() <= 1 / 200
    assert credit(Cosine(), seen).mean() <= 0.02
    assert credit(Unshared(), seen).mean() > 0.1


def test_strangers_are_compared_too():
    seen = baskets(strangers=30)
    score = SelfTrained().fit(View.of(seen))
    assert (LocalEngine().search(seen.of_strangers(), score).ties == 1).any()


@each
def test_rows_without_anything_are_rated_like_anybody(attack):
    empty = bags_of(np.zeros((4, SEEN.tokens), int))
    known, shown = (rows.codec.join([rows, empty]) for rows in (SEEN.known, SEEN.anonymous))
    seen = Observations(known, shown, [*SEEN.truth, *range(120, 124)], tokens=SEEN.tokens)
    assert credit(attack, seen)[-4:].max() <= 1 / 4


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Cosine("often"), "unknown-choice"),
        (lambda: Cosine(rarity=-1.0), "not-a-number"),
        (lambda: Latent(0), "not-a-whole-number"),
    ],
)
def test_choices_that_make_no_sense_are_refused(make, code):
    with refuses(code):
        make()


@pytest.mark.parametrize("counting", ["binary", "count", "log", "share"])
def test_a_weighting_that_is_given_is_taken(counting):
    score = Cosine(counting, 0.5, centred=False).fit(View.of(SEEN))
    assert score.known_map.counting == counting
    assert score.known_map.own_mean is None


def test_rows_on_a_cluster_are_refused():
    class Away(Elsewhere):
        tokens = 3

    with refuses("rows-elsewhere"):
        tables_of(View(object.__new__(Away), anonymous=[]), "cosine")


def test_one_item_has_no_dimensions():
    seen = Observations([[0]], [[0]], [0], tokens=1)
    with refuses("too-few-tokens"):
        Latent().fit(View.of(seen))


def test_who_stands_out_is_counted_in_both_directions():
    """Nine pairs are alone with each other, and two known rows are as near to the tenth target."""
    apart = Vectors(None, np.vstack([1000 * np.eye(10), 1000 * np.eye(10)[9:]]))
    shown = Vectors(None, 1000 * np.eye(10))
    assert standing_out(apart, shown) == pytest.approx(0.9)
