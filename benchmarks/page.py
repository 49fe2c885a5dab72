"""What a page and the demo cost, part by part, in CPU seconds; kernels and scripts are kept before.

A page is compared with its renderer alone, which draws the same pictures and does nothing else. A
study of 1,000 users and one of many sweep points show what is paid once and what for each point.
"""

import json
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.tools import figures, spent, table
from reidrisk.cli.study import starter
from reidrisk.core.sanitize import cleaned
from reidrisk.engines import LocalEngine
from reidrisk.plotting import PAGE
from reidrisk.report import charts, page
from reidrisk.report.sections import sections
from reidrisk.study.run_store import Stored
from reidrisk.study.toml import study_file

SMALL = """
title = "Small"
unit = "weeks"
seed = 7
slots = [2, 4]
targets = 200
attacks = ["hamming", "weighted-hamming"]
[people]
kind = "synthetic"
users = 1000
epochs = 4
[release]
kind = "topics"
"""

ALONE = """
import json, sys, vl_convert
for spec, width, version in json.load(open(sys.argv[1])):
    vl_convert.vegalite_to_svg(spec | {"width": width}, vl_version=version)
"""

POINTS = 20, 200


def main():
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _demo(place)
        _page(place)
        _small(place)


def _demo(place):
    """The demo, warm: each step, and the page."""
    run = ("-m", "reidrisk", "demo", "-q", "-o")
    spent(*run, place / "first")
    whole = spent(*run, place / "demo").processor
    file = study_file(starter(), "the demo")
    steps = file.study.steps(file.source, LocalEngine())
    taken = {}

    def keep(step, parts):
        begun = time.process_time()
        found = step.run(parts)
        kind = step.name.partition("-")[0]
        taken[kind] = taken.get(kind, 0) + time.process_time() - begun
        return found

    file.study.carried_out(steps, file.source, keep)
    rows = [(kind, f"{cpu:.2f}", f"{cpu / whole:.0%}") for kind, cpu in taken.items()]
    left = whole - sum(taken.values())
    rows += [("imports, page, files", f"{left:.2f}", f"{left / whole:.0%}")]
    figures("The demo", ("part", "CPU s", "of all"), [*rows, ("all", f"{whole:.2f}", "")])


def _page(place):
    """The page of that run: its parts in this process, and the command against the renderer."""
    taken, stored = {}, place / "demo"

    def part(name, function):
        begun = time.process_time()
        answer = function()
        taken[name] = time.process_time() - begun
        return answer

    result = part("reading", lambda: cleaned(Stored.read(stored).result))
    made = part("sections", lambda: sections(result))
    drawn = [one for section in made for one in section.exhibits if one.draw]
    specs = part("charts", lambda: [charts.specification(one, PAGE, "container") for one in drawn])
    first = part("renderer's start", partial(charts.svg, specs[0], charts.WIDTH))
    part("pictures", lambda: [charts.svg(spec, charts.WIDTH) for spec in specs])
    part("scripts", charts.library)
    part("all of it again", partial(page.render, result))
    figures(f"A page of {len(specs)} charts", ("part", "CPU s"),
            [(name, f"{cpu:.3f}") for name, cpu in taken.items()])  # fmt: skip
    assert first.startswith("<svg")
    asked = place / "specs.json"
    version = charts.version_drawn()
    asked.write_text(json.dumps([(spec, charts.WIDTH, version) for spec in specs]))
    words = ("-m", "reidrisk", "report", stored, "-q", "-o", place / "page.html")
    ours = min(spent(*words).processor for _ in range(3))
    alone = min(spent("-c", ALONE, asked).processor for _ in range(3))
    table("A page, CPU s", [("reidrisk report", ours, "its renderer alone", alone, 3)])


def _small(place):
    """1,000 users, and the same with many sweep points."""
    rows, before = [], None
    for points in (0, *POINTS):
        noise = ", ".join(f"{(one + 1) / (points + 2):.5f}" for one in range(points))
        file = place / f"small-{points}.toml"
        file.write_text(SMALL + (f"[sweep]\nnoise = [{noise}]\n" if points else ""))
        study = spent("-m", "reidrisk", "study", file, "-q", "-o", place / f"small-{points}")
        words = ("-m", "reidrisk", "report", place / f"small-{points}", "-q", "-o")
        drawn = spent(*words, place / f"{points}.html")
        each = "" if before is None else (study.processor - before[1]) / (points - before[0])
        size = (place / f"{points}.html").stat().st_size / 1e6
        rows.append((f"{points} sweep points", f"{study.processor:.2f}",
                     f"{each:.3f}" if each else "", f"{drawn.processor:.2f}",
                     f"{size:.2f}"))  # fmt: skip
        before = points, study.processor
    headings = ("1,000 users", "study, CPU s", "each point", "page, CPU s", "page, MB")
    figures("Small studies", headings, rows)
