"""People with vectors: one each or several, whole or in part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.data import VectorPeople, make_profiles
from reidrisk.people.sampling import Rule, Share, select
from reidrisk.people.subset import LazySubset, Subset
from reidrisk.people.vectors import has_vectors, whole_of, with_vectors


def people(users=40, dimensions=3, *, several=True, seed=1):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, users) if several else np.ones(users, int)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    vectors = random.standard_normal((starts[-1], dimensions))
    return VectorPeople(
        vectors, random.permutation(10 * users)[:users], starts if several else None
    )


def mean_of(crowd, user):
    """Slowly: the mean of one user's vectors."""
    first, last = (user, user + 1) if crowd.starts is None else crowd.starts[user : user + 2]
    return [sum(row) / (last - first) for row in crowd.vectors[first:last].T.tolist()]


@pytest.mark.parametrize("several", [True, False])
def test_means_are_those_of_each_user(several):
    crowd = people(several=several)
    expected = [mean_of(crowd, user) for user in range(crowd.users)]
    np.testing.assert_allclose(crowd.means(0, crowd.users), expected, rtol=1e-14)
    assert (crowd.users, crowd.dimensions, crowd.epochs, crowd.tokens) == (40, 3, 1, 0)
    assert crowd.complete


@given(rows=st.sets(st.integers(0, 39), min_size=1), cut=st.integers(0, 40), several=st.booleans())
def test_a_part_has_the_vectors_of_the_whole(rows, cut, several):
    crowd, rows = people(several=several), np.array(sorted(rows))
    some = Subset.of(crowd, rows)
    start, stop = sorted((min(cut, some.users - 1), some.users))
    np.testing.assert_array_equal(some.means(start, stop), crowd.means(0, 40)[rows[start:stop]])
    starts, vectors = some.vectors_of(start, stop)
    all_starts, all_vectors = crowd.vectors_of(0, 40)
    expected = [all_vectors[all_starts[row] : all_starts[row + 1]] for row in rows[start:stop]]
    np.testing.assert_array_equal(vectors, np.concatenate(expected))
    np.testing.assert_array_equal(np.diff(starts), [len(one) for one in expected])
    np.testing.assert_array_equal(some.ids, crowd.ids[rows])
    assert some.dimensions == 3
    assert whole_of(some.only(np.arange(some.users))) is crowd


def test_a_group_has_the_vectors_of_its_members():
    crowd = people()
    (group,) = select(crowd, [(Rule((Share("half", 0.5, 1),)), None)], purpose="test", seed=1)
    half = LazySubset(crowd, group)
    rows = group.rows(crowd, np.arange(group.users))
    assert 0 < half.users < 40
    np.testing.assert_array_equal(half.means(1, half.users), crowd.means(0, 40)[rows[1:]])
    np.testing.assert_array_equal(
        half.vectors_of(0, 2)[1], Subset.of(crowd, rows[:2]).vectors_of(0, 2)[1]
    )
    assert half.dimensions == 3


def test_sizes_are_those_of_all_numbers():
    crowd = VectorPeople([[3, -4], [0, 1]], ["ann", "bob"])
    assert crowd.largest == 4
    assert crowd.typical == pytest.approx(np.sqrt(26 / 4))


def test_single_precision_and_memory_maps_stay_as_they_are(tmp_path):
    vectors = np.random.default_rng(1).standard_normal((9, 4)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    held = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    crowd = VectorPeople(held, np.arange(9))
    assert isinstance(crowd.vectors, np.memmap)
    assert crowd.means(2, 5).dtype == np.float64
    np.testing.assert_array_equal(crowd.means(2, 5), vectors[2:5])


WRONG = {
    "wrong-shape": [[1.0, 2.0], [0]],
    "not-finite": [[[1.0], [np.nan]], [0, 1]],
    "length-mismatch": [[[1.0], [2.0]], [0]],
    "duplicate-user": [[[1.0], [2.0]], ["ann", "ann"]],
    "mixed-ids": [[[1.0], [2.0]], np.array([1, "ann"], object)],
}


@pytest.mark.parametrize("code", WRONG)
def test_what_is_no_people_is_refused(code):
    with refuses(code):
        VectorPeople(*WRONG[code])


@pytest.mark.parametrize("starts", [[0, 2], [0, 1, 2], [1, 2, 3], [0, 0, 3], [0.0, 1.0, 3.0]])
def test_starts_leave_no_vector_and_no_user_out(starts):
    with refuses("invalid-starts", snapshot=starts == [0, 0, 3]):
        VectorPeople([[1.0], [2.0], [3.0]], [0, 1], starts)


def test_they_have_no_tokens():
    crowd = people()
    with refuses("people-have-vectors"):
        crowd.cells(0, 1)
    with refuses("people-have-vectors", snapshot=False):
        Subset.of(crowd, np.arange(3)).top_sets(0, 1, top=1, seed=1)


def test_others_have_no_vectors():
    shoppers = make_profiles([1], [1], ["tea"])
    assert not has_vectors(shoppers)
    assert not has_vectors(Subset.of(shoppers, np.arange(1)))
    with refuses("people-have-tokens"):
        with_vectors(shoppers, "gaussian-noise")
