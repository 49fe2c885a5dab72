"""The search under a type mixture, "exact Bayes": processor seconds, and equal answers.

The embedded population of 64 types, 349 tokens and 8 slots. The definition, `engines/reference.py`,
is given a few of the targets, and its seconds are scaled up; on those targets it must agree. Then
fewer types; `benchmarks.growth` has how it grows with all else.
"""

import time

import numpy as np

from benchmarks.tools import figures, table
from benchmarks.worlds import typed_people
from reidrisk.core.matches import Wanted
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.strategies.mixture import bytes_needed
from reidrisk.scores import TypeMixture

USERS, TARGETS, FEW = 1_000_000, 1_000, 6
TYPES = (1, 8, 32, 64)


def processor(search):
    """Seconds of all threads, of one call."""
    start = time.process_time()
    found = search()
    return time.process_time() - start, found


def agree(found, expected):
    for name in ("best", "ties", "true_score", "above", "level", "best_rows"):
        ours, theirs = (getattr(each, name)[:FEW] for each in (found, expected))
        np.testing.assert_array_equal(ours, theirs, name)


def of_fewer_types(mixture, types):
    """The mixture of some of the types alone."""
    chances = mixture.chances
    single, joint = chances.single[:-1, :types].T, chances.joint[:-1, :-1, :types]
    weights = chances.weights[:types] / chances.weights[:types].sum()
    return TypeMixture(weights, single, joint.transpose(2, 0, 1))


def by_types(engine, seen, mixture):
    for types in TYPES:
        score = of_fewer_types(mixture, types)
        spent, _ = processor(lambda score=score: engine.search(seen, score))
        foreseen = bytes_needed(seen, score, engine.room, Wanted(), len(seen.truth)) / 2**20
        yield types, f"{spent:.2f}", f"{foreseen:.0f}"


def main():
    engine, slow = LocalEngine(), ReferenceEngine()
    seen, mixture = typed_people(USERS, TARGETS)
    engine.search(seen.shard(0, 1000).only(seen.truth < 1000), mixture)  # compiles
    rows = []
    for name, asked in (
        ("the best", {}),
        ("ten ranks, three rows listed", {"ranks": 10, "list_best": 3}),
    ):
        ours, found = processor(lambda asked=asked: engine.search(seen, mixture, **asked))
        few = seen.only(np.arange(FEW))
        theirs, expected = processor(
            lambda asked=asked, few=few: slow.search(few, mixture, **asked)
        )
        agree(found, expected)
        rows.append((name, ours, f"definition ({FEW} targets)", theirs * TARGETS / FEW, 1 / 300))
    table(f"1M users, {TARGETS:,} targets, 64 types, 8 slots, processor seconds", rows)
    figures(
        "fewer types", ("types", "processor s", "MiB foreseen"), by_types(engine, seen, mixture)
    )
