"""A command for each release: its parameters are options, made from the fields of its class."""

from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import options, show
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from reidrisk.inputs.layouts import Layout
    from reidrisk.people.profiles import Profiles
    from reidrisk.releases import AnyRelease, Parameter

LONG = {"user", "epoch", "token"}
"""Columns of people; a table with other ones is one of items."""

_EXAMPLES = {
    "topics": "people.parquet --noise 5% --targets 10k --seed 7 -o seen/",
    "item-samples": "plays.tsv --samples 8 --targets 10k -o seen/",
    "randomised-response": "people.csv --epsilon 3 -o seen/",
    "generalised": "plays.tsv --users 20 --of 'item-samples samples=4' -o seen/",
    "minimum-users": "searches.csv --users 30 -o seen/",
    "cohorts": "people.parquet --users 50 -o seen/",
}


_HOLDS = ("known.parquet", "anonymous.parquet", "labels.parquet", "release.json")
_TAKEN = {
    "targets", "taxonomy", "seed", "output", "quiet", "user", "item", "count", "epoch", "header",
    "separator",
}  # fmt: skip
"""Options of all these commands; a parameter of this name has another."""


class Releases(click.Group):
    """Every release of the package by its name, and those of others as module:Class."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All names."""
        from reidrisk.study.parameters import release_kinds

        return sorted(release_kinds())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one release."""
        from reidrisk.plugins import is_path
        from reidrisk.study.parameters import release_kind

        if not is_path(cmd_name) and cmd_name not in self.list_commands(ctx):
            return None
        return command_of(cmd_name, release_kind(cmd_name))


def command_of(name: str, kind: "type[AnyRelease]") -> click.Command:
    """The command that shows people by a release."""
    from reidrisk.releases import parameters_of

    offered = {
        one.name: option
        for one in parameters_of(kind).values()
        if (option := _option(one)) is not None
    }

    def run(people: str, **given: Any) -> None:
        said = {key: given.pop(its(key)) for key in offered}
        said = {key: value for key, value in said.items() if value is not None}
        _release(name, said, people, **given)

    command: Callable[..., None] = options.layout("user", "item", "count", "epoch")(run)
    for decorate in reversed(_common(offered)):
        command = decorate(command)
    return click.command(name, help=_help(name, kind))(command)


def its(name: str) -> str:
    """How a parameter of the release is called here, apart from what all commands have."""
    return f"its_{name}"


def _common(offered: dict[str, Any]) -> list[Any]:
    return [
        click.argument("people", type=click.Path()),
        *offered.values(),
        click.option("--targets", type=options.SIZE, help="Users to attack; all, if not given."),
        click.option("--taxonomy", "tokens", type=click.Path(), metavar="FILE",
                     help="All tokens there are, one a row; those that occur, if not given."),
        options.seed(),
        options.max_memory(),
        options.output("FOLDER", holds=_HOLDS, required=True, help="Made if it is not there."),
        options.quiet(),
    ]  # fmt: skip


def _option(parameter: "Parameter") -> Any:
    """How a parameter is said; None if it takes a list, which only study files can say.

    Values are read as study files have them, so that messages are the same.
    """
    if parameter.of_people:
        return None
    words = parameter.name.replace("_", "-")
    if parameter.name in _TAKEN:
        words = f"release-{words}"
    text = f"{parameter.help}{'' if parameter.needed else _default(parameter)}."
    how: dict[str, Any] = {"required": parameter.needed, "help": text}
    if parameter.flag:
        return click.option(f"--{words}/--no-{words}", its(parameter.name), default=None, help=text)
    if parameter.choices:
        return click.option(
            f"--{words}", its(parameter.name), type=click.Choice(parameter.choices), **how
        )
    if parameter.release:
        return click.option(f"--{words}", its(parameter.name), metavar="RELEASE", **how)
    if parameter.number or parameter.text:
        kind = "SHARE" if parameter.share else "NUMBER" if parameter.number else "TEXT"
        return click.option(f"--{words}", its(parameter.name), metavar=kind, **how)
    return None


def _default(parameter: "Parameter") -> str:
    """What it is if nothing is said, as part of the help."""
    from reidrisk.study.release_words import value_in_words

    usual = parameter.default
    return "" if usual is None else f"; {value_in_words(usual)} if not given"


def _help(name: str, kind: "type[AnyRelease]") -> str:
    first = (kind.__doc__ or name).strip().partition("\n\n")[0]
    example = _EXAMPLES.get(name, "people.parquet -o seen/")
    return f"""{first}

    PEOPLE is a table of user, epoch, token and perhaps weight, or of user, item and perhaps count.
    The folder gets known.parquet, anonymous.parquet, labels.parquet and release.json, which only
    you may read: `reidrisk attack` reads them, and sees by checksums if one is damaged.

    \b
    Examples:
      reidrisk release {name} {example}
    """


def _release(
    name: str,
    said: dict[str, Any],
    path: str,
    *,
    targets: int | None,
    tokens: str | None,
    layout: "Layout",
    seed: int,
    output: str,
    quiet: bool,
) -> None:
    from reidrisk import data
    from reidrisk.releases import observe, prepared
    from reidrisk.releases.mapped import labels_of
    from reidrisk.study.parameters import faults, make_release, release_kind

    kind = release_kind(name)
    if wrong := faults(kind, said):
        raise InvalidInput("\n".join(f"--{key.replace('_', '-')}: {wrong[key]}" for key in wrong))
    with show.Progress(quiet=quiet) as progress:
        crowd = _people(path, tokens, layout, progress)
        release = make_release(kind, said, crowd)
        shows = prepared(release, crowd)
        seen = observe(shows, show.Watched(crowd, progress), targets=targets, seed=seed)
    note = {"release": name, "seed": seed, **_note(release)}
    labels = labels_of(shows, crowd)
    data.write_observations(seen, output, ids=crowd.ids, labels=labels, note=note)
    if not quiet:
        show.order(crowd)
        click.echo(
            f"{crowd.users:,} users, {len(seen.anonymous):,} targets, {seen.slots} slots, "
            f"{seen.tokens:,} tokens: {output}"
        )


def _people(path: str, tokens: str | None, layout: "Layout", progress: show.Progress) -> "Profiles":
    """The people of a file: a table of epochs and tokens, or one of items."""
    from reidrisk import data
    from reidrisk.inputs.roles import like
    from reidrisk.inputs.tables import TYPES, column_names, files_of

    words = None if tokens is None else data.read_taxonomy(tokens)
    names = [] if layout.named else column_names(files_of(path, TYPES)[0], layout)
    if all(any(like(name, one) for name in names) for one in LONG):
        return data.read_profiles(path, layout=layout, taxonomy=words)
    return data.read_plays(path, layout=layout, taxonomy=words, progress=progress.read)


def _note(release: "AnyRelease") -> dict[str, Any]:
    """The parameters of a release as a study file has them."""
    from reidrisk.releases import parameters_of
    from reidrisk.study.release_words import words_of

    return {
        one.name: words_of(value) if one.release else value
        for one in parameters_of(release).values()
        if (value := getattr(release, one.name)) is not None
    }
