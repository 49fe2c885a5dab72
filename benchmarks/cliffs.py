"""Where a way to search ends and another begins: no neighbour takes three times as long.

Seconds of processors, ratios in one run; on some targets both sides must equal the reference.
"""

import time

import numpy as np

from benchmarks.tools import table
from benchmarks.worlds import SAME, TOKENS, people, popularity
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.scores import TokenWeights

USERS, TARGETS = 120_000, 1_000
MOST, CHECKED = 3, 2
FIELDS = ("best", "ties", "true_score", "above", "level", "best_scores")


def world(slots, *, users=USERS, targets=TARGETS, **how):
    return people(users, targets, slots, **how)


def hamming(tokens=TOKENS):
    return TokenWeights(np.ones(tokens))


def weighted(tokens=TOKENS, gaps=None):
    """Log-likelihood ratios, as attackers fit them: a mismatch speaks against, a gap hardly."""
    chances = popularity(tokens)
    match = np.log(SAME + (1 - SAME) * chances) - np.log(chances)
    return TokenWeights(match, np.log(1 - SAME), **(gaps or {}))


OWN_GAPS = {"known_gap": 0.05, "shown_gap": -0.02, "both_gaps": 0.3}
AWAY = {"known_gap": -1.0, "shown_gap": -1.0, "both_gaps": 1.2}


def search(score, **asked):
    """A search, and what of it is compared with the reference."""

    def run(engine, seen):
        found = engine.search(seen, score, **asked)
        return {name: getattr(found, name) for name in FIELDS}

    return run


def evidence(score):
    return lambda engine, seen: {"evidence": engine.evidence(seen, score)}


def credit(score):
    return lambda engine, seen: {"credit": engine.credit(seen, score)}


def curves(*scores, every=1):
    def run(engine, seen):
        slots = sorted({*range(1, seen.slots + 1, every), seen.slots})
        found = engine.curves(seen, scores, slots)
        return {
            f"{index} {short}": answers[short].best
            for index, answers in enumerate(found)
            for short in slots
        }

    return run


def processor(run, seen):
    """The least seconds of processors of two runs, after one that may compile; checked."""
    engine, times = LocalEngine(), []
    run(
        engine,
        Observations(seen.known.block(0, 64), seen.anonymous[:2], [0, 1], tokens=seen.tokens),
    )
    for _ in range(2):
        start = time.process_time()
        found = run(engine, seen)
        times.append(time.process_time() - start)
    expected = run(ReferenceEngine(), seen.only(slice(CHECKED)))
    for name, values in expected.items():
        np.testing.assert_allclose(
            found[name][:CHECKED], values, rtol=1e-9 if name == "evidence" else 0, err_msg=name
        )
    return min(times)


def neighbours():
    """What is done, where, and where else: rows of (what, run, one side, run, other side)."""
    for slots in (16, 32, 64):
        whole, both = world(slots), world(slots, gaps=(0.2, 0.2))
        run = search(weighted(gaps=OWN_GAPS))
        yield f"{slots} slots, gaps that count", run, both, "no gaps", run, whole
        run = search(weighted())
        yield f"{slots} slots, gaps that add nothing", run, both, "no gaps", run, whole
    run = search(weighted(gaps=OWN_GAPS))
    yield "64 slots, known gaps", run, world(64, gaps=(0.2, 0)), "no gaps", run, whole
    yield "64 slots, shown gaps", run, world(64, gaps=(0, 0.2)), "no gaps", run, whole
    run = search(weighted(gaps=AWAY))
    yield "64 slots, users who are away", run, world(64, away=0.2), "no gaps", run, whole
    run = search(weighted(gaps=OWN_GAPS), ranks=None)
    yield "64 slots, gaps, all ranks", run, both, "no gaps", run, whole
    run = evidence(weighted(gaps=OWN_GAPS))
    yield "64 slots, gaps, evidence", run, both, "no gaps", run, whole
    for gaps in ((0, 0), (0.2, 0.2)):
        twelve, thirteen = (world(slots, gaps=gaps) for slots in (12, 13))
        score = weighted(gaps=OWN_GAPS)
        for what, run in (
            ("weighted", search(score)),
            ("hamming", search(hamming())),
            ("r = 1 to last", curves(score)),
            ("two attacks, some r", curves(score, hamming(), every=5)),
            ("all ranks", search(score, ranks=None)),
            ("900 ranks", search(score, ranks=900)),
            ("ten best", search(score, list_best=10)),
            ("evidence", evidence(score)),
            ("credit", credit(score)),
        ):
            name = f"13 slots, {what}" + (", gaps" if gaps[0] else "")
            yield name, run, thirteen, "12 slots", run, twelve
    for slots, tokens in ((8, 8190), (64, 1022), (2, 65_536), (13, 65_536)):
        other = {8190: 8189, 1022: 1021, 65_536: 32_767}[tokens]
        size = {"users": 50_000, "targets": 2_000}
        here, there = (world(slots, tokens=each, **size) for each in (tokens, other))
        runs = search(weighted(tokens)), search(weighted(other))
        yield f"{slots} slots, {tokens} tokens", runs[0], here, f"{other} tokens", runs[1], there
    for slots, sets in ((4, 2), (8, 2), (8, 5), (4, 20), (12, 5), (13, 5)):
        here, there = world(slots, sets=sets), world(slots * sets)
        run = search(weighted())
        yield f"{slots} slots, sets of {sets}", run, here, f"{slots * sets} slots", run, there
    for tokens in (2, 4, 16):
        here, there = (world(64, tokens=each, targets=200) for each in (tokens, 4 * tokens))
        runs = search(weighted(tokens)), search(weighted(4 * tokens))
        yield f"64 slots, {tokens} tokens", runs[0], here, f"{4 * tokens} tokens", runs[1], there


def main():
    rows = [
        (what, processor(run, here), other, processor(other_run, there), MOST)
        for what, run, here, other, other_run, there in neighbours()
    ]
    table(f"neighbours, seconds of processors: {USERS:,} users, {TARGETS:,} targets", rows)
