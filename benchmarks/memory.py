"""Memory of large searches: what they said they need against what they took; time, and progress.

Each runs in a program of its own to its end: the longest time without a report of progress is told
too. Then many users in memory, part by part, a few targets compared with the definition.

    python -m benchmarks.memory [NAME ...]
"""

import json
import sys
import time

import numpy as np

import reidrisk as rr
from benchmarks.load import MIB, SEARCHES, fitted, memory, people, program, weighted
from benchmarks.tools import figures, spent
from reidrisk.engines import LocalEngine, ReferenceEngine

USERS, TARGETS, SAMPLE, BLOCK = 10_000_000, 10_000, 3, 1 << 20
SHOWN = ("10M x 10k, two Hamming", "1M x 2k, 64 slots", "1M x 1k, type-aware", "1M x 10k, bags",
         "1M x 2k, 5M tokens")  # fmt: skip
"""Those of `RESULTS.md`."""

QUICK = ("50k x 1k, weighted",)
HEADINGS = ("what", "said, MiB", "took, MiB", "said / took", "s", "processor s",
            "longest pause, s")  # fmt: skip


def sizes(names=()):
    """Rows of a table: memory that a search said it needs and took, seconds, and pauses."""
    for name in names or SEARCHES:
        took = spent(*program(name)[1:])
        found = json.loads(took.said.splitlines()[-1])
        said, needed = found["said"], found["took"]
        yield (
            name, said // MIB, needed // MIB, f"{said / needed:.2f}", f"{found['seconds']:.1f}",
            f"{took.processor:.1f}", f"{found['pause']:.2f}",
        )  # fmt: skip


def many(users):
    """Search very many users in memory, and compare a few targets with the definition."""
    engine, clock, seen = LocalEngine(), Clock(), people(users, TARGETS)
    yield clock.row("people made")
    scores = [fitted(rr.Hamming(), seen), weighted(seen)]
    yield clock.row("weights learned")
    found = engine.curves(seen, scores, [seen.slots])
    yield clock.row(f"two attacks, {TARGETS:,} targets")
    few = seen.only(np.arange(SAMPLE))
    for score, ours in zip(scores, found, strict=True):
        best = np.full(SAMPLE, np.iinfo(np.int64).min)
        ties = np.zeros(SAMPLE, np.int64)
        for start in range(0, users, BLOCK):
            slow = ReferenceEngine().search(few.shard(start, min(start + BLOCK, users)), score)
            ties = np.where(slow.best > best, 0, ties) + np.where(slow.best >= best, slow.ties, 0)
            best = np.maximum(best, slow.best)
        np.testing.assert_array_equal(best, ours[seen.slots].best[:SAMPLE])
        np.testing.assert_array_equal(ties, ours[seen.slots].ties[:SAMPLE])
    yield clock.row(f"the definition, {SAMPLE} targets")


class Clock:
    """Seconds and memory of one part after the other."""

    def __init__(self):
        self.now = time.perf_counter(), time.process_time()

    def row(self, what):
        """What the part took that has just ended."""
        before, self.now = self.now, (time.perf_counter(), time.process_time())
        took = (f"{now - then:.1f}" for now, then in zip(self.now, before, strict=True))
        return what, *took, memory("VmRSS") // MIB, memory("VmHWM") // MIB


def main(names=()):
    figures("memory, time, progress", HEADINGS, sizes(names))
    if not names:
        headings = ("part", "s", "processor s", "MiB", "MiB at most")
        figures(f"{USERS:,} users in memory", headings, many(USERS))


if __name__ == "__main__":
    main(sys.argv[1:])
