"""Every way to write a table gives the same table; where the file leaves a doubt, it is refused."""

import gzip
import io
import zipfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk.core.settings_syntax import speaking
from reidrisk.io import dialects
from reidrisk.io.layouts import Layout
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import column_names, files_of, read_table

ROWS = [("ann", "rye", "1"), ("bob", "tea", "2.5"), ("ann", "oil", "3")]
WANTED = {"user": TEXT, "item": TEXT, "count": pa.float64()}
EXPECTED = {"user": ["ann", "bob", "ann"], "item": ["rye", "tea", "oil"], "count": [1, 2.5, 3]}
NUMBERED = {"user": "1", "item": "2", "count": "3"}


def text(separator=",", *, header=True, end="\n"):
    lines = [("user", "item", "count")] * header + ROWS
    return end.join(separator.join(line) for line in lines) + end


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, columns=None, **layout):
    return read_table(path, WANTED, columns, layout=Layout(**layout))[0].to_pydict()


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt", "t.dat", "t.data", "t.test", "T.CSV"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "::"])
@pytest.mark.parametrize("header", [True, False])
def test_separator_and_header_are_found(tmp_path, name, separator, header):
    path = saved(tmp_path / name, text(separator, header=header))
    names = None if header else NUMBERED
    assert read(path, names, separator=separator, header=header) == EXPECTED
    if separator == " " and name.lower().endswith(("csv", "tsv")):
        with refuses("unclear-separator"):
            read(path, names)
        return
    assert read(path, names) == EXPECTED
    assert column_names(path) == (list(WANTED) if header else ["1", "2", "3"])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff\n\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_marks_and_blank_lines(tmp_path, end, mark, last):
    content = mark.replace("\n", end) + text(end=end)
    path = saved(tmp_path / "t.csv", content if last else content.rstrip())
    assert read(path) == EXPECTED


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(**{"a/t.csv": data})])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zip", "t.csv"])
def test_packed_files_are_known_by_their_content(tmp_path, pack, name):
    assert read(saved(tmp_path / name, pack(text().encode()))) == EXPECTED


def test_a_zip_file_holds_one_table_beside_what_systems_add(tmp_path):
    content = zipped(**{"t.tsv": text("\t"), "__MACOSX/._t.tsv": "x", "a/.DS_Store": "x"})
    assert read(saved(tmp_path / "t.zip", content)) == EXPECTED
    several = saved(tmp_path / "u.zip", zipped(**{"b.csv": text(), "a.csv": text()}))
    with refuses("several-files"):
        read(several)


@pytest.mark.parametrize(
    "content", [gzip.compress(b""), zipped(**{"t.csv": ""})], ids=["gzip", "zip"]
)
def test_nothing_may_be_packed(tmp_path, content):
    with refuses("empty-file"):
        read(saved(tmp_path / "t.csv", content))


def test_quotes_hold_separators_and_spaces_around_entries_are_none(tmp_path):
    path = saved(tmp_path / "t.csv", 'user, item ,count\n"a,b", rye ,1\nc,"d ""e"" f", 2\n')
    found = read(path)
    assert found == {"user": ["a,b", "c"], "item": ["rye", 'd "e" f'], "count": [1, 2]}


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path, separator):
    """A title that begins with a quote once took all rows up to the next such title with it."""
    lines = ("user,item,count", "a,x,1", 'b,"Heroes,2', "c,y,3", 'd,"Low",4', "")
    path = saved(tmp_path / "t.csv", "\n".join(lines).replace(",", separator))
    with refuses("ragged-row"):
        read(path, separator=separator)
    saved(path, 'user,item\na,"Low" live\n')
    with refuses("ragged-row"):
        read_table(path, {"user": TEXT, "item": TEXT})
    tidy = '12" mix', '"two\nlines"', '"say ""no"""'
    path.write_text("user,item\n\n" + "\n\r\n".join(f"a,{one}" for one in tidy))
    found = read_table(path, {"user": TEXT, "item": TEXT})[0]["item"].to_pylist()
    assert found == ['12" mix', "two\nlines", 'say "no"']


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_empty_line_in_one_column_may_be_an_empty_cell(tmp_path, end):
    """Such people were not counted."""
    path = saved(tmp_path / "t.csv", end.join(("age", "1", "2", "", "2", "")))
    with refuses("empty-line"):
        read_table(path, {"age": TEXT})
    path = saved(tmp_path / "t.csv", end.join(("age", "1", '""', "2", "", "")))
    assert read_table(path, {"age": TEXT})[0]["age"].to_pylist() == ["1", "", "2"]


def test_a_carriage_return_within_a_line_makes_no_two_rows(tmp_path):
    path = saved(tmp_path / "t.csv", "user\nann\nbo\rb\n")
    with refuses("mixed-line-ends"):
        read_table(path, {"user": TEXT})


def test_a_single_colon_is_no_half_of_a_separator(tmp_path):
    path = saved(tmp_path / "t.dat", "1::2::3\n4::5: 6::7\n1::8::9\n")
    assert read(path, NUMBERED, header=False)["item"] == ["2", "5: 6", "8"]
    assert read(saved(path, '1::"2::3\n'), NUMBERED)["item"] == ['"2']


ENTRY = st.text("ab,;\t |\"'1.", min_size=1, max_size=5).filter(lambda entry: entry.strip(" \t"))


@given(st.lists(st.tuples(ENTRY, ENTRY), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_python_writes_is_read(tmp_path_factory, rows, separator):
    import csv

    path = tmp_path_factory.mktemp("t") / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([("user", "item"), *rows])
    layout = Layout(separator=separator, header=True)
    found, _ = read_table(path, {"user": TEXT, "item": TEXT}, layout=layout)
    wanted = [tuple(entry.strip(" \t") for entry in row) for row in rows]
    assert list(zip(*found.to_pydict().values(), strict=True)) == wanted


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("t.txt", "a,1;2\nb,3;4\n", "unclear-separator"),
        ("t.csv", "a;1,5\nb;2,5\n", "unclear-separator"),
        ("t.txt", "one\ntwo three\nfour five six\n", "unclear-separator"),
        ("t.csv", "ann,rye\nbob,tea\n", "unclear-header"),
    ],
)
def test_what_leaves_a_doubt_is_refused_with_the_option_to_say_so(tmp_path, name, content, code):
    with speaking("options"), refuses(code):
        read(saved(tmp_path / name, content))


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        ("age,town\n34,Wien\n35,Graz", True),  # numbers below words
        ("ann,rye\nann,tea\nbob,rye", False),  # the first line comes again
        ("a1b2,X9\nc3d4,Y8\ne5f6,Z7", False),  # ids of one length
        ("1,2\n3,4", False),
        ("user,2019\nann,4", True),
        ("user,item", True),
        (",age,town\n1,34,Wien\n2,35,Graz", True),  # numbers of rows, as R and pandas write them
        ("town,age\nWien,34\nGraz,NA\nWien,?", True),  # some numbers are missing
        ("sex,town\n" + "F,Wien\nM,Wien\nF,Graz\nM,Graz\n" * 30, True),  # nothing comes again
        ("day,code\n" + "".join(f"{n:02d}.03.2024,{n}B\n" for n in range(10, 30)) * 9, True),
    ],
)
def test_how_a_header_is_told(lines, header):
    cut = dialects.find_cut("t", ".csv", lines, Layout(), ("user",))
    assert cut.header is header
    assert len(cut.sample) == min(len(lines.splitlines()), dialects.LINES) - header


def test_a_column_without_a_name_goes_by_its_number(tmp_path):
    path = saved(tmp_path / "t.csv", ",age,town\n1,34,Wien\n2,35,Graz\n")
    assert column_names(path) == ["1", "age", "town"]


def test_rows_without_a_header_are_not_taken_for_one():
    """The first of many rows has a value of its own in one column, as some of the others."""
    rows = [
        f"{sex},{job},t{n // 2}"
        for n, (sex, job) in enumerate(zip("FM" * 40, "abcd" * 20, strict=True))
    ]
    for start in range(0, 60, 2):
        cut = dialects.find_cut("t", ".csv", "\n".join(rows[start:]), Layout(), ())
        assert not cut.header


def test_a_folder_is_made_of_tables_not_of_notes(tmp_path):
    saved(tmp_path / "readme.txt", "Two tables.")
    saved(tmp_path / "a.csv", text())
    assert read(tmp_path) == EXPECTED
    (tmp_path / "a.csv").unlink()
    saved(tmp_path / "b.dat", text())
    (tmp_path / "readme.txt").unlink()
    assert [file.name for file in files_of(tmp_path)] == ["b.dat"]


CASES = """I,4,"www.example.org","made by hand"
A,1000,1,"Home","/home"
A,1001,1,"Caf\xe9","/cafe"
C,"10001",10001
V,1000,1
V,1001,1
C,"10002",10002
V,1000,1
"""


def test_cases_and_votes_are_a_table_of_users_and_items(tmp_path, monkeypatch):
    from reidrisk.io import web_cases as msweb

    path = saved(tmp_path / "web.data", CASES.encode("latin-1"))
    for block in (msweb.BLOCK, 7):
        monkeypatch.setattr(msweb, "BLOCK", block)
        table, _ = read_table(path, {"user": TEXT, "item": TEXT})
        assert table["user"].to_pylist() == ["10001", "10001", "10002"]
        assert table["item"].to_pylist() == ["1000", "1001", "1000"]
    saved(tmp_path / "web.test", CASES.encode("latin-1"))
    with refuses("several-files"):
        read_table(tmp_path, {"user": TEXT, "item": TEXT})
    for wrong in ("V,1000,1\nA,1,1\n", 'A,1,1\nC,"1",1\nV,1000,1\nV,\n'):
        path = saved(tmp_path / "w.data", 'I,4,"x"\n' + wrong)
        with refuses("malformed-line"):
            read_table(path, {"user": TEXT, "item": TEXT})


@needs_data
@pytest.mark.parametrize(
    ("part", "rows", "users"), [("data", 98_654, 32_711), ("test", 15_191, 5_000)]
)
def test_the_web_data_has_the_counts_of_its_description(part, rows, users):
    table, _ = read_table(DATA / f"anonymous-msweb.{part}", {"user": TEXT, "item": TEXT})
    assert table.num_rows == rows
    assert len(table["user"].unique()) == users


def test_columns_that_are_named_must_be_there(tmp_path):
    path = saved(tmp_path / "t.csv", "User_Id,item,cuont\nann,rye,1\n")
    with speaking("options"), refuses("column-not-found"):
        read_table(path, WANTED, {"user": "user_id"}, optional=("count",))
    with refuses("column-not-found"):
        read_table(path, WANTED, {"user": "User_Id", "count": "count"}, optional=("count",))
    table, _ = read_table(path, WANTED, {"user": "User_Id"}, optional=("count",))
    assert table.column_names == ["user", "item"]


def test_an_item_that_is_called_as_a_column_may_be_is_no_header(tmp_path):
    """The first row was lost, and its user stood in the message."""
    path = saved(tmp_path / "t.csv", "anna,book\nanna,film\nbert,book\n")
    assert column_names(path) == ["1", "2"]
    assert column_names(path, Layout(user="1", item="2")) == ["1", "2"]
    path = saved(tmp_path / "u.csv", "anna,book\ncarl,film\nbert,song\n")
    assert column_names(path, Layout(user="1", item="2")) == ["1", "2"]
    with refuses("unclear-header") as refused:
        column_names(path)
    assert "anna" not in str(refused.value)


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        ("name,1,2\nann,5,6\nbob,7,8\n", ("1", "2")),
        ("user,2019,2020\nann,5,6\nbob,7,8\n", ()),
        ("user,item\nann,x\nuser,item\nbob,y\n", ()),
        (",1940,1950\nfood,5,6\nrent,7,8\n", ()),
    ],
)
def test_names_that_may_be_values_leave_a_doubt(tmp_path, lines, columns):
    path = saved(tmp_path / "t.csv", lines)
    with refuses("unclear-header"):
        column_names(path, Layout(columns=columns))
