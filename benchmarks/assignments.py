"""Everybody named at once: 100,000 targets among 100,000 users, and the solver against scipy's.

Points in 16 dimensions with noise. What the whole takes: the search, which lists 50 rows for each
target, the assignment, and the interval, for which it is done again without each tenth of people.
"""

import sys

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

import reidrisk as rr
from benchmarks.tools import figures, seconds, spent, table
from reidrisk.core.assignments import largest_assignment
from reidrisk.engines import LocalEngine
from reidrisk.risk import Fitted
from reidrisk.scores import InnerProduct

MANY, FEW, LISTED, DIMENSIONS, STEPS = 100_000, 10_000, 50, 16, 8_000
NOISES = {"easy": 0.2, "harder": 0.4, "hard": 0.8}
LIMIT = 1.0


def world(users, noise):
    """Directions of points that are known, and of the same points with other noise."""
    random = np.random.default_rng(1)
    where = random.normal(size=(users, DIMENSIONS))
    sides = [where + noise * random.normal(size=where.shape) for _ in range(2)]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    known, shown = (rr.VectorRows(np.rint(STEPS * one).astype(np.int16)) for one in units)
    return rr.Observations(known, shown, np.arange(users))


def whole(users, noise):
    seen = world(users, noise)
    subject = Fitted(rr.attacks.Cosine(), InnerProduct.of_vectors())
    print(rr.measure_assignment(seen, subject, keep_best=LISTED))


def scipy_total(rows, gains):
    """The largest sum by scipy: each target also lists a row of its own, to go without."""
    targets, users, most = len(rows), rows.max() + 1, gains.max() + 1
    own = users + np.arange(targets)[:, None]
    columns = np.hstack([rows, own]).ravel()
    costs = np.hstack([most - gains, np.full((targets, 1), most)]).ravel().astype(float)
    starts = np.arange(targets + 1) * (rows.shape[1] + 1)
    graph = csr_array((costs, columns, starts), shape=(targets, users + targets))
    left, right = min_weight_full_bipartite_matching(graph)
    return most * targets - int(graph[left, right].sum())


def total(rows, gains, got):
    return int(gains[rows == got[:, None]].sum())


def main():
    rows = []
    for name, noise in NOISES.items():
        took = spent("-m", "benchmarks.assignments", MANY, noise)
        alone, together, listed = (
            line.split(": ")[1].split(" ")[0] for line in took.said.splitlines()[1:]
        )
        rows.append((name, alone, together, listed, f"{took.seconds:.0f}",
                     f"{took.processor:.0f}", took.peak >> 20))  # fmt: skip
    headings = ("noise", "one by one", "at once", "listed", "s", "processor s", "peak, MiB")
    figures(f"{MANY:,} targets among {MANY:,} users, {LISTED} listed", headings, rows)
    compared = []
    for name, noise in NOISES.items():
        found = LocalEngine().search(
            world(FEW, noise), InnerProduct.of_vectors(), list_best=LISTED
        )  # fmt: skip
        listed = found.best_rows
        gains = found.best_scores - found.best_scores[:, -1:]
        order = np.random.default_rng(1).permutation(FEW)
        ours, got = seconds(
            lambda listed=listed, gains=gains, order=order: largest_assignment(
                listed, gains, order
            ),
            repeat=2,
        )
        theirs, most = seconds(
            lambda listed=listed, gains=gains: scipy_total(listed, gains), repeat=1
        )
        assert total(listed, gains, got) == most
        compared.append((f"{FEW:,} targets, {name}", ours, "scipy", theirs, LIMIT))
    table("the solver alone, same sums", compared)


if __name__ == "__main__":
    whole(int(sys.argv[1]), float(sys.argv[2]))
