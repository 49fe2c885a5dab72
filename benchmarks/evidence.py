"""Sums over everyone, 64 types and token tables, 8 slots: processor seconds, and what is left out.

The definition is given a few of the targets, and its time is scaled up; on those targets the
difference must be what is documented: nothing is added, at most 1e-4 is left out on average.
"""

import time

import numpy as np

from benchmarks.engine import likelihoods
from benchmarks.tools import figures, table
from benchmarks.worlds import typed_people
from reidrisk.engines import LocalEngine
from reidrisk.engines.strategies import definition
from reidrisk.scores import TypeMixture

USERS, TARGETS, FEW = 200_000, 1_000, 12
SHORT = (2, 4, 6)
LEFT_OUT, ROUNDING = 1e-4, 1e-6


def processor(work):
    """Processor seconds of all threads, and the answer."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def by_definition(engine, seen, score):
    """Everyone rated by `score.of`, one target after another."""
    few = seen.only(np.arange(FEW))
    with engine.begin(1) as crew:
        spent, sums = processor(lambda: definition.evidence(few, score, crew))
    return spent * len(seen.anonymous) / FEW, sums


def compared(engine, seen, score):
    """Ours and the definition; what is left out of each target's sum is checked."""
    engine.evidence(seen.only(np.arange(FEW)), score)
    ours, sums = processor(lambda: engine.evidence(seen, score))
    theirs, expected = by_definition(engine, seen, score)
    left_out = -np.expm1(sums[:FEW] - expected)
    assert left_out.min() > (-1e-9 if isinstance(score, TypeMixture) else -ROUNDING)
    assert left_out.mean() < LEFT_OUT
    return ours, theirs, left_out


def main():
    engine, rows, lost = LocalEngine(), [], []
    seen, mixture = typed_people(USERS, TARGETS)
    for name, score, limit in (
        ("64 types", mixture, 1 / 50),
        ("token table", likelihoods(), 1 / 5),
    ):
        ours, theirs, left_out = compared(engine, seen, score)
        rows.append((name, ours, f"definition ({FEW} targets)", theirs, limit))
        lost.append((name, f"{left_out.mean():.1e}", f"{left_out.max():.1e}"))
    for slots in SHORT:
        ours, _ = processor(lambda slots=slots: engine.evidence(seen.prefix(slots), mixture))
        rows.append((f"64 types, r = {slots}", ours, "r = 8", rows[0][1], 20))
    table(f"evidence: {USERS:,} users, {TARGETS:,} targets, processor s", rows)
    figures("what is left out of a sum", ("score", "mean", "most"), lost)
