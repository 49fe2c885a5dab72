"""Top sets: the compiled loops against the definition, and what must not change them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.data import make_profiles
from reidrisk.people.profiles import BLOCK

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(1, 9), st.integers(0, 3)),
    min_size=1,
    max_size=60,
)


def people_of(rows, **choices):
    users, epochs, tokens, weights = (list(column) for column in zip(*rows, strict=True))
    choices = {"taxonomy": range(1, 10), "duplicates": "add", **choices}
    return make_profiles(users, epochs, tokens, [float(weight) for weight in weights], **choices)


def some_rows(count=3000, seed=5):
    rng = np.random.default_rng(seed)
    return list(zip(*rng.integers(0, (60, 4, 30, 4), (count, 4)).T.tolist(), strict=True))


def reference(people, top, seed, priority=None):
    return [
        [
            people.reference_top_set(user, epoch, top=top, seed=seed, priority=priority)
            for epoch in range(people.epochs)
        ]
        for user in range(people.users)
    ]


@given(ROWS, st.sampled_from(["missing", "pad"]), st.integers(1, 9), st.integers(0, 3))
def test_the_loops_equal_the_definition(rows, absent, top, seed):
    people = people_of(rows, absent=absent)
    sets = people.top_sets(0, people.users, top=top, seed=seed)
    assert sets.tolist() == reference(people, top, seed)


@given(ROWS, st.integers(1, 9), st.lists(st.integers(-2, 2), min_size=9, max_size=9))
def test_the_loops_equal_the_definition_with_priorities(rows, top, priority):
    people = people_of(rows)
    sets = people.top_sets(0, people.users, top=top, seed=1, priority=np.array(priority, np.int8))
    assert sets.tolist() == reference(people, top, 1, priority)


def test_priority_goes_before_weight():
    people = make_profiles([1, 1, 1], [0, 0, 0], [5, 6, 7], [9.0, 2.0, 1.0])
    first = np.array([0, 0, 1], np.int8)
    assert people.top_sets(0, 1, top=2, seed=1, priority=first).tolist() == [[[0, 2]]]


@given(ROWS, st.integers(1, 9))
def test_a_set_holds_the_heaviest_and_is_distinct(rows, top):
    people = people_of(rows)
    for user, epoch in np.argwhere(people.present):
        chosen = people.top_sets(user, user + 1, top=top, seed=1)[0, epoch].tolist()
        interest = dict(zip(*(column.tolist() for column in people.cell(user, epoch)), strict=True))
        assert len(set(chosen)) == top
        inside = [interest.get(token, 0) for token in chosen]
        outside = [weight for token, weight in interest.items() if token not in chosen]
        assert min(inside) >= max(outside, default=0)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = people_of(rows), people_of(shuffled)
    for name in ("ids", "labels", "epoch_labels", "starts", "members", "weights", "present"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_cutting_and_other_users_do_not_matter():
    people = people_of(some_rows(), taxonomy=range(30))
    whole = people.top_sets(0, people.users, top=5, seed=2)
    pieces = [people.top_sets(user, user + 1, top=5, seed=2) for user in range(people.users)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    alone = people_of([row for row in some_rows() if row[0] == 17], taxonomy=range(30))
    np.testing.assert_array_equal(alone.top_sets(0, 1, top=5, seed=2)[0], whole[17])


@given(ROWS, st.sampled_from(["missing", "pad"]), st.data())
def test_cells_are_those_of_each_user_and_epoch(rows, absent, data):
    people = people_of(rows, absent=absent)
    start = data.draw(st.integers(0, people.users))
    stop = data.draw(st.integers(start, people.users))
    cells = people.cells(start, stop)
    assert cells.starts[0] == 0
    assert cells.starts[-1] == len(cells.members) == len(cells.weights)
    assert len(cells.starts) == (stop - start) * people.epochs + 1
    for cell, (first, last) in enumerate(pairwise(cells.starts.tolist())):
        user, epoch = divmod(cell, people.epochs)
        tokens, weights = people.cell(start + user, epoch)
        assert cells.members[first:last].tolist() == tokens.tolist()
        assert cells.weights[first:last].tolist() == weights.tolist()


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (0, 3), (2, 1)])
def test_cells_of_nobody_are_refused(start, stop):
    with refuses("row-out-of-range"):
        make_profiles([1, 2], [0, 0], [5, 6]).cells(start, stop)


def test_people_are_complete_if_something_is_seen_of_everyone_always():
    always = make_profiles([1, 1, 2, 2], [0, 1, 0, 1], [5, 5, 6, 6], [1, 0, 1, 1])
    assert always.complete
    columns = [1, 1, 2], [0, 1, 0], [5, 5, 6]
    assert not make_profiles(*columns).complete
    assert make_profiles(*columns, absent="pad").complete
    assert make_profiles(*columns, absent="drop").complete


def test_more_users_than_a_block_are_the_same_users():
    users = np.arange(2 * BLOCK + 3)
    people = make_profiles(users, 0 * users, users % 7, taxonomy=range(9))
    sets = people.top_sets(0, people.users, top=3, seed=1)
    last = people.users - 1
    assert sets[last, 0].tolist() == people.reference_top_set(last, 0, top=3, seed=1)


def test_another_seed_gives_other_padding_and_text_ids_work():
    names = [f"user {number}" for number in range(50)]
    people = make_profiles(names, [0] * 50, [1] * 50, taxonomy=range(100))
    one, other = (people.top_sets(0, 50, top=5, seed=seed) for seed in (1, 2))
    assert (one != other).any()
    assert one.tolist() == reference(people, 5, 1)


def test_ties_and_padding_are_uniform():
    """Chi-square of 20,000 users, each with the same cell: six tied tokens or one token, of ten."""
    count = 20_000
    users = np.arange(count)
    tied = make_profiles(np.repeat(users, 6), [0] * 6 * count, np.tile(np.arange(6), count))
    sets = tied.top_sets(0, count, top=2, seed=3)[:, 0]
    pairs = np.bincount(sets[:, 0] * 6 + sets[:, 1])
    assert chi_square(pairs[pairs > 0], 15) < 36.1  # 14 degrees of freedom, 0.1 %
    padded = make_profiles(users, 0 * users, 0 * users + 4, taxonomy=range(10))
    sets = padded.top_sets(0, count, top=3, seed=3)[:, 0]
    others = np.array([[token for token in row if token != 4] for row in sets])
    pairs = np.bincount(others[:, 0] * 10 + others[:, 1])
    assert chi_square(pairs[pairs > 0], 36) < 66.6  # 35 degrees of freedom, 0.1 %


def chi_square(counts, cells):
    assert len(counts) == cells
    expected = counts.sum() / cells
    return ((counts - expected) ** 2 / expected).sum()


def test_what_happens_to_absent_users_is_a_choice_and_counted():
    rows = [("ann", 1, 5), ("ann", 2, 5), ("ann", 2, 6), ("bob", 2, 5)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    missing = make_profiles(*columns)
    assert missing.absent == "missing"
    assert missing.top_sets(0, 2, top=1, seed=1)[:, :, 0].min(axis=1).tolist() == [0, -1]
    assert missing.counts.absent == 1
    padded = make_profiles(*columns, absent="pad")
    assert padded.top_sets(0, 2, top=2, seed=1).tolist() == [[[0, 1]] * 2] * 2
    more = [
        column + extra for column, extra in zip(columns, (["eve"] * 2, [1, 1], [5, 6]), strict=True)
    ]
    dropped = make_profiles(*more, absent="drop")
    assert dropped.ids.tolist() == ["ann"]
    counts = dropped.counts
    assert (counts.dropped_users, counts.dropped_rows, counts.absent) == (2, 3, 0)
    assert str(counts) == "rows: 6, dropped users: 2, dropped rows: 3"


def test_epochs_can_be_chosen_and_the_rest_is_counted():
    columns = [1, 1, 2, 3], [7, 8, 8, 9], [1, 2, 1, 3]
    people = make_profiles(*columns, epochs=[8, 7])
    assert people.epoch_labels.tolist() == [8, 7]
    assert people.ids.tolist() == [1, 2]
    assert people.labels.tolist() == [1, 2, 3]
    assert people.present.tolist() == [[True, True], [True, False]]
    assert (people.counts.other_epochs, people.counts.other_users) == (1, 1)


def test_a_row_of_weight_zero_says_that_the_user_was_there():
    people = make_profiles([1, 2], [0, 0], [5, 6], [0.0, 1.0])
    assert people.present.all()
    assert people.counts.zero_weights == 1
    assert people.members.tolist() == [1]


def test_labels_keep_their_gaps_and_their_zeros():
    people = make_profiles(["7", "10"], [0, 0], [629, 1], taxonomy=[1, 350, 629])
    assert people.ids.tolist() == [7, 10]
    assert people.members.tolist() == [2, 0]
    assert make_profiles(["007", "7"], [0, 0], [1, 1]).ids.tolist() == ["007", "7"]


def test_large_cells_are_sorted_too():
    tokens = np.random.default_rng(1).permutation(1000)
    people = make_profiles([1] * 1000, [0] * 1000, tokens, tokens + 1.0)
    assert people.members.tolist() == list(range(1000))
    assert people.weights.tolist() == [token + 1 for token in range(1000)]
    assert people.top_sets(0, 1, top=3, seed=1).tolist() == [[[997, 998, 999]]]


def test_weights_are_short_only_if_nothing_is_lost():
    assert make_profiles([1], [0], [1], [0.5]).weights.dtype == np.float32
    people = make_profiles([1, 1], [0, 0], [1, 2], [0.1, 0.1 + 1e-12])
    assert people.weights.dtype == np.float64
    assert people.top_sets(0, 1, top=1, seed=1).item() == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"top": 3}, "top-too-large"),
        ({"top": 0}, "not-a-whole-number"),
        ({"stop": 3}, "row-out-of-range"),
        ({"start": -1}, "row-out-of-range"),
        ({"priority": np.zeros(3, np.int8)}, "length-mismatch"),
    ],
)
def test_impossible_questions_are_refused(change, code):
    people = make_profiles([1, 2], [0, 0], [5, 6])
    asked = {"start": 0, "stop": 2, "top": 1, "seed": 1, **change}
    with refuses(code):
        people.top_sets(asked.pop("start"), asked.pop("stop"), **asked)
