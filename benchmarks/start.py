"""What it costs to begin: every command as a program, against Python and numpy alone.

Modules are compiled to bytes beforehand, as by an install, and kernels too. A command that only
reads or lists should take no more than a few times what numpy takes to load; the last table is of
those that work on a small table of people, numba's start included.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from benchmarks.tools import figures, table

PYTHON, REPEAT = sys.executable, 5

STUDY = """
title = "Small"
unit = "samples"
seed = 7
slots = [1, 2, 4]
targets = 200
attacks = ["overlap", "rarity-overlap"]
[people]
kind = "items"
path = "plays.csv"
user = "user"
item = "item"
[release]
kind = "item-samples"
samples = 4
"""

LISTING = {
    "reidrisk --help": 1,
    "reidrisk gate --help": 1,
    "reidrisk release --help": 4,
    "reidrisk release topics --help": 4,
    "reidrisk attacks": 4,
    "reidrisk explain --epsilon 1 --users 1000": 4,
    "reidrisk gate run --max-risk 99%": 4,
    "reidrisk gate nowhere --max-risk 99%": 4,
    "reidrisk gate run --nowhere": 1,
    "reidrisk attack nowhere": 4,
    "reidrisk singling nowhere.csv": 5,
    "reidrisk study nowhere.toml -o nowhere": 8,
}
"""Commands, and how many times the CPU seconds of `import numpy` each may take."""

WORKING = {
    "reidrisk compare run run": 15,
    "reidrisk gate run --compare run --worse-by 50%": 15,
    "reidrisk inspect plays.csv": 15,
    "reidrisk singling plays.csv --columns item": 15,
    "reidrisk report run --edition signoff -o signoff.html": 15,
    "reidrisk study study.toml -o again -q": 20,
}
"""The same for those that compute something."""

IMPORTS = {
    "import reidrisk": 1,
    "from reidrisk import measure, Hamming": 4,
    "from reidrisk import Study, Result": 6,
}

COUNTED = """
import atexit, sys
listed = sys.argv.pop()
atexit.register(lambda: open(listed, "w").write(" ".join(sys.modules)))
"""
"""Has a program write down what it had loaded in the end."""


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _write_plays(place / "plays.csv")
        (place / "study.toml").write_text(STUDY)
        _spent(place, _command("reidrisk study study.toml -o run -q"))
        bare, _ = _least(place, "pass")
        numpy, _ = _least(place, "import numpy")
        figures(
            "Alone", ("what", "CPU s"),
            [("python -c pass", f"{bare:.3f}"), ("import numpy", f"{numpy:.3f}")],
        )  # fmt: skip
        for title, asked in (("Imports", IMPORTS), ("Lists, reads, refuses", LISTING),
                             ("Works on 1,000 users", WORKING)):  # fmt: skip
            rows = []
            for words, most in asked.items():
                code = words if words.startswith(("import", "from")) else _command(words)
                ours, modules = _least(place, code)
                rows.append((f"{words} ({modules:,} modules)", ours, "import numpy", numpy, most))
            table(f"{title}, CPU seconds", rows)


def _command(words):
    return f"sys.argv = {words.split()}; from reidrisk.cli import main; main()"


def _least(place, code):
    """The least CPU seconds of several runs, after one that compiles, and the modules loaded."""
    _spent(place, code)
    return min(_spent(place, code) for _ in range(REPEAT))


def _spent(place, code):
    """CPU seconds of a program, and how many modules it had loaded in the end."""
    listed = place / "modules.txt"
    shutil.rmtree(place / "again", ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(place / "bytes")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(  # noqa: S603  our own words
        [PYTHON, "-c", COUNTED + code, listed], cwd=place, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as program:  # fmt: skip
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != (2 if "nowhere" in code else 0):
        raise SystemExit(f"{code}: ended with {program.returncode}")
    return used.ru_utime + used.ru_stime, len(listed.read_text().split())


def _write_plays(file):
    draw = Random(1)  # noqa: S311  a small table of people
    lines = ["user,item"]
    for user in range(1_000):
        liked = [draw.randrange(60) for _ in range(6)]
        lines += [f"u{user},song{item}" for _ in range(8) for item in liked[: draw.randint(3, 5)]]
    file.write_text("\n".join(lines) + "\n")
