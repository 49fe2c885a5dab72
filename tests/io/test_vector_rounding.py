"""What rounding moves is said: in a note if somebody would notice, as a warning if it is much."""

import numpy as np
import pytest
from tests.snapshots import says

import reidrisk as rr

chance = np.random.default_rng(4)
VECTORS = chance.normal(size=(400, 8))
LAYOUT = rr.data.Layout(user="id", vector="x")


def linked(vectors):
    table = {"id": np.arange(len(vectors)), "x": vectors}
    return rr.data.read_linked(table, table, layout=LAYOUT)


def moved(vectors):
    """How far rounding moves each vector, as a share of its length, row by row."""
    scale = 32767 / np.abs(vectors).max()
    shares = []
    for row in vectors:
        off = [round(float(one) * scale) / scale - float(one) for one in row]
        shares.append(np.linalg.norm(off) / np.linalg.norm(row))
    return np.array(shares)


def test_usual_embeddings_are_moved_by_nothing_that_counts():
    assert moved(VECTORS).max() < 0.01
    found = linked(VECTORS)
    assert (found.notes, found.warnings) == ((), ())


def test_a_note_says_how_far_the_farthest_is_moved():
    few = VECTORS.copy()
    few[0] *= 400
    assert 0.01 < moved(few).max() < 0.1
    found = linked(few)
    assert not found.warnings
    says(found.notes[0])
    assert f"{100 * moved(few).max():.2g} %" in found.notes[0]


def test_one_far_off_is_no_reason_to_doubt_all():
    some = VECTORS.copy()
    some[0] *= 3e-4
    shares = moved(some)
    assert 0 < (shares > 0.1).mean() < 0.01
    assert not linked(some).warnings


def test_many_moved_far_are_a_doubt():
    many = VECTORS.copy()
    many[0] *= 3_000
    shares = moved(many)
    assert (shares > 0.1).mean() > 0.01
    with pytest.warns(UserWarning, match="Rounding to 16 bits"):
        found = linked(many)
    says(str(found.warnings[0]))
    assert f" {2 * (shares > 0.1).sum():,} of 800 vectors" in found.warnings[0]  # both tables
    assert not found.notes
