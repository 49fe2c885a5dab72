"""What attackers may try, and what bounds them."""

import json
import sys
from typing import Any

import click

import reidrisk as rr
from reidrisk.cli import options, show


@click.command()
@options.as_json()
def attacks(*, as_json: bool) -> None:
    """List every attack and bound.

    A lower figure was reached: attackers do at least this well. An upper one is a limit that no
    attacker exceeds. An estimate is the best possible if its model holds. Study files and --attack
    take the names of attacks; one of your own is module:Class.

    \b
    Examples:
      reidrisk attacks
      reidrisk attacks --json
    """
    known, bounds = _attacks(), _bounds()
    if as_json:
        click.echo(json.dumps({"attacks": known, "bounds": bounds}, indent=2))
        return
    show.table(
        ("attack", "side", "knows", "assumes"),
        [(one["name"], one["side"], one["knows"], one["assumes"]) for one in known],
    )
    show.table(
        ("bound", "side", "what it says"),
        [(one["name"], one["side"], one["says"]) for one in bounds],
    )
    show.say(
        "Every attack that is a likelihood also has an estimate: the best that anyone with its "
        "knowledge could do. A study adds it for each of its models."
    )


def _attacks() -> list[dict[str, Any]]:
    found = [rr.attacks.attack_named(name) for name in sorted(rr.attacks.ATTACKS)]
    return [
        {
            "name": one.name,
            "side": "lower",
            "knows": one.knows,
            "assumes": one.assumes,
            "likelihood": one.likelihood,
            "needs": sorted(one.needs),
        }
        for one in found
    ]


def _bounds() -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "side": sys.modules[bound.__module__].SIDE,
            "says": (bound.__doc__ or "").partition("\n")[0],
        }
        for name, bound in rr.risk.bounds.BOUNDS.items()
    ]
