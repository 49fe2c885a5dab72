"""The Topics rules on real people: plausibility against figures of an independent script.

The figures stand in the description of the data, each from one run over all users; what they may
be off by is three standard errors of such a run.
"""

import numpy as np
import pytest
from tests.shared_data import DATA, needs_data

from reidrisk import Hamming, LocalEngine, TopicsApi, WeightedHamming
from reidrisk.attacks import View
from reidrisk.data import read_profiles

pytestmark = needs_data

SLOTS = (1, 2, 4, 8)


@pytest.mark.parametrize(
    ("absent", "users", "weighted", "unweighted"),
    [
        ("drop", 441, (6.1, 10.7, 19.2, 36.3), (6.1, 7.2, 14.4, 27.4)),
        ("pad", 2_170, (2.5, 5.7, 14.8, 34.6), (2.5, 4.8, 13.1, 28.4)),
    ],
)
def test_households_are_found_as_often_as_published(absent, users, weighted, unweighted):
    people = read_profiles(
        DATA / "completejourney_household_week_category.csv.gz",
        columns={"user": "household_id", "epoch": "week", "token": "cat_id", "weight": "items"},
        epochs=range(5, 13),
        absent=absent,
    )
    api = TopicsApi(topics=people.tokens)
    seen = api.observe(people, seed=1)
    assert len(seen.known) == users
    scores = [attack.fit(View.of(seen)) for attack in (WeightedHamming(api), Hamming())]
    for curve, published in zip(
        LocalEngine().curves(seen, scores, SLOTS), (weighted, unweighted), strict=True
    ):
        for slots, percent in zip(SLOTS, published, strict=True):
            error = np.sqrt(percent / 100 * (1 - percent / 100) / users)
            assert curve[slots].credit.mean() == pytest.approx(percent / 100, abs=3 * error)
