"""Utility: how real, how far from the truth, how much withheld; against sums in words."""

import numpy as np
import pytest
from tests.releases.worlds import Fixed

from reidrisk import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.data import make_profiles, synthetic_topics
from reidrisk.releases import Cohorts, Generalised, MinimumUsers, prepared, utility

EPSILON = RandomisedResponse(epsilon=0.5)


def people(seed=3, users=40, epochs=2, tokens=8):
    random = np.random.default_rng(seed)
    shape = (users, epochs, tokens)
    weights = random.integers(0, 3, shape) * (random.random(shape) < 0.4)
    weights[:, :, 0] += 1
    weights[5] = weights[6, 1] = 0  # one who is not there at all, one away at times
    where = np.nonzero(weights)
    return make_profiles(*where, weights[where], taxonomy=range(tokens), absent="missing")


def by_hand(release, crowd, seed, there):
    """The three figures, user by user."""
    shows = prepared(release, crowd)
    recoded = getattr(shows, "recoded", list(range(crowd.tokens)))
    rows = np.asarray(shows.show(crowd, 0, crowd.users, site=1, seed=seed)).tolist()
    reals, gone, had, shown = [], [], [], []
    for user, row in enumerate(rows):
        weights = {}
        for epoch in range(crowd.epochs):
            for token, weight in zip(*crowd.cell(user, epoch), strict=True):
                new = int(recoded[token])
                weights[new] = weights.get(new, 0) + float(weight)
        had.append({token: weight / sum(weights.values()) for token, weight in weights.items()})
        came = [token for token in row if token >= 0]
        if came:
            reals.append(sum(token in weights for token in came) / len(came))
            shown.append({token: came.count(token) / len(came) for token in came})
        slots = [row[slot] for slot in range(len(row)) if there(user, slot)]
        if slots:
            gone.append(slots.count(-1) / len(slots))
    every = range(-1, shows.tokens(crowd) if hasattr(shows, "tokens") else crowd.tokens)
    variation = (
        sum(
            abs(
                sum(one.get(token, 0) for one in had) / len(had)
                - sum(one.get(token, 0) for one in shown) / len(shown)
            )
            for token in every
        )
        / 2
    )
    return np.mean(reals), variation, np.mean(gone)


CROWD = people()


def always(_user, _slot):
    return True


def present(user, slot):
    return bool(CROWD.present[user, slot])


def items(user):
    return len({token for epoch in range(2) for token in CROWD.cell(user, epoch)[0].tolist()})


@pytest.mark.parametrize(
    ("release", "there"),
    [
        (ItemSamples(samples=3), always),
        (ItemSamples(3, False, False), lambda user, slot: items(user) > slot),  # noqa: FBT003
        (EPSILON, present),
        (TopicsApi(topics=8, top=2, noise=0.3, absence=0.4), present),
        (Generalised(users=20, of=ItemSamples(samples=3)), always),
        (Generalised(rounding=4, of=EPSILON), present),
        (MinimumUsers(users=22, of=ItemSamples(samples=3)), always),
        (MinimumUsers(users=22, of=EPSILON), present),
        (MinimumUsers(users=30, of=Generalised(rounding=3, of=EPSILON)), present),
    ],
    ids=lambda part: getattr(part, "__name__", None) or str(part),
)  # fmt: skip
def test_figures_are_those_of_a_count_by_hand(release, there, monkeypatch):
    monkeypatch.setattr("reidrisk.releases.utilities.USERS_AT_A_TIME", 7)
    found = utility(release, CROWD, seed=5)
    real, variation, withheld = by_hand(release, CROWD, 5, there)
    assert found.real.value == pytest.approx(real)
    assert found.variation.value == pytest.approx(variation)
    assert found.withheld.value == pytest.approx(withheld)
    for one in (found.real, found.variation, found.withheld):
        assert 0 <= one.low <= one.value <= one.high <= 1
        assert one.level == 0.95


def test_the_truth_is_all_real_and_lies_are_not():
    world = Fixed.copies([[[0]]], 4, 300)
    true = utility(RandomisedResponse(epsilon=50.0), world, seed=1)
    assert (true.real.value, true.variation.value, true.withheld.value) == (1, 0, 0)
    lies = utility(RandomisedResponse(epsilon=0.0), world, seed=1)
    assert lies.real.low <= 0.25 <= lies.real.high
    assert lies.variation.low <= 0.75 <= lies.variation.high


def test_cohorts_are_no_tokens_that_people_have():
    crowd = synthetic_topics(60, topics=20, epochs=2, types=4, size=3, seed=1)
    found = utility(Cohorts(users=5), crowd, seed=1)
    assert found.real is None
    assert found.variation is None
    assert found.withheld.value == 0


def test_where_nothing_is_shown_nothing_is_real():
    world = Fixed.copies([[[0]]], 4, 30)
    found = utility(TopicsApi(topics=4, top=1, noise=0.1, absence=1.0), world, seed=1)
    assert (found.real, found.variation) == (None, None)
    assert found.withheld.value == 1
