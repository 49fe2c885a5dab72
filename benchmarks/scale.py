"""Rows on disk: what writing a million users costs, and searching them there instead of in memory.

10,000 targets among synthetic people, 8 slots of 349 topics, written by `reidrisk release --shards`
in a process of its own and read back from files that the system still holds in its cache: warm.
Then what the plan to a billion users is computed from: one partition by its rows, one merge, and
the bytes that go over the network. The sizes of `docs/concepts/scale.md`, some minutes:

    python -m benchmarks.scale 1000000 10000000
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import reidrisk as rr
from benchmarks.tools import figures, seconds, spent, table
from benchmarks.worlds import type_mixture
from reidrisk.core.mapreduce import over_rows
from reidrisk.core.rows import TokenRows
from reidrisk.data import read_linked, synthetic_topics
from reidrisk.engines import LocalEngine
from reidrisk.engines.spark.outcomes import dumps

USERS = (250_000, 2_000_000)
TARGETS, SLOTS, FEW = 10_000, 8, 1_000
FEW_USERS, REPEAT = 1 << 20, 2
ROWS = (1 << 16, 1 << 18)
GROUP = 1 << 18
"""Users of a shard."""

NAMES = ("two Hamming attacks", "type-aware", "its claims")
MIB, MILLION = 1 << 20, 1_000_000


def released(folder, users, targets=TARGETS):
    """Write a release of synthetic people, and see what it takes."""
    words = ("release", "topics", "--synthetic", users, "--targets", targets)
    shards = -(-users // GROUP)
    return spent("-m", "reidrisk", *words, "--shards", shards, "-q", "-o", folder)


def seen_in(folder):
    """What lies in such a folder, known rows on disk."""
    return read_linked(folder / "known", folder / "anonymous.parquet").observations


def in_memory(seen):
    """The same, known rows in memory."""
    parts = over_rows(seen.known, dict, lambda one, other: one | other)
    rows = np.concatenate([parts[start] for start in sorted(parts)])
    return seen.changed(known=TokenRows(rows, tokens=seen.tokens))


def hamming(seen):
    """Scores of weighted and unweighted Hamming; weights are learned in one pass over the rows."""
    release = rr.TopicsApi()
    attacks = [rr.Hamming(), rr.WeightedHamming(release)]
    return [attack.fit(rr.attacks.View.of(seen, release=release)) for attack in attacks]


def type_aware():
    """The score of who knows the types of users, a likelihood."""
    return type_mixture(synthetic_topics(users=1, seed=0).interests)


def searches(engine, seen, scores, mixture):
    """What is asked of an engine: two Hamming attacks; a slow one and its claims, of few users."""
    asked = {NAMES[0]: lambda: [found[SLOTS] for found in engine.curves(seen, scores, [SLOTS])]}
    if seen.known.users > FEW_USERS:
        return asked
    few = seen.only(np.arange(min(FEW, len(seen.anonymous))))
    return asked | {
        NAMES[1]: lambda: [engine.search(few, mixture, second=True)],
        NAMES[2]: lambda: [engine.evidence(few, mixture)],
    }


def plain(answers):
    """Answers as arrays, to be compared."""
    fields = ("best", "ties", "true_score", "above")
    return [
        np.stack([getattr(one, name) for name in fields]) if hasattr(one, "best") else one
        for one in answers
    ]


def agree(ours, theirs):
    for one, other in zip(plain(ours), plain(theirs), strict=True):
        np.testing.assert_array_equal(one, other)


def size_of(folder):
    return sum(file.stat().st_size for file in (folder / "known").iterdir())


def disk_against_memory(seen):
    """Rows of a table: each search from disk against the same in memory, and equal."""
    held, mixture = in_memory(seen), type_aware()
    scores = hamming(held)
    engine = LocalEngine()
    there, here = (searches(engine, rows, scores, mixture) for rows in (seen, held))
    for name, search in there.items():
        ours, found = seconds(search, repeat=REPEAT)
        theirs, same = seconds(here[name], repeat=REPEAT)
        agree(found, same)
        yield f"{seen.known.users:,} users, {name}", ours, "in memory", theirs, 1.5


PART = """
import resource, sys, time
from pathlib import Path
from benchmarks import scale
from reidrisk.engines import LocalEngine
from reidrisk.engines.spark.outcomes import dumps
from reidrisk.engines.spark.outcomes import dumps

seen = scale.seen_in(Path(sys.argv[1])).shard(0, int(sys.argv[2]))
held = scale.in_memory(seen)
engine, found = LocalEngine(threads=1), []
scores, mixture = scale.hamming(held), scale.type_aware()
for name, search in scale.searches(engine, held, scores, mixture).items():
    if name in sys.argv[3:]:
        search()
        begin = time.process_time()
        search()
        found.append(time.process_time() - begin)
begin = time.process_time()
scale.in_memory(seen)
print(*found, time.process_time() - begin)
"""


def parts(folder, users):
    """For each number of rows: processor seconds of each search and of reading, and peak memory."""
    for rows in (*ROWS, *([FEW_USERS] if users > FEW_USERS * 2 else [])):
        all_of_it = spent("-c", PART, folder, rows, *NAMES)
        peak = spent("-c", PART, folder, rows, NAMES[0]).peak
        yield f"{rows:,}", *(f"{float(one):.3f}" for one in all_of_it.said.split()), peak // MIB


def merges(seen):
    """What comes back of a partition: its bytes, and the seconds to merge two of them."""
    halves = [seen.shard(0, 1 << 16), seen.shard(1 << 16, 1 << 17)]
    engine, scores = LocalEngine(), hamming(in_memory(halves[0]))
    for name, search in (
        ("matches", lambda some: engine.search(some, scores[0])),
        ("patterns", lambda some: engine.histogram(some).counts),
    ):
        one, other = map(search, halves)
        merge = one.merge if name == "matches" else one.__add__
        took, _ = seconds(lambda merge=merge, other=other: merge(other))
        yield f"{name} of {len(seen.anonymous):,} targets", f"{len(dumps(one)):,}", f"{took:.4f}"


def main(users=USERS):
    written, ratios = [], []
    with tempfile.TemporaryDirectory() as place:
        for count in users:
            folder = Path(place) / str(count)
            cost, size = released(folder, count), size_of(folder)
            written.append(
                (f"{count:,}", f"{cost.seconds * MILLION / count:.2f}",
                 f"{cost.processor * MILLION / count:.2f}", f"{size / count:.2f}",
                 cost.peak // MIB)
            )  # fmt: skip
            ratios.extend(disk_against_memory(seen_in(folder)))
        figures(
            "people made, released and written: per million users",
            ("users", "s", "processor s", "bytes a user", "peak MiB, of all"),
            written,
        )
        table(f"rows on disk, warm: {TARGETS:,} targets, {FEW:,} of the type-aware attack", ratios)
        figures(
            "one partition, one core: processor s",
            ("rows", *NAMES, "reading", "peak MiB of Hamming"),
            parts(folder, count),
        )
        figures("what comes back", ("what", "bytes", "s to merge two"), merges(seen_in(folder)))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or USERS)
