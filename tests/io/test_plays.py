"""Plays from any file: the same people as by a slow script, in one pass."""

import gzip
from collections import defaultdict

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.core.settings_syntax import speaking
from reidrisk.data import (
    Layout,
    make_profiles,
    open_profiles,
    plays_layout,
    read_plays,
    read_profiles,
)

HEAD = "user,item,count\n"


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def by_hand(people):
    """Weights by user and item."""
    found = {}
    for user in range(people.users):
        items, weights = people.cell(user, 0)
        for item, weight in zip(items, weights, strict=True):
            found[people.ids[user], people.labels[item]] = float(weight)
    return found


def same_people(one, other):
    for name in ("ids", "labels", "epoch_labels", "starts", "members", "weights", "present"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


ROWS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "7", "007"]), st.integers(0, 9), st.integers(0, 4)),
    min_size=1, max_size=40,
)  # fmt: skip


@settings(max_examples=40)
@given(ROWS)
def test_counts_are_added(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("p") / "p.csv"
    saved(path, HEAD + "".join(f"{user},{item},{count}\n" for user, item, count in rows))
    people = read_plays(path)
    wanted = defaultdict(float)
    for user, item, count in rows:
        wanted[user, item] += count
    only_numbers = {user for user, _, _ in rows} == {"7"}
    kind = int if only_numbers else str
    assert by_hand(people) == {(kind(u), i): n for (u, i), n in wanted.items() if n}
    assert people.counts.rows == len(rows)


@pytest.mark.parametrize("kind", [pa.int32(), pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_parquet_and_text_give_the_same_people(tmp_path, kind):
    users, items = ["3", "12", "3", "3"], ["8", "8", "9", "8"]
    table = pa.table({
        "customer_id": pa.array(users).cast(kind), "sku": pa.array(items).cast(kind),
        "qty": pa.array([1, 2, 3, 4]),
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "p.parquet")
    lines = [f"{u};{i};{n}" for u, i, n in zip(users, items, (1, 2, 3, 4), strict=True)]
    text = saved(tmp_path / "p.txt", "\n".join(lines))
    one, other = read_plays(tmp_path / "p.parquet"), read_plays(text)
    same_people(one, other)
    same_people(one, make_profiles([3, 12, 3, 3], [0] * 4, [8, 8, 9, 8], [1, 2, 3, 4],
                                   duplicates="add"))  # fmt: skip


def test_numbers_in_one_file_and_text_in_the_next(tmp_path):
    parquet.write_table(pa.table({"user": [1, 2], "item": [5, 5]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"user": ["x", "1"], "item": [5, 6]}), tmp_path / "b.parquet")
    done = []
    people = read_plays(tmp_path, progress=lambda *how: done.append(how))
    assert people.ids.tolist() == ["1", "2", "x"]
    assert by_hand(people) == {("1", 5): 1, ("2", 5): 1, ("x", 5): 1, ("1", 6): 1}
    total = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert done[-1] == (total, total)
    assert done == sorted(done)


def test_without_counts_rows_are_counted_and_epochs_are_taken_if_asked_for(tmp_path):
    path = saved(tmp_path / "p.csv", "user,week,item\na,1,x\na,2,x\na,2,x\n")
    assert by_hand(read_plays(path)) == {("a", "x"): 3}
    people = read_plays(path, layout=Layout(epoch="week"))
    assert people.epoch_labels.tolist() == [1, 2]
    assert people.weights.tolist() == [1, 2]
    with refuses("duplicate-row"):
        read_plays(path, layout=Layout(epoch="week"), duplicates="refuse")
    with refuses("not-in-taxonomy"):
        read_plays(path, taxonomy=["y"])


@pytest.mark.parametrize(
    ("content", "given", "wanted"),
    [
        (HEAD, {}, ("user", "item", "count")),
        ("Household ID,week,cat_id,items\n1,1,1,1\n", {}, ("Household ID", "cat_id", "items")),
        ("u\tv\n", {"user": "v", "item": "u"}, ("v", "u", None)),
        ("a1 x\nb2 y\na1 z\n", {}, ("1", "2", None)),
        ("a1|x|3\nb2|y|1\na1|z|1\n", {}, ("1", "2", "3")),
        ("a1|x|3\nb2|y|1\n", {"user": "2", "item": "1"}, ("2", "1", None)),
        ("user_id,artist,track,n\n", {"item": "track"}, ("user_id", "track", "n")),
        ("item,item_id,user\n", {}, ("user", "item", None)),
    ],
)
def test_which_column_is_what(tmp_path, content, given, wanted):
    found = plays_layout(saved(tmp_path / "p.txt", content), Layout(**given))
    assert (found.user, found.item, found.count) == wanted
    assert found.header is not wanted[0].isdecimal()
    assert found.separator in content


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("user_id,artist,track\n", "unclear-column"),
        ("user,colour\n", "unclear-column"),
        ("age,colour\n1,red\n", "unclear-column"),
        ("1::2::3::4\n5::6::7::8\n", "unclear-column"),
        ("a1,x,red\nb2,y,blue\na1,z,red\n", "unclear-column"),
    ],
)
def test_what_is_not_plain_is_refused(tmp_path, content, code):
    path = saved(tmp_path / "my plays.csv", content)
    for read in (read_plays, plays_layout):
        with speaking("options"), refuses(code):
            read(path)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("ann,x,1\nbob,y,-1\n", "invalid-weight"),
        ("ann,x,1\nbob,y,\n", "empty-cell"),
        ("ann,x,1\nbob,,2\n", "empty-cell"),
        ("ann,x,1\nbob,y,lots\n", "malformed-line"),
        ("ann,x,1\nbob,y\n", "ragged-row"),
        ("ann,x,1\nbo\xff,y,1\n", "malformed-line"),
        ("", "empty-table"),
    ],
)
def test_bad_rows_are_named(tmp_path, rows, code):
    path = saved(tmp_path / "p.csv", (HEAD + rows).encode("latin-1"))
    with refuses(code) as caught:
        read_plays(path)
    assert "bob" not in str(caught.value)


def test_files_of_a_folder_have_the_same_columns(tmp_path):
    saved(tmp_path / "a.csv", "user,item,count\n1,2,3\n")
    saved(tmp_path / "b.csv", "user,item\n1,2\n")
    with refuses("columns-differ"):
        read_plays(tmp_path)


def test_progress_is_that_of_the_file_on_disk(tmp_path):
    path = saved(tmp_path / "p.csv.gz", gzip.compress((HEAD + "ann,x,1\n" * 999).encode()))
    done = []
    read_plays(path, progress=lambda *how: done.append(how))
    assert done[-1] == (path.stat().st_size,) * 2


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "users", "items"),
    [
        ("completejourney_household_week_category.csv.gz", 982_597, 2_469, 302),
        ("anonymous-msweb.data", 98_654, 32_711, 285),
        ("lastfm2k_user_artists.dat", 92_834, 1_892, 17_632),
        ("msd_tasteprofile_10000_head.txt.gz", 42_739, 1_630, 9_071),
    ],
)
def test_real_plays_have_the_counts_of_their_descriptions(name, rows, users, items):
    people = read_plays(DATA / name)
    assert (people.counts.rows, people.users, people.tokens) == (rows, users, items)


def test_lists_of_items_are_as_many_rows(tmp_path):
    rows = {"user_id": ["ann", "bob", "ann"], "items": [["x", "y"], ["y"], ["x", "z", "x"]]}
    parquet.write_table(pa.table(rows), tmp_path / "lists.parquet", row_group_size=2)
    long = "".join(f"{user},{item}\n" for user, items in zip(*rows.values(), strict=True)
                   for item in items)  # fmt: skip
    saved(tmp_path / "long.csv", "user,item\n" + long)
    same_people(read_plays(tmp_path / "lists.parquet"), read_plays(tmp_path / "long.csv"))
    with refuses("not-in-taxonomy"):
        read_plays(tmp_path / "lists.parquet", taxonomy=["x", "y"])


@pytest.mark.parametrize("wrong", [[], None, [""], [None]])
def test_lists_without_items_are_refused_with_their_row(tmp_path, wrong):
    rows = {"user": ["ann", "bob"], "items": [["x", "y"], wrong]}
    parquet.write_table(pa.table(rows), tmp_path / "lists.parquet")
    with pytest.raises(InvalidInput, match=r"lists.parquet, row 2: .*'items' is empty"):
        read_plays(tmp_path / "lists.parquet")


def test_a_column_of_words_is_no_count_unless_somebody_says_so(tmp_path):
    path = saved(tmp_path / "p.csv", "id_client;produit;montant\n1;thé;cher\n2;café;peu\n")
    layout = plays_layout(path)
    assert (layout.user, layout.item, layout.count) == ("id_client", "produit", None)
    with refuses("malformed-line"):
        read_plays(path, layout=Layout(count="montant"))


def test_amounts_with_a_decimal_comma_are_no_words(tmp_path):
    path = saved(tmp_path / "p.csv", "id_client;produit;montant\n1;thé;3,50\n2;café;2,00\n")
    people = read_plays(path)
    assert people.labels.tolist() == ["café", "thé"]
    assert people.weights.tolist() == [3.5, 2.0]


RETURNS = """\
user,item,count
ann,x,3
ann,x,-1
ann,y,2
ann,y,-2
bob,x,-4
cid,z,0.1
cid,z,0.2
cid,z,-0.3
cid,x,1
"""


def test_returns_are_refused_skipped_or_added_up(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(RETURNS, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r'row 2: .*returns="skip".*returns="net"'):
        read_plays(path)
    frame = pd.read_csv(path)
    for table in (path, frame):
        people = read_plays(table, layout=Layout(returns="skip"))
        left = frame[frame["count"] >= 0].groupby(["user", "item"])["count"].sum()
        assert by_hand(people) == left.to_dict()
        assert (people.counts.rows, people.counts.returns, people.counts.net_zero) == (9, 4, 0)
        assert people.notes[0].endswith("counts below zero, 4 in all, are left out")
        people = read_plays(table, layout=Layout(returns="net"))
        # Whoever has nothing left is not there, nor is what nobody has.
        assert by_hand(people) == {("ann", "x"): 2, ("cid", "x"): 1}
        assert people.labels.tolist() == ["x"]
        assert (people.counts.rows, people.counts.returns, people.counts.net_zero) == (9, 4, 3)
        assert people.notes[0].endswith("; 3 sums are not above zero and are left out")


def test_returns_need_counts_and_something_that_is_left(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("user,item\nann,x\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="name it with count="):
        read_plays(path, layout=Layout(returns="net"))
    path.write_text("user,item,count\nann,x,-1\nbob,x,-2\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="nothing is above zero"):
        read_plays(path, layout=Layout(returns="net"))
    path.write_text("user,item,count\nann,x,-1\nbob,x,-inf\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="row 2: 'count' is negative or not a finite number"):
        read_plays(path, layout=Layout(returns="net"))
    with pytest.raises(InvalidInput, match="one of refuse, net, skip"):
        Layout(returns="drop")


def test_returns_of_long_tables_are_added_up_by_epoch(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(
        "user,epoch,token,weight\nann,1,x,3\nann,1,x,-1\nann,2,x,-1\nbob,1,y,1\n", encoding="utf-8"
    )
    people = read_profiles(path, layout=Layout(returns="net"))
    assert people.epoch_labels.tolist() == [1]
    assert by_hand(people) == {("ann", "x"): 2, ("bob", "y"): 1}
    with pytest.raises(InvalidInput, match="read at once"):
        open_profiles(path, layout=Layout(returns="net"))
