"""`reidrisk information`: the bits that two sites share."""

import json
import shlex
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import console, options, signals
from reidrisk.cli.run import as_typed
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reidrisk.core.observations import Observations
    from reidrisk.estimates import Estimate
    from reidrisk.information import CountedInformation
    from reidrisk.study.analyses.information import Records
    from reidrisk.study.result import Result

_LEVEL = 0.95
_SIGNS = {"entropy": "H(B)", "conditional entropy": "H(B|A)", "mutual information": "I(A;B)"}


def _model(text: str) -> str:
    """The name of a model that learns, whose library is installed."""
    from reidrisk.core.checks import meant
    from reidrisk.study.analyses.information import check_method

    if text not in _names():
        raise click.BadParameter(
            f"there is no model {text!r}{meant(text, _names())} There are {', '.join(_names())}"
        )
    check_method(text)
    return text


def _names() -> list[str]:
    from reidrisk.information.sequence_model import MODELS

    return list(MODELS)


def _begun(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Names that begin so, for shells."""
    return [name for name in _names() if name.startswith(begun)]


_model.__name__ = "model"  # as --help shows it


@click.command()
@click.argument("seen", type=click.Path())
@click.option("--model", "models", type=_model, metavar="NAME", multiple=True,
              shell_complete=_begun, help="Also let a model learn to write rows: laptop, or "
              "for comparison transformer, copying-transformer, hybrid; paper-transformer and "
              "paper-hybrid are as published, for accelerators. May be repeated; needs "
              "reidrisk[torch].")  # fmt: skip
@click.option("--folder", type=click.Path(), metavar="FOLDER",
              help="Keep here what models have learned, so that a command that is stopped goes on "
              "from it.")  # fmt: skip
@options.seed()
@options.output("FILE", help="A page to read and to pass on: one file that needs no network.")
@options.max_memory()
@options.as_json()
def information(
    seen: str, models: tuple[str, ...], folder: str | None, seed: int, output: str | None,
    *, as_json: bool,
) -> None:  # fmt: skip
    """Show how many bits two sites share about a user.

    SEEN is a folder that `reidrisk release` wrote. Bits are per slot, from counts of what both
    sites were shown of the same users; a gap is a symbol, too. Intervals reach from what is too low
    on average to what is too high on average, and hold noise besides. Where users are too few for
    the alphabet a warning says so, and intervals are wide.

    A model learns from some of the users to write what one site is shown, alone and given what the
    other was shown, and is measured on others. So it knows what slots of a row have to do with
    each other: are they independent, as attacks that add up slots assume?

    \b
    Examples:
      reidrisk information seen/
      reidrisk information seen/ --model laptop --folder learned/
      reidrisk information seen/ --model laptop --model transformer -o information.html
      reidrisk information seen/ --json
    """  # fmt: skip
    from reidrisk.study.analyses import information

    if folder is not None and not models:
        raise InvalidInput(
            "--folder keeps what models have learned, and none is named; name one with --model",
            code="missing-option",
        )
    with _rows(seen) as (rows, origin):
        for name in (information.COUNTS, *models):
            information.check_rows(name, rows.known.kind, len(rows.truth))
        counted = rr.information.count_information(rows, level=_LEVEL)
        parts = [information.of_counts(counted, alike=True)]
        parts += _learned(rows, models, folder, seed)
    found = information.result_of(rows, parts, level=_LEVEL, seed=seed)
    if output is not None:
        rr.report.information.html(found, output, **origin)
    if as_json:
        click.echo(json.dumps(_record(found, counted), indent=2))
    else:
        _tell_counts(counted, rows.users)
        if models:
            _tell_learned(found)
        if output is not None:
            click.echo(f"The page: {output}")
    console.warn(counted)
    learned = [one for one in found.reckoned if one.warning and one.by != information.COUNTS]
    console.doubt(dict.fromkeys(one.warning for one in learned))


@contextmanager
def _rows(seen: str) -> "Iterator[tuple[Observations, dict[str, Any]]]":
    """What the sites saw, and what a page says about where it came from."""
    from reidrisk.io.manifest import known_rows
    from reidrisk.study.run_store import hashed_inputs

    folder = options.seen_folder(seen)
    paths = [known_rows(folder), folder / "anonymous.parquet"]
    with hashed_inputs(paths) as inputs:
        linked = rr.data.read_linked(*paths)
        console.warn(linked)
        yield linked.observations, {"command": shlex.join(_typed()), "inputs": inputs}


def _typed() -> tuple[str, ...]:
    return ("reidrisk", *as_typed())


def _learned(
    rows: "Observations", models: tuple[str, ...], folder: str | None, seed: int
) -> "list[Records]":
    """What each model learns; who stops it hears how to go on."""
    from reidrisk.study.analyses import information

    parts = []
    with console.Progress(quiet=False) as progress:
        for name in dict.fromkeys(models):
            place = None if folder is None else Path(folder) / name
            progress.waits(f"{name}: begins")
            try:
                parts.append(
                    information.by_model(
                        rows, name, level=_LEVEL, seed=seed, folder=place, watch=progress.learned
                    )
                )
            except KeyboardInterrupt:
                progress.__exit__()
                click.echo(f"stopped; {_kept(folder)}: {shlex.join(_typed())}", err=True)
                raise click.exceptions.Exit(signals.code()) from None
    return parts


def _kept(folder: str | None) -> str:
    """What is left of what was learned, and what the command that follows does."""
    if folder is None:
        return "nothing is kept without --folder. To begin anew"
    if not any(Path(folder).rglob("*.safetensors")):
        return "nothing was learned yet. To begin anew"
    return f"what is learned is kept in {folder}. To go on"


def _record(found: "Result", counted: "CountedInformation") -> dict[str, Any]:
    """For machines: what was counted, and beside it what was learned, if anything was."""
    from reidrisk.study.records import plain

    if not found.learned:
        return asdict(counted)
    return {
        **asdict(counted),
        "reckoned": plain(found.reckoned),
        "learned": plain(found.learned),
        "independence": [{**asdict(one), "sentence": one.sentence} for one in found.independence],
    }


def _tell_learned(found: "Result") -> None:
    """What models found, beside what the release or counts say; and whether slots add up."""
    from reidrisk.study.analyses.information import INTERVALS, learned_from

    console.table(
        ("bits per slot, learned", "model", "value", f"{found.level:.0%} interval", "leans"),
        [
            (_SIGNS[one.figure], one.by, f"{one.bits:.3f}", f"{one.low:.3f} to {one.high:.3f}",
             one.leans)
            for one in found.reckoned
            if one.by != "counts"
        ],
        whole=("bits per slot, learned", "value"),
    )  # fmt: skip
    for one in found.learned:
        console.say(f"{learned_from(one)}.")
    for each in found.independence:
        console.say(each.sentence)
    console.say(
        "Learned entropies are too high on average; I(A;B) is their difference, and may be off "
        f"either way. {INTERVALS} No bound rests on them."
    )


def _tell_counts(found: "CountedInformation", users: int) -> None:
    """What all slots say together, by which way of counting, and each of them."""
    from reidrisk.study.analyses.information import bits_to_tell_apart

    pooled = found.pooled
    console.table(
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
    console.say(
        f"From {pooled.pairs:,} pairs of {pooled.users:,} users{alike}. Intervals hold noise and "
        f"how far counts lean. {pooled.seen_once:.1%} of the pairs came once. "
        f"{bits_to_tell_apart(users)} By each way of counting:"
    )
    console.table(
        ("way", "H(B)", "H(B|A)", "I(A;B)", "noise", "I(A;B) leans"),
        [
            (way.name, *(f"{figure.value:.3f}" for figure in (
                way.entropy, way.conditional_entropy, way.mutual_information)),
             f"± {way.mutual_information.high - way.mutual_information.value:.3f}", way.leans)
            for way in pooled.ways
        ],
    )  # fmt: skip
    if slots > 1:
        console.table(
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
