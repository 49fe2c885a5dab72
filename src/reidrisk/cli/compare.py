"""`reidrisk compare`: show which of two runs is worse."""

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

import reidrisk as rr
from reidrisk.cli import console, options

if TYPE_CHECKING:
    from reidrisk.study._compare import Comparison


@click.command()
@click.argument("before", type=click.Path(), metavar="RUN-A")
@click.argument("after", type=click.Path(), metavar="RUN-B")
@click.option("--slots", type=options.SIZE,
              help="After how many slots, if not the most that both have.")  # fmt: skip
@options.output("FILE", help="Also write a page.")
@options.as_json()
@options.quiet()
def compare(
    before: str, after: str, slots: int | None, output: str | None, *, as_json: bool, quiet: bool
) -> None:
    """Show which of two runs is worse, and by how much.

    RUN-A and RUN-B are folders of runs, or result.json. Each attack that both tried is compared
    after the most slots that both have; sweeps are left out. Runs that attacked the same people
    with the same seed are compared person by person, which shows much smaller differences;
    others by their intervals. The output says which, and how the studies differ.

    A difference is in points: from 2 % to 3 % is +1 point. For a pipeline that must stop:
    `reidrisk gate RUN-B --compare RUN-A --worse-by 0.5%`.

    \b
    Examples:
      reidrisk compare last-release/ run/
      reidrisk compare run-a/ run-b/ -o difference.html
      reidrisk compare run-a/result.json run-b/result.json --json
    """
    from reidrisk.study.result import SCHEMA

    names = _names(before, after)
    found = rr.compare(rr.Result.load(before), rr.Result.load(after), slots=slots)
    if output is not None:
        command = shlex.join(("reidrisk", *sys.argv[1:]))
        rr.report.comparison.html(found, output, names=names, command=command)
    if as_json:
        body = {"schema": SCHEMA, "runs": [before, after], **asdict(found)}
        click.echo(json.dumps(body, indent=1, ensure_ascii=False))
    elif not quiet:
        _tell(found, names)
        if output is not None:
            click.echo(f"The page: {output}")


def _names(before: str, after: str) -> tuple[str, str]:
    """What the runs are called: by their folders, or their whole paths if these are alike."""
    short = [Path(one).parent.name if Path(one).name == "result.json" else Path(one).name
             for one in (before, after)]  # fmt: skip
    return (short[0], short[1]) if all(short) and short[0] != short[1] else (before, after)


def _tell(found: "Comparison", names: tuple[str, str]) -> None:
    from reidrisk.core.sanitize import cleaned
    from reidrisk.study.text import differences

    known = cleaned(found)
    interval = differences.interval_heading(known)
    console.say(differences.verdict(known, names))
    click.echo()
    console.table(
        ("attack", names[0], names[1], "points", interval, "targets"),
        [
            (one.attack, differences.share_beside(one.before, one.change),
             differences.share_beside(one.after, one.change), differences.points(one.change),
             differences.points_interval(one.change), differences.targets(one))
            for one in known.differences
        ],
        whole=("attack", interval),
    )  # fmt: skip
    console.say(differences.explained(known))
    if known.changes:
        console.table(
            ("differs", *names), [(one.what, one.before, one.after) for one in known.changes]
        )
    else:
        console.say(differences.changes(known))
    for text in differences.missing(known, names):
        console.say(text)
