"""`reidrisk link` and `attack`: find the people of one table in another."""

from typing import TYPE_CHECKING, Any, cast

import click

from reidrisk.cli import console, options
from reidrisk.cli.run import OUTPUT, Wishes, answer, as_run

if TYPE_CHECKING:
    from reidrisk.data import Linked
    from reidrisk.io.layouts import Layout
    from reidrisk.io.linked import Strangers
    from reidrisk.study.portfolio import Effort
    from reidrisk.study.source import LinkedSource


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
    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    folder = options.seen_folder(seen)

    from reidrisk.io.manifest import known_rows, read_manifest
    from reidrisk.study._link import link_study, release_keys

    note = read_manifest(folder).note
    study = link_study(
        known_rows(folder), folder / "anonymous.parquet", {}, attacks=attacks, slots=slots,
        shown=release_keys(noise, top, note), strangers=strangers, present=present,
        training=training, seed=note.get("seed", 0), comment=as_run(),
    )  # fmt: skip
    answer(study, wishes)


@click.command()
@click.argument("known", type=click.Path())
@click.argument("anonymous", type=click.Path())
@options.two_layouts()
@click.option(
    "--user-pattern",
    metavar="REGEX",
    help="The part of an id that is the user, if ids are written differently: a regular "
    'expression whose first group matches it, such as "rec-([0-9]+)".',
)
@options.chosen_attacks()
@options.effort()
@options.slots()
@options.shown_with()
@click.option("--strangers", type=_strangers, metavar="keep|refuse|SHARE", default="keep",
              show_default=True, help="Rows of users who are not known: keep them, as people whom "
              "the attackers meet; or refuse them, as a mistake. A share such as 30% keeps them, "
              "and hides as many known users besides.")  # fmt: skip
@options.present()
@options.training()
@click.option(
    "--everyone",
    is_flag=True,
    help="Measure attackers too who name everybody at once, and nobody twice.",
)
@click.option(
    "--error-rates",
    is_flag=True,
    help="Tell the error rates of biometrics too: EER, D_sys, DET and others.",
)
@options.output("PATH", help=OUTPUT)
@options.with_users()
@options.engine()
@options.max_memory()
@options.as_json()
@options.quiet()
def link(
    known: str, anonymous: str, attacks: tuple[str, ...], effort: "Effort",
    slots: tuple[int, ...] | None,
    noise: float | None, top: int | None, strangers: "Strangers | float",
    present: float | None, training: float, output: str | None,
    said: dict[str, Any], user_pattern: str | None,
    *, everyone: bool, error_rates: bool, with_users: bool, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Find the people of one table in another.

    Finds the users of ANONYMOUS rows among KNOWN ones. In ANONYMOUS the users are the truth, which
    only the evaluation sees. People who are only in KNOWN are among those to choose from. People
    who are only in ANONYMOUS are strangers: how many of them are taken for somebody who is known?

    \b
    Both tables have one of these forms; options name columns that are called otherwise:
      user, item            a row for each item: baskets of any size, without an order; with
                            --time, attackers also compare when items came
      user, epoch, token    a row for each week, visit, ...: one token in each slot
      user, tokens          lists, with an entry for each slot, empty where nothing was seen (in
                            .csv text such as 3;;7); lists of unequal length are baskets
      --columns age,zip     a row for each person: a slot for each of these columns
      --vector embedding    a vector for each person: lists of numbers in one column; or
      --vectors 'v*'        a number in each of several; or .npz files of ids and vectors

    A column that has another name in ANONYMOUS is written name=other; quotes stand around a name
    with a comma or = in it.

    Attacks that weigh tokens need to know what showed them: --noise and --top. Empty slots are then
    taken to be chance.

    \b
    Examples:
      reidrisk link known.parquet anonymous.parquet --slots 1,2,4,8 -o run/
      reidrisk link shop-a.csv shop-b.csv --user customer --item product -o run/
      reidrisk link shop-a.csv shop-b.csv --user customer --item product --time bought_at
      reidrisk link register.csv survey.csv --user id --columns age,zip,sex
      reidrisk link a.csv b.csv --known-user rec_id --anonymous-user id \
        --user-pattern "rec-([0-9]+)" --columns given_name="First name",surname=last
      reidrisk link known.csv anonymous.csv --attack weighted-hamming --noise 5% --top 5
      reidrisk link known.parquet anonymous.parquet --user id --vector embedding -o run/
    """  # fmt: skip
    from reidrisk.io.paired_columns import two_layouts
    from reidrisk.study._link import link_study, release_keys

    wishes = Wishes(output=output, as_json=as_json, quiet=quiet, with_users=with_users)
    study = link_study(
        known, anonymous, said, user_pattern=user_pattern, attacks=attacks, effort=effort,
        slots=slots, shown=release_keys(noise, top), strangers=strangers, present=present,
        training=training, everyone=everyone, error_rates=error_rates, seed=0, comment=as_run(),
    )  # fmt: skip
    if not (quiet or as_json):
        linked = cast("Linked", cast("LinkedSource", study.source).tables)
        here, _ = two_layouts(**said)
        said_first = _taken(known, linked, here), _kept_apart(linked), _untimed(known, linked, here)
        console.say(" ".join(filter(None, said_first)))
    answer(study, wishes)


def _taken(path: str, linked: "Linked", layout: "Layout") -> str:
    """Which columns are taken for users and items, where nobody said so and files do not."""
    from reidrisk.io.site_tables import site_columns

    if layout.columns or linked.vectors or linked.ids is None:
        return ""
    names = site_columns(path, layout, {})
    user, item = names["user"], names.get("tokens", names.get("token"))
    if user in {"user", layout.user} and item in {"item", "token", "tokens", layout.item}:
        return ""
    return f"Users are column {user}, items are column {item}."


def _untimed(path: str, linked: "Linked", layout: "Layout") -> str:
    """Which column may tell when items came, where there is one and nobody named it."""
    from reidrisk.core.settings_syntax import setting
    from reidrisk.io.column_roles import column_name, like_time
    from reidrisk.io.tables import column_names

    if not linked.bags or linked.timed is not None:
        return ""
    found = [one for one in column_names(path, layout) if one not in layout.named]
    if len(times := like_time(found)) != 1:
        return ""
    return (
        f"Column {column_name(times[0])} may tell when items came, which attackers compare too "
        f"with {setting('time', times[0])}."
    )


def _kept_apart(linked: "Linked") -> str:
    """Who is in one table only, and what rows are taken for."""
    from reidrisk.core.vector_rows import VectorRows
    from reidrisk.io.epochs import describe_epochs

    rows = "baskets, without an order" if linked.bags else f"{linked.slots} slots"
    if isinstance(linked.known, VectorRows):
        each = f"vectors of {linked.known.dimensions:,} numbers"
        rows = each if linked.slots == 1 else f"{rows} with {each}"
    named = linked.slot_names and not linked.by_column
    epochs = describe_epochs(linked.slot_names) if named else ""
    alone = (
        f"{linked.known_only:,} of {linked.users:,} known users have no anonymous row"
        if linked.known_only
        else f"Each of the {linked.users:,} known users has an anonymous row"
    )
    text = " ".join(filter(None, (f"Rows are {rows}.", epochs, alone)))
    if not linked.strangers:
        return f"{text}."
    return f"{text}; {linked.strangers:,} anonymous rows are of users who are not known: strangers."
