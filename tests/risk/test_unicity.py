"""How many points single a person out: against sets, one by one."""

import math
from datetime import UTC, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.randomness import reference_uniforms
from reidrisk.io.labels import encode
from reidrisk.io.provenance import Origin
from reidrisk.io.seconds import seconds_of
from reidrisk.risk.tables._unicity import unicity
from reidrisk.risk.tables.events import rounded, within
from reidrisk.risk.tables.points import (
    Points,
    intersect,
    reference_crowds,
    reference_points,
)

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=40)
MOST = 4


def by_user(rows):
    having = {}
    for user, point in rows:
        having.setdefault(user, set()).add(point)
    return having


def reference(rows, known, seed=0):
    """What is known of everybody, and their crowds, by sets."""
    having = by_user(rows)
    found = {}
    for user in having:
        draws = reference_uniforms(seed=seed, purpose="unicity/points", user=user, count=MOST)
        points = reference_points(having, user, MOST, None if known == "rarest" else draws)
        found[user] = points, reference_crowds(having, points)
    return found


def of_rows(function, values, *more):
    """What a function of labels gives for each row."""
    source = Origin.memory(len(values))
    part = encode(pa.chunked_array([pa.array(values)]), "column", source)
    return function(part, *more, source)[part.codes].tolist()


def measured(rows, **how):
    users, items = zip(*rows, strict=True)
    return unicity({"user": users, "item": items}, **how)


@settings(deadline=None)
@given(ROWS, st.sampled_from(["random", "rarest"]), st.integers(0, 3))
def test_crowds_are_those_of_sets(rows, known, seed):
    users, items = (np.array(part) for part in zip(*rows, strict=True))
    ids, codes = np.unique(users, return_inverse=True)
    held = Points.of(ids, codes, items)
    everyone = np.arange(len(ids))
    chosen = held.chosen(everyone, MOST, known=known, seed=seed)
    crowds = held.crowds(chosen)
    expected = reference(rows, known, seed)
    for user, known_of, sizes in zip(ids.tolist(), chosen.tolist(), crowds.tolist(), strict=True):
        points, many = expected[user]
        assert known_of == points + [-1] * (MOST - len(points))
        assert sizes == many + [0] * (MOST - len(points))


@settings(deadline=None, max_examples=40)
@given(ROWS, st.sampled_from(["random", "rarest"]))
def test_figures_are_means_over_those_with_so_many_points(rows, known):
    found = measured(rows, known=known)
    crowds = {user: many for user, (_, many) in reference(rows, known).items()}
    for one in found:
        sizes = [have[one.points - 1] for have in crowds.values() if len(have) >= one.points]
        assert (one.assessed, one.not_assessed) == (len(sizes), len(crowds) - len(sizes))
        if not sizes:
            assert one.singled_out is one.right is None
            continue
        assert one.singled_out.value == sizes.count(1) / len(sizes)
        assert one.right.value == pytest.approx(
            float(sum(Fraction(1, size) for size in sizes) / len(sizes)), rel=1e-15
        )
        assert one.singled_out.value <= one.right.value
        assert (one.right.level == 1) == (known == "rarest")


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
@settings(deadline=None)
def test_lists_are_intersected_in_place_too(one, other):
    first, second = (np.array(sorted(some), np.int32) for some in (one, other))
    expected = sorted(one & other)
    common = np.empty(61, np.int32)
    assert common[: intersect(first, second, common)].tolist() == expected
    for target in (first.copy(), second.copy()):
        pair = (
            (target, second)
            if len(target) == len(first) and (target == first).all()
            else (first, target)
        )
        assert target[: intersect(*pair, target)].tolist() == expected


def test_more_points_never_make_a_crowd_larger_and_rows_may_come_in_any_order():
    rng = np.random.default_rng(2)
    rows = list(
        {
            (int(u), int(t))
            for u, t in zip(rng.integers(0, 300, 3000), rng.zipf(1.5, 3000), strict=True)
        }
    )
    found = measured(rows, targets=100, seed=5)
    assert found.targets == 100
    assert found == measured(rows[::-1], targets=100, seed=5)
    assert found != measured(rows, targets=100, seed=6)
    shares = [one.right.value for one in found if one.not_assessed == 0]
    assert shares == sorted(shares)
    assert found == measured([*rows, *rows[:500]], targets=100, seed=5), "points count once"


def test_a_sample_is_within_its_interval_of_everybody():
    rng = np.random.default_rng(3)
    rows = list(
        zip(rng.integers(0, 2000, 20_000).tolist(), rng.zipf(1.4, 20_000).tolist(), strict=True)
    )
    whole, sample = (measured(rows, known="rarest", targets=some) for some in (None, 300))
    for one in whole:
        part = sample.at(one.points).singled_out
        assert part.low <= one.singled_out.value <= part.high
        assert one.singled_out.low == one.singled_out.high == one.singled_out.value
        assert part.level == 0.95


HISTORY = {
    "who": ["a", "a", "b", "b", "c"],
    "when": ["2023-05-17T08:10:00", "2023-05-18T09:00:00", "2023-05-17T08:50:00", "2023-05-19T09:00:00", "2023-05-25T00:00:00"],  # noqa: E501
    "paid": ["10.10", "4", "9.70", "4.00", "14.99"],
}  # fmt: skip


def test_times_and_amounts_can_be_known_less_exactly():
    found = unicity(
        HISTORY, user="who", epoch="when", count="paid", points=(1,), known="rarest",
        coarsen=("hour", "week"), rounding=(5,),
    )  # fmt: skip
    assert found.point == ("when", "paid")
    assert [one.coarsening for one in found] == [
        "as written", "rounded to 5", "hour", "hour, rounded to 5", "week", "week, rounded to 5",
    ]  # fmt: skip
    alone = {one.coarsening: one.singled_out.value for one in found}
    assert alone["as written"] == alone["hour"] == alone["week"] == 1
    assert alone["hour, rounded to 5"] == 1  # a and b also bought something else
    assert alone["week, rounded to 5"] == 1 / 3


@settings(deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  as asked
    st.lists(st.integers(0, 60 * 24 * 40), min_size=1, max_size=9),
)
def test_spans_are_those_of_the_calendar(first, minutes):
    first = first.replace(microsecond=0)
    moments = [first + timedelta(minutes=many) for many in minutes]
    start = datetime(1970, 1, 1, tzinfo=UTC)
    seconds = np.array([(time - start) // timedelta(seconds=1) for time in moments])
    text = [time.isoformat() for time in moments]
    plain = [time.replace(tzinfo=None).isoformat(" ") for time in moments]
    for written in (text, plain):
        assert of_rows(seconds_of, written) == seconds.tolist()
    names = {
        "hour": lambda time: time.replace(minute=0, second=0),
        "day": lambda time: time.date(),
        "week": lambda time: time.isocalendar()[:2],
        "month": lambda time: (time.year, time.month),
    }
    for span, name in names.items():
        found = within(seconds, span).tolist()
        same = [[name(a) == name(b) for a in moments] for b in moments]
        assert same == [[a == b for a in found] for b in found]


@settings(deadline=None)
@given(
    st.lists(st.decimals(-(10**6), 10**6, places=3), min_size=1, max_size=9),
    st.sampled_from(["0.01", "0.25", "5", "10", "1000"]),
)
def test_amounts_are_rounded_to_the_nearest_step(amounts, step):
    unit = Decimal(step)
    expected = [
        int((amount / unit + Decimal("0.5")).to_integral_value(ROUND_FLOOR)) for amount in amounts
    ]
    assert of_rows(rounded, [str(amount) for amount in amounts], float(step)) == expected


def test_days_may_be_written_as_numbers():
    days = [19970101, 19970131, 20240229]
    expected = [
        datetime(*day, tzinfo=UTC).timestamp()
        for day in ((1997, 1, 1), (1997, 1, 31), (2024, 2, 29))
    ]
    assert of_rows(seconds_of, days) == expected
    assert of_rows(seconds_of, [str(day) for day in days]) == expected


@pytest.mark.parametrize(
    "numbers", [[1, 2, 53], [1999, 2024], [19970101, 5], [2023051708, 2024123123], [202305]]
)
def test_weeks_years_and_hours_are_not_taken_for_seconds(numbers):
    """As seconds all of them would lie in one month, and nobody would be singled out by it."""
    with refuses("invalid-timestamp"):
        of_rows(seconds_of, numbers)


def test_the_largest_amounts_and_steps_do_not_overflow():
    assert of_rows(rounded, [4_000_000_000_000, 1], 4e12) == [1, 0]
    with refuses("not-a-number"):
        of_rows(rounded, [9_000_000_000_000], 1.0)


@pytest.mark.parametrize(
    "when",
    [
        pa.array([0, 3600, 7200, 86_400], pa.timestamp("s")),
        pa.array([0, 3600, 7200, 86_400], pa.timestamp("s", tz="UTC")),
        pa.array([864_000_000, 864_003_600, 864_007_200, 864_086_400]),
    ],
)
def test_times_may_be_of_any_kind(when):
    table = {"user": [1, 1, 2, 2], "when": when, "paid": [0.5, 1.5, 0.5, 1.5]}
    found = unicity(table, epoch="when", count="paid", coarsen=["day"], points=[1], known="rarest")
    assert [one.singled_out.value for one in found] == [1, 1]
    assert [one.right.value for one in found] == [1, 1]
    days = unicity(table, epoch="when", coarsen=["day"], points=[1], known="rarest")
    assert days.at(1, "day").singled_out.value == 0.5


BAG = {"user": ["a", "b"], "item": ["x", "y"]}


@pytest.mark.parametrize(
    ("table", "how", "code"),
    [
        (BAG, {"points": ()}, "missing-argument"),
        (BAG, {"points": (0,)}, "not-a-whole-number"),
        (BAG, {"known": "some"}, "unknown-choice"),
        (BAG, {"coarsen": ("day",)}, "column-not-found"),
        (BAG, {"rounding": (10,)}, "column-not-found"),
        (BAG, {"item": "sang"}, "column-not-found"),
        ({"user": [], "item": []}, {}, "empty-table"),
        ({"user": [None, ""], "item": ["x", "y"]}, {}, "missing-user"),
        ({"user": ["a", "b"], "item": ["x", None]}, {}, "empty-cell"),
        (HISTORY, {"user": "who", "epoch": "when", "coarsen": ["year"]}, "unknown-choice"),
        (HISTORY, {"user": "who", "epoch": "paid", "coarsen": ["day"]}, "invalid-timestamp"),
        (HISTORY, {"user": "who", "count": "when", "rounding": [5]}, "wrong-column-type"),
        (HISTORY, {"user": "who", "count": "paid", "rounding": [0]}, "out-of-range"),
        (HISTORY, {"user": "who", "count": "paid", "rounding": [math.inf]}, "out-of-range"),
        ({"user": ["a"], "t": [10**13]}, {"epoch": "t", "coarsen": ["day"]}, "invalid-timestamp"),
        ({"user": ["a"], "n": [1e300]}, {"count": "n", "rounding": [1]}, "not-a-number"),
    ],
)
def test_what_makes_no_sense_is_refused_without_naming_anybody(table, how, code):
    with refuses(code) as refused:
        unicity(table, **how)
    assert not any(
        str(value) in str(refused.value) for value in ("2023-05-17T08:10", "10.10", "1e+300")
    )


def test_figures_can_be_asked_for():
    found = measured([(1, 1), (1, 2), (2, 2)], points=(2, 1))
    assert [one.points for one in found] == [1, 2]
    assert found.at(2).not_assessed == 1
    assert "singled out" in found._repr_html_()
    with refuses("not-measured"):
        found.at(3)


def test_a_frame_has_a_row_for_each_figure(monkeypatch):
    monkeypatch.setattr("reidrisk.risk.tables.records.frame", lambda rows, _of: rows)
    one, two = measured([(1, 1), (2, 1)], points=(1, 2), known="rarest").to_frame()
    assert (one["singled_out"], one["right"], one["assessed"]) == (0, 0.5, 2)
    assert (two["singled_out_low"], two["right_high"], two["not_assessed"]) == (None, None, 2)
