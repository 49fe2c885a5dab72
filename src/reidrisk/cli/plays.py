"""`reidrisk plays`: whom two sites can match if each sees some of their items."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reidrisk.cli import console, options
from reidrisk.cli.run import OUTPUT, Wishes, answer, described, said

if TYPE_CHECKING:
    from reidrisk.io.layouts import Layout


@click.command()
@click.argument("file", type=click.Path())
@click.option("--samples", type=options.SIZES, default="1,2,4,8", show_default=True,
              help="How many items each site sees of a person.")  # fmt: skip
@click.option("--targets", type=options.SIZE, default="10k", show_default=True,
              help="People to attack, at random; all, if there are fewer.")  # fmt: skip
@click.option("--by-count/--alike", default=False, show_default=True,
              help="Draw items by their counts, or all of a person's alike.")  # fmt: skip
@click.option("--again/--once", default=True, show_default=True,
              help="Whether a site may see the same item of a person again.")  # fmt: skip
@options.strangers()
@options.layout("user", "item", "count")
@options.chosen_attacks()
@options.seed()
@options.output("PATH", help=OUTPUT)
@options.with_users()
@options.max_memory()
@options.as_json()
@options.quiet()
def plays(
    file: str, samples: tuple[int, ...], targets: int, strangers: float, present: float | None,
    attacks: tuple[str, ...], seed: int, output: str | None, layout: "Layout",
    *, by_count: bool, again: bool, with_users: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Measure how many people two sites can match if each sees some of their items.

    FILE has a row for each user and item, perhaps with a count: plays, purchases, visits. Each of
    two sites is shown some items of everyone, drawn at random; one of them knows who its visitors
    are. How many of the other's can it name? `reidrisk inspect FILE` tells what the columns look
    like.

    This is the Million Song study of the paper (section 8.5). What is called Hamming distance there
    has two readings, and both are measured: slot by slot, the first item against the first, and as
    sets, where the order says nothing.

    \b
    Examples:
      reidrisk plays triplets.txt.gz --samples 1,2,4,8 --targets 10k -o run/
      reidrisk plays triplets.txt.gz --samples 8 --strangers 30%
      reidrisk plays baskets.csv --user household_id --item category --count items --by-count
    """  # fmt: skip
    from reidrisk.io.plays import plays_layout
    from reidrisk.study.keys import Plays
    from reidrisk.study.toml import read_source

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    layout = plays_layout(file, layout)
    if not (quiet or as_json):
        console.say(_taken(layout, by_count=by_count))
    keys = {
        "title": f"What two sites learn from some items of {Path(file).name}", "unit": "items",
        "seed": seed, "targets": targets, "attacks": attacks, "slots": samples,
        "strangers": strangers, "present": present, "training": None,
    }  # fmt: skip
    people = {"kind": "plays", "path": file, **said(layout)}
    section = Plays.model_construct(**people)
    with console.Progress(quiet=quiet) as progress:
        read = read_source(section, progress=progress.read)
    # Whole only now: what the reader says names the file as it was typed.
    people["path"] = str(Path(file).resolve())
    release = {"kind": "item-samples", "samples": max(samples), "by_count": by_count,
               "replacement": again}  # fmt: skip
    answer(described(keys, people, release, (section, *read)), wishes)


def _taken(layout: "Layout", *, by_count: bool) -> str:
    """Which column is taken for what."""
    text = f"Users are column {layout.user}, items are column {layout.item}."
    if layout.count is None:
        return f"{text} Every row counts once." if by_count else text
    use = (
        "says how likely an item is drawn"
        if by_count
        else "is not used: items are drawn alike, unless you say --by-count"
    )
    return f"{text} The count, column {layout.count}, {use}."
