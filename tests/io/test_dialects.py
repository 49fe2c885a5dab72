"""How a text is cut: lines above a table, and headers of several lines."""

import re
import shlex
import warnings

import pytest
from tests.cli.tools import run
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.data import Layout, plays_layout, read_plays
from reidrisk.errors import Assumed
from reidrisk.io.tables import open_tables

ROWS = [("ann", "rye", "1"), ("bob", "tea", "2"), ("ann", "oil", "3")]
TABLE = "user,item,count\n" + "".join(",".join(row) + "\n" for row in ROWS)

TITLES = {
    "a line": ("Sales of May\n", 1),
    "several lines": ("Sales\n\nby customer, all shops\n\n", 3),
    "as spreadsheets write it": ("Sales of May,,\n,,\nmade by hand,,\n", 3),
    "with quotes": ('The "best" sales\n', 1),
    "a quote that is never closed": ('5" screws\n', 1),
    "ten lines": ("Sales\n" * 10, 10),
}


def saved(path, text):
    path.write_bytes(text.encode())
    return path


def cells(path, **layout):
    with open_tables(path, Layout(**layout)) as opened:
        (file,) = opened.files
        return file.names, opened.run(f"from {file.relation}")


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_title_is_left_out_and_said(tmp_path, title, end, separator):
    lines, count = TITLES[title]
    text = (lines + TABLE).replace(",", separator).replace("\n", end)
    path = saved(tmp_path / "t.txt", text)
    if separator != ",":
        text = text.replace(f"by customer{separator}", "by customer,")
    with pytest.warns(Assumed) as said:
        assert cells(saved(path, text)) == (("user", "item", "count"), ROWS)
    assert f"skip={count}" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cells(path, skip=count) == (("user", "item", "count"), ROWS)


def test_a_title_is_said_once_by_the_command(tmp_path):
    path = saved(tmp_path / "t.csv", "Sales of May\n" + TABLE)
    said = run("inspect", path).stderr
    assert said.count("warning: ") == said.count("taken for a title") == 1
    assert "--skip 1" in said


def test_rows_are_the_same_with_and_without_a_title(tmp_path):
    plain = read_plays(saved(tmp_path / "plain.csv", TABLE))
    path = saved(tmp_path / "t.csv", "Sales of May\n\n" + TABLE)
    with pytest.warns(Assumed):
        layout = plays_layout(path)
    assert layout.skip == 1
    people = read_plays(path, layout=layout)
    assert people.ids.tolist() == plain.ids.tolist()
    assert people.weights.tolist() == plain.weights.tolist()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        # Names of rows that are not all different.
        ("x,y\n1,a,b\n1,c,d\n3,e,f\n", "ragged-row"),
        ("x\n1,a\n2,b\n3,c\n", "ragged-row"),
        ("Sales, May\n" + TABLE, "unclear-header"),
        ("Sales\n" * 11 + TABLE, "ragged-row"),
        ("Sales\n" + TABLE.partition("\n")[2], "unclear-header"),
    ],
)
def test_lines_that_may_be_something_else_are_no_title(tmp_path, text, code):
    with refuses(code):
        cells(saved(tmp_path / "t.csv", text))


def test_a_header_is_no_title_for_lists_below_it(tmp_path):
    path = saved(tmp_path / "t.csv", "user,week,tokens\n1,1,3;7\n1,2,4;7\n2,1,5;6\n")
    assert cells(path)[0] == ("user", "week", "tokens")


def test_a_title_can_be_ruled_out(tmp_path):
    path = saved(tmp_path / "t.csv", "Sales\n" + TABLE)
    with refuses("ragged-row"):
        cells(path, skip=0, header=True)
    with refuses("empty-file"):
        cells(path, skip=10)
    with refuses("out-of-range"):
        Layout(skip=-1)


def test_messages_count_the_lines_of_a_title(tmp_path):
    path = saved(tmp_path / "t.csv", 'The "best" sales\n\n' + TABLE + "bob,oil\n")
    with pytest.warns(Assumed), refuses("ragged-row"):
        cells(path)


def test_a_header_may_have_several_lines(tmp_path):
    path = saved(tmp_path / "t.csv", '"user\nid","item"\n1,rye\n2,"tea\nleaf"\n3,oil\n')
    rows = [("1", "rye"), ("2", "tea\nleaf"), ("3", "oil")]
    assert cells(path, header=True) == (("user\nid", "item"), rows)
    path = saved(tmp_path / "t.csv", 'Sales\n"user\nid","item"\n1,rye\n2,"tea\nleaf"\n3,oil\n')
    assert cells(path, header=True, skip=1) == (("user\nid", "item"), rows)


@pytest.mark.parametrize(
    "header",
    [
        # A value may be called as its column is.
        ("", "y", "week", "arm"),
        ("age", "y", "hours", "arm"),
    ],
)
def test_a_name_may_be_a_value_below_it(tmp_path, header):
    rows = [(str(n), "yn"[n % 2], str(n % 5), "p") for n in range(9)]
    text = "".join(",".join(row) + "\n" for row in (header, *rows))
    names, found = cells(saved(tmp_path / "t.csv", text))
    assert names == tuple(name or "1" for name in header)
    assert found == rows


def test_blanks_may_stand_before_quotes(tmp_path):
    text = 'Name,         Town\n"Ann \\"Al\\" Ox", "Ulm"\n"Bo Fry",      "Bonn"\n'
    _, found = cells(saved(tmp_path / "t.csv", text), header=True)
    assert [row[0] for row in found] == ['Ann "Al" Ox', "Bo Fry"]


def test_columns_of_fixed_width_with_empty_cells_are_refused(tmp_path):
    text = " customer  date  value\n 00001 19970101    1.77\n 00002            12.00\n"
    with refuses("unclear-separator"):
        cells(saved(tmp_path / "t.txt", text))


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_the_line_for_excel_names_the_separator(tmp_path, sign):
    path = saved(tmp_path / "t.csv", f"sep={sign}\r\n" + TABLE.replace(",", sign))
    with pytest.warns(Assumed):
        assert cells(path) == (("user", "item", "count"), ROWS)


def test_rows_without_anything_may_follow_a_title(tmp_path):
    path = saved(tmp_path / "t.csv", f"Sales of May,,\n,,\n\n,,\n{TABLE}")
    with pytest.warns(Assumed):
        assert cells(path) == (("user", "item", "count"), ROWS)


QUESTIONS = "What is it?,How old?,How long?\n"
ANSWERS = "".join(f"q{n % 3},{n},{n * n}\n" for n in range(12))


@pytest.mark.parametrize("more", [QUESTIONS, 2 * QUESTIONS])
def test_a_second_header_is_refused(tmp_path, more):
    path = saved(tmp_path / "t.csv", f"kind,age,stay\n{more}{ANSWERS}")
    with refuses("header-row"):
        cells(path, header=True)
    names, rows = cells(path, skip=more.count("\n"))
    assert (names, len(rows)) == (tuple(QUESTIONS.strip().split(",")), 12)
    assert len(cells(path, skip=0, header=True)[1]) == 12 + more.count("\n")


def test_missing_numbers_in_the_first_row_are_no_second_header(tmp_path):
    assert len(cells(saved(tmp_path / "t.csv", f"kind,age,stay\nq0,NA,?\n{ANSWERS}"))[1]) == 13


def test_the_lines_of_a_title_are_counted_for_the_reader(tmp_path):
    text = "A track\nin feet\n0,2,255\n" + "39.9,116.3,0,2008-10-23\n" * 30
    path = saved(tmp_path / "t.plt", text)
    with refuses("unclear-separator"):
        cells(path)
    assert len(cells(path, skip=3)[1]) == 30


def test_entries_are_compared_without_blanks(tmp_path):
    text = "".join(f"{n} - - (X; Linux)\n" for n in range(9))
    names, rows = cells(saved(tmp_path / "t.log", text))
    assert (names, len(rows)) == (("1", "2"), 9)


def test_years_may_be_names(tmp_path):
    text = "Country,Code,1960,1961,1962\n" + "".join(f"c{n},k{n},{n},7,{n}.5\n" for n in range(9))
    names, rows = cells(saved(tmp_path / "t.csv", text))
    assert (names[2:], len(rows)) == (("1960", "1961", "1962"), 9)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # R names no column above the names of rows.
        ('"sex" "age"\n"a" "f" 1\n"b" "m" 2\n"c" "f" 3\n', ("1", "sex", "age")),
        ("sex,age\n1,f,1\n2,m,2\n3,f,3\n", ("1", "sex", "age")),
        # A separator ends each row.
        ("sex,age\nf,1,\nm,2,\nf,3,\n", ("sex", "age", "3")),
    ],
)
def test_a_header_may_leave_out_one_name(tmp_path, text, names):
    found, rows = cells(saved(tmp_path / "t.txt", text))
    assert found == names
    ages = [row[names.index("age")] for row in rows]
    assert ages == ["1", "2", "3"]


def test_single_quotes_need_not_stand_in_the_header(tmp_path):
    text = "id,'name',town\n1,'Ann Ox','Ulm'\n2,'Bo Fry','Bonn'\n"
    names, rows = cells(saved(tmp_path / "t.csv", text))
    assert (names, rows[0]) == (("id", "name", "town"), ("1", "Ann Ox", "Ulm"))


ALIGNED = "".join(
    f'{18 + row % 7:.1f}   {4 + row % 3}  {300 + 7 * row:6.1f}{end}"car {row % 9}"\n'
    for row, end in zip(range(40), ["\t", "  ", " \t "] * 14, strict=False)
)


def test_any_number_of_blanks_may_separate_columns(tmp_path):
    path = saved(tmp_path / "auto.data", ALIGNED)
    found = rr.inspect(path)
    assert found.facts["separator"] == "blanks"
    assert [one.distinct for one in found.columns] == [7, 3, 40, 9]
    plain = "".join(",".join(shlex.split(line)) + "\n" for line in ALIGNED.splitlines())
    wanted = rr.inspect(saved(tmp_path / "auto.csv", plain))
    assert [one.kind for one in found.columns] == [one.kind for one in wanted.columns]


def test_a_tab_behind_aligned_columns_is_not_the_only_separator(tmp_path):
    text = re.sub(r'\s+"', '\t"', ALIGNED)
    assert {line.count("\t") for line in text.splitlines()} == {1}
    assert len(rr.inspect(saved(tmp_path / "auto.data", text)).columns) == 4


def test_texts_with_blanks_in_a_table_with_tabs_stay_whole(tmp_path):
    lines = [f"u{row}\tsome  words\t\tin {row % 5}\n" for row in range(20)]
    for name in ("t.tsv", "t.txt"):
        assert len(rr.inspect(saved(tmp_path / name, "".join(lines))).columns) == 4


def test_blanks_are_named_where_a_name_claims_commas(tmp_path):
    path = saved(tmp_path / "auto.csv", ALIGNED)
    with refuses("unclear-separator") as caught:
        rr.inspect(path)
    assert 'separator="blanks"' in str(caught.value)
    assert len(rr.inspect(path, separator="blanks").columns) == 4


def test_a_line_with_an_entry_too_few_between_blanks_is_named(tmp_path):
    path = saved(tmp_path / "auto.data", ALIGNED * 6 + '1.0  2  "x"\n')
    with refuses("ragged-row") as caught:
        rr.inspect(path)
    assert "line 241: 3 entries, and line 1 has 4" in str(caught.value)


def test_all_entries_of_a_line_that_is_too_long_are_counted(tmp_path):
    rows = "".join(",".join(str(row * place) for place in range(31)) + "\n" for row in range(30))
    with refuses("ragged-row") as caught:
        rr.inspect(saved(tmp_path / "t.csv", "569,30,a,b\n" + rows))
    assert "line 2: 31 entries, and line 1 has 4" in str(caught.value)
    assert "skip=1" in str(caught.value)
