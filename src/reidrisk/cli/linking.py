"""Attacks on what two sites saw."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from reidrisk.cli import options, show
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.study import Result

_BOUNDS = (
    ("guessing", "lower", "nothing", "Naming anyone, whatever is shown."),
    ("best within an attack", "estimate", "as that attack", "Users are as its model says."),
    ("mutual information allows", "upper", "what one site was shown", "Fano's inequality."),
    ("local privacy allows", "upper", "anything", "Whatever the population is."),
)


@click.command()
@click.argument("seen", type=click.Path())
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@options.output("FILE", help="Write result.json, for `report` and `gate`.")
@options.as_json()
@options.quiet()
def attack(
    seen: str,
    attacks: tuple[str, ...],
    slots: tuple[int, ...] | None,
    noise: float | None,
    top: int | None,
    output: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Attack what a release showed.

    SEEN is a folder that `reidrisk release` wrote.

    \b
    Examples:
      reidrisk attack seen/ --attack hamming --attack weighted-hamming --slots 1,2,4,8
      reidrisk attack seen/ --attack type-aware -o result.json
    """
    folder = _folder(seen)
    note = _note(folder / "release.json")
    found = _measure(
        (folder / "known.parquet", folder / "anonymous.parquet"),
        attacks,
        slots,
        (note.get("noise") if noise is None else noise, note.get("top") if top is None else top),
        seed=note.get("seed", 0),
        quiet=quiet,
    )
    _give(found, output, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("known", type=click.Path())
@click.argument("anonymous", type=click.Path())
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@options.output("FILE", help="Write result.json, for `report` and `gate`.")
@options.as_json()
@options.quiet()
def link(
    known: str,
    anonymous: str,
    attacks: tuple[str, ...],
    slots: tuple[int, ...] | None,
    noise: float | None,
    top: int | None,
    output: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Attack your own data.

    Finds the users of ANONYMOUS rows among KNOWN ones.

    Both are .csv or .parquet with the columns user and tokens (a list, empty where nothing was
    seen; in .csv text such as 3;;7), or user, epoch and token. In ANONYMOUS the column user holds
    the truth, which only the evaluation sees. Tokens are numbers or text.

    Attacks that weigh tokens need to know what showed them: --noise and --top.

    \b
    Examples:
      reidrisk link known.parquet anonymous.parquet --attack hamming --slots 1,2,4,8
      reidrisk link known.csv anonymous.csv --attack weighted-hamming --noise 5% --top 5
    """
    paths = (Path(known), Path(anonymous))
    found = _measure(paths, attacks, slots, (noise, top), seed=0, quiet=quiet)
    _give(found, output, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("seen", type=click.Path())
@options.as_json()
def information(seen: str, *, as_json: bool) -> None:
    """Show how many bits two sites share about a user.

    SEEN is a folder that `reidrisk release` wrote. Bits are per slot, from counts. With few pairs
    the counts look more alike than they are; so two ends are given, one too high on average, the
    other, less what unrelated users seem to share, rather too low.

    \b
    Examples:
      reidrisk information seen/
      reidrisk information seen/ --json
    """
    from reidrisk import data
    from reidrisk.information import pair_information

    folder = _folder(seen)
    linked = data.read_observations(folder / "known.parquet", folder / "anonymous.parquet")
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
                "the difference of the two: rather too low",
            ),
        ],
    )
    show.say(f"From {found.pairs:,} pairs of tokens.")


@click.command("attacks")
@options.as_json()
def attacks(*, as_json: bool) -> None:
    """List every attack and bound.

    For each: what the attacker knows, what is assumed, and which side of the truth it bounds. A
    lower side says that attackers do at least so well, an upper one that none does better; an
    estimate is the best possible if its model is true.

    \b
    Examples:
      reidrisk attacks
      reidrisk attacks --json
    """
    from reidrisk.attacks import FullInformation
    from reidrisk.releases import TopicsApi
    from reidrisk.study.toml import AttackName, make_attack

    release = TopicsApi()
    known = [make_attack(name, release) for name in get_args(AttackName)]
    best = FullInformation(release)
    rows = [(one.name, "lower", one.knows, one.assumes) for one in known]
    rows = [_BOUNDS[0], *rows, *_BOUNDS[1:], (best.name, "upper", best.knows, best.assumes)]
    names = ("name", "side", "knows", "assumes")
    if as_json:
        click.echo(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2))
    else:
        show.table(names, rows)


def _folder(seen: str) -> Path:
    if not Path(seen).is_dir():
        raise InvalidInput(f"{seen}: there is no such folder; `reidrisk release` makes one")
    return Path(seen)


def _note(file: Path) -> dict[str, Any]:
    """What `reidrisk release` noted; nothing if the folder has another origin."""
    if not file.exists():
        return {}
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as wrong:
        raise InvalidInput(f"{file} is damaged ({wrong}); run `reidrisk release` again") from wrong
    if not isinstance(note, dict):
        raise InvalidInput(f"{file} is damaged; run `reidrisk release` again")
    return note


def _measure(
    paths: tuple[Path, Path],
    names: tuple[str, ...],
    slots: tuple[int, ...] | None,
    shown: tuple[float | None, int | None],
    *,
    seed: int,
    quiet: bool,
) -> "Result":
    from reidrisk import data
    from reidrisk.engines import LocalEngine
    from reidrisk.releases import TopicsApi
    from reidrisk.study.given import measure_given
    from reidrisk.study.toml import make_attack

    linked = data.read_observations(*paths)
    noise, top = shown
    release = None
    if noise is not None and top is not None:
        release = TopicsApi(topics=linked.tokens, top=top, noise=noise)
    with show.Progress(quiet=quiet) as progress:
        return measure_given(
            linked.observations,
            tuple(make_attack(name, release) for name in names),
            release=release,
            slots=slots,
            seed=seed,
            inputs=paths,
            engine=LocalEngine(progress=progress.pairs),
        )


def _give(found: "Result", output: str | None, *, as_json: bool, quiet: bool) -> None:
    if output is not None:
        from reidrisk.files import written_whole

        with written_whole(output) as (part,):
            part.write_text(found.to_json(), encoding="utf-8")
    if as_json:
        click.echo(found.to_json(), nl=False)
    elif not quiet:
        show.say(f"{found.users:,} known users, {found.targets:,} targets")
        show.risks(found.risks)
