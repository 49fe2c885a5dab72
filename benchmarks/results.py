"""All that `RESULTS.md` shows, in one run: peers, growth, memory, start. `make bench` calls it.

    python -m benchmarks.results [--quick] [-o FOLDER]

`--quick` takes small sizes, to see that all of it works; its figures say nothing of speed. Ends
with 1 if an answer of ours and one of a peer are not to each other as they should.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import cold, growth, memory
from benchmarks.comparison import Comparison
from benchmarks.peers import QUESTIONS, environment
from benchmarks.tools import machine
from reidrisk.core.files import written_whole

HERE = Path(__file__).parent
PEER_HEADINGS = ("question", "size", "ours", "s", "peer", "s", "ours / peer", "of processors",
                 "agreement")  # fmt: skip


def asked(question, *, quick):
    """The peers of a question, in their environment: what each of them answered."""
    words = [environment.python(), "-m", "benchmarks.peers", question, *["--quick"] * quick]
    done = subprocess.run(  # noqa: S603  our own words
        words, cwd=environment.ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return json.loads(done.stdout)
    why = (done.stderr.strip().splitlines() or ["ended without a word"])[-1]
    peers = importlib.import_module(f"benchmarks.peers.{question}").PEERS
    return [{"peer": peer, "missing": f"the comparison ended: {why}"} for peer in peers]


def all_peers(*, quick):
    """What all peers answered; why one did not, as pip told it if it could not be installed."""
    missing = environment.prepared()
    for question in QUESTIONS:
        print(f"peers: {question}", file=sys.stderr, flush=True)
        for answer in asked(question, quick=quick):
            if answer["peer"] in missing:
                answer["missing"] = missing[answer["peer"]]
            yield answer


def markdown(headings, rows):
    """A table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell(one) for one in line)} |" for line in lines)


def cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def short(seconds):
    """Three digits, and no more than people read."""
    return f"{seconds:.3g}" if seconds >= 1e-4 else f"{seconds:.1e}"


def peer_rows(answers):
    for answer in answers:
        for plain in answer.get("rows", ()):
            row = Comparison.of(plain)
            yield (
                row.question, row.size, row.ours, short(row.our_cost.wall),
                f"{row.peer}: {row.theirs}", short(row.their_cost.wall), short(row.ratio),
                short(row.processor_ratio), row.agreement,
            )  # fmt: skip


def peers_section(answers):
    """The table of peers, and who is missing."""
    versions = ", ".join(f"{one['peer']} {one['version']}" for one in answers if "version" in one)
    absent = [f"- {one['peer']}: {one['missing']}" for one in answers if "missing" in one]
    return f"""## Peers

The least of three runs by the clock (one run for recordlinkage and scikit-mobility), ours and the
peer's one after the other in one process on the same data; then the ratio, and the ratio of
processor seconds of all threads. Below 1 we are quicker.

{markdown(PEER_HEADINGS, list(peer_rows(answers)))}

Versions: {versions}.

Not run:

{chr(10).join(absent) or "- none: all peers were installed and ran"}
"""


def growth_section(points, *, quick):
    base = growth.QUICK_BASE if quick else growth.BASE
    around = ", ".join(f"{size:,} {name}" for name, size in base.items())
    pictures = "\n\n".join(
        f"![Processor seconds over {name}, both axes logarithmic](plots/growth-{name}.svg)"
        for name in base
    )
    return f"""## Growth

One size grows, the others stay at {around}. The embedded population; processor seconds of all
threads; the exponent is the slope of a straight line on log-log scales, 1 for twice the cost at
twice the size. Slots above 12 are searched in another way, so that one line through all of them
fits less well.

{markdown(growth.HEADINGS, list(growth.rows(points)))}

{pictures}
"""


def memory_section(rows):
    return f"""## Memory

What a search said it would need beside its observations, before it began, and what it took.
Where the ratio is below 1, it took more than it said.

{markdown(memory.HEADINGS, rows)}
"""


def start_section(rows):
    return f"""## Start

The first run on a fresh machine compiles kernels; the second finds them on disk.

{markdown(cold.HEADINGS, rows)}
"""


def header(taken, loads, *, quick):
    """When, where and how it was run; what else the machine had to do."""
    before, after = (", ".join(f"{one:.1f}" for one in load) for load in loads)
    warning = "\n**Small sizes (`--quick`): the figures say nothing of speed.**\n" if quick else ""
    return f"""# Benchmarks

`make bench` wrote this file on {time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}, in
{taken / 60:.0f} minutes, without installing. Machine: {machine()}. Load average before (1, 5, 15
minutes): {before}; after: {after}; on a quiet machine the first is below 0.5.
{warning}"""


def written(folder, *, quick=False):
    """Run everything and write `RESULTS.md` and its plots; whether all peers agree."""
    import vl_convert

    environment.prepared()
    begun, load = time.monotonic(), os.getloadavg()
    answers = list(all_peers(quick=quick))
    print("growth", file=sys.stderr, flush=True)
    points = growth.measured(quick=quick)
    print("memory", file=sys.stderr, flush=True)
    needed = list(memory.sizes(memory.QUICK if quick else memory.SHOWN))
    print("start", file=sys.stderr, flush=True)
    started = cold.measured(tuple(cold.PROGRAMS)[2:] if quick else tuple(cold.PROGRAMS))
    parts = (
        header(time.monotonic() - begun, (load, os.getloadavg()), quick=quick),
        peers_section(answers),
        growth_section(points, quick=quick),
        memory_section(needed),
        start_section(started),
    )
    (folder / "plots").mkdir(parents=True, exist_ok=True)
    for name in growth.BASE:
        drawn = vl_convert.vegalite_to_svg(growth.specification(points, name))
        write(folder / "plots" / f"growth-{name}.svg", drawn)
    write(folder / "RESULTS.md", "\n".join(parts))
    print(folder / "RESULTS.md")
    rows = [plain for answer in answers for plain in answer.get("rows", ())]
    return all(plain["agreement"]["holds"] for plain in rows)


def write(path, text):
    with written_whole(path) as (place,):
        place.write_text(text, encoding="utf-8")


def main(arguments=()):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("-o", "--output", type=Path, default=HERE, help="a folder")
    said = parser.parse_args(arguments)
    if not written(said.output, quick=said.quick):
        sys.exit("an answer is not as expected: see the column of agreement")


if __name__ == "__main__":
    main(sys.argv[1:])
