"""Two tables that write the same thing otherwise: refused if nothing meets, else said."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk.core.settings_syntax import speaking
from reidrisk.data import Layout, read_linked

USERS = 40


def tokens_of(users=USERS, slots=4, tokens=12, seed=1):
    return np.random.default_rng(seed).integers(1, tokens, (users, slots)).tolist()


def written(path, form, rows, write=str, epoch=str, user=str):
    """A table of rows in one of the forms."""
    lines = {
        "lists": ("user,tokens", lambda u, row: [f"{u},{';'.join(row)}"]),
        "items": ("user,item", lambda u, row: [f"{u},{one}" for one in row]),
        "epochs": (
            "user,epoch,token",
            lambda u, row: [f"{u},{epoch(at)},{one}" for at, one in enumerate(row, 1)],
        ),
        "columns": ("user,a,b,c,d", lambda u, row: [f"{u},{','.join(row)}"]),
    }
    header, line = lines[form]
    body = [
        text
        for at, row in enumerate(rows, 1)
        for text in line(user(at), [write(one) for one in row])
    ]
    path.write_text("\n".join([header, *body]) + "\n")
    return path


def read(tmp_path, form="lists", rows=None, **there):
    rows = tokens_of() if rows is None else rows
    known = written(tmp_path / "k.csv", form, rows)
    anonymous = written(tmp_path / "a.csv", form, rows, **there)
    layout = Layout(columns=tuple("abcd")) if form == "columns" else None
    with speaking("options"):  # who says the warnings itself
        return read_linked(known, anonymous, layout=layout)


FORMS = ("lists", "items", "epochs", "columns")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_alike_is_read_without_a_word(tmp_path, form):
    linked = read(tmp_path, form)
    assert linked.warnings == ()
    assert linked.truth.tolist() == list(range(USERS))


@pytest.mark.parametrize("form", FORMS)
def test_tokens_that_never_meet_are_refused_with_what_differs(tmp_path, form):
    """5 against 5.0: every risk would be that of guessing."""
    with refuses("tables-do-not-meet") as wrong:
        read(tmp_path, form, write=lambda one: f"{one}.0")
    assert "decimal point" in str(wrong.value) or ".0' in the anonymous" in str(wrong.value)


def test_what_few_people_have_is_told_by_its_form_and_what_many_have_by_example(tmp_path):
    few = [[n, n + 100] for n in range(1, 9)]
    with refuses("tables-do-not-meet") as wrong:
        read(tmp_path, rows=few, write=lambda one: f"{one}.0")
    assert "101" not in str(wrong.value)
    with refuses("tables-do-not-meet"):
        read(tmp_path, rows=[[5]] * 10, write=lambda one: f"{one}.0")


@pytest.mark.parametrize("form", FORMS)
def test_some_tokens_in_another_form_are_told(tmp_path, form):
    """Half of the tokens lose their leading zeros, as in a spreadsheet."""
    linked = read(tmp_path, form, write=lambda one: f"{one}.0" if one > 6 else str(one))
    assert linked.warnings
    assert all("seems to write otherwise" in sentence for sentence in linked.warnings)
    assert "risk may be far higher" in linked.warnings[0]


def test_one_column_that_never_meets_is_refused_by_its_name(tmp_path):
    (tmp_path / "k.csv").write_text("user,age,zip\n1,34,A\n2,35,B\n")
    (tmp_path / "a.csv").write_text("user,age,zip\n1,34.0,A\n2,35.0,B\n")
    with refuses("tables-do-not-meet"):
        read_linked(tmp_path / "k.csv", tmp_path / "a.csv", layout=Layout(columns=("age", "zip")))


def test_blanks_around_tokens_users_and_epochs_mean_nothing(tmp_path):
    for form in FORMS:
        linked = read(tmp_path, form, write=lambda one: f" {one}", user=lambda u: f"{u} ",
                      epoch=lambda at: f" {at} ")  # fmt: skip
        assert linked.warnings == ()
        assert linked.strangers == 0


def test_blanks_mean_nothing_in_parquet_either(tmp_path):
    for name, tokens in (("k", [["5", "6"], ["7", ""]]), ("a", [["5 ", " 6"], ["\t7", " "]])):
        table = pa.table({"user": ["ann", f"bob{' ' * (name == 'a')}"], "tokens": tokens})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    linked = read_linked(tmp_path / "k.parquet", tmp_path / "a.parquet")
    assert linked.labels.tolist() == [5, 6, 7]
    assert linked.anonymous.tolist() == linked.known.block(0, 2).tolist() == [[0, 1], [2, -1]]


def test_epochs_that_never_meet_are_refused(tmp_path):
    with refuses("ambiguous-epochs"):
        read(tmp_path, "epochs", epoch=lambda at: f"{at}.0")
    with refuses("tables-do-not-meet"):
        read(tmp_path, "epochs", epoch=lambda at: str(at + 50))


def test_few_common_epochs_are_told(tmp_path):
    linked = read(tmp_path, "epochs", rows=[[5] * 4] * USERS, epoch=lambda at: str(at + 3))
    (sentence,) = linked.warnings
    assert "25 % of the entries of the anonymous table have an epoch that" in sentence
    assert "'5' in the anonymous table and '1' in the known table" in sentence
    assert linked.slot_names == ("1", "2", "3", "4", "5", "6", "7")


def test_users_that_never_meet_are_refused_by_their_form_and_not_quoted(tmp_path):
    with refuses("tables-do-not-meet") as wrong:
        read(tmp_path, rows=tokens_of(8), user=lambda u: f"00{u}")
    assert "001" not in str(wrong.value)


def test_users_of_whom_some_are_written_otherwise_are_told_and_not_quoted(tmp_path):
    """Ids of two digits lose nothing; those of one digit become strangers."""
    linked = read(tmp_path, user=lambda u: f"{u:02}")
    assert linked.strangers == 9
    (sentence,) = linked.warnings
    assert sentence.startswith("22 % of the entries of the known table have a user that")
    assert "zeros before them" in sentence
    assert "'" not in sentence


def test_tables_that_share_little_are_told(tmp_path):
    rows = tokens_of()
    linked = read(tmp_path, "items", rows=rows, write=lambda one: str(one if one < 4 else one + 50))
    (sentence,) = linked.warnings
    assert sentence.startswith("Little is shared: ")
    assert "in the anonymous table and" in sentence


def test_a_few_rows_that_share_little_may_be_chance(tmp_path):
    assert read(tmp_path, rows=[[1, 2, 3, 4]], write=lambda one: str(max(one, 3))).warnings == ()


def test_a_slot_that_never_agrees_is_told(tmp_path):
    """Two slots the other way round: all tokens are shared, and nobody is found by them."""
    rows = [[1 + n % 3, 11 + n % 5] for n in range(USERS)]
    known = written(tmp_path / "k.csv", "lists", rows)
    anonymous = written(tmp_path / "a.csv", "lists", [row[::-1] for row in rows])
    with pytest.warns(UserWarning, match="No token of slot 1, 2 is in the same slot of both"):
        read_linked(known, anonymous)


def test_who_reads_in_python_is_warned(tmp_path):
    rows = tokens_of()
    known = written(tmp_path / "k.csv", "items", rows)
    anonymous = written(tmp_path / "a.csv", "items", rows, write=lambda one: f"{one:02}")
    with pytest.warns(UserWarning, match="an item that the .* table seems to write otherwise"):
        linked = read_linked(known, anonymous)
    assert len(linked.warnings) == 1


def test_different_words_are_no_spelling(tmp_path):
    """A side may have labels of its own."""
    rows = tokens_of()
    linked = read(tmp_path, "items", rows=rows, write=lambda one: "tea" if one == 5 else str(one))
    assert linked.warnings == ()
