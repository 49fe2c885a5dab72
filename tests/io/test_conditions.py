"""Conditions on rows: what they choose, what they refuse, and that they reach nothing else."""

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import reidrisk as rr
from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import InvalidInput
from reidrisk.io.layouts import Layout
from reidrisk.io.table_files import TEXT
from reidrisk.io.tables import read_table

ROWS = """\
InvoiceNo,Stock Code,Quantity,InvoiceDate,UnitPrice,CustomerID,Country,c1
536365,a,6,12/1/2010 8:26,0.4,17850,United Kingdom,x
C536379,b,-1,12/1/2010 9:41,2.55,,France,y
536367,c,10,12/13/2010 8:34,3,13047,United Kingdom,z
536368,d, 2 ,1/4/2011 10:00,.5,13047,EIRE,x
"""


@pytest.fixture(name="retail")
def saved(tmp_path):
    path = tmp_path / "retail.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def chosen(given, where, **layout):
    """The stock codes of the rows that meet a condition."""
    found, _ = read_table(given, {"Stock Code": TEXT}, layout=Layout(where=where, **layout))
    return "".join(found["Stock Code"].to_pylist())


@pytest.mark.parametrize(
    ("where", "codes"),
    [
        ("Quantity > 0", "acd"),
        # As whole numbers, .4 and .5 would not be above zero.
        ("UnitPrice > 0", "abcd"),
        ("UnitPrice between 0.45 and 2.6", "bd"),
        ("quantity >= 7", "c"),
        ("Quantity > '7'", "c"),
        ("-Quantity > 0", "b"),
        ("Quantity + 0 > UnitPrice + 7", ""),
        ("Quantity * UnitPrice > 2.3", "ac"),
        ("Quantity in (6, 10)", "ac"),
        ("abs(Quantity) = 1", "b"),
        ("CustomerID is not null", "acd"),
        ("CustomerID <> ''", "acd"),
        ("InvoiceNo not like 'C%'", "acd"),
        ("\"Stock Code\" in ('a', 'c')", "ac"),
        ("Country = 'EIRE' or starts_with(Country, 'Fr')", "bd"),
        ("not (Country = 'United Kingdom')", "bd"),
        ("case when Quantity < 0 then false else true end", "acd"),
        ("c1 = 'x' -- a column of the file, and not of the relation", "ad"),
        ("try_cast(InvoiceNo as integer) is null", "b"),
        ("strptime(InvoiceDate, '%m/%d/%Y %H:%M') >= timestamp '2010-12-02'", "cd"),
        ("year(strptime(InvoiceDate, '%m/%d/%Y %H:%M')) = 2011", "d"),
    ],
)
def test_conditions_choose_rows(retail, where, codes):
    if codes:
        assert chosen(retail, where) == codes
    else:
        with pytest.raises(InvalidInput, match="met by no row"):
            chosen(retail, where)


def test_conditions_on_columns_with_types(tmp_path):
    frame = pd.DataFrame({"Stock Code": list("abc"), "n": [1.5, None, -2.0], "big": [9, 10, 11]})
    assert chosen(frame, "n > 0") == "a"
    assert chosen(frame, "n is null or big > 10") == "bc"
    # Numbers are compared as numbers.
    assert chosen(frame, "big + 0.6 > n + 11") == "c"
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_pandas(frame), path)
    assert chosen(path, "n > 0 or big = 10") == "ab"


def test_columns_without_names_are_numbers(tmp_path):
    path = tmp_path / "plays.tsv"
    path.write_text("ann\tx\t3\nbob\ty\t12\nbob\tx\t1\n", encoding="utf-8")
    people = rr.data.read_plays(path, layout=Layout(where='"3" > 2'))
    assert people.counts.rows == 2
    assert people.notes == (f"{path}: 2 of 3 rows meet the condition",)
    assert people.labels.tolist() == ["x", "y"]


REFUSED = [
    (" ", "is empty"),
    ("Quantity >", "cannot be read"),
    ("Quantity > 0; drop table t", "cannot be read"),
    ("Quantity > 0 limit 1", "cannot be read"),
    ("Quantity as x", "cannot be read"),
    ("Quantity > 0) or (1 = 1", None),
    ("1) from read_text('OTHER') where (1", "more than one expression"),
    ("true) union (select content = '' from read_text('OTHER')", "more than one expression"),
    ("true), (false", "more than one expression"),
    ("true) order by (1", "more than one expression"),
    ("true) group by (1", "more than one expression"),
    ("(select content from read_text('OTHER')) <> ''", "query of its own"),
    ("exists (from 'OTHER')", "query of its own"),
    ("CustomerID in (select content from read_text('OTHER'))", "query of its own"),
    ("CustomerID = any(select content from read_text('OTHER'))", "query of its own"),
    ("with t as (from 'OTHER') select true", "query of its own"),
    ("read_text('OTHER') = ''", "calls read_text"),
    ("read_csv_auto('OTHER') = ''", "calls read_csv_auto"),
    ("query('from ''OTHER''') = ''", "calls query"),
    ("main.lower(Country) = ''", "."),
    ("system.main.lower(Country) = ''", "."),
    ("getenv('HOME') = ''", "calls getenv"),
    ("current_setting('allowed_paths') = ''", "calls current_setting"),
    ("getvariable('x') is null", "calls getvariable"),
    ("nextval('x') > 0", "calls nextval"),
    ("error('x')", "calls error"),
    ("random() > 0.5", "calls random"),
    ("count(*) > 1", "calls count_star"),
    ("sum(Quantity) > 1", "calls sum"),
    ("row_number() over () > 1", "something else"),
    ("list_filter([1], x -> x > 0) is null", "calls list_filter"),
    ("columns(*) = ''", "something else"),
    ("#1 = ''", "something else"),
    ("? = ''", "something else"),
    ("$name = ''", "something else"),
    ("c0 = ''", "does not have"),
    ("row = 1", "does not have"),
    ("Contry = 'EIRE'", "nearest is 'Country'"),
    ('Country = "EIRE"', "single quotes"),
    ("other.csv = 1", "does not have"),
    ("Quantity", "neither true nor false"),
    ("Quantity > UnitPrice", "write [+] 0"),
    ("InvoiceNo > 1", "row 2: 'InvoiceNo' must be a number"),
    ("cast(InvoiceNo as integer) > 1", "try_cast"),
    ("strptime(InvoiceDate, '%Y') > date '2011-01-01'", "try_cast"),
    ("InvoiceDate > date '2011-01-01'", "makes no sense here"),
    ("Country = 'Narnia'", "met by no row"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "why"), REFUSED)
def test_other_conditions_are_refused(retail, where, why):
    """Neither a second file nor anything of the machine is within reach of a condition."""
    other = retail.with_name("other.csv")
    other.write_text("content\nsecret\n", encoding="utf-8")
    if why is None:  # brackets that close and open again are one expression all the same
        assert chosen(retail, where) == "abcd"
        return
    with pytest.raises(InvalidInput, match=why) as refused:
        chosen(retail, where.replace("OTHER", str(other)))
    assert refused.value.code in {"invalid-condition", "malformed-line"}
    for cell in ("secret", "C536379", "17850", "8:26"):
        assert cell not in str(refused.value)
        assert refused.value.__context__ is None or cell not in str(refused.value.__context__)


def test_messages_name_rows_of_the_file(tmp_path):
    path = tmp_path / "plays.csv"
    path.write_text("user,item,count\nann,x,1\nann,y,2\nbob,x,0\nbob,y,-3\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="row 4: 'count' is negative"):
        rr.data.read_plays(path, layout=Layout(where="item = 'y'"))
    with pytest.raises(InvalidInput, match=r"row 4: the same user as in .*, row 3"):
        rr.singling(path, columns=("count",), user="user", where="item = 'x' or count = -3")


def test_a_condition_is_said_as_the_reader_writes_it(retail):
    with speaking("options"), pytest.raises(InvalidInput, match=r"the condition \(--where\)"):
        chosen(retail, "Narnia")


def test_a_file_that_is_wrong_is_said_to_be(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("user,item\nann,x\nbob,y,z\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 3"):
        rr.data.read_plays(path, layout=Layout(where="item = 'x'"))


@pytest.mark.parametrize(
    ("form", "written", "iso"),
    [
        ("%d.%m.%Y", "1.12.2010", "2010-12-01"),
        ("%m/%d/%Y %H:%M", "12/1/2010 8:26", "2010-12-01 08:26:00"),
        ("%d.%m.%y %I:%M:%S %p", "01.12.10 08:26:30 PM", "2010-12-01 20:26:30"),
        ("%Y%m%d", "20101201", "2010-12-01"),
        ("%d %b %Y %H:%M %z", "01 Dec 2010 08:26 +0100", "2010-12-01 07:26:00+00:00"),
        ("%Y-%m-%d %H:%M:%S.%f", "2010-12-01 08:26:30.25", "2010-12-01 08:26:30.250000"),
    ],
)
def test_times_in_a_form_become_iso(tmp_path, form, written, iso):
    path = tmp_path / "t.csv"
    path.write_text(f"user,when\nann, {written} \nbob,\n", encoding="utf-8")
    layout = Layout(epoch="when", time_format=form)
    for given in (path, {"user": ["ann", "bob"], "when": [written, None]}):
        found, _ = read_table(given, {"when": TEXT}, layout=layout)
        assert found["when"].to_pylist() == [iso, ""]


def test_wrong_forms_of_times_are_refused(retail):
    for form, why in (("%Q", "not a form of times"), ("%d.%m.%Y", "row 1: 'InvoiceDate' is not")):
        with pytest.raises(InvalidInput, match=why):
            chosen(retail, None, epoch="InvoiceDate", time_format=form)
    with pytest.raises(InvalidInput, match="name the column of times with epoch="):
        chosen(retail, None, time_format="%d.%m.%Y")
    frame = {"Stock Code": ["a"], "when": pa.array([1], pa.timestamp("s"))}
    with pytest.raises(InvalidInput, match="leave time_format= out"):
        chosen(frame, None, epoch="when", time_format="%Y")


def test_a_condition_sees_times_as_iso(retail):
    layout = {"epoch": "InvoiceDate", "time_format": "%m/%d/%Y %H:%M"}
    assert chosen(retail, "InvoiceDate >= '2010-12-13'", **layout) == "cd"
