"""How many people are named by embeddings of real logs, beside what outsiders would write.

Logs of the same people, two for each, become embeddings: weighted counts in the directions of a
truncated SVD, which is fitted on people who take no part. Data that is not there is left out.
"""

import time

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from tests import real_tables
from tests.shared_data import DATA

from benchmarks.tools import figures
from reidrisk import Grid, Observations, Study, VectorRows
from reidrisk.attacks import attack_named
from reidrisk.study.portfolio import plan
from reidrisk.study.source import source_of

DIMENSIONS = (16, 64, 256)
NOISE = (0.0, 0.5)
"""Lengths of the noise on the anonymous side, as shares of the mean length of a vector."""


def main():
    if DATA is None:
        return
    for name, tables in logs():
        for dimensions in DIMENSIONS:
            for noise in NOISE if dimensions == DIMENSIONS[1] else NOISE[:1]:
                compare(name, *embedded(*tables, dimensions), noise)


def logs():
    """Logs of the same people, two for each."""
    listens = real_tables.listens()
    yield "shopping, half-years", real_tables.shopping(range(1, 27), range(27, 53))
    yield "Last.fm, 50 plays and 50", real_tables.split_plays(listens)
    yield "Last.fm, each artist on one side", real_tables.split_by_item(listens)
    yield "songs, each on one side", real_tables.split_by_item(real_tables.songs())
    yield "web areas, each on one side", real_tables.split_by_item(real_tables.visits())


def embedded(known, shown, dimensions, share=0.3, seed=0):
    """Embeddings of both sides of the people who are not among those that the SVD is fitted on."""
    users = np.unique(known["user"])
    items, place = np.unique(np.concatenate([known["item"], shown["item"]]), return_inverse=True)
    sides = []
    for side, column in ((known, place[: len(known)]), (shown, place[len(known) :])):
        cells = np.ones(len(side)), (np.searchsorted(users, side["user"]), column)
        sides.append(sparse.csr_matrix(cells, shape=(len(users), len(items))))
    fitted = np.random.default_rng(seed).random(len(users)) < share
    rows = sparse.vstack([side[fitted] for side in sides]).tocsr()
    holders = rows.getnnz(axis=0)
    rarity = np.where(holders > 0, np.log((rows.shape[0] + 1) / (holders + 0.5)), 0.0)
    axes = sparse.linalg.svds(weighted(rows, rarity), dimensions, random_state=0)[2].T
    found = [np.asarray(weighted(side[~fitted], rarity) @ axes) for side in sides]
    there = (np.abs(found[0]).sum(axis=1) > 0) & (np.abs(found[1]).sum(axis=1) > 0)
    return [side[there] for side in found]


def weighted(counts, rarity):
    """Rows of length 1 of log counts, weighted by how rare items are."""
    held = counts.copy()
    held.data = np.log1p(held.data)
    held = held @ sparse.diags(rarity)
    lengths = np.sqrt(np.asarray(held.multiply(held).sum(axis=1)).ravel())
    return (sparse.diags(1 / np.maximum(lengths, 1e-12)) @ held).tocsr()


def compare(name, known, shown, noise):
    """Print what the portfolio finds, and what outsiders find."""
    shown = noisy(shown, noise)
    start = time.process_time()
    result = tried(known, shown)
    spent = time.process_time() - start
    rows = [(risk.attack, percent(risk.value), "") for risk in result.risks]
    for one in result.strongest:
        ends = f"{percent(one.right.low)} to {percent(one.right.high)}"
        rows.append((f"strongest, given {one.given}", percent(one.right.value), ends))
    rows += [(what, percent(found), "") for what, found in outsiders(known, shown)]
    rows += [(what, percent(found), "") for what, found in insiders(known, shown)]
    said = f"{name}, {known.shape[1]} dimensions, noise {noise:g}"
    figures(f"{said}: {len(known):,} people, {spent:.0f} CPU s", ("attack", "right", ""), rows)


def noisy(shown, noise):
    """Vectors with normal noise, whose length is this share of the mean length."""
    length = noise * np.linalg.norm(shown, axis=1).mean() / np.sqrt(shown.shape[1])
    return shown + length * np.random.default_rng(1).normal(size=shown.shape)


def tried(known, shown):
    """What the portfolio finds in vectors of the same people, in another order."""
    truth = np.random.default_rng(2).permutation(len(known))
    grid = Grid.of(known, shown)
    sides = [VectorRows.rounded(side, grid) for side in (known, shown[truth])]
    seen = Observations(*sides, truth)
    attacks = [attack_named(one.name) for one in plan(source_of(seen), None)]
    return Study(attacks=attacks, targets=None).run(seen)


def outsiders(known, shown):
    """What a few lines of numpy find without pairs."""
    cosine = unit(shown) @ unit(known).T
    centred = unit(shown - shown.mean(axis=0)) @ unit(known - known.mean(axis=0)).T
    yield "numpy: cosine", right(cosine)
    yield "numpy: centred cosine", right(centred)
    yield "numpy: the same, less the mean of the 10 best (CSLS)", right(csls(centred))
    yield "numpy: nearest", right(shown @ known.T - (known**2).sum(axis=1) / 2)
    yield "numpy: whitened cosine, CSLS", right(csls(whitened(known, shown)))
    yield "numpy: centred cosine, rows and columns balanced (Sinkhorn)", right(balanced(centred))
    people = linear_sum_assignment(-centred)[1]
    yield "numpy: centred cosine, everyone at once", np.mean(people == np.arange(len(known)))


def insiders(known, shown):
    """What a few lines of numpy find with the pairs of half of the people."""
    for what, alike in (("PLDA", True), ("CCA", False)):
        yield f"numpy: {what}, half of the pairs known", halves(known, shown, alike)


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def csls(scores):
    """Scores less the mean of the ten best of their row and column."""
    row = np.sort(scores, axis=1)[:, -10:].mean(1, keepdims=True)
    return 2 * scores - row - np.sort(scores, axis=0)[-10:].mean(0)


def whitened(known, shown, ridge=0.1):
    """Cosines once all directions vary alike."""
    known, shown = known - known.mean(axis=0), shown - shown.mean(axis=0)
    both = np.vstack([known, shown])
    values, axes = np.linalg.eigh(both.T @ both / len(both))
    axes = axes / np.sqrt(np.maximum(values, 0) + ridge * values.mean())
    return unit(shown @ axes) @ unit(known @ axes).T


def balanced(scores, heat=0.05):
    """Scores once each person has one in all, on either side."""
    logs = scores / heat
    for _ in range(30):
        logs = logs - logsumexp(logs, axis=1, keepdims=True)
        logs = logs - logsumexp(logs, axis=0, keepdims=True)
    return logs


def halves(known, shown, alike):
    """Two normal sides that go together, learned from half of the people; a ridge by trying."""
    half = np.random.default_rng(3).permutation(len(known)) % 2
    total = 0
    for one in (0, 1):
        theirs = [side[half != one] for side in (known, shown)]
        judge = np.arange(len(theirs[0])) % 2 == 0
        best = max(
            (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
            key=lambda ridge: right(  # of pairs that were held out
                together(*(side[~judge] for side in theirs), *(side[judge] for side in theirs),
                         ridge, alike)
            ),
        )  # fmt: skip
        scores = together(*theirs, known, shown[half == one], best, alike)
        total += np.sum(scores.argmax(axis=1) == np.flatnonzero(half == one))
    return total / len(known)


def together(some_known, some_shown, known, shown, ridge, alike):
    """Log ratios of a model of some pairs."""
    means = some_known.mean(axis=0), some_shown.mean(axis=0)
    a, b = some_known - means[0], some_shown - means[1]
    between, own, other = a.T @ b, a.T @ a, b.T @ b
    if alike:
        own = other = (own + other) / 2
        between = (between + between.T) / 2
    more = ridge * (np.trace(own) + np.trace(other)) / 2 / len(own) * np.eye(len(own))
    left, right_ = (inverse_root(side + more) for side in (own, other))
    u, r, v = np.linalg.svd(left @ between @ right_)
    r = np.clip(r, 0, 0.995)
    w = (known - means[0]) @ left @ u * (r / np.sqrt(1 - r**2))
    o = (shown - means[1]) @ right_ @ v.T / np.sqrt(1 - r**2)
    return o @ w.T - (w**2).sum(axis=1) / 2


def inverse_root(matrix):
    values, axes = np.linalg.eigh(matrix)
    return axes / np.sqrt(np.maximum(values, 1e-10 * values[-1])) @ axes.T


def right(scores):
    return np.mean(scores.argmax(axis=1) == np.arange(len(scores)))


def percent(share):
    return f"{100 * share:.1f} %"
