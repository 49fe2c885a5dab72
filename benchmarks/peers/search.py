"""The best match of each target among all known rows, and how many tie for it.

Skewed tokens, 8 slots of 349; one slot in six is shown as it is known. Unweighted Hamming, since
this is the one score that all peers have.
"""

import numpy as np

from benchmarks.comparison import Comparison, cost, equal, one_of_the_best
from benchmarks.worlds import TOKENS, people
from reidrisk.engines import LocalEngine
from reidrisk.scores import GRID, TokenWeights

PEERS = ("numpy", "scipy", "scikit-learn", "faiss-cpu", "anonymeter")
FEW, MANY = (2_000, 20), (100_000, 500)
"""Users and targets."""

BLOCK = 20_000


def compare(peer, *, quick):
    """The same at two sizes: few people are searched sooner by a plain loop."""
    sizes = [FEW] if quick else [FEW, MANY]
    return [compared(peer, *size) for size in sizes]


def compared(peer, users, targets):
    seen = people(users, targets)
    known, shown = seen.known.block(0, users), seen.anonymous
    prepare, theirs, counts = SEARCHES[peer]
    search = prepare(known, shown)
    engine, score = LocalEngine(), TokenWeights(np.ones(TOKENS))
    our_cost, found = cost(lambda: engine.search(seen, score))
    their_cost, (best, second) = cost(search)
    ours = found.best // GRID
    if counts:
        agreement = equal((ours, found.ties), (best, second), "best scores and ties")
    else:
        named = (known[second] == shown).sum(axis=1)
        agreement = one_of_the_best(ours, found.ties, best, named)
    return Comparison(
        "best match", f"{users:,} users, {targets:,} targets, 8 slots", "LocalEngine.search",
        peer, theirs, our_cost, their_cost, agreement,
    )  # fmt: skip


def in_blocks(known, shown, agreements):
    """Best and ties of all targets, from the agreements of all with a block of known rows."""
    best, ties = np.full(len(shown), -1), np.zeros(len(shown), np.int64)
    for start in range(0, len(known), BLOCK):
        scores = agreements(known[start : start + BLOCK])
        top = scores.max(axis=1)
        ties = np.where(top > best, 0, ties)
        best = np.maximum(top, best)
        ties += (scores == best[:, None]).sum(axis=1)
    return best, ties


def with_numpy(known, shown):
    def agreements(block):
        scores = np.zeros((len(shown), len(block)), np.int8)
        for slot in range(shown.shape[1]):
            scores += shown[:, slot, None] == block[:, slot]
        return scores

    return lambda: in_blocks(known, shown, agreements)


def with_scipy(known, shown):
    from scipy.spatial.distance import cdist

    slots = shown.shape[1]
    known, shown = known.astype(float), shown.astype(float)

    def agreements(block):
        return slots - np.rint(cdist(shown, block, "hamming") * slots).astype(np.int64)

    return lambda: in_blocks(known, shown, agreements)


def with_sklearn(known, shown):
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=1, algorithm="brute", metric="hamming").fit(known)

    def search():
        distances, rows = index.kneighbors(shown)
        return shown.shape[1] - np.rint(distances[:, 0] * shown.shape[1]), rows[:, 0]

    return search


def with_faiss(known, shown):
    import faiss

    def one_hot(rows):
        bits = np.zeros((len(rows), rows.shape[1] * TOKENS), np.uint8)
        places = rows.astype(np.int64) + TOKENS * np.arange(rows.shape[1])
        np.put_along_axis(bits, places, 1, axis=1)
        return np.packbits(bits, axis=1)

    index = faiss.IndexBinaryFlat(8 * one_hot(known[:1]).shape[1])
    for start in range(0, len(known), BLOCK):
        index.add(one_hot(known[start : start + BLOCK]))
    asked = one_hot(shown)

    def search():
        distances, rows = index.search(asked, 1)
        return shown.shape[1] - distances[:, 0] // 2, rows[:, 0]

    return search


def with_anonymeter(known, shown):
    import anonymeter.evaluators  # noqa: F401  its parts import each other in a circle otherwise
    import pandas as pd
    from anonymeter.neighbors.mixed_types_kneighbors import MixedTypeKNeighbors

    names = [f"slot {slot}" for slot in range(shown.shape[1])]
    candidates, queries = (pd.DataFrame(rows, columns=names).astype(str) for rows in (known, shown))
    index = MixedTypeKNeighbors(n_neighbors=1, n_jobs=-1)
    index.fit(candidates, ctypes={"num": [], "cat": names})

    def search():
        distances, rows = index.kneighbors(queries, return_distance=True)
        return shown.shape[1] - distances[:, 0], rows[:, 0]

    return search


# What is prepared once, what answers, and whether it counts ties.
SEARCHES = {
    "numpy": (with_numpy, "comparison slot by slot", True),
    "scipy": (with_scipy, "spatial.distance.cdist", True),
    "scikit-learn": (with_sklearn, "NearestNeighbors, brute", False),
    "faiss-cpu": (with_faiss, "IndexBinaryFlat, one-hot", False),
    "anonymeter": (with_anonymeter, "MixedTypeKNeighbors", False),
}
