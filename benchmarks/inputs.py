"""Reading people: 20 million long rows into arrays, against a dataframe or plain numpy."""

import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.tools import table
from reidrisk.data import read_profiles, read_tfrecord_profiles, write_tfrecord_profiles
from reidrisk.people.profiles import Counts, Profiles

USERS, EPOCHS, PER_CELL, TOKENS = 500_000, 8, 5, 469
LIMIT_SECONDS, LIMIT_MEBIBYTES = 10, 4096
# Each task runs in a process of its own, so that the peak of its memory is its own.
TASKS = {
    "numbers, shuffled, Parquet": "shuffled.parquet",
    "numbers, shuffled, CSV": "shuffled.csv",
    "text, by user, Parquet": "text.parquet",
    "text, shuffled, Parquet": "text_shuffled.parquet",
    "peer": "shuffled.parquet",
}


def rows():
    """Distinct tokens in every cell: a random start and a random stride without common divisor."""
    rng = np.random.default_rng(7)
    cells = USERS * EPOCHS
    start, stride = rng.integers(0, TOKENS, (cells, 1)), rng.integers(1, 7, (cells, 1))
    tokens = (start + stride * np.arange(PER_CELL)) % TOKENS + 1
    users, epochs = np.divmod(np.repeat(np.arange(cells), PER_CELL), EPOCHS)
    weights = rng.integers(1, 30, users.size).astype(float)
    return pa.table({"user": users, "epoch": epochs, "token": tokens.ravel(), "weight": weights})


def write(folder):
    by_user = rows()
    names = pa.array([f"user{number:08}" for number in range(USERS)])
    text = by_user.set_column(0, "user", names.take(by_user["user"]))
    order = pa.array(np.random.default_rng(8).permutation(by_user.num_rows))
    shuffled = by_user.take(order)
    parquet.write_table(text, folder / "text.parquet")
    parquet.write_table(text.take(order), folder / "text_shuffled.parquet")
    parquet.write_table(shuffled, folder / "shuffled.parquet")
    csv.write_csv(shuffled, folder / "shuffled.csv")


def with_pandas(path):
    import pandas as pd

    frame = pd.read_parquet(path)
    for name in ("user", "epoch", "token"):
        frame[name] = pd.factorize(frame[name], sort=True)[0]
    frame = frame.sort_values(["user", "epoch", "token"])
    sizes = frame.groupby(["user", "epoch"]).size()
    return np.cumsum(sizes.to_numpy()), frame["token"].to_numpy(), frame["weight"].to_numpy()


def with_numpy(path):
    long = parquet.read_table(path)
    codes = [
        np.unique(long[name].to_numpy(), return_inverse=True)[1] for name in long.column_names[:3]
    ]
    order = np.lexsort(codes[::-1])
    cell = codes[0][order] * EPOCHS + codes[1][order]
    starts = np.searchsorted(cell, np.arange(USERS * EPOCHS + 1))
    return starts, codes[2][order], long["weight"].to_numpy()[order]


PEER = with_pandas if importlib.util.find_spec("pandas") else with_numpy


def child(task, folder):
    """Best wall time of some calls in this process, its least CPU time, and its peak of memory."""
    read = PEER if task == "peer" else read_profiles
    repeat = 2 if task == "peer" else 4
    times = []
    for _ in range(repeat):
        start = time.perf_counter(), time.process_time()
        read(Path(folder) / TASKS[task])
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    print(*np.min(times, axis=0), peak())


def peak():
    """Largest memory of this process in MiB; getrusage would count that of its parent too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


def measured(task, folder):
    code = f"from benchmarks.inputs import child; child({task!r}, {str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    return tuple(map(float, done.stdout.split()))


def tfrecord(folder):
    """A million users with four epochs in the authors' layout."""
    users, per_cell = 1_000_000, 5
    cells = users * 4
    rng = np.random.default_rng(9)
    members = (rng.integers(0, TOKENS, (cells, 1)) + np.arange(per_cell)) % TOKENS
    people = Profiles(
        np.arange(users), np.arange(1, TOKENS + 1), np.arange(4),
        np.arange(0, members.size + 1, per_cell), np.sort(members, axis=1).ravel().astype(np.int16),
        rng.random(members.size, dtype=np.float32) + 1, np.ones((users, 4), np.bool_), "missing",
        Counts(rows=members.size),
    )  # fmt: skip
    path = folder / "people.tfrecord"
    times = []
    for _ in range(2):
        times.append(time.perf_counter())
        write_tfrecord_profiles(people, path)
        times.append(time.perf_counter())
        again = read_tfrecord_profiles(path)
        times.append(time.perf_counter())
    assert (again.members == people.members).all()
    sets = time.perf_counter()
    again.top_sets(0, users, top=5, seed=1)
    print(
        f"TFRecord, {users:,} users x 4 epochs, {path.stat().st_size / 2**20:.0f} MiB: "
        f"written in {times[4] - times[3]:.2f} s, read in {times[5] - times[4]:.2f} s; "
        f"top sets in {time.perf_counter() - sets:.2f} s"
    )


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        found = {task: measured(task, folder) for task in TASKS}
        peer, peer_work, room = found.pop("peer")
        what = f"{USERS * EPOCHS * PER_CELL:,} long rows into arrays"
        table(what, [(task, ours, PEER.__name__, peer, 1) for task, (ours, *_) in found.items()])
        for task, (ours, work, used) in found.items():
            fits = ours < LIMIT_SECONDS and used < LIMIT_MEBIBYTES
            said = f"{task}: {ours:.2f} s, {work:.2f} s of CPU, {used:.0f} MiB"
            print(said + ("" if fits else "  above the limit"))
        print(f"{PEER.__name__}: {peer:.2f} s, {peer_work:.2f} s of CPU, {room:.0f} MiB")
        tfrecord(folder)
