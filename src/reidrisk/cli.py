"""The command line: arguments only; each command is one public call and a way to print it.

Exit codes: 0 done, 2 bad input or usage, 1 our fault.
"""

import json
import sys
import traceback
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reidrisk import __version__
from reidrisk.errors import ReidriskError

if TYPE_CHECKING:
    from collections.abc import Sequence

NOISES = (0.0, 0.05, 0.2, 0.5)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="reidrisk %(version)s")
def cli() -> None:
    """How likely is it that a person can be picked out again?"""


@cli.command()
def demo() -> None:
    """Show what is known exactly about a small built-in release."""
    from reidrisk import theory  # noqa: PLC0415  keeps --help quick

    _say(
        "Eight listeners each show one genre: one of their two favourites, or, as noise, any of "
        "six. An attacker who knows everyone's taste sees a genre and names a listener. How often "
        "is that right?"
    )
    releases = [theory.listeners(noise) for noise in NOISES]
    known = [{item.name: item.value for item in theory.bounds(release)} for release in releases]
    rows = [
        ("guessing", [item["guessing"] for item in known]),
        ("one listener, best attacker", [item["random user, optimum"] for item in known]),
        ("everyone at once, best attacker", [theory.matching_optimum(item) for item in releases]),
        ("everyone at once, bound", [item["matching, bound"] for item in known]),
        ("mutual information allows", [item["mutual information, bound"] for item in known]),
        ("local privacy allows", [item["local privacy, bound"] for item in known]),
    ]
    _print_table(
        ("", *(f"noise {noise:.0%}" for noise in NOISES)),
        [(name, *(f"{value:.1%}" for value in values)) for name, values in rows],
    )
    _say(
        "No attacker does better than the best. Bounds are certainly not exceeded, and perhaps not "
        "reached.\n\nYour own table of user, representation, probability: reidrisk bounds FILE"
    )


@cli.command()
@click.argument("matrix", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def bounds(matrix: str, *, as_json: bool) -> None:
    """Show what attackers can and cannot do with a release.

    MATRIX holds for each user the chance of each representation: .parquet or .csv with the columns
    user, representation, probability; a dense .npy array, users x representations; or a scipy
    sparse .npz array.

    \b
    Examples:
      reidrisk bounds release.csv
      reidrisk bounds release.npz --json
    """  # noqa: D301  click wants this backspace
    from reidrisk import theory  # noqa: PLC0415  keeps --help quick

    statements = theory.bounds(theory.read_matrix(matrix))
    if as_json:
        records = [asdict(statement) for statement in statements]
        click.echo(json.dumps({"schema": "reidrisk/1", "bounds": records}, indent=2))
        return
    _print_table(
        ("what", "accuracy", "side", "meaning"),
        [(item.name, f"{item.value:.4%}", item.side, item.meaning) for item in statements],
    )


def main() -> None:
    """Run the command line and turn failures into messages and exit codes."""
    try:
        cli(standalone_mode=False)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except ReidriskError as wrong:
        click.echo(f"reidrisk: {wrong}", err=True)
        sys.exit(2)
    except Exception:  # noqa: BLE001  the last line of defence: say that it is our fault
        traceback.print_exc()
        click.echo(
            f"\nThis is a fault of reidrisk {__version__}, not yours. Please report it with the "
            "lines above;\nthey may name files, so look before you send.",
            err=True,
        )
        sys.exit(1)


def _say(text: str) -> None:
    click.echo(click.wrap_text(text, width=78, preserve_paragraphs=True))


def _print_table(headings: tuple[str, ...], rows: "Sequence[tuple[str, ...]]") -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415  keeps --help quick
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
