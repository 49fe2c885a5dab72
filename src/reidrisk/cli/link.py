"""`reidrisk link` and `attack`: find the people of one table in another."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

import reidrisk as rr
from reidrisk.cli import console, options
from reidrisk.cli.run import OUTPUT, Wishes, answer, described, said
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.data import Linked
    from reidrisk.io.layouts import Layout
    from reidrisk.io.linked import Strangers
    from reidrisk.study.source import LinkedSource
    from reidrisk.study.toml import StudyFile

    Read = tuple[Any, LinkedSource, dict[str, str]]
    """The section of two tables, the tables, and hashes of their files."""

_Paths = tuple[Path, Path]
"""Of known rows, and of anonymous ones."""


def _strangers(text: str) -> "Strangers | float":
    """What becomes of rows of users who are not known, or a share of users to hide."""
    if text in {"keep", "refuse"}:
        return text  # type: ignore[return-value]
    try:
        return float(options.SHARE(text))
    except click.BadParameter as wrong:
        raise click.BadParameter(
            f"{text!r} is neither keep nor refuse, nor a share: {wrong}"
        ) from None


@click.command()
@click.argument("seen", type=click.Path())
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@options.strangers()
@options.training()
@options.output("PATH", help=OUTPUT)
@options.with_users()
@options.engine()
@options.max_memory()
@options.as_json()
@options.quiet()
def attack(
    seen: str,
    attacks: tuple[str, ...],
    slots: tuple[int, ...] | None,
    noise: float | None,
    top: int | None,
    strangers: float,
    present: float | None,
    training: float,
    output: str | None,
    *,
    with_users: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Attack what a release showed.

    SEEN is a folder that `reidrisk release` wrote.

    \b
    Examples:
      reidrisk attack seen/ --attack hamming --attack weighted-hamming --slots 1,2,4,8
      reidrisk attack seen/ --attack type-aware -o run/
      reidrisk attack seen/ --strangers 30%
      reidrisk attack seen/ --attack neural --training 50%
      reidrisk attack seen/ -o run/ --engine spark --master spark://host:7077
    """
    from reidrisk.io.manifest import known_rows, read_manifest

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    folder = options.seen_folder(seen)
    note = read_manifest(folder).note
    shown = {name: value for name, value in note.items() if name not in {"release", "seed"}}
    shown |= _given(noise, top, noted=bool(note))
    paths = (known_rows(folder), folder / "anonymous.parquet")
    shown = {"kind": note.get("release", "topics"), **shown} if shown else {}
    keys = {
        "seed": note.get("seed", 0), "attacks": attacks, "slots": slots,
        "strangers": strangers, "present": present, "training": training,
    }  # fmt: skip
    answer(_described(paths, _read(paths, {}), {}, keys, shown), wishes)


@click.command()
@click.argument("known", type=click.Path())
@click.argument("anonymous", type=click.Path())
@options.layout("user", "item", "epoch", "columns")
@options.chosen_attacks()
@options.slots()
@options.shown_with()
@click.option("--strangers", type=_strangers, metavar="keep|refuse|SHARE", default="keep",
              show_default=True, help="Rows of users who are not known: keep them, as people whom "
              "the attackers meet; or refuse them, as a mistake. A share such as 30% keeps them, "
              "and hides as many known users besides.")  # fmt: skip
@options.present()
@options.training()
@options.output("PATH", help=OUTPUT)
@options.with_users()
@options.engine()
@options.max_memory()
@options.as_json()
@options.quiet()
def link(
    known: str, anonymous: str, attacks: tuple[str, ...], slots: tuple[int, ...] | None,
    noise: float | None, top: int | None, strangers: "Strangers | float",
    present: float | None, training: float, output: str | None,
    layout: "Layout",
    *, with_users: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Find the people of one table in another.

    Finds the users of ANONYMOUS rows among KNOWN ones. In ANONYMOUS the users are the truth, which
    only the evaluation sees. People who are only in KNOWN are among those to choose from. People
    who are only in ANONYMOUS are strangers: how many of them are taken for somebody who is known?

    \b
    Both tables have one of these forms; options name columns that are called otherwise:
      user, item            a row for each item: baskets of any size, without an order
      user, epoch, token    a row for each week, visit, ...: one token in each slot
      user, tokens          lists, with an entry for each slot, empty where nothing was seen (in
                            .csv text such as 3;;7); lists of unequal length are baskets
      --columns age,zip     a row for each person: a slot for each of these columns

    Attacks that weigh tokens need to know what showed them: --noise and --top. Empty slots are then
    taken to be chance.

    \b
    Examples:
      reidrisk link known.parquet anonymous.parquet --slots 1,2,4,8 -o run/
      reidrisk link shop-a.csv shop-b.csv --user customer --item product -o run/
      reidrisk link register.csv survey.csv --user id --columns age,zip,sex
      reidrisk link known.csv anonymous.csv --attack weighted-hamming --noise 5% --top 5
    """  # fmt: skip
    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    shown = _given(noise, top, noted=False)
    shown = {"kind": "topics", **shown} if shown else {}
    paths = (Path(known), Path(anonymous))
    hidden = strangers if isinstance(strangers, float) else 0.0
    kept: Strangers = "refuse" if strangers == "refuse" else "keep"
    people = {**said(layout), "strangers": kept}
    read = _read(paths, people)
    linked = cast("Linked", read[1].tables)
    keys = {
        "seed": 0, "attacks": attacks, "slots": slots,
        "strangers": hidden, "present": present, "training": training,
    }  # fmt: skip
    file = _described(paths, read, people, keys, shown)
    if not (quiet or as_json):
        console.say(" ".join(filter(None, (_taken(paths[0], linked, layout), _kept_apart(linked)))))
    answer(file, wishes)


def _given(noise: float | None, top: int | None, *, noted: bool) -> dict[str, Any]:
    """What the options say of the release."""
    given = {"noise": noise, "top": top}
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) == 1 and not noted:
        raise InvalidInput(
            "an attack that weighs tokens must know what showed them: --noise and --top belong "
            "together; give both, or neither",
            code="missing-option",
        )
    return said


def _read(paths: _Paths, people: dict[str, Any]) -> "Read":
    """The two tables, as a study file would name them."""
    from reidrisk.study.keys import TwoTables
    from reidrisk.study.toml import read_source

    known, anonymous = map(str, paths)
    given = {name: value for name, value in people.items() if value is not None}
    section = TwoTables.model_construct(kind="linked", known=known, anonymous=anonymous, **given)
    source, inputs = read_source(section)
    return section, cast("LinkedSource", source), inputs


def _described(
    paths: _Paths,
    read: "Read",
    people: dict[str, Any],
    keys: dict[str, Any],
    shown: dict[str, Any],
) -> "StudyFile":
    """The study file of two tables."""
    attacks = map(rr.attacks.attack_named, keys["attacks"])
    if blind := [one.name for one in attacks if "release" in one.needs and not shown]:
        raise InvalidInput(
            f"{blind[0]} must know what showed the tokens: how many of a user (--top) "
            "and the noise (--noise); `reidrisk attacks` tells which attacks need not",
            code="missing-knowledge",
        )
    title = f"Whom {paths[0].name} helps to find in {paths[1].name}"
    unit = read[1].form
    # Whole paths: the study file is kept in the run's folder, and paths are relative to the file.
    known, anonymous = (str(path.resolve()) for path in paths)
    whole = {"title": title, "unit": unit, "seed": keys["seed"], "targets": "all", **keys}
    where = {"kind": "linked", "known": known, "anonymous": anonymous, **people}
    return described(whole, where, shown or None, read)


def _taken(path: Path, linked: "Linked", layout: "Layout") -> str:
    """Which columns are taken for users and items, where nobody said so and files do not."""
    from reidrisk.io.site_tables import site_columns

    if layout.columns or linked.ids is None:
        return ""
    names = site_columns(path, layout, {})
    user, item = names["user"], names.get("tokens", names.get("token"))
    if user in {"user", layout.user} and item in {"item", "token", "tokens", layout.item}:
        return ""
    return f"Users are column {user}, items are column {item}."


def _kept_apart(linked: "Linked") -> str:
    """Who is in one table only, and what rows are taken for."""
    from reidrisk.io.epochs import describe_epochs

    rows = "baskets, without an order" if linked.bags else f"{linked.slots} slots"
    named = linked.slot_names and not linked.by_column
    epochs = describe_epochs(linked.slot_names) if named else ""
    text = " ".join(filter(None, (
        f"Rows are {rows}.", epochs,
        f"{linked.known_only:,} of {linked.users:,} known users have no anonymous row",
    )))  # fmt: skip
    if not linked.strangers:
        return f"{text}."
    return f"{text}; {linked.strangers:,} anonymous rows are of users who are not known: strangers."
