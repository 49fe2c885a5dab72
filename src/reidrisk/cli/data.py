"""`reidrisk synth` and `release`: write people and what is shown of them to files."""

import click

from reidrisk.cli import console, options
from reidrisk.cli.release import Releases


@click.group()
def synth() -> None:
    """Make synthetic people.

    \b
    Examples:
      reidrisk synth topics --users 1M --epochs 8 --seed 1 -o people.parquet
    """


@synth.command("topics")
@click.option("--users", type=options.SIZE, required=True, help="How many: 10k, 1M.")
@click.option("--epochs", type=click.IntRange(min=1), default=8, show_default=True)
@options.seed()
@options.output("FILE", required=True, help="A .parquet or .csv file.")
@options.max_memory()
@options.quiet()
def synth_topics(users: int, epochs: int, seed: int, output: str, *, quiet: bool) -> None:
    """Make people of the embedded population, with five topics of 349 in each epoch.

    The file has the columns user, epoch, token and weight.

    \b
    Examples:
      reidrisk synth topics --users 1M --epochs 8 --seed 1 -o people.parquet
      reidrisk synth topics --users 10k -o people.csv
    """
    from reidrisk import data

    people = data.synthetic_topics(users, epochs=epochs, seed=seed)
    with console.Progress(quiet=quiet) as progress:
        watched = console.Watched(people, progress)
        data.write_top_sets(watched, output, top=people.interests.size, seed=seed)
    if not quiet:
        click.echo(f"{users:,} users with {epochs} epochs: {output}")


@click.group(cls=Releases)
def release() -> None:
    """Show sites what a release would show them of people.

    \b
    Examples:
      reidrisk release topics people.parquet --noise 5% --targets 10k --seed 7 -o seen/
      reidrisk release generalised plays.tsv --users 20 --of "item-samples samples=4" -o seen/
      reidrisk release cohorts people.parquet --users 50 -o seen/
      reidrisk release topics --synthetic 100M --targets 10k --shards 64 -o seen/
    """
