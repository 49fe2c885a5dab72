"""Who is learned from, who decides when to stop, and whom figures are of."""

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.learning.splits import names_of, split_users

ROWS = np.random.default_rng(1).integers(-1, 4, (3_000, 3))


def test_every_user_is_in_one_part_and_shares_are_as_asked():
    parts = split_users(range(10_000), seed=1, held_out=0.2, tested=0.1)
    everyone = np.concatenate([parts.training, parts.held_out, parts.tested])
    assert sorted(everyone) == list(range(10_000))
    assert parts.training.size == pytest.approx(7_000, abs=200)
    assert parts.held_out.size == pytest.approx(2_000, abs=160)
    assert parts.tested.size == pytest.approx(1_000, abs=120)


def test_the_order_of_users_changes_nothing():
    shuffled = np.random.default_rng(2).permutation(len(ROWS))
    one = split_users(names_of(ROWS), seed=4)
    other = split_users(names_of(ROWS[shuffled]), seed=4)
    for part in ("training", "held_out", "tested"):
        np.testing.assert_array_equal(
            ROWS[getattr(one, part)], ROWS[shuffled][getattr(other, part)]
        )


def test_no_two_users_share_a_name():
    """Else they would share their chance too."""
    for rows in (ROWS, ROWS[:, :1], np.zeros((500, 2), int), np.hstack([ROWS, ROWS % 2])):
        assert np.unique(names_of(rows)).size == len(rows)


def test_an_added_user_moves_nobody_else():
    one, other = split_users(range(500), seed=4), split_users(range(501), seed=4)
    assert set(one.tested) <= set(other.tested)
    assert set(one.training) <= set(other.training)


def test_equal_rows_are_split_like_others():
    """Else what is frequent would be learned from or tested, never both."""
    rows = np.zeros((1_000, 4), int)
    parts = split_users(names_of(rows), seed=0)
    assert parts.tested.size == pytest.approx(100, abs=35)


def test_another_seed_is_another_split():
    one, other = split_users(range(500), seed=4), split_users(range(500), seed=5)
    assert set(one.tested) != set(other.tested)


@pytest.mark.parametrize("users", [0, 1, 13, 60])
def test_too_few_users_are_refused_with_how_many_each_part_has(users):
    with refuses("too-few-users"):
        split_users(np.arange(users), seed=0)


def test_no_rows_are_too_few():
    with refuses("too-few-users"):
        split_users(names_of(np.empty((0, 3), int)), seed=0)


def test_a_part_that_nobody_asks_for_may_be_empty():
    parts = split_users(range(200), seed=0, tested=0)
    assert parts.tested.size == 0
    assert parts.training.size + parts.held_out.size == 200


@pytest.mark.parametrize(("held_out", "tested"), [(0.5, 0.5), (0.9, 0.2), (1, 0)])
def test_shares_that_leave_nobody_to_learn_from_are_refused(held_out, tested):
    with refuses("nobody-left"):
        split_users(range(100), seed=0, held_out=held_out, tested=tested)


def test_names_do_not_depend_on_the_type_that_holds_tokens():
    np.testing.assert_array_equal(names_of(ROWS), names_of(ROWS.astype(np.int16)))
