"""What is known exactly, from a table of chances."""

import json
from dataclasses import asdict

import click

import reidrisk as rr
from reidrisk.cli import options, show


@click.command()
@click.argument("matrix", type=click.Path())
@options.as_json()
def bounds(matrix: str, *, as_json: bool) -> None:
    """Show what attackers can and cannot do with a release.

    MATRIX holds for each user the chance of each representation: .parquet or .csv with the columns
    user, representation, probability; a dense .npy array, users x representations; or a scipy
    sparse .npz array.

    \b
    Examples:
      reidrisk bounds release.csv
      reidrisk bounds release.npz --json
    """
    statements = rr.theory.bounds(rr.theory.read_matrix(matrix))
    if as_json:
        records = [asdict(statement) for statement in statements]
        click.echo(json.dumps({"schema": "reidrisk/1", "bounds": records}, indent=2))
        return
    show.table(
        ("what", "accuracy", "side", "meaning"),
        [(item.name, f"{item.value:.4%}", item.side, item.meaning) for item in statements],
    )
