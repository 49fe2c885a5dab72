"""Attacks on what two sites saw."""

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import options, show
from reidrisk.cli.running import run_file
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.data import Linked
    from reidrisk.study import Result

Paths = tuple[Path, Path]
"""Of known rows, and of anonymous ones."""

_OUTPUT = "A folder for the run, as `study` makes it; or result.json alone, if it ends in .json."


@click.command()
@click.argument("seen", type=click.Path())
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@options.output("PATH", help=_OUTPUT)
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
      reidrisk attack seen/ --attack type-aware -o run/
    """
    folder = _folder(seen)
    note = _note(folder / "release.json")
    shown = {name: value for name, value in note.items() if name not in {"release", "seed"}}
    shown |= _given(noise, top, noted=bool(note))
    result = _measured(
        (folder / "known.parquet", folder / "anonymous.parquet"),
        attacks,
        slots,
        {"kind": note.get("release", "topics"), **shown} if shown else {},
        seed=note.get("seed", 0),
        output=output,
        command=("attack", seen),
        quiet=quiet,
    )
    _tell(result, output, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("known", type=click.Path())
@click.argument("anonymous", type=click.Path())
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@options.output("PATH", help=_OUTPUT)
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

    Attacks that weigh tokens need to know what showed them: --noise and --top. Empty slots are then
    taken to be chance.

    \b
    Examples:
      reidrisk link known.parquet anonymous.parquet --attack hamming --slots 1,2,4,8 -o run/
      reidrisk link known.csv anonymous.csv --attack weighted-hamming --noise 5% --top 5
    """
    shown = _given(noise, top, noted=False)
    result = _measured(
        (Path(known), Path(anonymous)),
        attacks,
        slots,
        {"kind": "topics", **shown} if shown else {},
        seed=0,
        output=output,
        command=("link", known, anonymous),
        quiet=quiet,
    )
    _tell(result, output, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("seen", type=click.Path())
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

    folder = _folder(seen)
    linked = rr.data.read_linked(folder / "known.parquet", folder / "anonymous.parquet")
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


def _given(noise: float | None, top: int | None, *, noted: bool) -> dict[str, Any]:
    """What the options say of the release."""
    given = {"noise": noise, "top": top}
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) == 1 and not noted:
        raise InvalidInput(
            "who weighs tokens must know what showed the tokens: --noise and --top belong "
            "together; give both, or neither"
        )
    return said


def _measured(
    paths: Paths,
    names: tuple[str, ...],
    slots: tuple[int, ...] | None,
    shown: dict[str, Any],
    *,
    seed: int,
    output: str | None,
    command: tuple[str, ...],
    quiet: bool,
) -> "Result":
    """Run a study of two tables: in a folder if there is one, else here and now."""
    from reidrisk.study.describe import hash_of_file
    from reidrisk.study.toml import StudyFile

    attacks = tuple(rr.attacks.attack_named(name) for name in names)
    if blind := [one.name for one in attacks if "release" in one.needs and not shown]:
        raise InvalidInput(
            f"{blind[0]} must know what showed the tokens: how many of a user (--top) "
            "and the noise (--noise); `reidrisk attacks` tells which attacks need not"
        )
    linked = rr.data.read_linked(*paths)
    release = _release(shown, linked)
    study = rr.Study(release=release, attacks=attacks, slots=slots, targets=None, seed=seed)
    inputs = {one.name: hash_of_file(one) for one in paths if one.is_file()}
    if output is not None and not _is_file(output):
        words = _words(command, names, slots, shown, output)
        file = StudyFile(_text(study, names, paths, shown, words), study, linked, inputs)
        result, _ = run_file(file, output, command=words, quiet=quiet)
        return result
    with show.Progress(quiet=quiet) as progress:
        result = study.run(linked, engine=rr.LocalEngine(progress=progress.pairs))
    return replace(result, inputs=inputs)


def _release(shown: dict[str, Any], linked: "Linked") -> Any:
    from reidrisk.study.parameters import make_release, release_kind

    if not shown:
        return None
    kind = release_kind(shown["kind"])
    return make_release(kind, {name: shown[name] for name in shown if name != "kind"}, linked)


def _is_file(output: str) -> bool:
    return output.lower().endswith(".json")


def _words(
    command: tuple[str, ...],
    names: tuple[str, ...],
    slots: tuple[int, ...] | None,
    shown: dict[str, Any],
    output: str,
) -> tuple[str, ...]:
    """The command that goes on with this very run."""
    words = [*command]
    for name in names:
        words += ["--attack", name]
    if slots is not None:
        words += ["--slots", ",".join(map(str, slots))]
    for name in ("noise", "top"):
        if name in shown:
            words += [f"--{name}", str(shown[name])]
    return (*words, "-o", output)


def _text(
    study: Any, names: tuple[str, ...], paths: Paths, shown: dict[str, Any], words: tuple[str, ...]
) -> str:
    """The same study as a file."""
    # JSON is TOML for text, numbers and lists of them.
    parts = {"seed": study.seed, "targets": "all", "attacks": list(names), "slots": study.slots}
    tables = {"kind": "linked", "known": str(paths[0].resolve())}
    tables["anonymous"] = str(paths[1].resolve())
    lines = [f"# as run: {shlex.join(('reidrisk', *words))}", *_lines(parts)]
    lines += ["", "[people]", *_lines(tables)]
    if shown:
        lines += ["", "[release]", *_lines(shown)]
    return "\n".join(lines) + "\n"


def _lines(values: dict[str, Any]) -> list[str]:
    return [f"{name} = {json.dumps(one)}" for name, one in values.items() if one is not None]


def _tell(found: "Result", output: str | None, *, as_json: bool, quiet: bool) -> None:
    if output is not None and _is_file(output):
        from reidrisk.files import written_whole

        with written_whole(output) as (part,):
            part.write_text(found.to_json(), encoding="utf-8")
    if as_json:
        click.echo(found.to_json(), nl=False)
    elif not quiet:
        show.say(f"{found.users:,} known users, {found.targets:,} targets")
        show.risks(found.risks)
        if output is not None:
            click.echo(f"All figures: {output}. A page: reidrisk report {output}")
