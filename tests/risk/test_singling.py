"""Who is alone in a table: against counting by hand, and against the exact theory."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.risk.tables import groups as groups_module
from reidrisk.risk.tables._singling import singling
from reidrisk.risk.tables.groups import reference_sizes

VALUES = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))


def tables(columns=3, rows=12):
    row = st.tuples(*[VALUES] * columns)
    return st.lists(row, min_size=1, max_size=rows)


def as_table(rows):
    names = [f"c{place}" for place in range(len(rows[0]))]
    return {
        name: pa.array(column, pa.string())
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def measured(rows, **more):
    table = as_table(rows)
    return singling(table, columns=list(table), **more)


def counted(rows, columns):
    """Unique people and groups of those who know some columns."""
    sizes = Counter(tuple(row[column] for column in columns) for row in rows)
    return sum(size == 1 for size in sizes.values()), len(sizes)


def fair_shares(rows, part):
    """Shapley's value by its definition: over all orders of the columns."""
    number = len(rows[0])
    shares = [Fraction(0)] * number
    for order in itertools.permutations(range(number)):
        for place, column in enumerate(order):
            added = counted(rows, order[: place + 1])[part] - counted(rows, order[:place])[part]
            shares[column] += Fraction(added, math.factorial(number) * len(rows))
    return shares


@settings(deadline=None, max_examples=40)
@given(tables())
def test_groups_are_those_of_counting_by_hand(rows):
    found = measured(rows)
    sizes = reference_sizes(rows)
    assert sizes == [Counter(rows)[row] for row in rows]
    assert found.k.tolist() == sizes
    assert (found.people, found.groups, found.smallest) == (len(rows), len(set(rows)), min(sizes))
    assert found.unique == sum(size == 1 for size in sizes)
    assert found.empty == tuple(
        sum(cell is None for cell in column) for column in zip(*rows, strict=True)
    )
    for group in found.sizes:
        inside = [size for size in sizes if group.least <= size <= (group.most or math.inf)]
        assert group.people == len(inside)
        assert group.groups == sum(Fraction(1, size) for size in inside)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_the_optimum_is_that_of_the_theory(rows):
    """Every person always shows the same: their values."""
    found = measured(rows)
    shown = sorted(set(rows), key=str)
    matrix = np.array([[float(row == one) for one in shown] for row in rows])
    assert found.optimum.value == rr.theory.random_user_optimum(matrix)
    assert found.smallest == rr.theory.anonymity(matrix)
    assert found.k_anonymity.value == rr.theory.upper_from_k_anonymity(found.smallest)
    assert found.optimum.value <= found.k_anonymity.value
    assert {bound.side for bound in found.bounds} == {"upper"}
    assert len(found.bounds) == 1 + (found.smallest > 1)


@settings(deadline=None, max_examples=60)
@given(tables(columns=4, rows=9))
def test_columns_add_what_all_orders_say(rows):
    found = measured(rows)
    for part, (name, out) in enumerate(
        [("unique_share", "unique_without"), ("optimum_share", "groups_without")]
    ):
        assert [getattr(one, name).value for one in found.parts] == [
            float(share) for share in fair_shares(rows, part)
        ]
        assert [getattr(one, out) for one in found.parts] == [
            counted(rows, [other for other in range(4) if other != column])[part]
            for column in range(4)
        ]
    assert [one.distinct for one in found.parts] == [
        len(set(column)) for column in zip(*rows, strict=True)
    ]


@settings(deadline=None, max_examples=15)
@given(tables(columns=3, rows=9))
def test_too_many_sets_of_columns_are_sampled_with_an_interval(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups_module, "MOST_WORK", 0)
        found = measured(rows)
    for part, name in enumerate(("unique_share", "optimum_share")):
        for one, share in zip(found.parts, fair_shares(rows, part), strict=True):
            estimate = getattr(one, name)
            assert estimate.trials == groups_module.FEWEST_ORDERS
            assert estimate.level == 0.95
            # Orders are drawn by a fixed seed: all of these intervals hold.
            assert estimate.low <= share <= estimate.high
    assert [one.unique_without for one in found.parts] == [
        one.unique_without for one in measured(rows).parts
    ]


@settings(deadline=None, max_examples=40)
@given(tables(columns=3))
def test_keys_beyond_64_bits_are_numbered_on_the_way(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups_module, "MOST_KEYS", 5)
        small = measured(rows)
    assert small == measured(rows)
    assert small.k.tolist() == reference_sizes(rows)


def test_no_two_rows_share_a_key_by_overflow():
    """Nine columns of 512 values are 2^81 combinations; the rows differ in the first only."""
    rows = np.arange(512)
    table = {f"c{place}": np.concatenate([rows, rows]) for place in range(1, 9)}
    first = {"c0": np.concatenate([rows, (rows + 4) % 512])}
    found = singling({**first, **table}, columns=["c0", *table])
    assert found.unique == 1024
    assert found.parts[0].unique_without == 0


@settings(deadline=None, max_examples=40)
@given(tables(columns=2), tables(columns=2))
def test_a_register_counts_who_shares_a_record(rows, others):
    found = measured(rows, register=as_table(others))
    crowd = [others.count(row) for row in rows]
    inside = [max(crowd[place], rows.count(row)) for place, row in enumerate(rows) if crowd[place]]
    register = found.register
    assert found.crowd.tolist() == crowd
    assert (register.people, register.found) == (len(others), len(inside))
    assert register.not_found == crowd.count(0)
    assert register.short == sum(
        0 < many < rows.count(row) for many, row in zip(crowd, rows, strict=True)
    )
    assert register.unique == inside.count(1)
    if inside:
        right = sum(Fraction(1, many) for many in inside) / len(inside)
        assert register.optimum.value == float(right)
        assert register.smallest == min(inside)
    assert sum(size.people for size in register.sizes) == len(inside)


def test_the_order_of_rows_and_of_columns_does_not_matter():
    rng = np.random.default_rng(1)
    rows = [tuple(row) for row in rng.choice(["a", "b", "c", "d"], (60, 3)).tolist()]
    found, turned = measured(rows), measured(rows[::-1])
    assert found == turned
    assert found.k.tolist() == turned.k.tolist()[::-1]
    table = as_table(rows)
    other = singling(table, columns=["c2", "c0", "c1"])
    assert {one.name: one for one in other.parts} == {one.name: one for one in found.parts}


def test_values_of_few_people_are_not_named():
    table = {
        "town": ["Ham"] * 12 + ["Eck"] * 9 + ["Wyl"],
        "age": [*range(12), *[1] * 9, 40],
    }
    found = singling(table, columns=["town", "age"])
    assert [(one.column, one.value, one.people, one.unique) for one in found.values] == [
        ("town", "Ham", 12, 12),
        ("age", "1", 10, 1),
    ]
    assert [(one.values, one.people, one.unique) for one in found.rare] == [
        (2, 10, 1),
        (12, 12, 12),
    ]
    assert "Eck" not in str(found.record)
    assert "Wyl" not in repr(found)
    everything = singling(table, columns=["town", "age"], least=1)
    assert ("town", "Wyl") in {(one.column, one.value) for one in everything.values}
    assert sum(one.values for one in everything.rare) == 0


def test_an_empty_cell_is_a_value_in_every_kind_of_file(tmp_path):
    (tmp_path / "people.csv").write_text('town,age\nHam,\nHam,""\nHam,7\n')
    table = pa.table({"town": ["Ham"] * 3, "age": pa.array([None, None, 7], pa.int64())})
    parquet.write_table(table, tmp_path / "people.parquet")
    for name in ("people.csv", "people.parquet"):
        found = singling(tmp_path / name, columns=["town", "age"])
        assert found.k.tolist() == [2, 2, 1]
        assert found.empty == (0, 2)
    both = singling(
        tmp_path / "people.csv", columns=["town", "age"], register=tmp_path / "people.parquet"
    )
    assert both.crowd.tolist() == [2, 2, 1]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, 2.5, 1.5]),
        pa.array([0, 1, 0], pa.date32()),
        pa.array([True, False, True]),
        pa.array(["x", "y", "x"]).dictionary_encode(),
        pa.array([float("nan"), 1.0, float("nan")]),
    ],
)
def test_any_kind_of_value_tells_people_apart(column):
    assert singling({"a": column}, columns="a").k.tolist() == [2, 1, 2]


def test_equal_rows_of_a_user_are_one_person():
    table = {"who": ["x", "y", "x", "z"], "town": ["A", "A", "A", "B"]}
    found = singling(table, columns=["town"], user="who")
    assert (found.people, found.merged, found.unique) == (3, 1, 1)
    assert found.k.tolist() == [2, 2, 2, 1], "of every row, also of those left out"
    alone = singling({"town": ["A", "A", "B"]}, columns=["town"])
    assert (found.sizes, found.parts, found.values) == (alone.sizes, alone.parts, alone.values)
    registered = singling(table, columns=["town"], user="who", register={"town": ["A", "B", "A"]})
    assert registered.crowd.tolist() == [2, 2, 2, 1]
    assert registered.register.found == 3


@pytest.mark.parametrize(
    ("table", "how", "code"),
    [
        (
            {"who": ["x", "x", "y"], "a": [1, 2, 3]},
            {"user": "who"},
            "duplicate-user",
        ),
        ({"who": ["", None], "a": [1, 2]}, {"user": "who"}, "missing-user"),
        ({"a": []}, {}, "empty-table"),
        ({"b": [1]}, {}, "column-not-found"),
        ({"a": [1]}, {"columns": ()}, "missing-argument"),
        ({"a": [1]}, {"columns": ("a", "a")}, "missing-argument"),
        ({"a": [[1], [2]]}, {}, "wrong-column-type"),
        ({"a": [1]}, {"least": 0}, "not-a-whole-number"),
        ({"a": [1]}, {"register": {"a": []}}, "empty-table"),
        (
            {"a": [1]},
            {"register": {"b": [1]}},
            "column-not-found",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(table, how, code):
    with refuses(code):
        singling(table, **{"columns": ["a"], **how})


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_users_without_a_name_are_not_one_person(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("user,age\na,1\n  ,1\n   ,1\n")
    else:
        parquet.write_table(pa.table({"user": ["a", "", ""], "age": ["1"] * 3}), path)
    with pytest.warns(UserWarning, match="2 of 3 rows name no user"):
        assert singling(path, columns=["age"], user="user").people == 1


def test_text_that_is_not_utf_8_is_refused(tmp_path):
    bad = pa.array([b"fine", b"\xff"], pa.binary())
    with refuses("not-utf8"):
        singling({"a": bad}, columns=["a"])
    text = pa.Array.from_buffers(pa.string(), 2, bad.buffers())
    with refuses("not-utf8"):
        singling({"a": text}, columns=["a"])


def test_no_message_names_a_user():
    with refuses("duplicate-user") as refused:
        singling({"who": ["secret", "secret"], "a": [1, 2]}, columns=["a"], user="who")
    assert "secret" not in str(refused.value)


def test_a_frame_has_a_row_for_each_size(monkeypatch):
    monkeypatch.setattr("reidrisk.risk.tables.records.frame", lambda rows, _of: rows)
    found = singling({"a": [1, 1, 2]}, columns=["a"])
    assert found.to_frame()[:2] == [
        {"least": 1, "most": 1, "groups": 1, "people": 1},
        {"least": 2, "most": 2, "groups": 1, "people": 2},
    ]
    assert str(found).startswith("3 people, 2 groups by a: 1 unique (33.3333%)")


def grouped(*sizes):
    """A table with groups of these sizes."""
    return {"a": [place for place, size in enumerate(sizes) for _ in range(size)]}


@pytest.mark.parametrize(
    "sizes", [(1, 2, 5), (3, 3, 3), (5,), (11, 20), (1, 1, 1, 1), (2, 7, 7, 10)]
)
def test_what_regulators_ask_of_a_k_anonymous_table_has_closed_forms(sizes):
    found = singling(grouped(*sizes), columns=["a"])
    records = [Fraction(1, size) for size in sizes for _ in range(size)]
    assert [Fraction(1, int(size)) for size in found.k] == records
    assert found.prosecutor.maximum.value == float(Fraction(1, min(sizes))) == float(max(records))
    average = sum(records) / len(records)
    assert average == Fraction(len(sizes), sum(sizes))
    assert found.prosecutor.average.value == found.marketer.value == float(average)
    assert found.journalist is None
    assert found.record["regulators"]["journalist"] is None
    for figure in (found.prosecutor.maximum, found.prosecutor.average, found.marketer):
        assert (figure.low, figure.high, figure.level) == (figure.value, figure.value, 1.0)


@pytest.mark.parametrize(
    ("sizes", "population"),
    [((1, 2, 5), (2, 4, 10)), ((1, 1), (1, 100)), ((3, 3), (3, 12)), ((1, 2, 5), (8, 8, 8))],
)
def test_with_a_register_the_population_counts(sizes, population):
    found = singling(grouped(*sizes), columns=["a"], register=grouped(*population))
    records = [
        Fraction(1, crowd)
        for size, crowd in zip(sizes, population, strict=True)
        for _ in range(size)
    ]
    average = sum(records) / len(records)
    assert found.journalist.maximum.value == float(max(records))
    assert found.journalist.average.value == found.marketer.value == float(average)
    assert found.marketer.value <= found.journalist.maximum.value <= found.prosecutor.maximum.value
    assert found.prosecutor.average.value == float(Fraction(len(sizes), sum(sizes)))


def test_a_register_of_others_gives_no_journalist():
    found = singling({"a": [1, 2]}, columns=["a"], register={"a": [3]})
    assert found.journalist is None
    assert found.marketer == found.prosecutor.average
