"""`reidrisk attacks`: list every attack and bound."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

import reidrisk as rr
from reidrisk.cli import console, options

if TYPE_CHECKING:
    from reidrisk.attacks import Card


def _names(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Names that begin so, for shells."""
    return sorted({card.name for card in rr.risk.cards() if card.name.startswith(begun)})


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_names)
@options.as_json()
def attacks(*, names: tuple[str, ...], as_json: bool) -> None:
    """List every attack and bound.

    A lower figure was reached: attackers do at least this well. An upper one is a limit that no
    attacker whom it covers exceeds. An estimate is the best possible if its model holds. Study
    files and --attack take the names of attacks; one of your own is module:Class, and a bound of
    your own is module:function.

    With names, print their cards instead: what the attacker knows, what is needed and assumed,
    which figure comes of it and for whom that holds, its limits, its cost, and where it is from.

    \b
    Examples:
      reidrisk attacks
      reidrisk attacks hamming full-information
      reidrisk attacks mymodule:MyAttack --json
    """
    found = rr.risk.cards() if not names else _of(names)
    if as_json:
        of_kind = {
            f"{kind}s": [asdict(card) for card in found if card.kind == kind]
            for kind in ("attack", "bound")
        }
        click.echo(json.dumps(of_kind, indent=2))
    elif names:
        console.cards(found)
    else:
        _overview(found)


def _of(names: Sequence[str]) -> "list[Card]":
    """Cards in the order of names, each once."""
    return list(dict.fromkeys(card for name in names for card in rr.risk.cards(name)))


def _overview(found: "Sequence[Card]") -> None:
    attacks, bounds = ([one for one in found if one.kind == kind] for kind in ("attack", "bound"))
    console.table(
        ("attack", "side", "uses", "the attacker knows"),
        [(one.name, str(one.side), str(one.uses), one.knows) for one in attacks],
        whole=("attack", "uses"),
    )
    console.table(
        ("bound", "side", "what it says"), [(one.name, str(one.side), one.says) for one in bounds]
    )
    console.say(
        "`reidrisk attacks NAME` prints a card: what is needed, assumed and left out. Every attack "
        "that is a likelihood also has an estimate, the best that anyone with its knowledge could "
        "do; a study adds it for each of its models."
    )
