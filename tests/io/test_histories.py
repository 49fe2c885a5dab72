"""Visits into epochs, hosts into tokens."""

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk.data import Epochs, read_histories
from reidrisk.io.histories import domain_table, normal_host

DOMAINS = {
    "example.com": [10, 20],
    "sport.example.com": [30],
    "blank.example.com": [],
    "bbc.co.uk": [40],
    "localhost": [10],
    "com": [99],
}


@pytest.mark.parametrize(
    ("host", "tokens"),
    [
        ("example.com", [10, 20]),
        ("www.example.com", [10, 20]),
        ("WWW.Example.COM.", [10, 20]),
        ("https://user@www.example.com:8080/path?a=b", [10, 20]),
        ("sport.example.com", [30]),
        ("live.sport.example.com", [30]),
        ("blank.example.com", []),
        ("notexample.com", None),
        ("news.bbc.co.uk", [40]),
        ("co.uk", None),
        ("localhost", [10]),
        ("com", [99]),
        ("other.com", None),
        ("[::1]", None),
        ("", None),
    ],
)
def test_the_longest_suffix_decides(host, tokens):
    table = domain_table(DOMAINS)
    found = table.find(host)
    labels = table.labels[table.tokens[table.ends[found] : table.ends[found + 1]]]
    assert (found < 0) == (tokens is None)
    assert tokens is None or labels.tolist() == tokens


def test_hosts_in_other_letters():
    assert normal_host("Bücher.example") == "xn--bcher-kva.example"
    assert normal_host("a..ü") == "a..ü"


VISITS = """user,timestamp,domain
ann,2023-05-01T08:00:00,www.example.com
ann,2023-05-02T08:00:00,example.com
ann,2023-05-02T09:00:00,sport.example.com
ann,2023-05-09T00:00:00,unknown.org
bob,2023-05-08T00:00:00,bbc.co.uk
bob,2023-05-20T00:00:00,bbc.co.uk
"""


def read(tmp_path, text=VISITS, domains=DOMAINS, **options):
    path = tmp_path / "visits.csv"
    path.write_text(text)
    return read_histories(path, domains, **options)


def test_visits_are_counted_per_week(tmp_path):
    people = read(tmp_path, epochs=Epochs(count=2))
    assert people.ids.tolist() == ["ann", "bob"]
    assert people.labels.tolist() == [10, 20, 30, 40, 99]
    assert [column.tolist() for column in people.cell(0, 0)] == [[0, 1, 2], [2, 2, 1]]
    assert [column.tolist() for column in people.cell(1, 1)] == [[3], [1]]
    assert people.present.tolist() == [[True, True], [False, True]]
    counts = people.counts
    assert (counts.rows, counts.other_epochs, counts.visits_without_tokens) == (6, 1, 1)
    assert counts.absent == 1


def test_who_only_visits_unknown_hosts_is_padded(tmp_path):
    people = read(tmp_path, epochs=Epochs(count=2))
    sets = people.top_sets(0, 2, top=3, seed=1)
    assert (sets[0, 1] >= 0).all()
    assert (sets[1, 0] == -1).all()


def test_without_a_count_epochs_last_until_the_last_visit(tmp_path):
    assert read(tmp_path).epochs == 3
    days = read(tmp_path, epochs=Epochs(length=timedelta(days=1)))
    assert days.epochs == 20


def test_epochs_start_where_they_are_told(tmp_path):
    start = datetime(2023, 5, 2, 9, tzinfo=UTC)
    people = read(tmp_path, epochs=Epochs(start=start, count=1))
    assert [column.tolist() for column in people.cell(0, 0)] == [[2], [1]]
    assert people.counts.other_epochs == 3
    same = datetime(2023, 5, 2, 11, tzinfo=timezone(timedelta(hours=2)))
    again = read(tmp_path, epochs=Epochs(start=same, count=1))
    assert again.counts == people.counts
    naive = read(tmp_path, epochs=Epochs(start=datetime(2023, 5, 2, 9), count=1))  # noqa: DTZ001
    assert naive.counts == people.counts


def test_overlapping_epochs_count_a_visit_in_each(tmp_path):
    """Weeks that begin every three days: day 8 falls into those that begin on days 3 and 6."""
    people = read(tmp_path, epochs=Epochs(every=timedelta(days=3), count=4))
    assert people.present.tolist() == [[True, True, True, False], [False, True, True, False]]
    assert people.counts.visits_without_tokens == 1


@pytest.mark.parametrize(
    "kind",
    [
        pa.int64(),
        pa.timestamp("s"),
        pa.timestamp("ms", "UTC"),
        pa.timestamp("ns", "Asia/Tokyo"),
        pa.date32(),
    ],
)
def test_every_kind_of_time_is_read(tmp_path, kind):
    seconds = pa.array([1682899200, 1683504000])
    times = seconds if kind == pa.int64() else seconds.cast(pa.timestamp("s")).cast(kind)
    table = pa.table({"user": [1, 1], "timestamp": times, "domain": ["bbc.co.uk"] * 2})
    parquet.write_table(table, tmp_path / "v.parquet")
    assert read_histories(tmp_path / "v.parquet", DOMAINS).present.tolist() == [[True, True]]


def test_domain_tables_are_files_too(tmp_path):
    (tmp_path / "pairs.csv").write_text("domain,token\nexample.com,10\nexample.com,20\nx.org,\n")
    (tmp_path / "lists.csv").write_text("domain,tokens\nexample.com,10;20\nx.org,\n")
    table = pa.table({"domain": ["example.com", "x.org", "y.org"], "tokens": [[10, 20], [], None]})
    parquet.write_table(table, tmp_path / "lists.parquet")
    for name in ("pairs.csv", "lists.csv", "lists.parquet"):
        read_table = domain_table(tmp_path / name)
        assert read_table.labels.tolist() == [10, 20]
        ends = read_table.ends[read_table.find("www.example.com") :][:2]
        assert read_table.tokens[slice(*ends)].tolist() == [0, 1]
        assert read_table.find("x.org") >= 0
        assert read_table.find("z.org") < 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (
            {"epochs": Epochs(start=datetime(2030, 1, 1, tzinfo=UTC), count=1)},
            "no-visits",
        ),
        ({"taxonomy": [10, 20]}, "not-in-taxonomy"),
        ({"domains": {"a.org": []}}, "no-tokens"),
        ({"domains": {}}, "empty-table"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, options, code):
    with refuses(code):
        read(tmp_path, **options)


def test_impossible_epochs_are_refused():
    with refuses("invalid-epoch-length"):
        Epochs(length=timedelta(0))
    with refuses("not-a-whole-number"):
        Epochs(count=0)


DAYS = {
    "days without hyphens": ["20230501", "20230515"],
    "days": ["2023-05-01", "2023-05-15"],
    "weeks": ["2023-W18", "2023-W20"],
    "zones": ["2023-05-01T02:00:00+02:00", "2023-05-15T00:00:00Z"],
    "seconds": ["1682899200", "1684108800"],
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("times", DAYS.values(), ids=DAYS)
def test_days_and_weeks_are_recognised_and_epochs_say_how_they_were_read(tmp_path, times, suffix):
    path = tmp_path / f"v{suffix}"
    if suffix == ".csv":
        rows = "".join(f"1,{time},bbc.co.uk\n" for time in times)
        path.write_text(f"user,timestamp,domain\n{rows}")
    else:
        values = list(map(int, times)) if times[0].isdecimal() else times
        table = {"user": [1, 1], "timestamp": values, "domain": ["bbc.co.uk"] * 2}
        parquet.write_table(pa.table(table), path)
    people = read_histories(path, DOMAINS)
    assert people.present.tolist() == [[True, False, True]]
    assert people.epoch_labels.tolist() == ["2023-05-01", "2023-05-08", "2023-05-15"]


def test_epochs_that_begin_within_a_day_say_when(tmp_path):
    epochs = Epochs(start=datetime(2023, 5, 1, 12, tzinfo=UTC), count=2)
    people = read(tmp_path, epochs=epochs)
    assert people.epoch_labels.tolist() == ["2023-05-01T12:00:00Z", "2023-05-08T12:00:00Z"]


@pytest.mark.parametrize(
    ("times", "code"),
    [
        (["2023-05-01", "9999-12-31"], "invalid-timestamp"),
        (
            ["2023-05-01T00:00:00", "9999-12-31T23:59:59"],
            "invalid-timestamp",
        ),
        (["20230501", "20230532"], "invalid-timestamp"),
        (["20230501083000", "20230501083100"], "invalid-timestamp"),
        (["18446744073709551615", "18446744073709551614"], "wrong-column-type"),
    ],
)
def test_times_that_no_visit_has_are_refused_without_a_traceback(tmp_path, times, code):
    rows = "".join(f"ann,{time},bbc.co.uk\n" for time in times)
    with refuses(code) as wrong:
        read(tmp_path, f"user,timestamp,domain\n{rows}")
    assert not any(time in str(wrong.value) for time in times)


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("ms", "UTC"), pa.date32(), pa.uint64()]
)
def test_the_end_of_time_is_refused_in_parquet_too(tmp_path, kind):
    moments = [datetime(2023, 5, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
    if kind == pa.uint64():
        times = pa.array([2**64 - 1, 1], kind)
    elif pa.types.is_date(kind):
        times = pa.array([moment.date() for moment in moments], kind)
    else:
        times = pa.array(moments, pa.timestamp("us", "UTC")).cast(kind)
    table = pa.table({"user": [1, 1], "timestamp": times, "domain": ["bbc.co.uk"] * 2})
    parquet.write_table(table, tmp_path / "v.parquet")
    with refuses("invalid-timestamp"):
        read_histories(tmp_path / "v.parquet", DOMAINS)
