"""How much what two sites are shown tells, in bits."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

import reidrisk as rr
from reidrisk.cli import options, show

if TYPE_CHECKING:
    from reidrisk.estimates import Estimate
    from reidrisk.information import CountedInformation


@click.command()
@click.argument("seen", type=click.Path())
@options.max_memory()
@options.as_json()
def information(seen: str, *, as_json: bool) -> None:
    """Show how many bits two sites share about a user.

    SEEN is a folder that `reidrisk release` wrote. Bits are per slot, from counts of what both
    sites were shown of the same users; a gap is a symbol, too. Intervals hold the truth however few
    users there are; where they are too few, a warning says so, and the intervals are wide.

    \b
    Examples:
      reidrisk information seen/
      reidrisk information seen/ --json
    """
    folder = options.seen_folder(seen)
    linked = rr.data.read_linked(folder / "known.parquet", folder / "anonymous.parquet")
    show.warn(linked)
    found = rr.information.count_information(linked.observations)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        _tell_counts(found)
    show.warn(found)


def _tell_counts(found: "CountedInformation") -> None:
    """What all slots say together, by which way of counting, and each of them."""
    pooled = found.pooled
    show.table(
        ("bits per slot", "value", f"{pooled.entropy.level:.0%} interval"),
        [
            ("known site, H(A)", *_bits(pooled.known_entropy)),
            ("anonymous site, H(B)", *_bits(pooled.entropy)),
            ("if the other is known, H(B|A)", *_bits(pooled.conditional_entropy)),
            ("shared by both, I(A;B)", *_bits(pooled.mutual_information)),
        ],
    )
    slots = len(found.slots)
    alike = f"; {slots} slots are counted together, as if they were alike" if slots > 1 else ""
    show.say(
        f"From {pooled.pairs:,} pairs of {pooled.users:,} users{alike}. Intervals hold noise and "
        f"how far counts lean. {pooled.seen_once:.1%} of the pairs came once. By each way of "
        "counting:"
    )
    show.table(
        ("way", "H(B)", "H(B|A)", "I(A;B)", "noise", "I(A;B) leans"),
        [
            (way.name, *(f"{figure.value:.3f}" for figure in (
                way.entropy, way.conditional_entropy, way.mutual_information)),
             f"± {way.mutual_information.high - way.mutual_information.value:.3f}", way.leans)
            for way in pooled.ways
        ],
    )  # fmt: skip
    if slots > 1:
        show.table(
            ("slot", "H(B)", "H(B|A)", "I(A;B)", f"{pooled.entropy.level:.0%} interval"),
            [
                (name, f"{bits.entropy.value:.3f}", f"{bits.conditional_entropy.value:.3f}",
                 *_bits(bits.mutual_information))
                for name, bits in (
                    *((str(place), bits) for place, bits in enumerate(found.slots, start=1)),
                    ("sum", found.summed),
                )
            ],
        )  # fmt: skip


def _bits(figure: "Estimate") -> tuple[str, str]:
    """A figure and its interval."""
    return f"{figure.value:.3f}", f"{figure.low:.3f} to {figure.high:.3f}"
