"""The engine at the size of the paper: seconds, the ratio to compiled brute force, equal answers.

10,000 targets, 349 tokens of 7.6 bits, 8 slots, as in the paper's main experiment. Brute force is
given a few of the targets, and its time is scaled up; on those it must agree with us. Packages of
others are in `benchmarks.peers`.
"""

import resource
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from benchmarks.tools import seconds, table
from benchmarks.worlds import SLOTS, TOKENS, people, popularity, typed_people
from reidrisk.core.parallel import cores
from reidrisk.engines import LocalEngine
from reidrisk.scores import GRID, OverlapWeights, TokenPairWeights, TokenWeights

USERS, TARGETS, COMPARED = 10_000_000, 10_000, 200
SHORT = (1, 2, 4, 6, 8)
CHUNK = 1 << 14


def attacks():
    """Weighted and unweighted Hamming; whole weights, so that the peers are exact too."""
    weights = np.rint(-16 * np.log(popularity()))
    return TokenWeights(weights), TokenWeights(np.ones(TOKENS))


@numba.njit(nogil=True, cache=True)
def add_gain(column, token, gain, scores):
    for user in range(column.shape[0]):
        scores[user] += gain if column[user] == token else 0


@numba.njit(nogil=True, cache=True)
def count_equal(scores, score):
    count = 0
    for user in range(scores.shape[0]):
        count += scores[user] == score
    return count


@numba.njit(nogil=True, cache=True)
def brute_force(columns, targets, gains):
    """Best score and ties, compiled: the loops over users fill vector registers."""
    best, ties = np.full(targets.shape[0], -1), np.zeros(targets.shape[0], np.int64)
    memory = np.empty(CHUNK, np.int16)
    for start in range(0, columns.shape[1], CHUNK):
        stop = min(start + CHUNK, columns.shape[1])
        scores = memory[: stop - start]
        for target in range(targets.shape[0]):
            scores[:] = 0
            for slot in range(targets.shape[1]):
                token = targets[target, slot]
                add_gain(columns[slot, start:stop], token, gains[token], scores)
            top = scores.max()
            if top > best[target]:
                best[target], ties[target] = top, 0
            if top == best[target]:
                ties[target] += count_equal(scores, top)
    return best, ties


def by_brute_force(seen, scores, targets):
    """Its seconds for all targets under all scores, from some of them, on all cores."""
    columns = np.ascontiguousarray(seen.known.T)
    shown = np.ascontiguousarray(seen.anonymous[:targets])
    gains = [(score.match[0] // GRID).astype(np.int16) for score in scores]
    brute_force(columns[:, :CHUNK], shown, gains[0])
    jobs = [(part, gain) for gain in gains for part in np.array_split(shown, cores())]
    start = time.perf_counter()
    with ThreadPoolExecutor(cores()) as threads:
        answers = list(threads.map(lambda job: brute_force(columns, *job), jobs))
    spent = (time.perf_counter() - start) * TARGETS / targets
    halves = answers[: cores()], answers[cores() :]
    return spent, [[np.concatenate(part) for part in zip(*half, strict=True)] for half in halves]


def agree(ours, theirs):
    for matches, answers in zip(ours, theirs, strict=True):
        best, ties = answers
        np.testing.assert_array_equal(matches.best[: len(best)] // GRID, best)
        np.testing.assert_array_equal(matches.ties[: len(ties)], ties)


def likelihoods():
    """A token table as of an attacker who knows which tokens go together."""
    random, chances = np.random.default_rng(2), popularity()
    tastes = random.random((TOKENS, 12)) ** 3
    together = tastes @ tastes.T
    together *= np.minimum(8 * chances / together.max(), 0.6)[:, None]
    np.fill_diagonal(together, 0.95)
    return TokenPairWeights(np.log(1.4e-4 + 0.19 * together) - np.log(chances)[:, None])


def newer_scores(engine):
    """Mixtures, profiles and sums over everyone."""
    seen, mixture = typed_people(1_000_000, 3_000)
    profile = OverlapWeights(np.ones(TOKENS))
    for name, work, goal in (
        ("1M users, 3,000 targets, 64 types", lambda: engine.search(seen, mixture), 20),
        ("the same, evidence", lambda: engine.evidence(seen, mixture), 20),
        ("the same, profiles", lambda: engine.search(seen, profile), 20),
        ("the same, evidence of a token table", lambda: engine.evidence(seen, likelihoods()), 20),
    ):
        spent, _ = seconds(work, repeat=1)
        yield name, spent, "goal", goal, 1


def main():
    engine, rows = LocalEngine(), []
    scores = attacks()
    seen = people(USERS, TARGETS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def both(seen=seen, engine=engine):
        return [answer[SLOTS] for answer in engine.curves(seen, scores, [SLOTS])]

    ours, found = seconds(both, repeat=3)
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    theirs, answers = by_brute_force(seen, scores, COMPARED)
    agree(found, answers)
    name = f"brute force ({COMPARED} targets)"
    rows.append(("10M users, both attacks", ours, name, theirs, 1 / 10))

    curves, _ = seconds(lambda: engine.curves(seen, scores, SHORT), repeat=3)
    rows.append(("all of r = 1, 2, 4, 6, 8", curves, "r = 8", ours, 2))
    sums, _ = seconds(lambda: engine.histogram(seen).evidence(scores[0]), repeat=3)
    rows.append(("posterior sums", sums, "r = 8", ours, 2))
    credit, settled = seconds(lambda: engine.credit(seen, scores[0]), repeat=3)
    np.testing.assert_array_equal(settled, found[0].credit)
    rows.append(("credit only, weighted", credit, "r = 8", ours, 1))
    one, _ = seconds(lambda: both(engine=LocalEngine(threads=1)), repeat=2)
    rows.append(("all threads", ours, "one thread", one, 1 / 1.6))
    tabled, _ = seconds(lambda: engine.search(seen, likelihoods()), repeat=1)
    rows.append(("token table", tabled, "goal", 8, 1))
    small_seen, large_seen = people(1_000_000, TARGETS), people(30_000_000, TARGETS)
    small, _ = seconds(lambda: both(small_seen), repeat=5)
    large, _ = seconds(lambda: both(large_seen), repeat=1)
    rows.append(("30M users", large, "1M users", small, 30))
    sets = people(USERS, TARGETS, sets=5)
    in_sets, _ = seconds(lambda: engine.search(sets, attacks()[0]), repeat=1)
    rows.append(("sets of 5, weighted", in_sets, "r = 8", ours, 10))
    songs = people(1_000_000, TARGETS, tokens=1_000_000, exponent=1.0)
    weights = TokenWeights(-np.log(popularity(1_000_000, 1.0)))
    many, _ = seconds(lambda: engine.search(songs, weights), repeat=3)
    rows.append(("1M users, 1M tokens", many, "goal", 2, 1))
    rows.extend(newer_scores(engine))
    table("engine: 10,000 targets, 8 slots, 349 tokens of 7.6 bits", rows)
    print(f"10M users: tokens {seen.known.nbytes / 2**30:.2f} GiB, search {peak:.2f} GiB more")
