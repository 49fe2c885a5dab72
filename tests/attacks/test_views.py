"""What attacks read of a view: blocks of rows, from wherever they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from reidrisk import BagRows, Observations, TopicsApi, data
from reidrisk.attacks import ATTACKS, View, attack_named
from reidrisk.core.rows import Kind, rows_of

API = TopicsApi(topics=12, top=3, noise=0.1, absence=0.2)
PEOPLE = data.synthetic_topics(300, topics=12, epochs=3, types=3, size=3, seed=4)
SEEN = API.observe(PEOPLE, targets=40, seed=1)
REVEALED = API.reveal(PEOPLE, targets=40, seed=1)


@dataclass(frozen=True)
class Elsewhere:
    """Rows that are no array: blocks and single rows can be asked for, and nothing else."""

    _rows: Any

    @property
    def kind(self):
        return self._rows.kind

    @property
    def users(self):
        return self._rows.users

    @property
    def slots(self):
        return self._rows.slots

    @property
    def set_size(self):
        return self._rows.set_size

    @property
    def tokens(self):
        return self._rows.tokens

    @property
    def complete(self):
        return self._rows.complete

    def block(self, start, stop):
        return self._rows.block(start, stop)

    def take(self, rows):
        return self._rows.take(rows)

    @property
    def codec(self):
        return self._rows.codec

    def select(self, rows):
        return self._rows.select(rows)


def elsewhere(seen):
    known = Elsewhere(rows_of(np.asarray(seen.known), tokens=seen.tokens))
    return Observations(known, seen.anonymous, seen.truth, tokens=seen.tokens)


WITH_TORCH = {"neural", "pair-network"}
"""These read rows of a panel alone, and need torch: tests/attacks/test_neural.py."""

OF_VECTORS = {"nearest", "two-covariance"}
"""These rate no tokens: tests/attacks/test_vectors.py."""


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - WITH_TORCH - OF_VECTORS))
@pytest.mark.parametrize("panel", [False, True])
def test_attacks_ask_for_blocks_of_rows_only(name, panel):
    if not panel and "panel" in attack_named(name).needs:
        pytest.skip("it needs a panel")
    seen = REVEALED if name == "full-information" else SEEN
    one, other = (
        attack_named(name).fit(view_of(some, panel=some if panel else None))
        for some in (seen, elsewhere(seen))
    )
    rows = seen.true_rows
    np.testing.assert_array_equal(one.of(rows, seen.anonymous), other.of(rows, seen.anonymous))


def view_of(seen, **besides):
    """What an attack may fit on, with the release, values behind tokens and times."""
    times = np.array(["", "", "habit", *[""] * 9], object)
    return View.of(seen, release=API, labels=np.arange(12), times=times, **besides)


def test_a_view_says_what_its_rows_are():
    view = View.of(REVEALED)
    assert (view.tokens, view.slots, view.known.kind) == (12, 3, Kind.SETS)
    assert (view.release, view.panel, view.population) == (None, None, None)


def test_the_order_of_anonymous_rows_says_nothing():
    order = np.random.default_rng(1).permutation(len(SEEN.anonymous))
    one, other = (View.of(seen).anonymous for seen in (SEEN, SEEN.only(order)))
    np.testing.assert_array_equal(one, other)
    assert sorted(map(tuple, SEEN.anonymous)) == list(map(tuple, one))
    assert not one.flags.writeable


def test_the_order_of_anonymous_bags_says_nothing():
    bags = BagRows([[3, 1], [], [0], [1, 3], [0]], tokens=4)
    seen = Observations(bags, bags, np.arange(5), tokens=4)
    one, other = (View.of(some).anonymous for some in (seen, seen.only(np.arange(5)[::-1])))
    assert [bag.tolist() for bag in one] == [bag.tolist() for bag in other]
    assert sorted(bag.tolist() for bag in one) == sorted(bag.tolist() for bag in bags)
