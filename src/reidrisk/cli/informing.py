"""How much what two sites are shown tells, in bits."""

import json
from dataclasses import asdict

import click

import reidrisk as rr
from reidrisk.cli import options, show


@click.command()
@click.argument("seen", type=click.Path())
@options.max_memory()
@options.as_json()
def information(seen: str, *, as_json: bool) -> None:
    """Show how many bits two sites share about a user.

    SEEN is a folder that `reidrisk release` wrote. Bits are per slot, from counts. With few pairs
    the counts look more alike than they are, so two figures are given: one too high on average, and
    one, less what unrelated users seem to share, probably too low.

    \b
    Examples:
      reidrisk information seen/
      reidrisk information seen/ --json
    """
    from reidrisk.information import pair_information

    folder = options.seen_folder(seen)
    linked = rr.data.read_linked(folder / "known.parquet", folder / "anonymous.parquet")
    show.warn(linked)
    found = pair_information(linked.observations)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    show.table(
        ("bits per slot", "value", "meaning"),
        [
            ("entropy", f"{found.entropy:.3f}", "of what the known site is shown"),
            ("shared, as counted", f"{found.shared_as_counted:.3f}", "too high on average"),
            ("unrelated users", f"{found.unrelated:.3f}", "the same counts, of different users"),
            (
                "shared, corrected",
                f"{found.shared_corrected:.3f}",
                "the difference of the two: probably too low",
            ),
        ],
    )
    show.say(f"From {found.pairs:,} pairs of tokens.")
