"""Inner products: whole numbers, the same for every engine, shard, block and thread."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.baskets import awkward
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine, VectorRows
from reidrisk.attacks import Hamming, View
from reidrisk.attacks.bag_tables import tables_of
from reidrisk.attacks.cosine import cosine_of, with_hubs
from reidrisk.attacks.latent import latent_scores
from reidrisk.core import products
from reidrisk.core.matches import Matches
from reidrisk.core.matrix_products import EXACT
from reidrisk.core.products import Vectors
from reidrisk.core.rows import Kind
from reidrisk.scores import InnerProduct
from reidrisk.scores.inner_product import Hubs, counts_of
from reidrisk.testing import check_score


def same(fast, slow):
    for field in dataclasses.fields(Matches):
        one, other = getattr(fast, field.name), getattr(slow, field.name)
        np.testing.assert_array_equal(one, other, field.name)


@st.composite
def fitted(draw):
    """Bags and one of the scores on them, with a correction for hubs or without."""
    seen = awkward(draw(st.integers(0, 2**32)))
    tables = tables_of(View.of(seen), "a test")
    if draw(st.booleans()):
        options = (
            draw(st.sampled_from(["binary", "count", "log", "share"])),
            draw(st.sampled_from([0.0, 0.5, 1.0])),
            draw(st.booleans()),
        )
        with pytest.MonkeyPatch.context() as patch:  # few tokens, which are multiplied dense
            most = draw(st.sampled_from([0, 2048]))
            patch.setattr("reidrisk.attacks.cosine._MOST_COLUMNS", most)
            score = cosine_of(tables, *options)
    else:
        price = draw(st.sampled_from([None, 2.0]))
        (score,) = latent_scores(tables, "log", (draw(st.integers(1, 4)),), price)
    return seen, with_hubs(score, tables) if draw(st.booleans()) else score


@settings(deadline=None, max_examples=25)
@given(fitted(), st.sampled_from([0, 1, 4]), st.sampled_from([1, 3, None]), st.booleans())
def test_a_search_equals_the_reference(world, listed, ranks, strangers):
    seen, score = world
    seen = seen.of_strangers() if strangers else seen
    asked = {"list_best": listed, "ranks": ranks, "second": True}
    slow = ReferenceEngine().search(seen, score, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "_CELLS_AT_A_TIME", 50)
        same(LocalEngine(threads=3, rows=7).search(seen, score, **asked), slow)
    same(LocalEngine().search(seen, score, **asked), slow)


@settings(deadline=None, max_examples=10)
@given(fitted())
def test_shards_merge_to_the_whole(world):
    seen, score = world
    cut = max(seen.known.users // 2, 1)
    parts = (seen.shard(0, cut), seen.shard(cut, seen.known.users))
    one, other = (LocalEngine().search(part, score, list_best=3) for part in parts)
    whole = ReferenceEngine().search(seen, score, list_best=3)
    merged = one.merge(other)
    for name in ("best", "ties", "best_rows", "best_scores"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


@settings(deadline=None, max_examples=10)
@given(fitted())
def test_scores_keep_their_promises(world):
    seen, score = world
    check_score(score, seen)


def rows_of_kind(kind, random):
    known, shown = random.integers(-1, 6, (20, 3)), random.integers(-1, 6, (8, 3))
    if kind is Kind.SETS:
        known = np.stack([known, random.integers(-1, 6, known.shape)], axis=2)
    return Observations(known, shown, np.arange(8), tokens=6)


@pytest.mark.parametrize("kind", [Kind.TOKENS, Kind.SETS])
def test_rows_with_slots_are_rated_by_what_they_hold(kind):
    seen = rows_of_kind(kind, np.random.default_rng(3))
    score = cosine_of(tables_of(View.of(seen), "a test"), "count", 0.0, centred=False)
    slow = ReferenceEngine().search(seen, score, ranks=None)
    same(LocalEngine(threads=2, rows=7).search(seen, score, ranks=None), slow)
    known, shown = (counts_of(rows, 6).toarray() for rows in (seen.known, seen.anonymous))
    lengths = [np.maximum(np.linalg.norm(side, axis=1), 1e-9) for side in (known, shown)]
    for target, beside in enumerate(np.asarray(seen.anonymous)):
        expected = known @ shown[target] / lengths[0] / lengths[1][target]
        cosines = score.of(seen.known.block(0, 20), beside) / score.unit.steps
        np.testing.assert_allclose(cosines, expected, atol=1e-4)


def test_a_centred_cosine_is_that_of_centred_rows():
    seen = awkward(11)
    tables = tables_of(View.of(seen), "a test")
    score = cosine_of(tables, "binary", 0.0, centred=True)
    known, shown = (
        (counts_of(rows, seen.tokens).toarray() > 0).astype(float)
        for rows in (seen.known, seen.anonymous)
    )
    middle = [np.asarray((side > 0).mean(axis=0)).ravel() for side in tables]
    there = known.any(axis=1)[:, None] & shown.any(axis=1)
    known, shown = known - middle[0], shown - middle[1]
    lengths = [np.maximum(np.linalg.norm(side, axis=1), 1e-9) for side in (known, shown)]
    expected = known @ shown.T / np.outer(*lengths)
    held = seen.known.block(0, seen.known.users)
    for target, beside in enumerate(seen.anonymous):
        found = score.of(held, beside) / score.unit.steps
        np.testing.assert_allclose(found, np.where(there, expected, 0)[:, target], atol=1e-4)


VALUES = np.random.default_rng(4).integers(-128, 128, (30, 2, 4)).astype(np.int8)
VALUES[3, 0] = -128


@pytest.mark.parametrize("type_", [np.int8, np.int16])
def test_vectors_are_multiplied_in_whole_numbers(type_):
    values = VALUES.astype(type_) * (1 if type_ is np.int8 else 200)
    values[5, 1] = np.iinfo(type_).min
    seen = Observations(VectorRows(values), values[:9], np.arange(9))
    score = InnerProduct.of_vectors()
    there = (values != np.iinfo(type_).min).any(axis=2, keepdims=True)
    sums = (values.astype(np.int64) * there).sum(axis=1)
    expected = sums @ sums[:9].T
    for target, shown in enumerate(values[:9]):
        np.testing.assert_array_equal(score.of(values, shown), expected[:, target])
    np.testing.assert_array_equal(score.of(values[:9], values[:9]), np.diag(expected[:9]))
    slow = ReferenceEngine().search(seen, score, list_best=4, ranks=None)
    same(LocalEngine(threads=2, rows=7).search(seen, score, list_best=4, ranks=None), slow)
    np.testing.assert_array_equal(slow.best, expected.max(axis=0))


def of_lengths(known, shown):
    """A score whose vectors have one entry each."""

    def map_to(length):
        return lambda rows: Vectors(None, np.full((len(rows), 1), length))

    return InnerProduct(map_to(known), map_to(shown), None)


def test_products_that_would_be_rounded_are_refused():
    seen = Observations(VectorRows(VALUES), VALUES[:2], [0, 1])
    at_the_edge = of_lengths(2.0**26 - 1, 2.0**26)
    at_the_edge.check(seen)
    assert LocalEngine().search(seen, at_the_edge).best[0] == (2**26 - 1) * 2**26
    assert 2 * at_the_edge.known(VALUES).longest * 2.0**26 < EXACT
    with refuses("gain-too-large"):
        of_lengths(2.0**26, 2.0**26).check(seen)


def test_long_known_rows_that_are_nobodys_are_refused_when_they_are_met():
    """The check sees true rows only; the search sees all."""
    long = InnerProduct(
        lambda rows: Vectors(None, np.where(np.asarray(rows)[:, :, 0] == 7, 2.0**40, 1.0)),
        lambda rows: Vectors(None, np.full((len(rows), 2), 2.0**20)),
        None,
    )
    values = np.ones((9, 2, 1), np.int8)
    values[5] = 7
    seen = Observations(VectorRows(values), values[:2], [0, 1])
    long.check(seen)
    with refuses("gain-too-large", snapshot=False):
        LocalEngine().search(seen, long)


def test_rows_of_another_kind_or_alphabet_are_refused():
    bags = awkward(1)
    score = cosine_of(tables_of(View.of(bags), "a test"), "binary", 0.0, centred=False)
    vectors = Observations(VectorRows(VALUES), VALUES[:2], [0, 1])
    with refuses("wrong-kind-of-rows"):
        InnerProduct.of_vectors().check(bags)
    with refuses("wrong-kind-of-rows"):
        score.check(vectors)
    with refuses("not-tokens"):
        Hamming().fit(View.of(vectors))
    other = Observations([[0], [1]], [[0]], [0], tokens=99)
    with refuses("score-mismatch"):
        score.check(other)


def test_hubs_take_off_how_near_a_row_is_to_the_ten_nearest():
    shown = Vectors(None, np.arange(12.0)[:, None])
    known = Vectors(None, np.array([[1.0], [-1.0]]))
    assert Hubs(shown).of(known).tolist() == [6, -5]  # of 2 to 11, and of 0 to -9, rounded down
    assert Hubs(shown, nearest=99).of(known).tolist() == [5, -6]
