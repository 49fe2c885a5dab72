"""Known and anonymous rows from files, in every form, and back."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from tests.snapshots import refuses

from reidrisk.core.digest import sha256_json
from reidrisk.core.observations import Observations
from reidrisk.core.settings_syntax import speaking
from reidrisk.data import (
    make_profiles,
    read_linked,
    read_observations,
    read_tfrecord_observations,
    write_observations,
    write_tfrecord_observations,
)
from reidrisk.io.layouts import Layout
from reidrisk.study.describe import describe


def seen(users=40, targets=15, slots=4, seed=1, missing=0.2, tokens=30):
    rng = np.random.default_rng(seed)
    known = rng.integers(0, tokens, (users, slots))
    truth = rng.permutation(users)[:targets]
    anonymous = rng.integers(0, tokens, (targets, slots))
    for rows in (known, anonymous):
        rows[rng.random(rows.shape) < missing] = -1
    return Observations(known, anonymous, truth, tokens=tokens)


def assert_same(linked, original, ids=None, labels=None):
    """The same observations, in the order of users."""
    again, users = linked.observations, np.arange(len(original.known)) if ids is None else ids
    order = np.argsort(users)
    places = np.argsort(order)[original.truth]
    np.testing.assert_array_equal(again.known, np.asarray(original.known)[order])
    np.testing.assert_array_equal(again.anonymous, original.anonymous[np.argsort(places)])
    np.testing.assert_array_equal(again.truth, np.sort(places))
    assert again.tokens == original.tokens
    assert linked.ids.tolist() == sorted(users)
    assert linked.labels.tolist() == list(range(original.tokens) if labels is None else labels)


@pytest.mark.parametrize("named", [False, True])
def test_parquet_comes_back(tmp_path, named):
    original = seen()
    names = {"ids": [f"u{n:03}" for n in range(40)], "labels": [f"t{n:03}" for n in range(30)]}
    names = names if named else {}
    write_observations(original, tmp_path / "seen", **names)
    linked = read_observations(tmp_path / "seen/known.parquet", tmp_path / "seen/anonymous.parquet")
    assert_same(linked, original, **names)
    assert sorted(file.name for file in (tmp_path / "seen").iterdir()) == [
        "anonymous.parquet", "known.parquet", "labels.parquet", "release.json",
    ]  # fmt: skip


def test_ids_need_no_order(tmp_path):
    original = seen()
    ids = np.random.default_rng(2).permutation(40)
    write_observations(original, tmp_path, ids=ids)
    linked = read_observations(tmp_path / "known.parquet", tmp_path / "anonymous.parquet")
    assert_same(linked, original, ids=ids)


@pytest.mark.parametrize("form", ["lists", "bags"])
def test_the_order_of_rows_in_a_file_does_not_matter(tmp_path, form):
    rng = np.random.default_rng(4)
    sizes = np.full(60, 3) if form == "lists" else rng.integers(1, 5, 60)
    texts = [";".join(map(str, rng.integers(0, 9, size))) for size in sizes]
    known = [f"u{user},{texts[user]}" for user in range(40)]
    shown = [f"u{user},{texts[user]}" for user in range(20, 60)]
    for turn in range(2):
        for name, lines in (("k", known), ("a", shown)):
            order = rng.permutation(40) if turn else range(40)
            text = "\n".join(lines[row] for row in order)
            (tmp_path / f"{name}{turn}.csv").write_text(f"user,tokens\n{text}")
    one, other = (read_linked(tmp_path / f"k{i}.csv", tmp_path / f"a{i}.csv") for i in (0, 1))
    assert sha256_json(describe(one)) == sha256_json(describe(other))


def test_the_columns_are_those_of_the_contract(tmp_path):
    write_observations(seen(), tmp_path)
    table = parquet.read_table(tmp_path / "known.parquet")
    assert table.column_names == ["user", "tokens"]
    assert table.schema.field("tokens").type == pa.list_(pa.int64())
    assert table["tokens"].combine_chunks().flatten().null_count == (seen().known == -1).sum()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_long_tables_say_the_same(tmp_path, suffix):
    original = seen()
    for name, rows, users in (
        ("known", original.known, np.arange(40)),
        ("anonymous", original.anonymous, original.truth),
    ):
        row, slot = np.nonzero(rows >= 0)
        order = np.random.default_rng(3).permutation(len(row))
        row, slot = row[order], slot[order]
        table = pa.table({"user": users[row], "epoch": slot + 5, "token": rows[row, slot] + 1})
        write = csv.write_csv if suffix == ".csv" else parquet.write_table
        write(table, tmp_path / f"{name}{suffix}")
    linked = read_observations(
        tmp_path / f"known{suffix}", tmp_path / f"anonymous{suffix}", taxonomy=range(1, 31)
    )
    there = (original.anonymous >= 0).any(axis=1)
    order = np.argsort(original.truth[there])
    np.testing.assert_array_equal(linked.known, original.known)
    np.testing.assert_array_equal(linked.anonymous, original.anonymous[there][order])
    np.testing.assert_array_equal(linked.truth, original.truth[there][order])


def test_what_was_read_is_written_with_its_names(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\nann,folk;;rock\nbob,;folk;soul\n")
    (tmp_path / "a.csv").write_text("user,tokens\nbob,rock;folk;\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    write_observations(linked, tmp_path / "again")
    again = read_linked(tmp_path / "again/known.parquet", tmp_path / "again/anonymous.parquet")
    assert_same(again, linked.observations, ids=["ann", "bob"], labels=["folk", "rock", "soul"])


def test_two_tables_are_a_source_that_says_its_sizes(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\nann,3;;7\nbob,;3;4\ncid,;;\n")
    (tmp_path / "a.csv").write_text("user,tokens\nbob,7;3;\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert (linked.users, linked.slots, linked.tokens) == (3, 3, 3)
    assert linked.ids.tolist() == ["ann", "bob", "cid"]
    assert linked.observations is linked.observations
    assert read_observations is read_linked


@pytest.mark.parametrize("users", [("007", "7"), ("7.0", "7"), ("18446744073709551614", "0")])
def test_users_that_are_written_differently_are_different_users(tmp_path, users):
    (tmp_path / "k.csv").write_text("user,tokens\n" + "".join(f"{user},3\n" for user in users))
    (tmp_path / "a.csv").write_text(f"user,tokens\n{users[1]},3\n")
    with speaking("options"):  # who says it itself if this looks like a slip
        linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert linked.ids_of(linked.truth).astype(str).tolist() == [users[1]]


def test_lists_in_csv_have_semicolons(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\nann,3;;7\nbob,;3;4\n")
    (tmp_path / "a.csv").write_text("user,tokens\nbob,7; 3 ;\nann, ;; 4\n")
    linked = read_observations(tmp_path / "k.csv", tmp_path / "a.csv")
    assert linked.labels.tolist() == [3, 4, 7]
    assert linked.known.tolist() == [[0, -1, 2], [-1, 0, 1]]
    assert linked.anonymous.tolist() == [[-1, -1, 1], [2, 0, -1]]
    assert linked.truth.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("x,1\n8,2\n", "unexpected-strangers"),
        ("8,1\nx,2\ny,2\n", "unexpected-strangers"),
    ],
)
def test_strangers_can_be_refused_with_the_first_and_how_many_more(tmp_path, rows, code):
    (tmp_path / "k.csv").write_text("user,tokens\n7,1\n8,2\n")
    (tmp_path / "a.csv").write_text(f"user,tokens\n{rows}")
    with refuses(code):
        read_observations(tmp_path / "k.csv", tmp_path / "a.csv", strangers="refuse")


def test_strangers_are_counted_and_kept(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\n7,1\n8,2\n9,1\n")
    (tmp_path / "a.csv").write_text("user,tokens\nx,1\n8,2\n7,2\ny,3\n")
    linked = read_observations(tmp_path / "k.csv", tmp_path / "a.csv")
    assert linked.truth.tolist() == [0, 1]
    assert linked.labels[linked.stranger_rows].tolist() == [[1], [3]]
    assert linked.stranger_ids.tolist() == ["x", "y"]
    assert linked.ids_of(linked.truth).tolist() == linked.target_ids.tolist() == [7, 8]
    assert (linked.strangers, linked.known_only) == (2, 1)


def test_no_common_user_is_a_mistake_and_names_nobody(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\nann,1\n")
    (tmp_path / "a.csv").write_text("user,tokens\nAnn,1\n")
    with refuses("tables-do-not-meet") as wrong:
        read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert "nn," not in str(wrong.value)


def bags_of(rows, labels):
    return [sorted(np.repeat(labels, row).tolist()) for row in rows.to_csr().toarray()]


def test_a_row_for_each_item_makes_baskets(tmp_path):
    (tmp_path / "k.csv").write_text("user,item\nbob,rye\nann,tea\nbob,tea\nbob,rye\n")
    (tmp_path / "a.csv").write_text("user,item\nbob,rye\nzoe,jam\nzoe,tea\nbob,oil\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert (linked.bags, linked.slots, linked.ids.tolist()) == (True, 1, ["ann", "bob"])
    assert bags_of(linked.known, linked.labels) == [["tea"], ["rye", "rye", "tea"]]
    assert bags_of(linked.anonymous, linked.labels) == [["oil", "rye"]]
    assert bags_of(linked.stranger_rows, linked.labels) == [["jam", "tea"]]
    assert linked.truth.tolist() == [1]
    assert linked.observations.known is linked.known
    assert linked.known.counts.tolist() == [1, 2, 1]
    assert linked.anonymous.counts is None


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_lists_of_unequal_length_are_baskets(tmp_path, suffix):
    for name, rows in (("k", [["3", "7"], ["5"]]), ("a", [["7"], ["5"]])):
        if suffix == ".csv":
            lines = "".join(f"u{at},{';'.join(row)}\n" for at, row in enumerate(rows))
            (tmp_path / f"{name}.csv").write_text(f"user,tokens\n{lines}")
        else:
            table = pa.table({"user": ["u0", "u1"], "tokens": rows})
            parquet.write_table(table, tmp_path / f"{name}.parquet")
    linked = read_linked(tmp_path / f"k{suffix}", tmp_path / f"a{suffix}")
    assert bags_of(linked.known, linked.labels) == [[3, 7], [5]]
    assert bags_of(linked.anonymous, linked.labels) == [[7], [5]]


def test_columns_are_known_by_their_names(tmp_path):
    (tmp_path / "k.csv").write_text("customer,product,price\nann,tea,3\nbob,jam,2\n")
    (tmp_path / "a.csv").write_text("customer,product,price\nbob,jam,2\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert (linked.bags, linked.users, linked.labels.tolist()) == (True, 2, ["jam", "tea"])


def test_a_column_that_holds_lists_may_be_named_as_items(tmp_path):
    table = pa.table({"user_id": [1, 2], "basket": [["x", "y"], ["y"]]})
    for name in "ka":
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    layout = Layout(user="user_id", item="basket")
    linked = read_linked(tmp_path / "k.parquet", tmp_path / "a.parquet", layout=layout)
    assert (linked.bags, linked.labels.tolist()) == (True, ["x", "y"])


def test_baskets_come_back(tmp_path):
    (tmp_path / "k.csv").write_text("user,item\nbob,rye\nann,tea\nbob,tea\nbob,rye\n")
    (tmp_path / "a.csv").write_text("user,item\nbob,rye\nann,oil\nann,tea\nann,oil\nann,oil\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    write_observations(linked, tmp_path / "again")
    again = read_linked(tmp_path / "again/known.parquet", tmp_path / "again/anonymous.parquet")
    for name in ("known", "anonymous"):
        one, other = getattr(linked, name), getattr(again, name)
        assert bags_of(one, linked.labels) == bags_of(other, again.labels)
    assert linked.truth.tolist() == again.truth.tolist()


def test_entries_that_are_empty_and_lists_that_differ_contradict_each_other(tmp_path):
    (tmp_path / "k.csv").write_text("user,tokens\nann,3;7\nbob,3;;7\n")
    with refuses("forms-differ"):
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv")


def test_named_columns_become_slots_with_tokens_of_their_own(tmp_path):
    (tmp_path / "k.csv").write_text("id,age,sex,zip\n1,30,f,30\n2,,m,31\n")
    (tmp_path / "b.csv").write_text("zip,age,sex,id\n30,30,f,1\n")
    layout = Layout(user="id", columns=("zip", "age"))
    linked = read_linked(tmp_path / "k.csv", tmp_path / "b.csv", layout=layout)
    assert linked.labels.tolist() == ["age=30", "zip=30", "zip=31"]
    assert linked.known.tolist() == [[1, 0], [2, -1]]
    assert linked.anonymous.tolist() == [[1, 0]]
    assert (linked.slot_names, linked.by_column) == (("zip", "age"), True)


def test_columns_may_hold_any_type_of_parquet(tmp_path):
    """Text of the usual type once was a fault of ours."""
    kinds = {
        "town": pa.array(["x", "", None]), "sex": pa.array(["m", "f", "m"]).dictionary_encode(),
        "age": pa.array([1.0, 2.0, None]), "own": pa.array([True, False, None]),
    }  # fmt: skip
    known, anonymous = tmp_path / "known.parquet", tmp_path / "anonymous.csv"
    parquet.write_table(pa.table({"user": [1, 2, 3], **kinds}), known)
    anonymous.write_text("user,town,sex,age,own\n1,x,m,1,true\n2,,f,2,false\n3,,m,,\n")
    linked = read_linked(known, anonymous, layout=Layout(columns=tuple(kinds)))
    assert linked.anonymous.tolist() == linked.known.block(0, 3).tolist()


def test_columns_are_named_by_what_they_are(tmp_path):
    (tmp_path / "k.csv").write_text("customer,bread,product,page\n1,x,tea,1\n2,x,rye,2\n")
    with refuses("unclear-column"):
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv")
    layout = Layout(user="customer", item="product")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=layout)
    assert bags_of(linked.known, linked.labels) == [["tea"], ["rye"]]


def test_forms_are_not_mixed(tmp_path):
    (tmp_path / "k.csv").write_text("user,epoch,token\n1,1,5\n")
    (tmp_path / "a.csv").write_text("user,item\n1,5\n")
    with refuses("forms-differ"):
        read_linked(tmp_path / "k.csv", tmp_path / "a.csv")


def test_the_authors_layout_comes_back(tmp_path):
    original = seen(targets=40, missing=0)
    path = tmp_path / "out.tfrecord"
    people = make_profiles(np.arange(40), [0] * 40, [1] * 40, taxonomy=range(30))
    sets = np.repeat(people.top_sets(0, 40, top=5, seed=1), 4, axis=1)
    write_tfrecord_observations(original, path, labels=np.arange(30) * 2 + 1, top_sets=sets)
    linked = read_tfrecord_observations(path, taxonomy=np.arange(30) * 2 + 1)
    np.testing.assert_array_equal(linked.known, original.known)
    np.testing.assert_array_equal(linked.anonymous[np.argsort(linked.truth)],
                                  original.anonymous[np.argsort(original.truth)])  # fmt: skip
    np.testing.assert_array_equal(linked.top_sets, sets)
    again = linked.observations
    assert again.tokens == 30
    inferred = read_tfrecord_observations(path)
    assert set(inferred.labels) <= set(np.arange(30) * 2 + 1)
    np.testing.assert_array_equal(inferred.labels[inferred.top_sets], sets * 2 + 1)


@pytest.mark.parametrize(
    ("known", "rows"),
    [
        ("user,tokens\nann,3\nbob,4\n", "user,tokens\nbob,3\nann,3\nbob,4\n"),
        ("user,tokens\nann,3\nbob,4\n", "user,tokens\nzoe,3\nann,3\nzoe,4\n"),
        ("user,age,zip\nann,3,1\nbob,4,1\n", "user,age,zip\nbob,3,1\nann,3,1\nbob,4,1\n"),
    ],
    ids=["targets", "strangers", "columns"],
)
def test_two_anonymous_rows_of_one_user_are_refused_with_the_reason(tmp_path, known, rows):
    (tmp_path / "k.csv").write_text(known)
    (tmp_path / "a.csv").write_text(rows)
    layout = Layout(columns=("age", "zip")) if "age" in known else None
    with refuses("duplicate-user") as wrong:
        read_linked(tmp_path / "k.csv", tmp_path / "a.csv", layout=layout)
    assert "bob" not in str(wrong.value)
    assert "zoe" not in str(wrong.value)
