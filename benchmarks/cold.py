"""The first run on a fresh machine, and the second: how long kernels keep people waiting.

Each is a program of its own with an empty folder for kernels. Kernels are those that it left in the
folder; how long they took to compile is measured in a first run more.
"""

import os
import tempfile
from pathlib import Path
from random import Random

from benchmarks.tools import figures, spent

STUDY = """
title = "Tiny"
seed = 7
slots = [1, 2, 4]
targets = "all"
attacks = ["hamming", "weighted-hamming"]
[people]
kind = "table"
path = "people.csv"
[release]
kind = "topics"
top = 5
noise = "5%"
"""

MEASURE = """
import numpy as np
import reidrisk as rr
known = np.random.default_rng(1).integers(0, 349, (1000, 8))
seen = rr.Observations(known=known, anonymous=known, truth=np.arange(1000), tokens=349)
rr.measure(seen, rr.attacks.Hamming())
"""

# Kernels are compiled within each other: only the outermost is timed.
TIMED = """
import atexit, sys, time
sys.argv = sys.argv[1:]
def timed():
    from numba.core import event
    class Timer(event.Listener):
        depth, seconds = 0, 0.0
        def on_start(self, _):
            self.depth += 1
            self.since = self.since if self.depth > 1 else time.process_time()
        def on_end(self, _):
            self.depth -= 1
            self.seconds += 0 if self.depth else time.process_time() - self.since
    timer = Timer()
    event.register("numba:compile", timer)
    atexit.register(lambda: print(f"\\n{timer.seconds}"))
timed()
if sys.argv[0] == "-c":
    exec(sys.argv[1])
else:
    from reidrisk.cli import main
    main()
"""

PROGRAMS = {
    "reidrisk demo": ("reidrisk", "demo", "-o", "{}"),
    "reidrisk study, 1,000 people of a table": ("reidrisk", "study", "study.toml", "-o", "{}"),
    "rr.measure, 1,000 people": ("-c", MEASURE),
}


def main():
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _write_people()
        rows = [row for name, words in PROGRAMS.items() for row in _runs(name, words)]
        os.chdir(here)
    figures(
        "A fresh machine",
        ("what", "run", "CPU s", "wall s", "kernels", "compiling, CPU s"),
        rows,
    )


def _write_people():
    chance = Random(3)  # noqa: S311  the same people each time
    rows = [
        f"{user},{epoch},{token},{chance.randint(1, 20)}"
        for user in range(1000)
        for epoch in range(4)
        for token in {chance.randrange(60) for _ in range(6)}
    ]
    Path("people.csv").write_text("\n".join(["user,epoch,token,weight", *rows]))
    Path("study.toml").write_text(STUDY)


def _runs(name, words):
    """The first run and the second, with a folder of kernels of their own."""
    kernels = Path(tempfile.mkdtemp(dir=".")).absolute()
    os.environ["NUMBA_CACHE_DIR"] = str(kernels)
    for run in ("first", "second"):
        plain = spent(*_program(words, kernels.name + run))
        yield (
            name, run, f"{plain.processor:.1f}", f"{plain.seconds:.1f}",
            len(list(kernels.rglob("*.nbc"))) if run == "first" else "",
            _compiling(words, kernels.name) if run == "first" else "",
        )  # fmt: skip
    del os.environ["NUMBA_CACHE_DIR"]


def _program(words, folder):
    if words[0] == "-c":
        return words
    return ("-m", *(word.format(folder) for word in words))


def _compiling(words, folder):
    """Seconds of compiling, in one more first run: the listener loads numba."""
    before, os.environ["NUMBA_CACHE_DIR"] = os.environ["NUMBA_CACHE_DIR"], f"{folder}-timed"
    said = spent("-c", TIMED, *(word.format(f"{folder}-out") for word in words)).said
    os.environ["NUMBA_CACHE_DIR"] = before
    return f"{float(said.split()[-1]):.1f}"
