"""Checksums of the users of a DataFrame, as an executor makes them."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from reidrisk.engines.spark import frames


@pytest.mark.parametrize("users", [["", "a", "bc", "é", "zz"], [-3, 0, 1, 2, 1 << 40]])
def test_checksums_of_units_do_not_depend_on_where_cells_end(users):
    def digests(users, cuts):
        some = [(low, pa.array(users[low:high])) for low, high in pairwise(cuts)]
        cells = [SimpleNamespace(part=0, first=at, users=frames.sent(ids)) for at, ids in some]
        fragments = [
            each for cell in cells for each in frames.fragments_of_ids({0: 10}, (10, 15), 2, cell)
        ]
        return frames.digests_of_units(2, fragments)

    expected = digests(users, [0, 5])
    assert sorted(expected) == [0, 1, 2]
    assert all(digests(users, cuts) == expected for cuts in ([0, 1, 5], [0, 2, 3, 4, 5]))
    others = [*users[:2], users[3], users[2], users[4]]
    assert [at for at, digest in digests(others, [0, 5]).items() if digest != expected[at]] == [1]


def test_texts_whose_parts_move_are_others():
    assert frames.content_of(pa.array(["a", "bc"])) != frames.content_of(pa.array(["ab", "c"]))
