"""The cosine of texts: against one computed by hand, and what it finds."""

import math
from collections import Counter

import numpy as np
import pytest

from reidrisk import LocalEngine, Observations
from reidrisk.attacks import Hamming, TextCosine, View
from reidrisk.scores import in_units
from reidrisk.testing import check_attack

VALUES = np.array(
    ["jane", "Müller", "john", "12 long lane", "jnae", "muller", "mary-ann", "lane", ""], object
)
KNOWN = np.array([[0, 1, 3], [2, 5, -1], [6, 7, 3], [-1, -1, -1]])
SHOWN = np.array([[4, 5, 3], [5, 2, 7], [-1, 6, 8]])
SEEN = Observations(KNOWN, SHOWN, [0, 1, 2], tokens=9)


def parts(row):
    """How often a row has each part of two and three letters."""
    texts = {1: "muller", 3: "12 long lane", 6: "mary ann"}
    held = Counter()
    for token in row:
        if token >= 0:
            text = f" {texts.get(token, VALUES[token])} "
            held.update(
                text[at : at + size] for size in (2, 3) for at in range(len(text) - size + 1)
            )
    return held


def test_it_is_the_cosine_of_weighted_parts():
    rows = [parts(row) for row in KNOWN]

    def vector(held):
        count = {one: sum(one in row for row in rows) for one in held}
        return {
            one: (1 + math.log(times)) * (1 + math.log((1 + len(rows)) / (1 + count[one])))
            for one, times in held.items()
        }

    def cosine(one, other):
        sizes = [math.sqrt(sum(x * x for x in each.values())) for each in (one, other)]
        product = sum(weight * other.get(part, 0) for part, weight in one.items())
        return product / (sizes[0] * sizes[1]) if all(sizes) else 0

    score = TextCosine().fit(View.of(SEEN, labels=VALUES))
    for shown in SHOWN:
        expected = [cosine(vector(row), vector(parts(shown))) for row in rows]
        found = in_units(score, score.of(KNOWN, shown))
        np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(("attack", "right"), [(Hamming(), 1 / 4), (TextCosine(), 1)])
def test_typing_errors_and_wrong_columns_cost_little(attack, right):
    score = attack.fit(View.of(SEEN, labels=VALUES))
    assert LocalEngine().credit(SEEN, score).mean() == pytest.approx(right, abs=0.05)


def test_it_keeps_its_promises():
    check_attack(TextCosine(), SEEN, labels=VALUES)
