"""`reidrisk items`: whom two sites can match if each sees some of their items."""

from typing import TYPE_CHECKING

import click

from reidrisk.cli import console, options
from reidrisk.cli.run import OUTPUT, Wishes, answer, as_run

if TYPE_CHECKING:
    from reidrisk.io.layouts import Layout
    from reidrisk.study.portfolio import Effort

_OLDER = {"--by-count": "--weighted", "--alike": "--uniform"}


class _Items(click.Command):
    """A command that also takes the options that it had when it was called plays."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_OLDER.get(word, word) for word in args])


@click.command(cls=_Items)
@click.argument("file", type=click.Path())
@click.option("--samples", type=options.SIZES, default="1,2,4,8", show_default=True,
              help="How many items each site sees of a person.")  # fmt: skip
@click.option("--targets", type=options.SIZE, default="10k", show_default=True,
              help="People to attack, at random; all, if there are fewer.")  # fmt: skip
@click.option("--weighted/--uniform", default=False, show_default=True,
              help="Draw items by their counts, or each item of a person as likely.")  # fmt: skip
@click.option("--again/--once", default=True, show_default=True,
              help="Whether a site may see the same item of a person again.")  # fmt: skip
@options.strangers()
@options.layout("user", "item", "count", "returns")
@options.chosen_attacks()
@options.effort()
@options.seed()
@options.output("PATH", help=OUTPUT)
@options.with_users()
@options.max_memory()
@options.as_json()
@options.quiet()
def items(
    file: str, samples: tuple[int, ...], targets: int, strangers: float, present: float | None,
    attacks: tuple[str, ...], effort: "Effort", seed: int, output: str | None, layout: "Layout",
    *, weighted: bool, again: bool, with_users: bool, as_json: bool, quiet: bool,
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
      reidrisk items triplets.txt.gz --samples 1,2,4,8 --targets 10k -o run/
      reidrisk items triplets.txt.gz --samples 8 --strangers 30%
      reidrisk items baskets.csv --user household_id --item category --count items --weighted
    """  # fmt: skip
    from reidrisk.io.plays import plays_layout
    from reidrisk.study._items import items_study

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    layout = plays_layout(file, layout)
    if not (quiet or as_json):
        console.say(_taken(layout, weighted=weighted))
    with console.Progress(quiet=quiet) as progress:
        study = items_study(
            file, layout, samples=samples, targets=targets, weighted=weighted, again=again,
            strangers=strangers, present=present, attacks=attacks, effort=effort, seed=seed,
            comment=as_run(), progress=progress.read,
        )  # fmt: skip
    answer(study, wishes)


def _taken(layout: "Layout", *, weighted: bool) -> str:
    """Which column is taken for what."""
    text = f"Users are column {layout.user}, items are column {layout.item}."
    if layout.count is None:
        return f"{text} Every row counts once." if weighted else text
    use = (
        "says how likely an item is drawn"
        if weighted
        else "is not used: items are drawn uniformly, unless you say --weighted"
    )
    return f"{text} The count, column {layout.count}, {use}."
