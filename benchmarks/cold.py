"""The first run on a fresh machine, and the second: how long kernels keep people waiting.

Each is a program of its own with an empty folder for kernels, which the second run finds filled:
the difference is what compiling took.
"""

import os
import tempfile
from contextlib import chdir
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

PROGRAMS = {
    "reidrisk demo": ("reidrisk", "demo", "-o", "{}"),
    "reidrisk study, 1,000 people of a table": ("reidrisk", "study", "study.toml", "-o", "{}"),
    "rr.measure, 1,000 people": ("-c", MEASURE),
}


HEADINGS = ("what", "run", "processor s", "s", "kernels compiled")


def measured(programs=tuple(PROGRAMS)):
    """Rows of a table: each program twice."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _write_people()
        return [row for name in programs for row in _runs(name, PROGRAMS[name])]


def main():
    figures("A fresh machine", HEADINGS, measured())


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
        compiled = len(list(kernels.rglob("*.nbc"))) if run == "first" else 0
        yield name, run, f"{plain.processor:.1f}", f"{plain.seconds:.1f}", compiled
    del os.environ["NUMBA_CACHE_DIR"]


def _program(words, folder):
    if words[0] == "-c":
        return words
    return ("-m", *(word.format(folder) for word in words))
