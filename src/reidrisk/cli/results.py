"""What becomes of a result: a report, or a gate in a pipeline."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

import reidrisk as rr
from reidrisk.cli import options

if TYPE_CHECKING:
    from reidrisk.study.result import Risk

EXCEEDED = 3
"""Exit code of a gate that is not passed."""


@click.command()
@click.argument("run", type=click.Path())
@options.output("FILE", help="The page; report.html or signoff.html, if not given.")
@click.option("--edition", type=click.Choice(["long", "signoff"]), default="long",
              show_default=True,
              help="long holds everything; signoff prints on two pages, with a place to "
              "sign.")  # fmt: skip
@click.option("--files", type=click.Path(), metavar="FOLDER",
              help="Also write each chart as SVG and PNG, and its data as CSV; long edition "
              "only.")  # fmt: skip
@click.option("--section", "paths", multiple=True, metavar="MODULE:FUNCTION",
              help="Add a section of your own at the end; may be repeated; long edition "
              "only.")  # fmt: skip
@options.quiet()
def report(
    run: str, output: str | None, edition: str, files: str | None, paths: tuple[str, ...],
    *, quiet: bool,
) -> None:  # fmt: skip
    """Write the report of a run.

    RUN is a run's folder or a result.json. The report is one page that needs no network. What the
    sign-off says beside the figures comes from [signoff] of the study file; what is not said there
    becomes a line to write on.

    \b
    Examples:
      reidrisk report run/ -o report.html
      reidrisk report run/ --edition signoff
      reidrisk report result.json --files charts/
      reidrisk report run/ --section mypackage.mysection:section
    """
    if edition != "long" and (files is not None or paths):
        named = "--files goes" if files is not None else "--section goes"
        raise click.UsageError(f"{named} with the long edition only; leave it or --edition out")
    more, result = tuple(rr.report.section_at(path) for path in paths), rr.Result.load(run)
    if edition == "signoff":
        name, page = "sign-off", output or "signoff.html"
        rr.report.html(result, page, edition="signoff", digest=_digest(run))
    else:
        name, page = "report", output or "report.html"
        rr.report.html(result, page, sections=more)
    if files is not None:
        rr.report.files(result, files, sections=more)
    if not quiet:
        click.echo(f"The {name}: {page}")


def _digest(run: str) -> str:
    """The SHA-256 of the very file of a result, whatever version wrote it."""
    file = Path(run) / "result.json" if Path(run).is_dir() else Path(run)
    return hashlib.sha256(file.read_bytes()).hexdigest()


@click.command()
@click.argument("run", type=click.Path())
@click.option("--max-risk", type=options.SHARE, required=True,
              help="The most that the upper end of an interval may be: 1%.")  # fmt: skip
@click.option("--slots", type=options.SIZE, help="Only after so many slots.")
@click.option("--attack", help="Only this attack.")
@options.as_json()
@options.quiet()
@click.pass_context
def gate(
    context: click.Context,
    run: str,
    max_risk: float,
    slots: int | None,
    attack: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fail if a risk may be too high.

    Passes only if no attack of RUN may be right more often than --max-risk. RUN is a run's folder
    or a result.json. The upper end of each interval counts, so a study with few targets does not
    pass by being vague. Sweeps do not count. The exit code is 3 if any figure is above the limit.

    \b
    Examples:
      reidrisk gate run/ --max-risk 1%
      reidrisk gate result.json --max-risk 0.5% --slots 8 --attack weighted-hamming --json
    """
    from reidrisk.study.judging import above, judged

    checked = judged(rr.Result.load(run), slots=slots, attack=attack)
    failing = above(checked, max_risk)
    if as_json:
        body = {"schema": rr.study.result.SCHEMA, "passed": not failing, "max_risk": max_risk,
                "checked": len(checked), "failing": [asdict(risk) for risk in failing]}  # fmt: skip
        click.echo(json.dumps(body, indent=1))
    elif not quiet:
        for risk in failing:
            click.echo(_line(risk, max_risk))
        if not failing:
            worst = max(checked, key=lambda risk: risk.high)
            click.echo(f"passed: {len(checked)} figures; the highest upper end is {worst.high:.4%}")
    if missed := max(risk.not_assessed for risk in checked):
        click.echo(
            f"up to {missed:,} targets could not be assessed, because one side saw nothing of "
            "them; they are in no figure, which does not make them safe",
            err=True,
        )
    if failing:
        context.exit(EXCEEDED)


def _line(risk: "Risk", most: float) -> str:
    return (
        f"{risk.attack} after {risk.slots} slots among {risk.users:,} users: {risk.value:.4%}, "
        f"upper end {risk.high:.4%}, above {most:.4%}"
    )
