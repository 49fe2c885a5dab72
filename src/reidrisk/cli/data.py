"""People, and what is shown of them, as files."""

import json
from pathlib import Path

import click

from reidrisk.cli import options, show


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
    with show.Progress(quiet=quiet) as progress:
        watched = show.Watched(people, progress)
        data.write_top_sets(watched, output, top=people.interests.size, seed=seed)
    if not quiet:
        click.echo(f"{users:,} users with {epochs} epochs: {output}")


@click.group()
def release() -> None:
    """Show sites what a release would show them of people.

    \b
    Examples:
      reidrisk release topics people.parquet --noise 5% --targets 10k --seed 7 -o seen/
    """


@release.command("topics")
@click.argument("people", type=click.Path())
@click.option("--noise", type=options.SHARE, default="0.05", show_default=True,
              help="Chance that a random topic is shown.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True,
              help="Topics of a user and epoch that may be shown.")  # fmt: skip
@click.option("--targets", type=options.SIZE, help="Users to attack; all, if not given.")
@click.option("--taxonomy", type=click.Path(), metavar="FILE",
              help="All topics there are, one a row; those that occur, if not given.")  # fmt: skip
@options.seed()
@options.output("FOLDER", required=True, help="Made if it is not there.")
@options.quiet()
def release_topics(
    people: str,
    noise: float,
    top: int,
    targets: int | None,
    taxonomy: str | None,
    seed: int,
    output: str,
    *,
    quiet: bool,
) -> None:
    """Show two sites what the Topics API would show them of PEOPLE.

    PEOPLE is a table of user, epoch, token and perhaps weight, .csv or .parquet. The folder gets
    known.parquet, anonymous.parquet and release.json, which `reidrisk attack` reads.

    \b
    Examples:
      reidrisk release topics people.parquet --noise 5% --targets 10k --seed 7 -o seen/
      reidrisk release topics people.csv --top 3 --taxonomy topics.csv -o seen/
    """
    from reidrisk import data
    from reidrisk.files import written_whole
    from reidrisk.releases import TopicsApi, parameters_of

    words = None if taxonomy is None else data.read_taxonomy(taxonomy)
    crowd = data.read_profiles(people, taxonomy=words)
    api = TopicsApi(topics=crowd.tokens, top=top, noise=noise)
    with show.Progress(quiet=quiet) as progress:
        seen = api.observe(show.Watched(crowd, progress), targets=targets, seed=seed)
    data.write_observations(seen, output, ids=crowd.ids, labels=crowd.labels)
    values = {name: getattr(api, name) for name in parameters_of(api)}
    note = {"release": api.name, "seed": seed}
    note |= {name: value for name, value in values.items() if value is not None}
    with written_whole(Path(output) / "release.json") as (part,):
        part.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    if not quiet:
        click.echo(
            f"{crowd.users:,} users, {len(seen.anonymous):,} targets, {seen.slots} slots, "
            f"{api.topics} topics: {output}"
        )
