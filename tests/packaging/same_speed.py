"""Compare how long two checkouts take for the same work, run by turns in one session.

    python -m tests.packaging.same_speed BEFORE AFTER [ROUNDS]

Each piece of work is a program of its own. After one round that compiles, both trees take turns,
and the least processor seconds and the least wall seconds of each are compared. Only public names
and the command line are used, so that the trees may differ in all else.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROUNDS = 5

_HAMMING = """
import reidrisk as rr
api = rr.TopicsApi(topics=349, top=5, noise=0.05)
people = rr.data.synthetic_topics(users=1_000_000, topics=349, epochs=8, seed=1)
seen = api.observe(people, targets=10_000, seed=7)
rr.measure(seen, [rr.Hamming(), rr.WeightedHamming(api)], slots=(1, 2, 4, 6, 8))
"""

_READ = "import reidrisk as rr; rr.data.read_plays('plays.csv')"

WORK: dict[str, list[str]] = {
    "import reidrisk": ["-c", "import reidrisk"],
    "reidrisk --help": ["-m", "reidrisk", "--help"],
    "reidrisk attacks": ["-m", "reidrisk", "attacks"],
    "two Hamming attacks, 1M x 10,000": ["-c", _HAMMING],
    "read plays, 3M rows": ["-c", _READ],
    "overlap search, 300k x 10,000": [
        "-m", "reidrisk", "plays", "plays.csv", "--samples", "8", "--attack", "overlap", "--json",
    ],
    "a small study": ["-m", "reidrisk", "study", "study.toml", "-o", "run", "--fresh", "-q"],
    "its report": ["-m", "reidrisk", "report", "run", "-o", "report.html", "-q"],
}  # fmt: skip

_STUDY = """
slots = [1, 2, 4]
targets = 500
attacks = ["hamming", "weighted-hamming", "overlap"]
[people]
kind = "synthetic"
users = "5k"
epochs = 4
[sweep]
noise = ["10%", "20%"]
"""


def write_inputs(folder: Path) -> None:
    """Write plays of 300,000 users and a study."""
    chance = np.random.default_rng(1)
    items = (chance.pareto(1.0, 3_000_000) * 100).astype(np.int64) % 100_000
    lines = (f"u{row // 10},i{item},1\n" for row, item in enumerate(items))
    with (folder / "plays.csv").open("w") as file:
        file.write("user,item,count\n")
        file.writelines(lines)
    (folder / "study.toml").write_text(_STUDY)


def spent(tree: Path, words: list[str], folder: Path) -> tuple[float, float]:
    """Processor seconds and wall seconds of one program."""
    began, before = time.perf_counter(), _children()
    subprocess.run(
        [sys.executable, *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(tree / "src")}, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return _children() - before, time.perf_counter() - began


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(before: Path, after: Path, rounds: int) -> None:
    """Print the least seconds of either tree, and how many times as long the second takes."""
    print(f"{'work':<36}{'CPU s':>8}{'then':>8}{'ratio':>7}{'wall s':>9}{'then':>8}{'ratio':>7}")  # noqa: T201
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_inputs(folder)
        for what, words in WORK.items():
            for tree in (before, after):
                spent(tree, words, folder)
            turns = [
                [spent(tree, words, folder) for tree in (before, after)] for _ in range(rounds)
            ]
            least = np.min(turns, axis=0)
            (cpu, wall), (cpu_after, wall_after) = least
            print(  # noqa: T201
                f"{what:<36}{cpu:>8.2f}{cpu_after:>8.2f}{cpu_after / cpu:>7.2f}"
                f"{wall:>9.2f}{wall_after:>8.2f}{wall_after / wall:>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    trees = [Path(word).resolve() for word in sys.argv[1:3]]
    main(*trees, int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS)
