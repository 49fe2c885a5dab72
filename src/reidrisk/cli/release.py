"""One sub-command for each release, with options made from its fields."""

import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidrisk.cli import console, options
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reidrisk.io.layouts import Layout
    from reidrisk.people.protocol import People
    from reidrisk.releases import AnyRelease, Parameter

_LONG = {"user", "epoch", "token"}
"""Columns of people; a table with other ones is one of items."""

_HOLDS = ("known.parquet", "anonymous.parquet", "labels.parquet", "release.json")
_TAKEN = {
    "targets", "taxonomy", "seed", "output", "quiet", "user", "item", "count", "epoch", "header",
    "separator", "encoding", "skip", "synthetic", "epochs", "people_seed", "shards",
}  # fmt: skip
"""Options of all these commands; a parameter of this name has another."""


class Releases(click.Group):
    """Every release of the package by its name, and those of others as module:Class."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All names."""
        from reidrisk.releases.table import release_kinds

        return sorted(release_kinds())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one release."""
        from reidrisk.core.plugins import is_path
        from reidrisk.releases.table import release_kind

        if not is_path(cmd_name) and cmd_name not in self.list_commands(ctx):
            return None
        return _command_of(cmd_name, release_kind(cmd_name))


def _command_of(name: str, kind: "type[AnyRelease]") -> click.Command:
    """The command that shows people by a release."""
    from reidrisk.releases import parameters_of

    offered = {
        one.name: option
        for one in parameters_of(kind).values()
        if (option := _option(one)) is not None
    }

    vectors = _shows_vectors(kind)

    def run(people: str | None, **given: Any) -> None:
        said = {key: given.pop(its(key)) for key in offered}
        said = {key: value for key, value in said.items() if value is not None}
        show: Any = _release_vectors if vectors else _release
        show(name, said, people, **given)

    columns = (
        ("user", "vector", "vectors")
        if vectors
        else ("user", "item", "count", "epoch", "time_format", "returns")
    )
    command: Callable[..., None] = options.layout(*columns)(run)
    # Reversed, since click lists first what was applied last.
    for decorate in reversed(_of_vectors(offered) if vectors else _common(offered)):
        command = decorate(command)
    text = _help_of_vectors(name, kind) if vectors else _help(name, kind)
    return click.command(name, help=text)(command)


def _shows_vectors(kind: "type[AnyRelease]") -> bool:
    """Whether releases of a kind show vectors."""
    from reidrisk.releases import ShowsVectors

    methods = (name for name in vars(ShowsVectors) if not name.startswith("_"))
    return all(hasattr(kind, name) for name in methods)


def its(name: str) -> str:
    """How a parameter of the release is called here, apart from what all commands have."""
    return f"its_{name}"


def _common(offered: dict[str, Any]) -> list[Any]:
    return [
        click.argument("people", type=click.Path(), required=False),
        *offered.values(),
        click.option("--synthetic", type=options.SIZE, metavar="SIZE",
                     help="Instead of PEOPLE, this many of the embedded population: 10k, 100M."),
        click.option("--epochs", type=click.IntRange(min=1), metavar="NUMBER",
                     help="Epochs of synthetic people; 8 if not given."),
        click.option("--people-seed", type=click.IntRange(min=0), metavar="NUMBER",
                     help="Seed of synthetic people; 0 if not given. Another seed, other people."),
        click.option("--targets", type=options.SIZE, help="Users to attack; all, if not given."),
        click.option("--taxonomy", "tokens", type=click.Path(), metavar="FILE",
                     help="All tokens there are, one a row; those that occur, if not given."),
        options.seed(),
        click.option("--shards", type=click.IntRange(min=1), metavar="NUMBER",
                     help="Write known rows into this many files, in memory that does not grow "
                     "with users. If it is stopped, the same command goes on."),
        options.max_memory(),
        options.output("FOLDER", holds=_HOLDS, required=True, help="Made if it does not exist."),
        options.quiet(),
    ]  # fmt: skip


def _of_vectors(offered: dict[str, Any]) -> list[Any]:
    """Options of releases of vectors, whose people are no synthetic ones."""
    return [
        click.argument("people", type=click.Path()),
        *offered.values(),
        click.option("--targets", type=options.SIZE, help="Users to attack; all, if not given."),
        options.seed(),
        options.max_memory(),
        options.output("FOLDER", holds=_HOLDS[:2], required=True,
                       help="Made if it does not exist."),
        options.quiet(),
    ]  # fmt: skip


def _option(parameter: "Parameter") -> Any:
    """How a parameter is said; None if it takes a list, which only study files can say.

    Values are read as study files have them, so that messages are the same.
    """
    if parameter.of_people:
        return None
    words = _word(parameter)
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


def _word(parameter: "Parameter") -> str:
    """The name of its option."""
    words = parameter.name.replace("_", "-")
    return f"release-{words}" if parameter.name in _TAKEN else words


def _example(kind: "type[AnyRelease]") -> str:
    """Options of an example: what must be told, and what is worth showing."""
    from reidrisk.releases import parameters_of

    told = [
        one
        for one in parameters_of(kind).values()
        if (one.needed or one.example is not None) and _option(one) is not None
    ]
    return "".join(f" --{_word(one)}{_value(one)}" for one in told)


def _value(parameter: "Parameter") -> str:
    if parameter.flag:
        return ""
    value = parameter.shown
    return f" {100 * value:g}%" if parameter.share else f" {shlex.quote(str(value))}"


def _default(parameter: "Parameter") -> str:
    """What it is if nothing is said, as part of the help."""
    from reidrisk.study.release_syntax import value_in_words

    usual = parameter.default
    return "" if usual is None else f"; {value_in_words(usual)} if not given"


def _help(name: str, kind: "type[AnyRelease]") -> str:
    first = (kind.__doc__ or name).strip().partition("\n\n")[0]
    told = _example(kind)
    return f"""{first}

    PEOPLE is a table of user, epoch, token and perhaps weight, or of user, item and perhaps count;
    or a folder of such tables. With --shards, tables of a folder that have epochs are read file by
    file when their users are shown, so each file must hold whole users.

    The folder gets known.parquet, anonymous.parquet, labels.parquet and release.json, which only
    you may read: `reidrisk attack` reads them, and sees by checksums if one is damaged. With
    --shards, known rows are files in known/.

    \b
    Examples:
      reidrisk release {name} people.parquet{told} --targets 10k -o seen/
      reidrisk release {name} --synthetic 1M --targets 10k --shards 8{told} -o seen/
    """


def _help_of_vectors(name: str, kind: "type[AnyRelease]") -> str:
    first = (kind.__doc__ or name).strip().partition("\n\n")[0]
    return f"""{first}

    PEOPLE is a table of users with a vector in each row, such as an embedding: lists of numbers in
    one column (--vector), a number in each of several (--vectors), or a .npz file with the arrays
    ids and vectors. A user with several rows has several vectors.

    The folder gets known.parquet and anonymous.parquet, which only you may read: `reidrisk link`
    reads them. Where a site is shown several vectors of each user, they are told apart by the
    column epoch: add --epoch epoch.

    \b
    Examples:
      reidrisk release {name} people.parquet --vector embedding{_example(kind)} -o seen/
      reidrisk link seen/known.parquet seen/anonymous.parquet --user user --vector vector
    """


def _release_vectors(
    name: str,
    said: dict[str, Any],
    path: str,
    *,
    targets: int | None,
    layout: "Layout",
    seed: int,
    output: str,
    quiet: bool,
) -> None:
    from reidrisk import data
    from reidrisk.releases import observe
    from reidrisk.study.parameters import make_release

    kind = _checked_kind(name, said)
    people = data.read_vectors(path, layout=layout)
    release = make_release(kind, said, people)
    seen = observe(release, people, targets=targets, seed=seed)
    data.write_vectors(seen, output, ids=people.ids)
    if not quiet:
        click.echo(
            f"{people.users:,} users, {len(seen.anonymous):,} targets, {seen.slots} slots, "
            f"vectors of {seen.dimensions:,} numbers: {output}"
        )


def _checked_kind(name: str, said: dict[str, Any]) -> "type[AnyRelease]":
    """The release of a name, if its parameters are right."""
    from reidrisk.releases.table import release_kind
    from reidrisk.study.parameters import faults

    kind = release_kind(name)
    if wrong := faults(kind, said):
        raise InvalidInput(
            "\n".join(f"--{key.replace('_', '-')}: {wrong[key]}" for key in wrong),
            code="invalid-parameters",
        )
    return kind


def _release(
    name: str,
    said: dict[str, Any],
    path: str | None,
    *,
    targets: int | None,
    tokens: str | None,
    layout: "Layout",
    seed: int,
    shards: int | None,
    output: str,
    quiet: bool,
    **synthetic: int | None,
) -> None:
    from reidrisk import data
    from reidrisk.io.layouts import Layout
    from reidrisk.releases import observe, prepared
    from reidrisk.releases.postprocess import labels_of
    from reidrisk.study.parameters import make_release

    kind = _checked_kind(name, said)
    _check_people(path, synthetic, is_read=tokens is not None or layout != Layout())
    # Hashes tell whether shards that are there are of this release; without shards nobody asks.
    files = [] if shards is None else [Path(one) for one in (path, tokens) if one is not None]
    with console.Progress(quiet=quiet) as progress:
        with _origin(files, synthetic, layout) as origin:
            crowd = _people(path, synthetic, tokens, layout, progress, by_file=shards is not None)
        release = make_release(kind, said, crowd)
        shows = prepared(release, crowd)
        how: dict[str, Any] = {"targets": targets, "seed": seed}
        note = {"release": name, "seed": seed, **_note(release)}
        names: dict[str, Any] = {"labels": labels_of(shows, crowd), "note": note}
        if shards is None:
            seen = observe(shows, console.Watched(crowd, progress), **how)
            data.write_observations(seen, output, ids=crowd.ids, **names)
        else:
            # Rows stay lazy: a shard is made as it is written, so memory does not grow with users.
            seen = observe(shows, crowd, hold=lambda rows: rows, **how)
            with _told_how_to_go_on():
                data.write_observations(
                    seen, output, **names,
                    shards=shards, origin={**origin, **how}, progress=progress.made,
                )  # fmt: skip
    if not quiet:
        console.order(crowd)
        click.echo(
            f"{crowd.users:,} users, {len(seen.anonymous):,} targets, {seen.slots} slots, "
            f"{seen.tokens:,} tokens{'' if shards is None else f', {shards:,} shards'}: {output}"
        )


@contextmanager
def _told_how_to_go_on() -> "Iterator[None]":
    """Say to whoever stops us that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(
            "reidrisk: shards that are done are kept; the same command goes on with the others",
            err=True,
        )
        raise


@contextmanager
def _origin(
    files: list[Path], synthetic: dict[str, int | None], layout: "Layout"
) -> "Iterator[dict[str, Any]]":
    """All that rows come from besides the release; files by their content, while they are read."""
    from importlib.metadata import version

    from reidrisk.study.describe import describe
    from reidrisk.study.run_store import hashed_inputs

    with hashed_inputs(files) as inputs:
        yield {"version": version("reidrisk"), "files": inputs, "layout": describe(layout),
               "synthetic": synthetic}  # fmt: skip


def _check_people(path: str | None, synthetic: dict[str, int | None], *, is_read: bool) -> None:
    """Refuse people of two kinds, or of none, and options of the other kind."""
    made = synthetic["synthetic"] is not None
    if path is None and not made:
        raise InvalidInput(
            "there is nobody to show: name PEOPLE, a table of them, or make some with "
            "--synthetic 10k",
            code="missing-people",
        )
    if path is not None and made:
        raise InvalidInput(
            "PEOPLE and --synthetic are two kinds of people; give one of the two",
            code="conflicting-options",
        )
    if made and is_read:
        raise InvalidInput(
            "--taxonomy and the options that name columns are of PEOPLE, a table, and people are "
            "synthetic here; leave them out",
            code="conflicting-options",
        )
    for name, value in synthetic.items():
        if value is not None and not made:
            raise InvalidInput(
                f"--{name.replace('_', '-')} is of synthetic people, and PEOPLE are those of a "
                "table; leave it out, or give --synthetic in place of PEOPLE",
                code="conflicting-options",
            )


def _people(
    path: str | None,
    synthetic: dict[str, int | None],
    tokens: str | None,
    layout: "Layout",
    progress: console.Progress,
    *,
    by_file: bool,
) -> "People":
    """The people of a file, a table of epochs and tokens or one of items; or synthetic ones."""
    from reidrisk import data
    from reidrisk.io.column_roles import like
    from reidrisk.io.tables import column_names

    if path is None:
        said = {"users": "synthetic", "epochs": "epochs", "seed": "people_seed"}
        return data.synthetic_topics(
            **{name: value for name, key in said.items() if (value := synthetic[key]) is not None}
        )
    words = None if tokens is None else data.read_taxonomy(tokens)
    names = [] if layout.named else column_names(path, layout)
    if all(any(like(name, one) for name in names) for one in _LONG):
        read = data.open_profiles if by_file and Path(path).is_dir() else data.read_profiles
        return read(path, layout=layout, taxonomy=words)
    return data.read_plays(path, layout=layout, taxonomy=words, progress=progress.read)


def _note(release: "AnyRelease") -> dict[str, Any]:
    """The parameters of a release as a study file has them."""
    from reidrisk.releases import parameters_of
    from reidrisk.study.release_syntax import words_of

    return {
        one.name: words_of(value) if one.release else value
        for one in parameters_of(release).values()
        if (value := getattr(release, one.name)) is not None
    }
