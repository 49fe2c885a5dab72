"""The times of two logs: who acts at hours of their own is found, by whoever looks at when."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.attacks import ATTACKS, Times, View, attack_named, reads_times
from reidrisk.io.layouts import Layout
from reidrisk.io.time_tokens import DATE, HABIT, ITEM_DATE, ITEM_HABIT
from reidrisk.testing import check_attack

USERS, VISITS, ITEMS = 60, 30, 5
LAYOUT = Layout(user="user", item="item", time="at")
MONDAY = datetime(2024, 1, 1)  # noqa: DTZ001  tables name no zone


def log(seed, begins=0, *, habits=True, when="minutes"):
    """Visits of people with an hour of the week of their own, if they have habits; any items."""
    random = np.random.default_rng(seed)
    users = np.repeat(np.arange(USERS), VISITS)
    hours = (users * 37) % 168 if habits else random.integers(0, 168, len(users))
    hours = hours + 168 * random.integers(begins, begins + 8, len(users))
    minutes = 60 * hours + random.integers(0, 60, len(users))
    at = [MONDAY + timedelta(minutes=int(one)) for one in minutes]
    written = {"minutes": [one.isoformat() for one in at], "days": [str(one.date()) for one in at]}
    return {
        "user": users.tolist(),
        "item": random.integers(0, ITEMS, len(users)).tolist(),
        "at": written[when],
    }


def timed(here, there):
    """The rows of two logs with times, and the view of an attacker."""
    found = rr.data.read_linked(here, there, layout=LAYOUT).timed
    return found, View.of(found.observations, times=found.times)


def right(seen, view, attack):
    return rr.measure(seen, attack, view=view)[1].value


def test_people_who_differ_only_by_when_they_act_are_found_by_when_alone():
    items = ["overlap", "rarity-overlap", "polya", "size-adjusted"]
    found = rr.link(log(1), log(2, begins=8), user="user", item="item", time="at",
                    attacks=[*items, "times", "cosine-csls"])  # fmt: skip
    value = {one.attack: one.value for one in found.risks}
    assert value["times"] > 0.9
    assert value["cosine-csls"] > 0.9
    assert max(value[name] for name in items) < 0.15


def test_people_without_habits_are_not_found():
    """Nor are those whose truth is permuted, which no fit may look at."""
    plain, view = timed(log(1, habits=False), log(2, begins=8, habits=False))
    assert right(plain.observations, view, Times()) < 0.1
    found, view = timed(log(1), log(2, begins=8))
    seen = found.observations
    others = seen.changed(
        truth=np.roll(seen.truth, 1), true_rows=seen.known.select(np.roll(seen.truth, 1))
    )
    assert right(seen, view, Times()) > 0.9
    for attack in (Times(), rr.CosineCsls(), rr.SelfTrained()):
        assert right(others, view, attack) < 0.1


@pytest.mark.parametrize("attack", [Times(), rr.Cosine(), rr.CosineCsls(), rr.SelfTrained()])
def test_what_reads_times_keeps_the_promises_of_attacks(attack):
    found, _ = timed(log(1), log(2, begins=4))
    check_attack(attack, found.observations, times=found.times)


def test_the_cosine_of_when_is_that_of_a_few_lines():
    """By hand: roots of shares of habits, weighted, centred, hubs corrected; one of eight ways."""
    found, view = timed(log(1), log(2, begins=8))
    seen = found.observations
    mine, theirs = (rows.to_csr().toarray()[:, found.times == HABIT] * 1.0
                    for rows in (seen.known, seen.anonymous))  # fmt: skip
    score = rr.LocalEngine().search(seen, Times().fit(view))
    named = []
    holders = (mine > 0).sum(axis=0) + (theirs > 0).sum(axis=0)
    rare = np.maximum(np.log((2 * USERS + 1) / (holders + 0.5)), 0)
    for power in (0, 0.5):
        for change in (lambda x: np.sqrt(x / x.sum(axis=1, keepdims=True)), np.log1p):
            one, two = (change(side) * rare**power for side in (mine, theirs))
            one, two = one - one.mean(axis=0), two - two.mean(axis=0)
            one, two = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (one, two))
            near = two @ one.T
            near = 2 * near - np.sort(near, axis=0)[-10:].mean(axis=0)
            named.append((near.argmax(axis=1) == seen.truth).mean())
    assert score.credit.mean() in named


def test_tokens_are_of_the_kinds_that_both_tables_tell():
    together, apart = timed(log(1), log(2))[0], timed(log(1), log(2, begins=8))[0]
    assert set(together.times) == {"", HABIT, DATE, ITEM_HABIT, ITEM_DATE}
    assert set(apart.times) == {"", HABIT, ITEM_HABIT}
    assert (together.times == "").sum() == ITEMS
    names = set(timed(log(1, when="days"), log(2))[0].labels[ITEMS:])
    assert not any("hour" in name or "minute" in name or "part of" in name for name in names)
    assert any(name.startswith("weekday") for name in names)


def test_tokens_of_a_few_visits_are_those_of_the_calendar():
    """A Monday at eight, twice the same moment; the Tuesday after at nine: 25 hours later."""
    here = {"user": [1, 1, 1], "item": ["a", "b", "a"],
            "at": ["2024-01-01T08:05", "2024-01-01T08:05", "2024-01-02T09:05"]}  # fmt: skip
    found = rr.data.read_linked(here, here, layout=LAYOUT).timed
    (row,) = found.known.to_csr().toarray()
    held = dict(zip(found.labels.tolist(), row.tolist(), strict=True))
    habits = {name: held[name] for name, kind in zip(found.labels, found.times, strict=True)
              if kind == HABIT}  # fmt: skip
    assert habits == {
        "weekday 0": 1, "weekday 1": 1, "hour of the week 8": 1, "hour of the week 33": 1,
        "part of the week 2": 1, "part of the week 8": 1, "hour 8": 1, "hour 9": 1, "gap 5": 1,
    }  # fmt: skip
    assert (held["a"], held["b"]) == (2, 1)
    assert sum(row[found.times == ITEM_DATE]) == sum(row[found.times == ITEM_HABIT]) == 3


def test_the_order_of_rows_says_nothing():
    here, there = log(1), log(2)
    order = np.random.default_rng(3).permutation(len(here["at"]))
    mixed = {name: [values[place] for place in order] for name, values in here.items()}
    one, other = (timed(first, there)[0] for first in (here, mixed))
    assert (one.labels == other.labels).all()
    assert (np.asarray(one.known) == np.asarray(other.known)).all()


def test_only_attacks_that_read_times_are_shown_them():
    read = {name for name in ATTACKS if reads_times(attack_named(name))}
    assert read == {"times", "cosine", "cosine-csls", "self-trained", "stacked"}
    tables = log(1), log(2, begins=8)
    plain, both = (
        rr.link(*tables, user="user", item="item", attacks=["overlap", "polya", "size-adjusted"],
                **more)
        for more in ({}, {"time": "at"})
    )  # fmt: skip
    assert [one.estimate for one in plain.risks] == [one.estimate for one in both.risks]


@pytest.mark.parametrize("at", ["soon", "", "2024"])
def test_what_is_no_time_is_refused(at):
    here = log(1)
    with refuses("empty-cell" if not at else "invalid-timestamp"):
        rr.data.read_linked({**here, "at": [at] * len(here["at"])}, here, layout=LAYOUT)


def test_times_belong_to_items_of_both_tables():
    here = log(1)
    with refuses("conflicting-arguments"):
        rr.data.read_linked(here, here, layout=LAYOUT, anonymous_layout=Layout(user="user"))
    with refuses("conflicting-arguments"):
        rr.link(here, here, user="user", columns=["item"], time="at")
    with refuses("missing-knowledge"):
        rr.link(here, here, user="user", item="item", attacks=["times"])
