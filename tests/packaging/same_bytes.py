"""Compare what the command line of two checkouts prints and writes, field by field.

    python -m tests.packaging.same_bytes BEFORE AFTER FOLDER [NAME ...]

Each command below runs with the sources of either tree in `FOLDER/before` and `FOLDER/after`, on
the same files. What `before` gave is kept there, and made only once. With names, only commands
whose name begins with one of them run. Every line printed, every field of a JSON file, every cell
of a CSV or Parquet file and every line of a page that differs is listed. The exit code is 1 if
something differs.

Not compared: logs (times), `steps` of a run (how a stopped run goes on, internal), pictures in
pages, `checksum` and SHA-256 digests (they follow from the rest), versions of reidrisk, seconds in
what is printed, and the path of FOLDER. A file that AFTER does not write is reported as gone.
"""

import csv
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from tests.shared_data import DATA

EVERYTHING = """
title = "every analysis"
unit = "weeks"
seed = 3
slots = [1, 2, 4]
targets = 400
training = "20%"
strangers = "20%"
present = "50%"
attacks = [
  "hamming", "weighted-hamming", "overlap", "rarity-overlap", "denoised-overlap", "type-aware",
  "token-table", "repetition", "learned-pairs", "gaps",
]
models = ["type-aware", "weighted-hamming"]
full_information = true
information = ["counts"]
sizes = [200, 500, 1000]
beyond = ["100k"]
guesses = [1, 10]

[people]
kind = "synthetic"
users = "3k"
epochs = 4
seed = 1

[release]
kind = "topics"
noise = "5%"
absence = "10%"

[per_user]
users = 20
repeats = 10

[sweep]
noise = ["1%", "50%"]
users = ["1k", "2k"]

[[beside]]
kind = "cohorts"
users = 50

[[beside]]
kind = "randomised-response"
epsilon = 3

[signoff]
scope = "Topics shown to sites"
limit = "5%"
signer = "A. Person"
"""

ITEMS = """
seed = 1
slots = [2, 4]
targets = 200
strangers = "30%"
guesses = [1, 5]
sizes = [100]

[people]
kind = "plays"
path = "purchases.csv"

[release]
kind = "item-samples"
samples = 4
by_count = true

[[beside]]
kind = "generalised"
users = 20

[[beside]]
kind = "minimum-users"
users = 5
"""

PRECISE = """
seed = 5
targets = "all"
precision = "2%"
attacks = ["hamming", "weighted-hamming"]

[people]
kind = "table"
path = "weekly.csv"
absent = "missing"
"""

LINKED = """
seed = 2
slots = [1, 2, 4]
strangers = "10%"
attacks = ["hamming", "weighted-hamming", "overlap", "learned-pairs"]
training = "20%"
guesses = [1, 10]
information = ["counts"]

[people]
kind = "linked"
known = "known.csv"
anonymous = "anonymous.csv"

[release]
kind = "topics"
topics = 40
noise = "10%"
"""

SHOWN = 40
"""Differences of one file that are listed; the rest is counted."""

NAMES = (
    "demo", "inspect", "link", "plays", "singling", "unicity", "study", "report", "compare", "gate",
    "sweep", "calibrate", "explain", "attacks", "reproduce", "bounds", "synth", "release", "attack",
    "information",
)  # fmt: skip

COMMANDS: dict[str, str] = {
    "help": "--help",
    **{f"help-{name}": f"{name} --help" for name in NAMES},
    "attacks": "attacks",
    "attacks-json": "attacks --json",
    "attacks-cards": "attacks hamming full-information type-aware",
    "explain": "explain --epsilon 3 --users 10M --slots 8",
    "explain-json": "explain --epsilon topics --users 10M --json",
    "explain-risk": "explain --max-risk 1% --users 10M --slots 8",
    "bounds": "bounds chances.csv",
    "bounds-json": "bounds chances.npy --json",
    "inspect": "inspect purchases.csv",
    "inspect-json": "inspect weekly.csv --json",
    "singling": "singling register.csv --columns age,zip,sex --least 3 -o singling.html "
    "--records singling.parquet",
    "singling-json": "singling survey.csv --columns age,zip,sex --register register.csv --json",
    "unicity": "unicity purchases.csv --points 1,2,4 -o unicity.html",
    "unicity-json": "unicity weekly.csv --item token --epoch epoch --points 1,2 --json",
    "plays": "plays purchases.csv --samples 1,2,4 --targets 300 -o plays --with-users",
    "plays-strangers": "plays purchases.csv --samples 4 --strangers 30% --by-count --once --json",
    "link": "link known.csv anonymous.csv --slots 1,2,4 --noise 10% --top 3 -o link --with-users",
    "link-baskets": "link shop-a.csv shop-b.csv --user customer --item product -o link-baskets",
    "link-columns": "link register.csv survey.csv --user id --columns age,zip,sex -o columns.json",
    "link-training": "link known.csv anonymous.csv --training 30% --strangers 20% --json",
    "link-refused": "link known.csv survey.csv",
    "study-new": "study new new.toml",
    "study-all": "study everything.toml -o everything --with-users",
    "study-all-json": "study everything.toml -o everything --json",
    "study-items": "study items.toml -o items",
    "study-precise": "study precise.toml -o precise",
    "study-linked": "study linked.toml -o linked --with-users",
    "study-wrong": "study wrong.toml -o wrong",
    "report": "report everything -o everything.html --files everything-files",
    "report-signoff": "report everything --edition signoff -o everything-signoff.html",
    "report-items": "report items -o items.html",
    "report-linked": "report linked -o linked.html",
    "compare": "compare linked link -o compare.html",
    "compare-json": "compare linked/result.json link/result.json --json",
    "gate": "gate everything --max-risk 5% --worst-tenth 50% --false-claims 10%",
    "gate-upper": "gate everything --max-risk 50% --side upper --strict --json",
    "gate-compare": "gate link --compare linked --worse-by 1%",
    "sweep": "sweep precise.toml --vary noise=1%,20% -o sweep",
    "calibrate": "calibrate calibrated.toml --max-risk 10% --json",
    "synth": "synth topics --users 2k --epochs 4 --seed 1 -o people.parquet",
    "release": "release topics people.parquet --noise 5% --targets 300 --seed 7 -o seen",
    "release-shards": "release topics --synthetic 2k --targets 300 --shards 3 -o shards",
    "attack": "attack seen --attack hamming --attack weighted-hamming --slots 1,2,4 -o attacked",
    "attack-shards": "attack shards --slots 1,4 --json",
    "attack-refused": "attack shards --strangers 30%",
    "information": "information seen -o information.html",
    "information-json": "information seen --json",
    "demo": "demo -o demo",
    "shared-plays": "plays shared/msd_tasteprofile_10000_head.txt.gz --samples 2,8 -o shared-plays",
    "shared-purchases": "plays shared/completejourney_household_week_category.csv.gz --user "
    "household_id --item cat_id --count items --by-count --samples 4 --json",
    "shared-msweb": "plays shared/anonymous-msweb.data --samples 2 --targets 1k --json",
    "shared-inspect": "inspect shared/completejourney_household_week_category.csv.gz",
    "shared-unicity": "unicity shared/lastfm2k_user_artists.dat --points 1,2 --json",
    "reproduce": "reproduce -o reproduction",
}

OLD_RESULTS: dict[str, str] = {
    "old-report": "report old/everything/result.json -o old.html",
    "old-signoff": "report old/everything/result.json --edition signoff -o old-signoff.html",
    "old-gate": "gate old/everything/result.json --max-risk 5%",
    "old-compare": "compare old/linked/result.json old/link/result.json --json",
    "old-gate-run": "gate old/link --max-risk 5% --json",
}
"""Run on a copy of what BEFORE wrote: `reidrisk/1` results go on working."""

_LEFT_OUT = re.compile(r"(^|/)(log\.txt|steps(/.*)?|\.[^/]*)$|\.(png|svg|lock)$")
_FOLLOWS = {"checksum", "sha256"}
_BLURRED = (
    (re.compile(r"\b\d+(\.\d+)? ?(s|ms|seconds|minutes)\b"), "TIME"),
    (re.compile(r"\breidrisk \d+\.\d+\.\d+\S*"), "reidrisk VERSION"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "DIGEST"),
    (re.compile(r"(/[\w.-]+)+/(before|after)/"), "FOLDER/"),
)


def write_inputs(folder: Path) -> None:
    """Write the files that all commands read; the same in every call."""
    chance = np.random.default_rng(25)

    def write(name: str, header: str, rows: Iterator[tuple[Any, ...]]) -> None:
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n")

    taste = chance.zipf(1.4, (500, 20)) % 150
    counts = chance.integers(1, 9, (500, 20))
    bought = ((u, place) for u in range(500) for place in range(20))
    rows = ((f"u{u}", f"i{taste[u, place]}", counts[u, place]) for u, place in bought)
    write("purchases.csv", "user,item,count", rows)
    for name in ("shop-a.csv", "shop-b.csv"):
        kept = [(u, i) for u in range(500) for i in sorted(set(taste[u])) if chance.random() < 0.6]
        write(name, "customer,product", ((f"u{u}", f"p{i}") for u, i in kept))
    tops = np.array([chance.choice(40, 3, replace=False) for _ in range(600)])
    write(
        "weekly.csv", "user,epoch,token,weight",
        ((f"u{u}", week, token, weight)
         for u in range(600) for week in range(4)
         for weight, token in enumerate(tops[u], 1) if chance.random() < 0.9),
    )  # fmt: skip
    for name, first in (("known.csv", 0), ("anonymous.csv", 100)):
        seen = [
            (u, week, chance.choice(tops[u]) if chance.random() < 0.9 else chance.integers(40))
            for u in range(first, first + 500)
            for week in range(4)
            if chance.random() < 0.95
        ]
        write(name, "user,epoch,token", ((f"u{u}", week, token) for u, week, token in seen))
    people = [
        (f"p{n}", chance.integers(18, 80), 1000 + chance.integers(12), chance.choice(["f", "m"]))
        for n in range(800)
    ]
    write("register.csv", "id,age,zip,sex", iter(people))
    write("survey.csv", "id,age,zip,sex", iter(people[200:500]))
    chances = chance.dirichlet([0.5] * 6, 12)
    np.save(folder / "chances.npy", chances)
    write(
        "chances.csv", "user,representation,probability",
        ((f"u{u}", f"r{r}", repr(float(p))) for (u, r), p in np.ndenumerate(chances)),
    )  # fmt: skip
    studies = {"everything": EVERYTHING, "items": ITEMS, "precise": PRECISE, "linked": LINKED}
    studies["wrong"] = 'slots = [0]\nnothing = 1\n[people]\nkind = "synthetic"\nusers = "x"\n'
    studies["calibrated"] = (
        'attacks = ["hamming"]\nslots = [2]\ntargets = "all"\n'
        '[people]\nkind = "synthetic"\nusers = "2k"\nepochs = 2\n'
    )
    for name, text in studies.items():
        (folder / f"{name}.toml").write_text(text)
    if DATA is not None:
        (folder / "shared").symlink_to(DATA)


def run(tree: Path, folder: Path, commands: dict[str, str]) -> None:
    """Run commands of a tree in a folder; what each printed and its exit code become files."""
    if not folder.exists():
        folder.mkdir(parents=True)
        write_inputs(folder)
    printed = folder / "printed"
    printed.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "COLUMNS": "120", "TERM": "dumb"}
    for name, command in commands.items():
        if (printed / f"{name}.exit").exists():
            continue
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "reidrisk", *command.split()],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        said = f"{folder.name}: {name}, exit {done.returncode}, {time.monotonic() - began:.0f} s"
        print(said, file=sys.stderr, flush=True)  # noqa: T201
        (printed / f"{name}.stdout").write_text(done.stdout)
        (printed / f"{name}.stderr").write_text(done.stderr)
        (printed / f"{name}.exit").write_text(f"{done.returncode}\n")


def differences(before: Path, after: Path) -> Iterator[str]:
    """What differs between all files of two folders, a line for each difference."""
    ours, theirs = _files(before), _files(after)
    for name in sorted(ours | theirs):
        if name not in theirs:
            yield f"{name}: gone"
        elif name not in ours:
            yield f"{name}: new"
        else:
            found = list(compare(before / name, after / name))
            yield from (f"{name}: {what}" for what in found[:SHOWN])
            if len(found) > SHOWN:
                yield f"{name}: and {len(found) - SHOWN:,} more"


def _files(folder: Path) -> set[str]:
    names = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and (folder / "shared") not in path.parents
    }
    return {name for name in names if not _LEFT_OUT.search(name) and not name.startswith("old/")}


def compare(before: Path, after: Path) -> Iterator[str]:
    """What differs between two files, by what kind of file they are."""
    if before.suffix == ".parquet":
        yield from _fields(pq.read_table(before).to_pydict(), pq.read_table(after).to_pydict())
        return
    first, second = before.read_bytes(), after.read_bytes()
    if first == second:
        return
    try:
        texts = first.decode(), second.decode()
    except UnicodeDecodeError:
        yield f"{len(first):,} bytes became {len(second):,} other ones"
        return
    try:
        yield from _fields(*map(json.loads, texts))
    except ValueError:
        if before.suffix == ".csv":
            yield from _fields(*(list(csv.reader(text.splitlines())) for text in texts))
        else:
            yield from _lines(*texts)


def _fields(first: Any, second: Any, place: str = "") -> Iterator[str]:
    """All fields that differ, by their place: `risks[0].estimate.value`."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key in _FOLLOWS:
                continue
            inner = f"{place}.{key}" if place else str(key)
            if key not in first or key not in second:
                yield f"{inner} {'is gone' if key in first else 'is new'}"
            else:
                yield from _fields(first[key], second[key], inner)
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            yield f"{place}: {len(first)} entries became {len(second)}"
        for number, (one, other) in enumerate(zip(first, second, strict=False)):
            yield from _fields(one, other, f"{place}[{number}]")
    elif _blurred(str(first)) != _blurred(str(second)) or type(first) is not type(second):
        yield f"{place}: {str(first)[:200]!r} became {str(second)[:200]!r}"


def _lines(first: str, second: str) -> Iterator[str]:
    """Lines that differ; those of a page are cut at its tags, since they are long."""
    cut = re.compile(r"(?<=>)(?=[^\n])")
    texts = (cut.sub("\n", _blurred(text)).splitlines() for text in (first, second))
    headless = list(difflib.unified_diff(*texts, lineterm="", n=0))[2:]
    yield from (line[:300] for line in headless if not line.startswith("@@"))


def _blurred(text: str) -> str:
    for pattern, word in _BLURRED:
        text = pattern.sub(word, text)
    return text


def _chosen(commands: dict[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Commands whose name begins with one of these, and whose data is here."""
    return {
        name: command
        for name, command in commands.items()
        if (not names or name.startswith(names)) and (DATA is not None or "shared/" not in command)
    }


def main(before: Path, after: Path, folder: Path, names: tuple[str, ...]) -> int:
    """Run both trees and print what differs; how many differences there are."""
    chosen = _chosen(COMMANDS, names)
    shutil.rmtree(folder / "after", ignore_errors=True)
    for tree, place in ((before, folder / "before"), (after, folder / "after")):
        run(tree, place, chosen)
        if old := _chosen(OLD_RESULTS, names):
            shutil.copytree(folder / "before", place / "old", symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("old", "shared"))  # fmt: skip
            run(tree, place, old)
    found = list(differences(folder / "before", folder / "after"))
    if names:  # other commands wrote files, too, when all ran before
        found = [line for line in found if not line.endswith(": gone")]
    for line in found:
        print(line)  # noqa: T201
    print(f"{len(found)} differences in {len(chosen)} commands")  # noqa: T201
    return len(found)


if __name__ == "__main__":
    trees = [Path(word).resolve() for word in sys.argv[1:4]]
    sys.exit(bool(main(*trees, tuple(sys.argv[4:]))))
