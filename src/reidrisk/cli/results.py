"""What becomes of a result: a report, or a gate in a pipeline."""

import json
from typing import TYPE_CHECKING

import click

from reidrisk.cli import options
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reidrisk.study.result import Risk

EXCEEDED = 3
"""Exit code of a gate that is not passed."""


@click.command()
@click.argument("run", type=click.Path())
@options.output("FILE", default="report.html", show_default=True, help="The page.")
@click.option("--files", type=click.Path(), metavar="FOLDER",
              help="Also write each chart as SVG and PNG, and its data as CSV.")  # fmt: skip
@options.quiet()
def report(run: str, output: str, files: str | None, *, quiet: bool) -> None:
    """Write the report of a run.

    RUN is a run's folder or a result.json. The report is one page that needs no network.

    \b
    Examples:
      reidrisk report run/ -o report.html
      reidrisk report result.json --files charts/
    """
    from reidrisk import report as reports
    from reidrisk.study import Result

    result = Result.load(run)
    reports.html(result, output)
    if files is not None:
        reports.files(result, files)
    if not quiet:
        click.echo(f"The report: {output}")


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
    or a result.json. What counts is the upper end of each interval, so a study with few targets
    does not pass by being vague. Sweeps do not count. Exit code 3 if any figure is above.

    \b
    Examples:
      reidrisk gate run/ --max-risk 1%
      reidrisk gate result.json --max-risk 0.5% --slots 8 --attack weighted-hamming --json
    """
    from reidrisk.study import Result
    from reidrisk.study.result import SCHEMA, plain

    checked = _chosen(Result.load(run).risks, slots, attack)
    failing = [risk for risk in checked if not risk.high <= max_risk]
    if as_json:
        body = {"schema": SCHEMA, "passed": not failing, "max_risk": max_risk,
                "checked": len(checked), "failing": plain(failing)}  # fmt: skip
        click.echo(json.dumps(body, indent=1))
    elif not quiet:
        for risk in failing:
            click.echo(_line(risk, max_risk))
        if not failing:
            worst = max(checked, key=lambda risk: risk.high)
            click.echo(f"passed: {len(checked)} figures, the highest upper end is {worst.high:.4%}")
    if missed := max(risk.not_assessed for risk in checked):
        click.echo(f"up to {missed:,} targets were not assessed; they are in no figure", err=True)
    if failing:
        context.exit(EXCEEDED)


def _chosen(risks: "Iterable[Risk]", slots: int | None, attack: str | None) -> "list[Risk]":
    """Figures of the study itself, perhaps of one length and one attack."""
    base = [risk for risk in risks if not risk.setting]
    chosen = [
        risk for risk in base
        if slots in {None, risk.slots} and attack in {None, risk.attack}
    ]  # fmt: skip
    if not chosen:
        lengths = ", ".join(str(one) for one in sorted({risk.slots for risk in base}))
        names = ", ".join(sorted({risk.attack for risk in base}))
        raise InvalidInput(
            "the gate has nothing to check, so it does not pass; the result has "
            f"slots {lengths or 'none'} and attacks {names or 'none'}"
        )
    return chosen


def _line(risk: "Risk", most: float) -> str:
    return (
        f"{risk.attack} after {risk.slots} slots among {risk.users:,} users: {risk.value:.4%}, "
        f"upper end {risk.high:.4%}, above {most:.4%}"
    )
