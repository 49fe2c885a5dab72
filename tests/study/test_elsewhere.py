"""A study gives the same bytes whether its rows are here or elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from tests.apart import ApartEngine
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.attacks import (
    Gaps,
    Hamming,
    LearnedPairs,
    Overlap,
    RarityOverlap,
    Repetition,
    TokenTable,
    TypeAware,
    WeightedHamming,
)
from reidrisk.data import Linked, make_profiles, synthetic_topics
from reidrisk.study import Repeats, Study

API = rr.TopicsApi(topics=30, top=3, noise=0.1)
PEOPLE = synthetic_topics(9_000, topics=30, epochs=3, size=3, seed=2)
AWAY = make_profiles(
    [f"user {row * 7919 % 4999}" for row in range(16_000)],
    [row * 31 % 4 for row in range(16_000)],
    [row * 17 // 3 % 20 for row in range(16_000)],
    [1 + row % 3 for row in range(16_000)],
    absent="missing",
    duplicates="add",
)
HIDES = rr.TopicsApi(topics=20, top=2, noise=0.1, absence=0.3)
STUDIES = {
    "everything": (
        Study(
            release=API,
            attacks=(Hamming(), WeightedHamming(), TypeAware(types=3), RarityOverlap()),
            models=(WeightedHamming(),),
            full_information=True,
            slots=(1, 2, 3),
            targets=60,
            sizes=(1000, 3000),
            beyond=(1_000_000,),
            guesses=(5,),
            strangers=0.2,
            per_user=Repeats(4, 3),
            information=("counts",),
            seed=7,
        ),
        PEOPLE,
    ),
    "training": (
        Study(
            release=API,
            attacks=(LearnedPairs(), TokenTable(), Repetition(), Overlap()),
            training=0.4,
            strangers=0.1,
            targets=60,
            full_information=True,
            seed=7,
        ),
        PEOPLE,
    ),
    "people who are away": (
        Study(
            release=HIDES,
            attacks=(WeightedHamming(), TokenTable(), LearnedPairs(), Gaps(), TypeAware(types=2)),
            models=(WeightedHamming(), TokenTable()),
            full_information=True,
            slots=(1, 4),
            targets=60,
            strangers=0.2,
            seed=3,
        ),
        AWAY,
    ),
    "calls": (
        Study(
            release=rr.TopicsApi(topics=20, top=2, per_call=2, every=1, delay=2.0),
            attacks=(WeightedHamming(), RarityOverlap(), Overlap()),
            targets=60,
            seed=3,
        ),
        AWAY,
    ),
    "a sweep": (
        Study(release=API, attacks=(WeightedHamming(),), targets=40, sweep={"noise": (0.2, 0.5)}),
        PEOPLE,
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_people(name):
    study, people = STUDIES[name]
    here = study.run(people).to_json()
    assert study.run(people, engine=ApartEngine()).to_json() == here


@pytest.mark.parametrize("shares", [{}, {"strangers": 0.2, "training": 0.3}])
def test_two_tables(shares):
    study = Study(
        attacks=(Hamming(), LearnedPairs(), RarityOverlap()), targets=50, seed=1, **shares
    )
    here = study.run(tables()).to_json()
    assert study.run(tables(), engine=ApartEngine()).to_json() == here


def tables():
    """Two tables of which some rows are empty, and some users strangers."""
    random = np.random.default_rng(3)
    known = random.integers(-1, 6, (9000, 3))
    known[::50] = -1
    truth = np.arange(0, 9000, 7)
    shown = np.where(random.random((len(truth), 3)) < 0.6, known[truth], -1)
    ids = np.array([f"{row:05}" for row in range(9100)])
    return Linked(
        rr.TokenRows(known, tokens=6), shown, truth, ids[:9000], np.arange(6),
        stranger_rows=random.integers(0, 6, (100, 3)), stranger_ids=ids[9000:],
    )  # fmt: skip


def test_rows_are_asked_for_where_they_are():
    """Of all rows, only those of targets come here."""
    study, people = STUDIES["everything"]
    context = study.context(people, ApartEngine())
    assert len(context.seen.known.passes) == 0
    context.measured(context.slots)
    assert len(context.seen.known.passes) > 0
    with pytest.raises(AssertionError, match="rows are asked for that are elsewhere"):
        context.seen.known.block(0, 9_000)


def test_targets_of_tables_go_by_their_users():
    """Rows in another order are the same study."""
    made = tables()
    order = np.random.default_rng(1).permutation(9000)
    others = np.random.default_rng(2).permutation(len(made.truth))
    place = np.empty(9000, np.int64)
    place[order] = np.arange(9000)
    shuffled = replace(
        made,
        known=made.known.select(order),
        ids=made.ids[order],
        anonymous=np.asarray(made.anonymous)[others],
        truth=place[made.truth[others]],
        stranger_rows=np.asarray(made.stranger_rows)[::-1],
        stranger_ids=made.stranger_ids[::-1],
    )
    for shares in ({}, {"strangers": 0.2, "training": 0.3}):
        study = Study(attacks=(Hamming(),), targets=50, seed=1, **shares)
        one, two = (study.context(each, rr.LocalEngine()) for each in (made, shuffled))
        for name in ("anonymous", "true_rows", "strangers"):
            mine, yours = (getattr(each.seen, name) for each in (one, two))
            np.testing.assert_array_equal(mine, yours)
        np.testing.assert_array_equal(one.ids_of(one.seen.truth), two.ids_of(two.seen.truth))


def test_a_folder_of_shards_hides_and_trains_nobody():
    made = tables()
    object.__setattr__(made, "ids", None)
    context = Study(attacks=(Hamming(),), strangers=0.2).context(made, rr.LocalEngine())
    with refuses("too-many-users"):
        _ = context.seen
