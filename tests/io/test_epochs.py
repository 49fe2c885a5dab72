"""Which epoch comes first, and how that is said."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyarrow import parquet
from tests.snapshots import refuses

from reidrisk import InvalidInput
from reidrisk.data import make_profiles, read_linked, read_profiles
from reidrisk.io.epochs import describe_epochs, order_of
from reidrisk.io.overlap_checks import canonical, form_of

IN_ORDER = {
    "weeks": ([f"week {n}" for n in range(1, 13)], "the numbers in their names"),
    "decimals": ([f"{n}.0" for n in range(1, 13)], "numbers"),
    "a stray text": ([*map(str, range(1, 13)), "holiday"], "the numbers in their names"),
    "whole numbers": (list(range(-2, 13)), "whole numbers"),
    "days without hyphens": ([20221231, 20230101, 20230501], "days"),
    "no days": ([20221231, 20230101, 20230532], "whole numbers"),
    "days": (["2022-12-31", "2023-01-01", "20230201", "2023-05-01"], "times"),
    "iso weeks": (["2022-W52", "2023-W05", "2023-W12"], "times"),
    "weeks without zeros": (["2022-W52", "2023-W5", "2023-W12"], "the numbers in their names"),
    "months": (["2022-12", "2023-01", "2023-11"], "the numbers in their names"),
    "zones": (["2023-05-01T01:00:00+02:00", "2023-05-01T00:00:00Z", "2023-05-01T00:00:00-02:00"],
              "times"),
    "days and months": (["31.12.2022", "01.01.2023", "02.01.2023"], "times"),
    "months and days": (["12/31/2022 8:26", "1/1/2023 18:00", "1/2/2023 8:00"], "times"),
    "text": (["autumn", "spring", "winter"], "the letters of their names"),
    "one month": ([f"May {n}" for n in (1, 2, 10, 30)], "the numbers in their names"),
    "more digits than an integer holds": (["x" + "9" * 5_000, "x1" + "0" * 5_000],
                                          "the numbers in their names"),
}  # fmt: skip


def array(names):
    return np.array(names, np.int64 if isinstance(names[0], int) else object)


@pytest.mark.parametrize(("names", "by"), IN_ORDER.values(), ids=IN_ORDER)
def test_epochs_come_in_the_order_of_what_their_names_mean(names, by):
    mixed = np.random.default_rng(1).permutation(len(names))
    order = order_of(array(names)[mixed])
    assert array(names)[mixed][order.places].tolist() == names
    assert order.by == by


@pytest.mark.parametrize(
    "names",
    [["31.12.2022", "12.31.2022"], ["12/31/2022", "31/1/2023"], ["May", "June"], ["3 Jan", "1 Feb"],
     ["Monday", "Tuesday"]],
)  # fmt: skip
def test_names_that_leave_the_order_open_are_refused(names):
    with refuses("ambiguous-epochs"):
        order_of(array(names), "k.csv")


def test_days_that_may_be_months_are_refused():
    with refuses("ambiguous-times"):
        order_of(array(["3/4/2022", "4/3/2022"]), "k.csv")


@pytest.mark.parametrize("names", [["1", "1.0"], ["week 1", "week 01"], ["2023-05-01", "20230501"]])
def test_one_epoch_in_two_spellings_is_refused_and_not_quoted(names):
    with refuses("ambiguous-epochs") as wrong:
        order_of(array(names), "k.csv")
    assert not any(repr(name) in str(wrong.value) for name in names)


def test_times_with_and_without_a_zone_are_refused():
    with refuses("ambiguous-epochs"):
        order_of(array(["2023-05-01T00:00:00Z", "2023-05-02T00:00:00"]))


@given(some.sets(some.integers(0, 10**20), min_size=1), some.sampled_from(["", "week ", "w", "é"]))
def test_numbers_in_names_go_by_size(numbers, before):
    names = np.array([f"{before}{number}" for number in numbers], object)
    found = [int(name[len(before) :]) for name in names[order_of(names).places]]
    assert found == sorted(numbers)


@given(some.lists(some.text(max_size=8), min_size=1, max_size=20, unique=True))
def test_any_names_have_an_order_or_a_reason(names):
    try:
        order = order_of(np.array(names, object))
    except InvalidInput:
        return
    assert sorted(order.places.tolist()) == list(range(len(names)))
    assert describe_epochs(names)
    assert all(form_of(name) and canonical(name) is not None for name in names)


def test_long_numbers_that_differ_in_their_last_digit_do_not_mean_the_same():
    assert canonical("1" * 29 + "1") != canonical("1" * 29 + "2")
    assert canonical("18446744073709551614") != canonical("18446744073709551615")


def test_the_order_is_told():
    weeks = [f"week {n}" for n in range(1, 13)]
    assert describe_epochs(weeks) == (
        "A slot is one epoch: week 1, week 2, ..., week 12; 12 in all, in the order of the numbers "
        "in their names."
    )
    assert describe_epochs(["1", "2", "10"]) == (
        "A slot is one epoch: 1, 2, 10; 3 in all, in the order of whole numbers."
    )
    assert "20230501; 2 in all, in the order of days" in describe_epochs([20221231, 20230501])
    assert describe_epochs([8, 7]).endswith("2 in all, in the order that was asked for.")
    assert describe_epochs(["May", "June"]).endswith("2 in all, in the order that was asked for.")
    assert describe_epochs(["x"]) == "A slot is one epoch: x."


def weekly(path, user="ann"):
    path.write_text(
        "user,epoch,token\n" + "".join(f"{user},week {n},{n}\n" for n in range(12, 0, -1))
    )
    return path


def test_weeks_of_two_tables_come_in_their_order(tmp_path):
    linked = read_linked(weekly(tmp_path / "k.csv"), weekly(tmp_path / "a.csv"))
    assert linked.slot_names == tuple(f"week {n}" for n in range(1, 13))
    assert linked.labels[linked.anonymous[0]].tolist() == list(range(1, 13))
    assert linked.known.block(0, 1).tolist() == linked.anonymous.tolist()


def test_weeks_of_people_come_in_their_order(tmp_path):
    people = read_profiles(weekly(tmp_path / "p.csv"))
    assert people.epoch_labels.tolist() == [f"week {n}" for n in range(1, 13)]
    assert [people.labels[people.cell(0, n)[0][0]] for n in range(12)] == list(range(1, 13))
    asked = read_profiles(weekly(tmp_path / "p.csv"), epochs=["week 10", "week 2"])
    assert asked.epoch_labels.tolist() == ["week 10", "week 2"]


def test_epochs_of_unequal_tables_come_in_their_order(tmp_path):
    (tmp_path / "k.csv").write_text("user,epoch,token\nann,week 10,1\nann,week 9,2\n")
    (tmp_path / "a.csv").write_text("user,epoch,token\nann,week 9,2\nann,week 8,3\n")
    linked = read_linked(tmp_path / "k.csv", tmp_path / "a.csv")
    assert linked.slot_names == ("week 8", "week 9", "week 10")
    assert linked.known.block(0, 1).tolist() == [[-1, 1, 0]]
    assert linked.anonymous.tolist() == [[2, 1, -1]]


def test_days_of_parquet_are_epochs(tmp_path):
    days = [date(2023, 5, 2), date(2023, 4, 30)]
    table = pa.table({"user": ["ann", "ann"], "epoch": days, "token": [1, 2]})
    parquet.write_table(table, tmp_path / "k.parquet")
    (tmp_path / "a.csv").write_text("user,epoch,token\nann,2023-05-02,1\n")
    linked = read_linked(tmp_path / "k.parquet", tmp_path / "a.csv")
    assert linked.slot_names == ("2023-04-30", "2023-05-02")
    assert linked.anonymous.tolist() == [[-1, 0]]


def test_epochs_in_memory_come_in_their_order():
    people = make_profiles(["a"] * 3, ["t10", "t2", "t1"], [1, 2, 3])
    assert people.epoch_labels.tolist() == ["t1", "t2", "t10"]
