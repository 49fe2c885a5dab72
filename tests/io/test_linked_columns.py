"""Two tables that call their columns and their users differently."""

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.data import Layout, read_linked

NAMES = ("ann", "bob", "cid", "dan", "eva", "fay", "gus", "hal", "ida", "jon", "kim", "lea")


def registers(tmp_path, users=60):
    """Two tables of the same people with other names for ids and columns, half of them alike."""
    rows = [(n, NAMES[n % 12], NAMES[n * 7 % 11], 1000 + n % 29) for n in range(users)]
    known = ["rec_id,given_name,surname,postcode"]
    known += [f"rec-{n}-org,{one},{two},{code}" for n, one, two, code in rows]
    shown = ["nr;Post code;last;First name"]
    shown += [f"rec-{n}-dup-0;{code};{two};{one if n % 2 else ''}" for n, one, two, code in rows]
    (tmp_path / "k.csv").write_text("\n".join(known))
    (tmp_path / "a.csv").write_text("\n".join(shown))
    return tmp_path / "k.csv", tmp_path / "a.csv"


HERE = Layout(user="rec_id", columns=("given_name", "surname", "postcode"))
THERE = Layout(user="nr", columns=("First name", "last", "Post code"))


def test_columns_with_other_names_are_the_same_slots(tmp_path):
    linked = read_linked(
        *registers(tmp_path), layout=HERE, anonymous_layout=THERE, user_pattern="rec-([0-9]+)-"
    )
    assert linked.slot_names == HERE.columns
    assert linked.truth.tolist() == list(range(60))
    assert linked.ids.tolist() == list(range(60))
    assert linked.warnings == ()
    same = linked.known.block(0, 60) == linked.anonymous
    assert same[:, 1:].all()
    assert same[:, 0].tolist() == [False, True] * 30
    assert {label.partition("=")[0] for label in linked.labels} == set(HERE.columns)


def test_ids_that_never_meet_are_told_by_their_shapes_with_a_pattern(tmp_path):
    with refuses("tables-do-not-meet") as wrong:
        read_linked(*registers(tmp_path), layout=HERE, anonymous_layout=THERE)
    assert "rec-…-dup-0 in the anonymous table and like rec-…-org" in str(wrong.value)


def test_whole_numbers_that_never_meet_are_not_told_to_lose_their_zeros(tmp_path):
    (tmp_path / "k.csv").write_text("user,item\n" + "".join(f"{n},5\n" for n in range(20)))
    (tmp_path / "a.csv").write_text("user,item\n" + "".join(f"{n},5\n" for n in range(50, 70)))
    with refuses("tables-do-not-meet") as wrong:
        read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert "007" not in str(wrong.value)


def test_users_whom_a_pattern_does_not_match_are_counted(tmp_path):
    known, anonymous = registers(tmp_path)
    anonymous.write_text(anonymous.read_text().replace("rec-3-dup-0", "three"))
    with pytest.warns(UserWarning, match="does not match 1 of 60 users of the anonymous table"):
        linked = read_linked(
            known, anonymous, layout=HERE, anonymous_layout=THERE, user_pattern="rec-([0-9]+)-"
        )
    assert (linked.strangers, len(linked.truth)) == (1, 59)


def test_as_many_columns_become_slots_on_both_sides(tmp_path):
    with refuses("length-mismatch"):
        read_linked(*registers(tmp_path), layout=HERE, anonymous_layout=Layout(user="nr"))


def test_counts_are_kept(tmp_path):
    (tmp_path / "k.csv").write_text("user,item,n\nann,tea,3\nann,jam,0\nbob,jam,1\nann,tea,1\n")
    (tmp_path / "a.csv").write_text("user,item,units\nann,tea,2\nbob,jam,1\n")
    layouts = {"layout": Layout(count="n"), "anonymous_layout": Layout(count="units")}
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv", **layouts)
    assert linked.labels.tolist() == ["jam", "tea"]
    assert linked.known.to_csr().toarray().tolist() == [[0, 4], [1, 0]]
    assert linked.anonymous.to_csr().toarray().tolist() == [[0, 2], [1, 0]]
    assert linked.known.values.tolist() == [1, 0]


def test_a_count_takes_no_more_memory_than_a_row(tmp_path):
    """Listed one by one, these items would take 6 GB."""
    (tmp_path / "k.csv").write_text("user,item,n\nann,tea,900000000\nbob,jam,600000000\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=Layout(count="n"))
    assert linked.known.counts.tolist() == [900_000_000, 600_000_000]
    assert linked.known.totals.tolist() == [900_000_000, 600_000_000]


def test_counts_that_add_up_to_more_than_a_basket_holds_are_refused(tmp_path):
    (tmp_path / "k.csv").write_text("user,item,n\nbob,jam,1\nann,tea,2000000000\nann,tea,2e9\n")
    with refuses("invalid-count") as wrong:
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=Layout(count="n"))
    assert "row 2" in str(wrong.value)


def test_a_column_of_counts_that_is_not_read_is_said(tmp_path):
    (tmp_path / "k.csv").write_text("user,item,quantity\nann,tea,3\nbob,jam,1\n")
    notes = read_linked(tmp_path / "k.csv", tmp_path / "k.csv").notes
    assert len(notes) == 2
    assert "each row counts once, since quantity is not read as its count" in notes[0]


def test_returns_are_netted_or_skipped(tmp_path):
    """Bob sent everything back, and is in no basket then."""
    rows = ["ann,tea,3", "bob,jam,1", "cid,tea,2", "ann,tea,-1", "bob,jam,-1", "ann,jam,1"]
    (tmp_path / "k.csv").write_text("\n".join(["user,item,n", *rows]))
    for returns, users, bags in (
        ("net", ["ann", "cid"], [[1, 2], [0, 2]]),
        ("skip", ["ann", "bob", "cid"], [[1, 3], [1, 0], [0, 2]]),
    ):
        layout = Layout(count="n", returns=returns)
        linked = read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=layout)
        assert linked.ids.tolist() == users
        assert linked.known.to_csr().toarray().tolist() == bags
        assert linked.labels.tolist() == ["jam", "tea"]


def test_a_table_of_which_nothing_is_left_is_refused(tmp_path):
    (tmp_path / "k.csv").write_text("user,item,n\nann,tea,1\nann,tea,-1\n")
    with refuses("empty-table"):
        layout = Layout(count="n", returns="net")
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=layout)


@pytest.mark.parametrize(
    ("count", "code"),
    [("1.5", "invalid-count"), ("-1", "invalid-count"), ("1e400", "invalid-count"),
     ("many", "malformed-line"), ("", "empty-cell")],
)  # fmt: skip
def test_counts_that_no_basket_holds_are_refused_with_their_row(tmp_path, count, code):
    (tmp_path / "k.csv").write_text(f"user,item,n\nann,tea,1\nbob,jam,{count}\n")
    with refuses(code) as wrong:
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=Layout(count="n"))
    assert "row 2" in str(wrong.value)


def test_counts_belong_to_baskets_of_both_tables(tmp_path):
    (tmp_path / "k.csv").write_text("user,epoch,item,n\nann,1,tea,1\nbob,1,jam,2\n")
    with refuses("conflicting-arguments"):
        read_linked(tmp_path / "k.csv", tmp_path / "k.csv", layout=Layout(count="n"))
    with refuses("conflicting-arguments"):
        read_linked(
            tmp_path / "k.csv", tmp_path / "k.csv",
            layout=Layout(count="n"), anonymous_layout=Layout(),
        )  # fmt: skip


def test_known_rows_on_disk_take_no_pattern(tmp_path):
    parquet.write_table(pa.table({"user": [1, 2], "tokens": [[0], [1]]}), tmp_path / "k.parquet")
    rows = rr.ParquetRows(tmp_path / "k.parquet", tokens=2)
    with refuses("conflicting-arguments"):
        read_linked(rows, tmp_path / "k.parquet", user_pattern="(.)")
