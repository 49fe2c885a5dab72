"""Columns that equality cannot compare are refused or doubted, and no others."""

import warnings

import numpy as np
import pytest
from tests.snapshots import refuses, says

import reidrisk as rr

USERS = 200
NAMES = ("a", "b", "c")


def tables(columns, again=None):
    """Two tables of the same people, the second with other values where they are given."""
    one = {"user": [f"u{user}" for user in range(USERS)], **columns}
    return one, {**one, **(again or {})}


def warned(columns, again=None):
    """Warnings about columns that equality cannot compare."""
    one, two = tables(columns, again)
    layout = rr.data.Layout(user="user", columns=tuple(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        linked = rr.data.read_linked(one, two, layout=layout)
    return [str(one) for one in linked.warnings
            if getattr(one, "code", "") == "compared-by-equality"]  # fmt: skip


def vectors(digits=6, *, noise=0.1, scale=1.0):
    """What three coordinates are on two days, as text."""
    random = np.random.default_rng(5)
    own = random.normal(size=(USERS, 3)) * scale
    days = [own + noise * random.normal(size=own.shape) for _ in range(2)]
    return [
        {name: [f"{value:.{digits}f}" for value in day[:, place]]
         for place, name in enumerate(NAMES)}
        for day in days
    ]  # fmt: skip


TOWNS = {"town": [f"t{user % 7}" for user in range(USERS)]}


def test_embeddings_are_refused_by_name():
    one, two = vectors()
    with refuses("columns-of-decimals"):
        warned({**TOWNS, **one}, two)
    many = {f"d{place}": one["a"] for place in range(9)}
    with refuses("columns-of-decimals"):
        warned(many, dict.fromkeys(many, two["a"]))
    # As numbers, not as text; and with an exponent.
    floats, again = ({name: [float(x) for x in day[name]] for name in NAMES} for day in (one, two))
    for change in (float, "{:e}".format):
        with refuses("columns-of-decimals"):
            warned(
                {name: [change(x) for x in floats[name]] for name in NAMES},
                {name: [change(x) for x in again[name]] for name in NAMES},
            )


def test_one_column_of_decimals_is_doubted():
    one, two = vectors(2, scale=10.0)  # now and then the same by chance
    (found,) = warned({**TOWNS, "a": one["a"]}, {"a": two["a"]})
    says(found)


def test_long_texts_are_doubted():
    texts = [f"A note about patient {user} of some length, written once." for user in range(USERS)]
    (found,) = warned(
        {**TOWNS, "note": texts}, {"note": [*texts[:9], *(f"{text} Again." for text in texts[9:])]}
    )
    assert "long texts" in found
    assert warned({**TOWNS, "note": texts}) == []  # copied


@pytest.mark.parametrize(
    ("digits", "noise", "scale"),
    [
        (6, 0.0, 1.0),  # the same in both tables: equality is right
        (0, 0.1, 1.0),  # rounded
        (0, 0.1, 1000.0),  # whole numbers, another in each row
        (1, 0.1, 1.0),  # few values
    ],
)
def test_what_equality_can_compare_is_not_refused(digits, noise, scale):
    one, two = vectors(digits, noise=noise, scale=scale)
    assert warned({**TOWNS, **one}, two) == []


def test_years_ages_and_prices_are_not_refused():
    random = np.random.default_rng(7)
    years, ages = random.integers(1930, 2010, USERS), random.integers(18, 90, USERS)
    prices = random.choice([0.99, 1.99, 4.5, 9.95, 19.9], USERS)
    columns = {"year": years, "age": ages, "price": prices}
    again = {name: random.permutation(column) for name, column in columns.items()}
    assert warned(columns, again) == []


def test_ids_and_short_words_are_not_doubted():
    names = {"name": [f"Person {user}" for user in range(USERS)]}
    assert (
        warned({**TOWNS, **names}, {"name": [f"Person {user + 100}" for user in range(USERS)]})
        == []
    )


def test_few_rows_are_refused_for_other_reasons():
    one, two = vectors()
    few = [{"user": list(range(19)), **{name: day[name][:19] for name in NAMES}}
           for day in (one, two)]  # fmt: skip
    with refuses("tables-do-not-meet"):
        rr.data.read_linked(*few, layout=rr.data.Layout(user="user", columns=NAMES))
