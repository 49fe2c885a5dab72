"""Intervals where targets depend on each other: attackers who look at all rows at once."""

from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import linear_sum_assignment

from reidrisk.estimates import mean_of_credits, mean_of_dependent

PEOPLE, WORLDS, GROUPS, NEAREST = 300, 150, 10, 10


def points(random, dimensions, noise, strangers=0, spread=0.0):
    """Known and anonymous points near those of people, some more noisy; the last are strangers."""
    where = random.normal(size=(PEOPLE, dimensions))
    noises = noise * np.exp(spread * random.normal(size=(PEOPLE, 1)))
    known, shown = (where + noises * random.normal(size=where.shape) for _ in range(2))
    if strangers:
        shown[-strangers:] = random.normal(size=(strangers, dimensions))
    return -np.square(shown[:, None] - known[None]).sum(axis=2)


def baskets(random, size, strangers=0):
    """Cosines of square roots of shares; everybody buys in proportions of their own."""
    popular = np.random.default_rng(99).dirichlet(np.ones(100))
    likes = random.gamma(30 * popular + 1e-9, size=(PEOPLE, 100))
    if strangers:
        others = random.gamma(30 * popular + 1e-9, size=(strangers, 100))
    sides = []
    for side in range(2):
        mine = likes.copy()
        if side and strangers:
            mine[-strangers:] = others
        sizes = random.integers(size // 2, 2 * size, size=PEOPLE)
        counts = random.multinomial(sizes, mine / mine.sum(axis=1, keepdims=True))
        sides.append(np.sqrt(counts / sizes[:, None]))
    known, shown = (side - side.mean(axis=0) for side in sides)
    lengths = [np.linalg.norm(side, axis=1) for side in (known, shown)]
    return shown @ known.T / lengths[1][:, None] / lengths[0]


def on_a_line(random, noise, strangers):
    """People on a line, where one stranger shifts whole stretches of them."""
    where = PEOPLE * random.random(PEOPLE)
    known, shown = (where + noise * random.normal(size=PEOPLE) for _ in range(2))
    shown[-strangers:] = PEOPLE * random.random(strangers)
    return -np.square(shown[:, None] - known[None])


WORLDS_OF = {
    "8 dimensions, noise .2": (partial(points, dimensions=8, noise=0.2), 0),
    "8 dimensions, noise .3": (partial(points, dimensions=8, noise=0.3), 0),
    "8 dimensions, noise .6": (partial(points, dimensions=8, noise=0.6), 0),
    "8 dimensions, noise 1.2": (partial(points, dimensions=8, noise=1.2), 0),
    "16 dimensions, noise of many sizes": (
        partial(points, dimensions=16, noise=0.6, spread=0.7), 0
    ),
    "2 dimensions, noise .05": (partial(points, dimensions=2, noise=0.05), 0),
    "2 dimensions, 30 strangers": (partial(points, dimensions=2, noise=0.05, strangers=30), 30),
    "baskets of 20": (partial(baskets, size=20), 0),
    "baskets of 60": (partial(baskets, size=60), 0),
    "baskets of 40, 60 strangers": (partial(baskets, size=40, strangers=60), 60),
    "on a line, 15 strangers": (partial(on_a_line, noise=0.1, strangers=15), 15),
}  # fmt: skip


def nearest(scores, people):
    return people[scores.argmax(axis=1)]


def without_hubs(scores, people):
    near = np.partition(scores, -NEAREST, axis=0)[-NEAREST:].mean(axis=0)
    return nearest(2 * scores - near, people)


def at_once(scores, people):
    return people[linear_sum_assignment(scores, maximize=True)[1]]


def credit(named, people, targets):
    return (named == people)[people < targets] * 1.0


def looked_at(make, strangers, attacker, number):
    """The mean of one world, and both intervals."""
    random = np.random.default_rng([number, strangers])
    scores, people, targets = make(random), np.arange(PEOPLE), PEOPLE - strangers
    found = credit(attacker(scores, people), people, targets)
    group = random.permutation(PEOPLE) % GROUPS
    left_out = [
        credit(attacker(scores[np.ix_(stay, stay)], people[stay]), people[stay], targets).mean()
        for stay in (group != one for one in range(GROUPS))
    ]
    return mean_of_credits(found), mean_of_dependent(found, left_out)


def main():
    title = f"{WORLDS} worlds of {PEOPLE} people: share that holds the mean at 95 %, mean width"
    grid = Table("world", "attacker", "right", "variance", "mean_of_credits", "mean_of_dependent",
                 title=title)  # fmt: skip
    for name, (make, strangers) in WORLDS_OF.items():
        for attacker in (nearest, without_hubs, at_once):
            found = [looked_at(make, strangers, attacker, number) for number in range(WORLDS)]
            values = np.array([one.value for one, _ in found])
            mean, targets = values.mean(), PEOPLE - strangers
            variance = values.var(ddof=1) * targets / (mean * (1 - mean))
            cells = [
                f"{np.mean([one.low <= mean <= one.high for one in each]):.1%}, "
                f"{np.mean([one.high - one.low for one in each]):.3f}"
                for each in zip(*found, strict=True)
            ]
            grid.add_row(name, attacker.__name__, f"{mean:.3f}", f"{variance:.2f}", *cells)
    Console(width=140).print(grid)
