"""Vectors searched by products in low precision: the answers of whole numbers, to the last tie."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.test_matrix_products import ShortByHand
from tests.engines.test_local import assert_same
from tests.snapshots import refuses

from reidrisk import LocalEngine, Observations, ReferenceEngine, VectorRows
from reidrisk.core import matrix_products
from reidrisk.core.matrix_products import Single
from reidrisk.core.products import Vectors
from reidrisk.engines.strategies import products
from reidrisk.scores import InnerProduct
from reidrisk.scores.inner_product import Hubs, SquaredLength, sums_of_slots
from reidrisk.scores.protocol import Unit

PART = 2.0**-6
UNIT = Unit("inner products", steps=1)


class AsFarOffAsAllowed(Single):
    """Every number that goes in and every product that comes out is off by 2**-6, up or down."""

    loss = PART

    def __init__(self, seed=0):
        super().__init__()
        self.random = np.random.default_rng(seed)

    def rounded(self, largest):
        return PART

    def taken(self, numbers, room):
        return np.asarray(numbers * self.up_or_down(numbers.shape), np.float32)

    def multiply(self, some, others):
        exact = some.astype(float) @ others.T.astype(float)
        return np.asarray(exact * self.up_or_down(exact.shape), np.float32)

    def up_or_down(self, shape):
        return self.random.choice([1 - PART * 0.999, 1 + PART * 0.999], shape)


@dataclass(frozen=True)
class Times:
    """A fitted map: vectors times a number, plus a number, far beyond the grid."""

    factor: float
    plus: float = 0.0

    def __call__(self, rows):
        return Vectors(None, sums_of_slots(rows).dense * self.factor + self.plus)


@st.composite
def worlds(draw):
    """Rows with many ties, of any grid and map, and a score of any penalty."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    type_ = draw(st.sampled_from([np.int8, np.int16]))
    users, targets = draw(st.integers(1, 60)), draw(st.integers(1, 30))
    slots, dimensions = draw(st.integers(1, 2)), draw(st.integers(1, 9))
    ends = np.iinfo(type_)
    most = draw(st.sampled_from([1, 3, 20, ends.max]))
    known = random.integers(-most, most, (users, slots, dimensions), type_, endpoint=True)
    known[random.random((users, slots)) < draw(st.sampled_from([0.0, 0.3]))] = ends.min
    known = known[random.integers(0, draw(st.integers(1, users)), users)]  # some come again
    truth = random.integers(0, users, targets)
    shown = random.integers(-most, most, (targets, slots, dimensions), type_, endpoint=True)
    again = random.random(targets) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    shown[again] = known[truth[again]]
    strangers = VectorRows(shown) if draw(st.booleans()) else None
    seen = Observations(VectorRows(known), VectorRows(shown), truth, strangers=strangers)
    maps = draw(st.sampled_from([
        (sums_of_slots, sums_of_slots),
        (Times(2.0**8), Times(3.0)),
        (Times(1.0, plus=2.0**21), Times(1.0, plus=-(2.0**21))),
        (Times(2.0**9 + 1), Times(1.0, plus=2.0**20 + 1)),
    ]))  # fmt: skip
    few = maps[1](shown[:3])
    penalty = draw(st.sampled_from([None, SquaredLength(), Hubs(few, nearest=2)]))
    return seen, InnerProduct(*maps, None, UNIT, penalty)


def by_definition(seen, score):
    """Best, ties, true score, rows above it and level with it, in whole numbers of 64 bits."""
    known, shown = score.known(seen.known.values), score.shown(seen.anonymous.values)
    found = known.dense.astype(np.int64) @ shown.dense.astype(np.int64).T
    if score.penalty is not None:
        found = 2 * found - score.penalty.of(known)[:, None]
    true = found[seen.truth, np.arange(len(seen.truth))]
    best = found.max(axis=0)
    return (
        best, (found == best).sum(axis=0), true, (found > true).sum(axis=0),
        (found == true).sum(axis=0) - 1,
    )  # fmt: skip


def assert_by_definition(matches, seen, score):
    best, ties, true, above, level = by_definition(seen, score)
    for name, expected in (("best", best), ("ties", ties), ("true_score", true),
                           ("above", above), ("level", level)):  # fmt: skip
        np.testing.assert_array_equal(getattr(matches, name), expected, name)


PRECISIONS = [Single, ShortByHand, AsFarOffAsAllowed]


@settings(deadline=None, max_examples=25)
@given(
    worlds(),
    st.sampled_from(PRECISIONS),
    st.sampled_from([0, 1, 4]),
    st.sampled_from([1, 3, None]),
    st.sampled_from([(1, 1), (3, 2), (7, 64), (2048, 256)]),
)
def test_a_search_equals_the_reference_and_whole_numbers(world, precision, listed, ranks, sizes):
    seen, score = world
    asked = {"list_best": listed, "ranks": ranks, "second": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "_ROWS", sizes[0])
        patch.setattr(products, "_TARGETS", sizes[1])
        patch.setattr(products, "best_precision", lambda _: precision())
        for engine in (LocalEngine(threads=1), LocalEngine(threads=2, rows=7)):
            found = engine.search(seen, score, **asked)
            assert_same(found, ReferenceEngine().search(seen, score, **asked))
            assert_by_definition(engine.search(seen, score, ranks=None), seen, score)
            if seen.strangers is not None:
                others = seen.of_strangers()
                slow = ReferenceEngine().search(others, score, **asked)
                assert_same(engine.search(others, score, **asked), slow)


def embeddings(users, targets, dimensions, bits, seed=1):
    """People whose vectors are near to those of some others, and come again with noise."""
    random = np.random.default_rng(seed)
    known = random.standard_normal((users, dimensions))
    known[::3] = known[1] + 0.01 * known[::3]
    truth = random.integers(0, users, targets)
    shown = known[truth] + 0.5 * random.standard_normal((targets, dimensions))
    rows = VectorRows.rounded(np.concatenate([known, shown]), bits=bits).values
    return Observations(VectorRows(rows[:users]), VectorRows(rows[users:]), truth)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("penalty", [None, SquaredLength()])
def test_near_vectors_are_told_apart(precision, bits, penalty, monkeypatch):
    """Blocks of full size, with scores so near that no low precision tells them apart."""
    seen = embeddings(5_000, 300, 40, bits)
    score = InnerProduct.of_vectors(penalty=penalty)
    monkeypatch.setattr(products, "best_precision", lambda _: precision())
    for engine in (LocalEngine(threads=1), LocalEngine(threads=2, rows=3000)):
        assert_by_definition(engine.search(seen, score, ranks=None), seen, score)


def interpreted(monkeypatch, **others):
    """Kernels as plain functions, so that others can take the place of some."""
    for name in ("_settle", "_compare_near", "_keep_near", "_score"):
        monkeypatch.setattr(products, name, getattr(products, name).py_func)
    for name, function in others.items():
        monkeypatch.setattr(products, name, function)


def test_most_rows_are_not_scored_again(monkeypatch):
    """What the bound leaves open is a small part, though no score is exact."""
    again = []

    def counted(panel, row, shown, target):
        again.append(row)
        return int(panel.bias[row] + panel.whole[row].astype(np.int64) @ shown[target])

    interpreted(monkeypatch, _score=counted)
    random = np.random.default_rng(2)
    known = random.integers(-(2**15) + 1, 2**15, (1_000, 64)).astype(np.int16)
    seen = Observations(VectorRows(known), known[:20] // 2, np.arange(20))
    found = LocalEngine(threads=1).search(seen, InnerProduct.of_vectors(), ranks=None)
    assert found.credit.all()
    assert len(again) == 2 * 20  # of each target the true row, as true and as best


def test_where_nothing_is_rounded_nothing_is_scored_again(monkeypatch):
    interpreted(monkeypatch, _score=None, _compare_near=None)
    seen, score = embeddings(200, 20, 40, 8), InnerProduct.of_vectors()
    found = LocalEngine(threads=1).search(seen, score, ranks=None)
    assert_by_definition(found, seen, score)


def test_rows_of_a_grid_are_taken_as_they_are():
    """They do not become floats of 64 bits on the way."""
    rows = np.array([[[3, -1]], [[0, 2]]], np.int8)
    vectors = sums_of_slots(rows)
    assert vectors.numbers.dtype == np.int8
    assert np.shares_memory(vectors.numbers, rows)
    rows[1] = -128
    assert sums_of_slots(rows).numbers.tolist() == [[3, -1], [0, 0]]


def test_a_bias_beyond_what_is_exact_is_refused():
    long = InnerProduct(Times(2.0**26), Times(1.0), None, UNIT, SquaredLength())
    values = np.array([[1, 1], [0, 1]], np.int8)
    seen = Observations(VectorRows(values), VectorRows(values), [0, 1])
    with refuses("gain-too-large"):
        LocalEngine().search(seen, long)


BYTES = """
import hashlib, json, sys
import numpy as np
from threadpoolctl import threadpool_info
from tests.engines.test_products import digest
core = {one.get("architecture") for one in threadpool_info() if one["user_api"] == "blas"}
json.dump([sorted(map(str, core)), digest()], sys.stdout)
"""


def digest():
    """A checksum of all that is found in some worlds, with several block sizes and threads."""
    said = set()
    for rows, targets, threads in ((64, 17, 1), (777, 256, 2), (2048, 100, 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(products, "_ROWS", rows)
            patch.setattr(products, "_TARGETS", targets)
            sums = hashlib.sha256()
            for bits in (8, 16):
                for penalty in (None, SquaredLength()):
                    found = LocalEngine(threads=threads, rows=1500).search(
                        embeddings(4_000, 200, 70, bits),
                        InnerProduct.of_vectors(penalty=penalty),
                        list_best=3, ranks=None, second=True,
                    )  # fmt: skip
                    for name in found.__slots__:
                        sums.update(repr(np.asarray(getattr(found, name)).tolist()).encode())
            said.add(sums.hexdigest())
    (one,) = said
    return one


@pytest.mark.slow
def test_every_type_of_core_gives_the_same_bytes():
    """OpenBLAS has other kernels for each, which add in other orders."""
    answers = {}
    for core in ("Prescott", "Haswell", "SkylakeX", "Zen"):
        environment = os.environ | {"OPENBLAS_CORETYPE": core}
        done = subprocess.run(
            [sys.executable, "-c", BYTES], env=environment, capture_output=True, check=True,
        )  # fmt: skip
        cores, said = json.loads(done.stdout)
        answers[tuple(cores)] = said
    if len(answers) < 2:
        pytest.skip("this BLAS has one kind of kernel only")
    assert set(answers.values()) == {digest()}


@pytest.mark.torch
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("penalty", [None, SquaredLength()])
def test_bfloat16_of_torch_gives_the_same(bits, penalty, monkeypatch):
    pytest.importorskip("torch")
    seen, score = embeddings(5_000, 300, 40, bits), InnerProduct.of_vectors(penalty=penalty)
    asked = {"list_best": 3, "ranks": None, "second": True}
    single = LocalEngine(threads=1).search(seen, score, **asked)
    monkeypatch.setattr(products, "best_precision", lambda _: matrix_products.Short())
    assert_same(LocalEngine(threads=2, rows=1500).search(seen, score, **asked), single)
    assert_by_definition(single, seen, score)
