"""Large work that is interrupted: every kind of it, in a program of its own, at several moments.

The seconds until it has ended, and those of processors in brackets. Some alone:

    python -m benchmarks.load [NAME ...]

`benchmarks.memory` runs the same searches to their end.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import reidrisk as rr
from benchmarks.tools import figures
from benchmarks.worlds import type_mixture
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows, TokenRows
from reidrisk.data import synthetic_topics
from reidrisk.engines import LocalEngine
from reidrisk.engines.protocol import Room
from reidrisk.scores import OverlapWeights, TokenPairWeights

TOPICS, FEW, MIB = 349, 4096, 1 << 20
BLOCK = 1 << 20
MOMENTS = (0.3, 2.0)
"""Seconds after work has begun."""

STOPPED = (128 + signal.SIGINT, -signal.SIGINT)
"""Python may end itself by the signal if it came while it was loading a module."""


def drawn(random, shape, tokens):
    """Tokens, the first the most popular; of very many, all about as popular in the long tail."""
    if tokens > FEW:
        return (tokens * random.random(shape, np.float32) ** 3).astype(np.int32)
    steps = np.cumsum(1 / np.arange(3, tokens + 3) ** 0.9)
    places = np.searchsorted(steps, (np.arange(1 << 16) + 0.5) / (1 << 16) * steps[-1])
    places, rows = places.astype(np.int16), np.empty(shape, np.int16)
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        part[:] = places[random.integers(0, 1 << 16, part.shape, np.uint16)]
    return rows


def people(users, targets, slots=8, tokens=TOPICS, gaps=0.0):
    """Independent people, of whom three slots in ten are shown as they are known."""
    random = np.random.default_rng(1)
    known, shown = (drawn(random, (count, slots), tokens) for count in (users, targets))
    truth = random.integers(0, users, targets)
    same = random.random(shown.shape) < 0.3
    shown[same] = known[truth][same]
    for rows in (known, shown):
        if gaps:
            rows[random.random(rows.shape, np.float32) < gaps] = -1
    return Observations(TokenRows(known, tokens=tokens), shown, truth, tokens=tokens)


def fitted(attack, seen):
    return attack.fit(rr.attacks.View.of(seen, release=rr.TopicsApi()))


def mixture():
    """The score of who knows the types of users."""
    return type_mixture(synthetic_topics(users=1, seed=0).interests)


def table(tokens=TOPICS, slots=8):
    gains = np.random.default_rng(2).normal(-4, 1, (tokens + 1, tokens + 1))
    gains[np.arange(tokens), np.arange(tokens)] += 5
    return TokenPairWeights(gains, gaps=True)


class Plain(rr.scores.TokenWeights):
    """Token weights as somebody's own score, of which nothing is known."""


def searching(users, targets, score, **how):
    seen = people(users, targets, **how)
    weights = score(seen) if callable(score) else score
    return lambda engine: engine.search(seen, weights)


def weighted(seen):
    return fitted(rr.WeightedHamming(rr.TopicsApi()), seen)


def bags(users, targets, items, size):
    random = np.random.default_rng(1)
    known, shown = (drawn(random, (count, size), items) for count in (users, targets))
    truth = random.integers(0, users, targets)
    same = random.random(shown.shape) < 0.5
    shown[same] = known[truth][same]
    known, shown = (
        BagRows.of(rows.ravel(), np.arange(len(rows) + 1) * size, tokens=items)
        for rows in (known, shown)
    )
    seen = Observations(known, shown, truth, tokens=items)
    gains = OverlapWeights(1 / np.log(np.arange(items) + 4.0))
    return lambda engine: engine.search(seen, gains)


def own_score(users, targets):
    seen = people(users, targets)
    score = Plain(np.ones(TOPICS))
    return lambda engine: engine.search(seen, score)


def summing(users, targets, score, **how):
    seen = people(users, targets, **how)
    weights = score(seen) if callable(score) else score
    return lambda engine: engine.evidence(seen, weights)


def two_hamming(users, targets):
    seen = people(users, targets)
    scores = [fitted(rr.Hamming(), seen), weighted(seen)]
    return lambda engine: engine.curves(seen, scores, [1, 2, 4, 8])


SEARCHES = {
    "50k x 1k, weighted": lambda: searching(50_000, 1_000, weighted),
    "10M x 10k, two Hamming": lambda: two_hamming(10_000_000, 10_000),
    "1M x 1k, type-aware": lambda: searching(1_000_000, 1_000, mixture()),
    "300k x 1k, its evidence": lambda: summing(300_000, 1_000, mixture()),
    "300k x 2k, 64 slots, gaps": lambda: searching(300_000, 2_000, weighted, slots=64, gaps=0.2),
    "1M x 3k, token table": lambda: searching(1_000_000, 3_000, table()),
    "300k x 1k, table evidence": lambda: summing(300_000, 1_000, table()),
    "1M x 10k, bags": lambda: bags(1_000_000, 10_000, 100_000, 20),
    "100k x 500, a score of one's own": lambda: own_score(100_000, 500),
    "100k x 200k, weighted": lambda: searching(100_000, 200_000, weighted),
    "100k x 50k, 16 slots": lambda: searching(100_000, 50_000, weighted, slots=16),
    "1M x 2k, 64 slots": lambda: searching(1_000_000, 2_000, weighted, slots=64),
    "1M x 2k, 5M tokens": lambda: searching(1_000_000, 2_000, weighted_of_many, tokens=5_000_000),
    "200k x 2k, 5M tokens, bags": lambda: bags(200_000, 2_000, 5_000_000, 20),
}


def weighted_of_many(seen):
    return rr.scores.TokenWeights(1 / np.log(np.arange(seen.tokens) + 4.0))


COMMANDS = {
    "synth 3M": ("synth", "topics", "--users", "3M", "-o", "people.parquet"),
    "release 10M": (
        "release", "topics", "--synthetic", "10M", "--targets", "10k", "--shards", "8",
        "-o", "seen",
    ),
    "release 2M, in one": (
        "release", "topics", "--synthetic", "2M", "--targets", "10k", "-o", "seen2",
    ),
    "attack, type-aware": ("attack", "{seen}", "--attack", "type-aware", "-o", "run"),
    "attack, learned pairs": ("attack", "{seen}", "--attack", "learned-pairs"),
    "information": ("information", "{seen}"),
    "singling": ("singling", "{table}", "--columns", "age,zip,sex,job"),
    "unicity": ("unicity", "{plays}", "--points", "1,2,4,8"),
    "study, 1M": ("study", "{study}", "-o", "study"),
    "sweep of 200": ("study", "{sweep}", "-o", "sweep"),
    "demo": ("demo", "-o", "demo"),
    "bounds": ("bounds", "{matrix}"),
}  # fmt: skip


def prepare(place):
    """Files that commands read."""
    here = [sys.executable, "-m", "reidrisk"]
    random = np.random.default_rng(3)
    seen = place / "shown"
    words = ("release", "topics", "--synthetic", "1M", "--targets", "10k", "-q", "-o", str(seen))
    subprocess.run([*here, *words], check=True)  # noqa: S603
    matrix = random.random((4_000, 10_000)) ** 8
    np.save(place / "matrix.npy", matrix / matrix.sum(axis=1, keepdims=True))
    people = 2_000_000
    columns = {
        "age": random.integers(18, 90, people),
        "zip": 10_000 + random.zipf(1.3, people) % 20_000,
        "sex": random.integers(0, 2, people),
        "job": random.integers(0, 500, people),
    }
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), place / "table.parquet")
    plays = {
        "user": random.integers(0, 300_000, 6_000_000),
        "item": drawn(random, (6_000_000, 1), 100_000)[:, 0],
    }
    pq.write_table(pa.table(plays), place / "plays.parquet")
    text = """title = "load"\nunit = "weeks"\nslots = [1, 2, 4, 8]\ntargets = {targets}\nseed = 3
attacks = ["hamming", "weighted-hamming"{more}]
[people]\nkind = "synthetic"\nusers = "{users}"\nepochs = 8\n"""
    (place / "study.toml").write_text(
        text.format(targets=10_000, users="1M", more=', "type-aware"')
    )
    noise = ", ".join(f'"{1 + each / 4:.2f}%"' for each in range(200))
    (place / "sweep.toml").write_text(
        text.format(targets=2_000, users="100k", more="") + f"[sweep]\nnoise = [{noise}]\n"
    )
    return {
        "seen": str(seen),
        "matrix": str(place / "matrix.npy"),
        "table": str(place / "table.parquet"),
        "plays": str(place / "plays.parquet"),
        "study": str(place / "study.toml"),
        "sweep": str(place / "sweep.toml"),
    }


def search(name):
    """Run a search to its end; what memory it said it needs and took, and how progress moved."""
    from reidrisk.cli.signals import stoppable

    go = SEARCHES[name]()
    said, moments = [0], []
    fits = Room.check_fits

    def noted(room, size):
        said.append(size)
        fits(room, size)

    Room.check_fits = noted
    engine = LocalEngine(progress=lambda *_: moments.append(time.monotonic()))

    def work():
        before = memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        print("begun", flush=True)
        moments.append(time.monotonic())
        go(engine)
        moments.append(time.monotonic())
        print(json.dumps({
            "said": max(said), "took": memory("VmHWM") - before,
            "pause": float(np.diff(moments).max()), "seconds": moments[-1] - moments[0],
        }))  # fmt: skip

    stoppable(work)


def memory(name):
    """Bytes of this process, now or at its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) << 10
    raise KeyError(name)


def program(name):
    return [sys.executable, "-c", f"from benchmarks import load; load.search({name!r})"]


def until_it_ends(command, moment, place, *, says_so):
    """Start a program, and interrupt it when it has worked for a while; its code, and what it took.

    Seconds until it had ended, and those of processors; none if it had ended before.
    """
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE if says_so else said, stderr=said, cwd=place,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            # The shell that runs us in the background may have told us to ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )  # fmt: skip
        if says_so:
            running.stdout.readline()
        time.sleep(moment)
        try:
            before = processor(running.pid)
            running.send_signal(signal.SIGINT)
        except (OSError, IndexError):
            before = None
        asked = time.monotonic()
        _, status, used = os.wait4(running.pid, 0)
        took = time.monotonic() - asked, used.ru_utime + used.ru_stime - (before or 0.0)
        code = running.returncode = os.waitstatus_to_exitcode(status)
        if code == 0:
            return None
        if code not in STOPPED:
            said.seek(0)
            raise SystemExit(f"{command}: ended with {code}: {said.read().decode()}")
        return took


def processor(number):
    """Seconds of processors that a program took until now."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupts(names=(), moments=MOMENTS):
    """Rows of a table: what was stopped, and the seconds until it had ended."""
    with tempfile.TemporaryDirectory() as folder:
        place, files = Path(folder), None
        for name in names or [*SEARCHES, *COMMANDS]:
            found = []
            for moment in moments:
                if name in SEARCHES:
                    command = program(name)
                else:
                    files = files or prepare(place)
                    words = (word.format(**files) for word in COMMANDS[name])
                    command = [sys.executable, "-m", "reidrisk", *words]
                took = until_it_ends(command, moment, place, says_so=name in SEARCHES)
                found.append("ended" if took is None else "{:.2f} ({:.2f})".format(*took))
                if took is None:
                    break
            yield name, *found, *[""] * (len(moments) - len(found))


def main(names=()):
    headings = ("stopped after", *(f"{moment:g} s" for moment in MOMENTS))
    figures("Ctrl-C: seconds until the end (of processors)", headings, interrupts(names))


if __name__ == "__main__":
    main(sys.argv[1:])
