"""The interval of targets that are right and wrong together."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.snapshots import refuses

from reidrisk.estimates import mean_of_credits, mean_of_dependent
from reidrisk.estimates.credits import ends

GROUPS = 10


def test_two_targets_count_as_one_at_least():
    """Without any spread it is the interval of half as many."""
    found = mean_of_dependent(np.repeat([1.0, 0.0], [30, 70]), [0.3, 0.3, 0.3])
    assert (found.low, found.high) == ends(15, 50, level=0.95)
    assert (found.value, found.trials) == (0.3, 100)


def test_the_jackknife_of_independent_targets_is_their_variance():
    """Left out one by one, the means spread as much as credits do, so that one counts as one."""
    credits_ = np.repeat([1.0, 0.0], [300, 700])
    left_out = (300 - credits_) / 999
    # Clusters of eight that are all right or all wrong: eight count as one.
    eight = (300 - 8 * credits_[::8]) / 992
    usual = 301 / 1002 * 701 / 1002
    for means, together in ((left_out, 2), (eight, 8)):
        variance = (len(means) - 1) / len(means) * np.square(means - means.mean()).sum()
        counted = int(1000 / max(variance * 1000 / usual, 2))
        assert counted == pytest.approx(1000 / together, rel=0.02)
        found = mean_of_dependent(credits_, means)
        assert (found.low, found.high) == ends(0.3 * counted, counted, level=0.95)


@pytest.mark.parametrize("credit", [0.0, 1.0])
def test_all_alike_keeps_an_interval(credit):
    found = mean_of_dependent(np.full(40, credit), [credit] * 5)
    wide, usual = found.high - found.low, mean_of_credits(np.full(40, credit))
    assert found.value == credit
    assert wide > usual.high - usual.low > 0


def test_one_group_says_nothing():
    with refuses("too-few-targets"):
        mean_of_dependent([1.0, 0.0], [0.5])


def near(random, people, noise, strangers=0):
    """Distances between known points and others near them; some of the latter are strangers."""
    points = random.normal(size=(people, 2))
    known, shown = (points + noise * random.normal(size=points.shape) for _ in range(2))
    shown[people - strangers :] = random.normal(size=(strangers, 2))
    return -np.square(shown[:, None] - known[None]).sum(axis=2)


def on_a_line(random, people, noise, strangers):
    """The same on a line, where one stranger shifts whole stretches of people."""
    points = people * random.random(people)
    known, shown = (points + noise * random.normal(size=people) for _ in range(2))
    shown[people - strangers :] = people * random.random(strangers)
    return -np.square(shown[:, None] - known[None])


def credit(scores, people, targets):
    _, got = linear_sum_assignment(scores, maximize=True)
    return (people[got] == people)[people < targets] * 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "noise", "strangers"),
    [(near, 0.02, 0), (near, 0.05, 0), (near, 0.3, 0), (near, 0.05, 20), (on_a_line, 0.1, 10)],
)
def test_intervals_hold_the_mean_over_worlds(world, noise, strangers):
    """200 people are drawn again 200 times; on a line, 20 count as one and this is seen."""
    people, worlds = 200, 200
    targets, found, plain = people - strangers, [], []
    for number in range(worlds):
        random = np.random.default_rng([number, strangers])
        scores, everyone = world(random, people, noise, strangers), np.arange(people)
        group = random.permutation(people) % GROUPS
        credits_ = credit(scores, everyone, targets)
        without = [
            credit(scores[np.ix_(stay, stay)], everyone[stay], targets).mean()
            for stay in (group != one for one in range(GROUPS))
        ]
        found.append(mean_of_dependent(credits_, without))
        plain.append(mean_of_credits(credits_))
    truth = np.mean([one.value for one in found])
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.95
    if world is on_a_line:
        assert np.mean([one.low <= truth <= one.high for one in plain]) < 0.6
