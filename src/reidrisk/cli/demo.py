"""`reidrisk demo`: a whole study on synthetic people."""

from pathlib import Path

import click

import reidrisk as rr
from reidrisk.cli import console, options
from reidrisk.cli.run import run_file, written_page
from reidrisk.cli.study import starter


@click.command()
@options.output("FOLDER", default="reidrisk-demo", show_default=True, help="Where it all goes.")
@click.option("--fresh", is_flag=True, help="Forget what the folder holds of an earlier run.")
@options.max_memory()
@options.quiet()
def demo(output: str, *, fresh: bool, quiet: bool) -> None:
    """Run a whole study on synthetic people, in about a minute.

    Synthetic people of the embedded population are attacked. This runs the study file that
    `reidrisk study new` writes, and ends with a report. A folder that holds another run is refused
    unless --fresh.

    \b
    Examples:
      reidrisk demo
      reidrisk demo -o /tmp/demo
    """
    from reidrisk.study.toml import study_file

    file = study_file(starter(), "the demo")
    if not quiet:
        console.say(
            f"{file.source.users:,} synthetic people show two sites a topic a week, as the Topics "
            "API does. One site knows who its visitors are. How many of the other's can it name?"
        )
    result, _ = run_file(file, output, command=("demo", "-o", output), fresh=fresh, quiet=quiet)
    if not quiet:
        console.risks([risk for risk in result.risks if not risk.setting], result.unit)
        console.say(rr.report.text(result) + "\n")
    page = written_page(result, Path(output))
    if page is not None and not quiet:
        click.echo(f"The report: {page}")
