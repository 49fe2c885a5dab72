"""Attacks that were blind to what baskets hold raise a doubt, and others do not."""

import numpy as np
import pytest

import reidrisk as rr

USERS, TOKENS = 150, 400
APART = {"nothing-shared", "unequal-sizes", "counts-ignored"}


def bags(rows, counts=None):
    starts = np.cumsum([0, *map(len, rows)])
    values = np.concatenate([np.sort(row) for row in rows])
    held = None if counts is None else np.full(len(values), counts)
    return rr.BagRows.of(values, starts, tokens=TOKENS, counts=held)


def world(*, shared=True, sizes=(10, 10), counts=None):
    """Two baskets of each user, with items of their own, or with none in common."""
    random = np.random.default_rng(3)
    known, shown = [], []
    for user in range(USERS):
        size = sizes[user % 2]
        own = random.choice(TOKENS, 2 * size, replace=False)
        known.append(own[:size])
        shown.append(own[size // 2 : size // 2 + size] if shared else own[size:])
    return rr.Observations(bags(known, counts), bags(shown, counts), np.arange(USERS),
                           tokens=TOKENS)  # fmt: skip


def codes(seen, *attacks):
    """The codes of doubts that are about what attacks were blind to."""
    study = rr.Study(attacks=attacks or (rr.Overlap(),), targets=USERS)
    return {doubt.code for doubt in study.run(seen).doubts} & APART


def test_nothing_is_doubted_where_attacks_see():
    assert codes(world()) == set()


def test_people_who_share_nothing_with_their_own_row():
    apart = world(shared=False)
    assert codes(apart) == {"nothing-shared"}
    assert codes(apart, rr.Overlap(), rr.Cosine()) == {"nothing-shared"}
    # Attacks that can find them were tried.
    assert codes(apart, rr.Overlap(), rr.Latent()) == set()
    # As much as strangers share is nothing, too.
    found = world()
    strangers = rr.Observations(found.known, found.anonymous, np.roll(found.truth, 1),
                                tokens=TOKENS)  # fmt: skip
    assert codes(strangers) == {"nothing-shared"}


@pytest.mark.parametrize(
    ("sizes", "attacks", "doubted"),
    [
        ((10, 10), (rr.Overlap(),), False),
        ((8, 12), (rr.Overlap(),), False),
        ((4, 40), (rr.Overlap(),), True),
        ((4, 40), (rr.Overlap(), rr.RarityOverlap()), True),
        ((4, 40), (rr.Overlap(), rr.Cosine()), False),
    ],
)
def test_sizes_that_differ_widely(sizes, attacks, doubted):
    assert codes(world(sizes=sizes), *attacks) == ({"unequal-sizes"} if doubted else set())


def test_counts_that_nobody_compares():
    counted = world(counts=3)
    assert codes(counted) == {"counts-ignored"}
    assert codes(counted, rr.Overlap(), rr.Cosine()) == set()
    assert codes(world(counts=1)) == set()


def test_few_pairs_say_nothing():
    few = world(shared=False).only(slice(19))
    study = rr.Study(attacks=(rr.Overlap(),), targets=19)
    assert "nothing-shared" not in {doubt.code for doubt in study.run(few).doubts}
    assert "blind" in {doubt.code for doubt in study.run(few).doubts}


def test_what_attacks_of_others_see_is_not_known():
    class Mine(rr.Overlap):
        name = "mine"

    assert codes(world(shared=False), Mine()) == set()


def test_rows_in_slots_are_not_baskets():
    people = rr.data.synthetic_topics(users=200, topics=40, epochs=2, seed=1)
    study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
    assert not {doubt.code for doubt in study.run(people).doubts} & APART
