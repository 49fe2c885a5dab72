"""All commands together, and what becomes of their failures."""

import sys
import traceback

import click

from reidrisk import __version__
from reidrisk.cli.completion import completion
from reidrisk.cli.data import release, synth
from reidrisk.cli.demo import demo
from reidrisk.cli.linking import attack, attacks, information, link
from reidrisk.cli.results import gate, report
from reidrisk.cli.studies import study, sweep
from reidrisk.cli.theory import bounds
from reidrisk.cli.tuning import calibrate
from reidrisk.errors import ReidriskError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="reidrisk %(version)s")
def cli() -> None:
    """How likely is it that a person can be picked out again?

    \b
    Examples:
      reidrisk demo                    the whole story, in under a minute
      reidrisk study new               a study file to begin with
      reidrisk link --help             your own data
    """


for command in (
    demo, synth, release, attack, link, information, attacks, bounds, study, sweep, calibrate,
    report, gate, completion,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command line and turn failures into messages and exit codes."""
    try:
        # Click gives the code of whoever left early, and None otherwise.
        sys.exit(cli(standalone_mode=False) or 0)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except ReidriskError as wrong:
        click.echo(f"reidrisk: {wrong}", err=True)
        sys.exit(2)
    except OSError as wrong:
        where = f"{wrong.filename}: " if wrong.filename else ""
        click.echo(
            f"reidrisk: {where}the system refuses ({wrong.strerror}); check that the path exists, "
            "has room, and may be read or written",
            err=True,
        )
        sys.exit(2)
    except MemoryError:
        click.echo(
            "reidrisk: there is not enough memory for this; use fewer users or targets", err=True
        )
        sys.exit(2)
    except Exception:  # noqa: BLE001  the last line of defence: say that it is our fault
        traceback.print_exc()
        click.echo(
            f"\nThis is a fault of reidrisk {__version__}, not yours. Please report it with the "
            "lines above;\nthey may name files, so look before you send.",
            err=True,
        )
        sys.exit(1)
