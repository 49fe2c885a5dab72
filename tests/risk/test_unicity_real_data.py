"""Unicity of public data, from the raw file, against sets of holders."""

import csv
import functools
import gzip
from collections import defaultdict

import pytest
from tests.shared_data import DATA, needs_data

import reidrisk as rr

MOST = 3
FILES = {
    "msd_tasteprofile_10000_head.txt.gz": {},
    "lastfm2k_user_artists.dat": {},
    "completejourney_household_week_category.csv.gz": {"epoch": "week", "item": "cat_id"},
}


def points(file, columns):
    """User and point of each row, slowly; a column of plain numbers is in the order of numbers."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8", newline="") as stream:
        text = stream.read()
    separator = "\t" if "\t" in text else ","
    rows = list(csv.reader(text.splitlines(), delimiter=separator))
    head = rows.pop(0) if columns else []
    places = [head.index(name) for name in columns] or [1]
    cells = [[row[place].strip() for row in rows] for place in places]
    cells = [list(map(int, one)) if all(map(str.isdigit, one)) else one for one in cells]
    return zip([row[0] for row in rows], zip(*cells, strict=True), strict=True)


def slow_crowds(file, columns):
    """How many people have the rarest, the two rarest, ... points of each person."""
    having, holders = defaultdict(set), defaultdict(set)
    for user, point in points(file, columns):
        having[user].add(point)
        holders[point].add(user)
    for own in having.values():
        known = sorted(own, key=lambda point: (len(holders[point]), point))[:MOST]
        yield [
            len(functools.reduce(set.intersection, [holders[point] for point in known[:number]]))
            for number in range(1, len(known) + 1)
        ]


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_the_rarest_points_of_everybody(name):
    file, columns = DATA / name, FILES[name]
    found = rr.unicity(file, points=range(1, MOST + 1), known="rarest", **columns)
    crowds = list(slow_crowds(file, [columns[part] for part in ("item", "epoch") if columns]))
    assert found.users == len(crowds)
    for one in found:
        sizes = [have[one.points - 1] for have in crowds if len(have) >= one.points]
        assert one.assessed == len(sizes)
        assert one.singled_out.value == sizes.count(1) / len(sizes)
        assert one.right.value == pytest.approx(sum(1 / size for size in sizes) / len(sizes))
