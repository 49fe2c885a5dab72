"""Arrays of NumPy as tables, and files that are none."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.io.array_files import table_of_arrays

chance = np.random.default_rng(2)
VECTORS = chance.normal(size=(20, 3))
TEXTS = np.array([f"u{user}" for user in range(20)])


@pytest.fixture
def arrays(tmp_path):
    np.savez(tmp_path / "known.npz", ids=TEXTS, vectors=VECTORS)
    np.savez_compressed(tmp_path / "shown.npz", ids=TEXTS[::-1], vectors=VECTORS[::-1])
    np.save(tmp_path / "known.npy", VECTORS)
    np.save(tmp_path / "shown.npy", np.asfortranarray(VECTORS[:10]))
    return tmp_path


def test_ids_and_vectors_need_no_names(arrays):
    found = rr.data.read_linked(arrays / "known.npz", arrays / "shown.npz")
    assert found.ids.tolist() == sorted(TEXTS.tolist())
    assert np.array_equal(found.known, found.anonymous)
    table = {"who": TEXTS, "x": VECTORS}
    mixed = rr.data.read_linked(
        arrays / "known.npz", table, layout=rr.data.Layout(),
        anonymous_layout=rr.data.Layout(user="who", vector="x"),
    )  # fmt: skip
    assert np.array_equal(mixed.known, found.known)


def test_users_of_one_array_are_the_numbers_of_its_rows(arrays):
    found = rr.data.read_linked(arrays / "known.npy", arrays / "shown.npy")
    assert (found.users, found.truth.tolist()) == (20, list(range(10)))
    assert np.array_equal(found.known[:10], found.anonymous)


def test_a_condition_chooses_among_rows(arrays):
    layout = rr.data.Layout(where="ids <> 'u3'")
    found = rr.data.read_linked(arrays / "known.npz", arrays / "shown.npz", layout=layout)
    assert found.users == 19


def test_inspect_says_how_to_link_them(arrays):
    found = rr.inspect(arrays / "known.npz")
    assert (found.shape, found.users) == ("vectors", 20)
    assert found.command.endswith("OTHER_TABLE --user ids --vector vectors -o link/")


@pytest.mark.parametrize("array", [np.array([{"a": 1}, None]), np.zeros((2, 2), object)])
def test_objects_are_never_loaded(tmp_path, array):
    np.savez(tmp_path / "bad.npz", ids=array, vectors=np.zeros((2, 2)))
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    for name in ("bad.npz", "bad.npy"):
        with refuses("damaged-file"):
            table_of_arrays(tmp_path / name)


def test_what_is_no_table_is_refused(tmp_path, arrays):
    np.savez(tmp_path / "lengths.npz", ids=TEXTS[:3], vectors=VECTORS)
    np.savez(tmp_path / "deep.npz", ids=TEXTS, vectors=VECTORS[:, :, None])
    np.savez(tmp_path / "complex.npz", ids=TEXTS, vectors=VECTORS * 1j)
    np.savez(tmp_path / "other.npz", ids=TEXTS, embeddings=VECTORS)
    (tmp_path / "text.npz").write_text("id,v1\n1,2\n")
    (tmp_path / "cut.npz").write_bytes((arrays / "known.npz").read_bytes()[:300])
    (tmp_path / "cut.npy").write_bytes((arrays / "known.npy").read_bytes()[:100])
    for name, code in {
        "lengths.npz": "length-mismatch", "deep.npz": "wrong-shape", "complex.npz": "wrong-shape",
        "other.npz": "unclear-column", "text.npz": "damaged-file", "cut.npz": "damaged-file",
        "cut.npy": "damaged-file",
    }.items():  # fmt: skip
        with refuses(code):
            rr.data.read_linked(arrays / "known.npz", tmp_path / name)


def test_several_files_are_not_joined(arrays):
    with refuses("several-files"):
        rr.data.read_linked(str(arrays / "*n.npz"), arrays / "known.npz")


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["known.npz", "shown.npz", "known.npy"]), st.data())
def test_changed_files_are_read_or_refused(tmp_path_factory, name, data):
    """Whatever is in a file: it is read, or refused as the file that it is."""
    folder = tmp_path_factory.mktemp("changed")
    np.savez(folder / "known.npz", ids=TEXTS, vectors=VECTORS)
    np.savez_compressed(folder / "shown.npz", ids=TEXTS, vectors=VECTORS)
    np.save(folder / "known.npy", VECTORS)
    raw = bytearray((folder / name).read_bytes())
    places = st.integers(0, len(raw) - 1) | st.integers(0, 150)
    for place in data.draw(st.lists(places, max_size=4)):
        raw[place] = data.draw(st.integers(0, 255))
    (folder / name).write_bytes(raw[: data.draw(st.just(len(raw)) | st.integers(0, len(raw)))])
    with suppress(rr.InvalidInput):
        assert table_of_arrays(folder / name).num_rows >= 0
