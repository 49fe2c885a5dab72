"""`reidrisk link` and `attack`: find the people of one table in another."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import console, options
from reidrisk.cli.described_study import OUTPUT, Question, Wishes, answer, said
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reidrisk.data import Linked
    from reidrisk.io.layouts import Layout
    from reidrisk.io.linked import Strangers

Paths = tuple[Path, Path]
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
    from reidrisk.study.run_store import hashed_inputs

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    folder = options.seen_folder(seen)
    note = read_manifest(folder).note
    shown = {name: value for name, value in note.items() if name not in {"release", "seed"}}
    shown |= _given(noise, top, noted=bool(note))
    paths = (known_rows(folder), folder / "anonymous.parquet")
    with hashed_inputs(paths) as inputs:
        linked = rr.data.read_linked(*paths)
    shown = {"kind": note.get("release", "topics"), **shown} if shown else {}
    question = _question(paths, inputs, linked, {}, attacks, slots, shown,
                         seed=note.get("seed", 0), strangers=strangers, present=present,
                         training=training)  # fmt: skip
    answer(question, wishes)


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
    from reidrisk.study.run_store import hashed_inputs

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    shown = _given(noise, top, noted=False)
    shown = {"kind": "topics", **shown} if shown else {}
    paths = (Path(known), Path(anonymous))
    hidden = strangers if isinstance(strangers, float) else 0.0
    kept: Strangers = "refuse" if strangers == "refuse" else "keep"
    with hashed_inputs(paths) as inputs:
        linked = rr.data.read_linked(*paths, layout=layout, strangers=kept)
    keys = {**said(layout), "strangers": kept}
    question = _question(paths, inputs, linked, keys, attacks, slots, shown, seed=0,
                         strangers=hidden, present=present, training=training)  # fmt: skip
    if not (quiet or as_json):
        console.say(" ".join(filter(None, (_taken(paths[0], linked, layout), _kept_apart(linked)))))
    answer(question, wishes)


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


def _question(
    paths: Paths,
    inputs: "Mapping[str, str]",
    linked: "Linked",
    keys: dict[str, Any],
    names: tuple[str, ...],
    slots: tuple[int, ...] | None,
    shown: dict[str, Any],
    *,
    seed: int,
    strangers: float,
    present: float | None,
    training: float,
) -> Question:
    """A study of two tables."""
    from reidrisk.study.defaults import usual_attacks
    from reidrisk.study.source import source_of

    release = _release(shown, linked)
    attacks = tuple(
        rr.attacks.attack_named(name) for name in names or usual_attacks(source_of(linked), release)
    )
    if blind := [one.name for one in attacks if "release" in one.needs and not shown]:
        raise InvalidInput(
            f"{blind[0]} must know what showed the tokens: how many of a user (--top) "
            "and the noise (--noise); `reidrisk attacks` tells which attacks need not",
            code="missing-knowledge",
        )
    study = rr.Study(
        title=f"Whom {paths[0].name} helps to find in {paths[1].name}",
        release=release, attacks=attacks, slots=slots, targets=None, seed=seed,
        strangers=strangers, present=present, training=training,
        unit="columns" if linked.by_column else "baskets" if linked.bags else "slots",
    )  # fmt: skip
    known, anonymous = (str(path.resolve()) for path in paths)
    where = {"kind": "linked", "known": known, "anonymous": anonymous, **keys}
    return Question(study, linked, where, inputs, shown)


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


def _release(shown: dict[str, Any], linked: "Linked") -> Any:
    from reidrisk.releases.table import release_kind
    from reidrisk.study.parameters import make_release

    if not shown:
        return None
    kind = release_kind(shown["kind"])
    return make_release(kind, {name: shown[name] for name in shown if name != "kind"}, linked)
