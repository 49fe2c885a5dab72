"""Tables that would agree better after a shift are doubted, and honest ones are not."""

import numpy as np
import pandas as pd
import pytest
from tests.shared_data import DATA, needs_data

import reidrisk as rr
from reidrisk.core.settings_syntax import speaking
from reidrisk.data import Layout, read_linked

USERS, SLOTS, TOKENS = 300, 12, 40


def link(known, anonymous, **how):
    with speaking("options"):  # who says the warnings itself
        return read_linked(known, anonymous, **how)


def noisy(random, rows, share=0.1, tokens=TOKENS):
    return np.where(random.random(rows.shape) < share, random.integers(0, tokens, rows.shape), rows)


def weekly(random, share=0.1):
    """A token for each user and week, on two sites."""
    own = random.integers(0, TOKENS, (USERS, SLOTS))
    cells = {"user": np.repeat(np.arange(USERS), SLOTS), "epoch": np.tile(np.arange(SLOTS), USERS)}
    return (
        pd.DataFrame({**cells, "token": noisy(random, own, share).ravel()}),
        pd.DataFrame({**cells, "token": noisy(random, own, share).ravel()}),
    )


def baskets(random):
    """Two samples of what each user has."""
    rows = pd.DataFrame(
        {"user": np.repeat(np.arange(USERS), 30), "item": random.zipf(1.3, USERS * 30) % 2_000}
    ).drop_duplicates()
    return tuple(rows[random.random(len(rows)) < 0.6] for _ in range(2))


def described(random, share=0.1):
    """A row of columns for each user."""
    sizes = {"age": 90, "district": 60, "sex": 2, "job": 30}
    people = pd.DataFrame({name: random.integers(0, size, USERS) for name, size in sizes.items()})
    shown = pd.DataFrame(
        {name: noisy(random, people[name].to_numpy(), share, size) for name, size in sizes.items()}
    )
    return people.assign(user=range(USERS)), shown.assign(user=range(USERS))


COLUMNS = Layout(user="user", columns=("age", "district", "sex", "job"))
WORLDS = {"weekly": (weekly, None), "baskets": (baskets, None), "columns": (described, COLUMNS)}


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("seed", range(5))
def test_honest_tables_are_not_doubted_in_any_order_of_rows(world, seed):
    make, layout = WORLDS[world]
    known, anonymous = make(np.random.default_rng(seed))
    assert link(known, anonymous.sample(frac=1, random_state=seed), layout=layout).warnings == ()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("seed", range(5))
def test_tables_without_a_signal_are_not_doubted(world, seed):
    """Permuted: everybody has entries of anybody."""
    make, layout = WORLDS[world]
    random = np.random.default_rng(seed)
    known, anonymous = make(random)
    by = anonymous["epoch"] if "epoch" in anonymous else np.zeros(len(anonymous))
    for name in anonymous.columns.difference(["user", "epoch"]):
        anonymous[name] = anonymous.groupby(by)[name].transform(
            lambda entries: random.permutation(entries.to_numpy())
        )
    assert link(known, anonymous.drop_duplicates(), layout=layout).warnings == ()


def test_weeks_from_0_here_and_from_1_there_are_doubted(random):
    known, anonymous = weekly(random)
    linked = link(known, anonymous.assign(epoch=anonymous["epoch"] + 1))
    (sentence,) = linked.warnings
    assert sentence.startswith("Slots seem to be shifted: people show the same token in ")
    assert "compared with the one before it in the known table" in sentence
    honest = link(known, anonymous)
    # Today's figures of both: what the doubt is about.
    assert rr.measure(honest.observations, rr.Hamming())[SLOTS].value > 0.95
    assert rr.measure(linked.observations, rr.Hamming())[SLOTS + 1].value < 0.05


def test_the_lag_of_the_doubt_is_the_one_that_agrees_best(random):
    """Interests last, so that neighbours of the right slot agree as well."""
    base = np.repeat(random.integers(0, TOKENS, (USERS, 10)), 2, axis=1)
    lists = [[";".join(map(str, row)) for row in noisy(random, rows, 0.05)]
             for rows in (base[:, 2:], base[:, :-2])]  # fmt: skip
    known, anonymous = (pd.DataFrame({"user": range(USERS), "tokens": one}) for one in lists)
    (sentence,) = link(known, anonymous).warnings
    assert "compared with the second before it in the known table" in sentence


@pytest.mark.parametrize("world", ["weekly", "baskets"])
def test_codes_from_0_here_and_from_1_there_are_doubted(random, world):
    known, anonymous = WORLDS[world][0](random)
    name = "token" if world == "weekly" else "item"
    (sentence,) = link(known, anonymous.assign(**{name: anonymous[name] + 1})).warnings
    assert sentence.startswith("Codes seem to be shifted: ")
    assert "if those of the anonymous table are one smaller" in sentence


def test_a_column_of_codes_that_is_shifted_is_named(random):
    known, anonymous = described(random)
    anonymous["job"] += 1
    (sentence,) = link(known, anonymous, layout=COLUMNS).warnings
    assert sentence.startswith("Codes of column job seem to be shifted: ")


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("by", [1, -2])
def test_ids_off_by_a_row_are_doubted(random, world, by):
    make, layout = WORLDS[world]
    known, anonymous = make(random)
    linked = link(known, anonymous.assign(user=anonymous["user"] + by), layout=layout)
    (sentence,) = linked.warnings
    assert sentence.startswith("Users seem to be shifted: ")
    near = {1: "the one before", -2: "the second after"}[by]
    assert f"{near} it, in the order of ids" in sentence


@pytest.mark.parametrize("world", WORLDS)
def test_rows_that_single_out_others_are_doubted(random, world):
    """Ids mean other people, in no order at all."""
    make, layout = WORLDS[world]
    known, anonymous = make(random)
    other = random.permutation(USERS)
    linked = link(known, anonymous.assign(user=other[anonymous["user"]]), layout=layout)
    (sentence,) = linked.warnings
    assert sentence.startswith("Rows single out other people: ")


def test_halves_whose_neighbours_are_alike_are_not_doubted(random):
    """No item is in both halves, and codes next to each other are of similar things."""
    runs = (random.integers(0, 500, (USERS, 10, 1)) * 4 + np.arange(4)).reshape(USERS, -1)
    rows = pd.DataFrame({"user": np.repeat(np.arange(USERS), 40), "item": runs.ravel()})
    rows = rows.drop_duplicates()
    half = random.random(len(rows)) < 0.5
    assert not [one for one in link(rows[half], rows[~half]).warnings if "shifted" in one]


def test_people_of_one_kind_are_not_taken_for_wrong_ids(random):
    """Rows agree with many others far better than by chance, and nobody stands out."""
    kinds = random.integers(0, TOKENS, (5, SLOTS))
    tables = []
    for _ in range(2):
        rows = noisy(random, kinds[random.integers(0, 5, USERS)], 0.2)
        lists = [";".join(map(str, row)) for row in rows]
        tables.append(pd.DataFrame({"user": range(USERS), "tokens": lists}))
    assert link(*tables).warnings == ()


def test_a_few_rows_are_not_doubted(random):
    known, anonymous = weekly(random)
    few = anonymous[anonymous["user"] < 15]
    assert link(known, few.assign(epoch=few["epoch"] + 1)).warnings == ()


@needs_data
def test_real_baskets_and_weeks_are_doubted_only_where_they_are_shifted(random):
    """Households of a grocer: categories by week on two sites, baskets of odd and even weeks."""
    path = DATA / "completejourney_household_week_category.csv.gz"
    bought = pd.read_csv(path).set_axis(["user", "epoch", "item", "count"], axis=1)
    sites = [
        bought.sample(frac=1, random_state=seed).drop_duplicates(["user", "epoch"])[
            ["user", "epoch", "item"]
        ]
        for seed in (1, 2)
    ]
    assert link(*sites).warnings == ()
    for name in ("user", "epoch", "item"):
        (sentence,) = link(sites[0], sites[1].assign(**{name: sites[1][name] + 1})).warnings
        assert "seem to be shifted" in sentence
    odd, even = (
        bought[bought["epoch"] % 2 == rest][["user", "item"]].drop_duplicates() for rest in (1, 0)
    )
    assert link(odd, even).warnings == ()
    for name in ("user", "item"):
        (sentence,) = link(odd, even.assign(**{name: even[name] + 1})).warnings
        assert "seem to be shifted" in sentence


@pytest.mark.parametrize("sparse", [0, 1])
def test_a_sparse_table_and_a_dense_one_without_a_signal_are_not_doubted(random, sparse):
    tables = []
    for side in range(2):
        rows = random.integers(0, 6, (USERS, SLOTS)).astype(str)
        if side == sparse:
            rows[random.random(rows.shape) < 0.85] = ""
        tables.append(
            pd.DataFrame({"user": range(USERS), "tokens": [";".join(row) for row in rows]})
        )
    assert link(*tables).warnings == ()
