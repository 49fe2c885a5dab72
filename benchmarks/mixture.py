"""The search under a type mixture, "exact Bayes": processor seconds, growth, and equal answers.

The embedded population of 64 types, 349 tokens and 8 slots. The definition, `engines/reference.py`,
is given a few of the targets, and its seconds are scaled up; on those targets it must agree.
"""

import time

import numpy as np

from benchmarks.engine import typed_people
from benchmarks.tools import figures, table
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.engines.ways.mixture import bytes_needed
from reidrisk.matches import Wanted
from reidrisk.scores import TypeMixture

USERS, TARGETS, FEW = 1_000_000, 3_000, 6
SHORT = (1, 2, 4, 6, 8)


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


def growth(engine, seen, mixture):
    few, some = seen.only(np.arange(TARGETS // 10)), seen.only(np.arange(TARGETS // 3))
    cases = [(seen, mixture), (few, mixture), (some, mixture)]
    fewer = seen.truth < USERS // 4
    cases.append((seen.only(np.flatnonzero(fewer)).shard(0, USERS // 4), mixture))
    cases += [(seen, of_fewer_types(mixture, types)) for types in (1, 8, 32)]
    cases += [(seen.prefix(slots), mixture) for slots in SHORT[:-1]]
    for asked, score in cases:
        spent, _ = processor(lambda asked=asked, score=score: engine.search(asked, score))
        users, targets, types = len(asked.known), len(asked.truth), len(score.chances.weights)
        foreseen = bytes_needed(asked, score, engine.room, Wanted(), targets) / 2**20
        pairs = spent / users / targets * 1e9
        yield (
            f"{users:,}", f"{targets:,}", types, asked.slots,
            f"{spent:.2f}", f"{pairs:.2f}", f"{foreseen:.0f}",
        )  # fmt: skip


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
    table("1M users, 3,000 targets, 64 types, 8 slots, processor seconds", rows)
    headings = ("users", "targets", "types", "slots", "CPU s", "ns a pair", "MiB foreseen")
    figures("growth", headings, growth(engine, seen, mixture))
