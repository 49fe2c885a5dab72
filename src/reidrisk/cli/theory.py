"""`reidrisk bounds` and `explain`: exact figures of a matrix or an epsilon."""

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import console, options

if TYPE_CHECKING:
    from reidrisk.study import Explanation

_NOTHING_SUFFICES = 3
"""Exit code where no epsilon keeps the limit."""


@click.command()
@click.argument("matrix", type=click.Path())
@options.max_memory()
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
    console.table(
        ("what", "accuracy", "side", "meaning"),
        [(item.name, f"{item.value:.4%}", item.side, item.meaning) for item in statements],
    )


def _epsilon(text: str) -> float:
    """A number, or the Topics API, whose epsilon is that of a week."""
    if text == "topics":
        return rr.TopicsApi().epsilon
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise click.BadParameter(f"it is a number of at least 0, or topics; got {text!r}")
    return number


@click.command()
@click.option("--epsilon", type=_epsilon, metavar="NUMBER",
              help="Local differential privacy of one slot, in nats; topics is that of a week of "
              "the Topics API.")  # fmt: skip
@click.option("--max-risk", type=options.SHARE,
              help="Find the largest epsilon for which at most this share is named: 1%."
              )  # fmt: skip
@click.option("--users", type=options.SIZE, required=True,
              help="How many people an attacker chooses among: 10M.")  # fmt: skip
@click.option("--slots", type=options.SIZE, default=1, show_default=True,
              help="How many are seen of a person, each with chance of its own.")  # fmt: skip
@click.option("--delta", type=options.SHARE, default=0.0, show_default=True,
              help="Chance with which epsilon may fail in a slot.")  # fmt: skip
@click.option("--tokens", type=options.SIZE, help="Different values of a slot, if known.")
@options.as_json()
def explain(
    *,
    epsilon: float | None,
    max_risk: float | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Say what an epsilon means for who may be named, or find one.

    Tells how many people can be named at most if each slot is locally differentially private, how
    far beliefs can move, and what a real mechanism with this epsilon allows. With --max-risk the
    other way round: the largest epsilon that keeps a limit, or exit code 3 if none does.

    \b
    Examples:
      reidrisk explain --epsilon 3 --users 10M --slots 8
      reidrisk explain --max-risk 1% --users 10M --slots 8
      reidrisk explain --epsilon topics --users 10M --json
    """
    from reidrisk.study._explain import NothingSuffices

    if (epsilon is None) == (max_risk is None):
        raise click.UsageError("give either --epsilon or --max-risk")
    try:
        found = rr.explain(epsilon=epsilon, max_risk=max_risk, **given)
    except NothingSuffices as wrong:
        click.echo(f"reidrisk: {wrong}", err=True)
        click.get_current_context().exit(_NOTHING_SUFFICES)
    if as_json:
        body = asdict(found)
        # JSON has no infinity.
        body["epsilon"] = None if math.isinf(found.epsilon) else found.epsilon
        click.echo(json.dumps({"schema": "reidrisk/1", **body}, indent=2))
    else:
        _tell(found)


def _tell(found: "Explanation") -> None:
    from reidrisk.study.text import epsilon as words

    console.say("\n\n".join(words.paragraphs(found)))
    headings, *rows = words.table(found)
    console.table(headings, rows, whole=headings)
    for heading, sentences in (("Assumed", words.assumed(found)), ("Not said", words.NOT_SAID)):
        click.echo(f"{heading}:")
        for sentence in sentences:
            click.echo(click.wrap_text(sentence, 78, "- ", "  "))
