"""Reading plays: a file of the size of the Taste Profile, against pyarrow parsing the same file."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.inputs import peak
from benchmarks.tools import table

ROWS, USERS, SONGS = 48_373_586, 1_019_318, 384_546
LIMIT_RATIO, LIMIT_MEBIBYTES = 3, 6 * 1024
TASKS = ("reidrisk", "pyarrow")


def names(count, size, letters, seed):
    """Distinct names of some size, as random as real ones."""
    rng = np.random.default_rng(seed)
    signs = np.frombuffer(letters.encode(), np.uint8)
    drawn = signs[rng.integers(0, len(signs), (count, size))]
    texts = np.ascontiguousarray(drawn).view(f"S{size}").ravel()
    assert len(np.unique(texts)) == count
    return pa.array(texts.astype(f"U{size}").tolist())


def pairs(rows, users, songs):
    """Distinct pairs of a user and a song: few users with many songs, few songs with many users."""
    rng = np.random.default_rng(7)
    much = rng.pareto(1.6, users) + 0.35
    taste = rng.permutation(songs)
    drawn = 1.1
    while True:
        sizes = np.ceil(much / much.sum() * rows * drawn).astype(np.int64)
        ranks = (songs ** rng.random(sizes.sum())).astype(np.int64) - 1
        found = np.unique(np.repeat(np.arange(users), sizes) * songs + taste[ranks])
        if len(found) >= rows:
            return np.divmod(found[np.arange(rows) * len(found) // rows], songs)
        drawn *= 1.3


def write(folder, rows, users, songs):
    """The same rows sorted by user, and shuffled."""
    rng = np.random.default_rng(8)
    user_names = names(users, 40, "0123456789abcdef", 1)
    song_names = names(songs, 18, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 2)
    user, song = pairs(rows, users, songs)
    count = rng.geometric(0.35, rows)
    order = rng.permutation(rows)
    how = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    for name, chosen in {"by user": slice(None), "shuffled": order}.items():
        columns = user[chosen], song[chosen], count[chosen]
        with csv.CSVWriter(folder / f"{name}.txt", _schema(), write_options=how) as out:
            for start in range(0, rows, 1 << 20):
                part = [column[start : start + (1 << 20)] for column in columns]
                texts = user_names.take(pa.array(part[0])), song_names.take(pa.array(part[1]))
                out.write_table(pa.table([*texts, pa.array(part[2])], schema=_schema()))


def _schema():
    return pa.schema([("user", pa.string()), ("song", pa.string()), ("plays", pa.int64())])


def child(task, path, repeat):
    """Best wall time of some calls in this process, and its peak of memory."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        read = ours(path) if task == "reidrisk" else peer(path)
        times.append(time.perf_counter() - start)
        del read
    print(min(times), peak())


def ours(path):
    from reidrisk.data import read_plays

    return read_plays(path)


def peer(path):
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(autogenerate_column_names=True),
        parse_options=csv.ParseOptions(delimiter="\t"),
    )


def measured(task, path, repeat):
    code = f"from benchmarks.plays import child; child({task!r}, {str(path)!r}, {repeat})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return tuple(map(float, done.stdout.split()))


def main(rows=ROWS, users=USERS, songs=SONGS, repeat=2):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, rows, users, songs)
        found = {
            path.stem: {task: measured(task, path, repeat) for task in TASKS}
            for path in sorted(folder.iterdir())
        }
        table(
            f"{rows:,} plays of {users:,} users",
            [
                (form, by["reidrisk"][0], "pyarrow.csv.read_csv", by["pyarrow"][0], LIMIT_RATIO)
                for form, by in found.items()
            ],
        )
        for form, by in found.items():
            used = by["reidrisk"][1]
            said = f"{form}: {used:.0f} MiB, pyarrow {by['pyarrow'][1]:.0f} MiB"
            print(said + ("" if used < LIMIT_MEBIBYTES else "  above the limit"))
