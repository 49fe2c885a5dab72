"""Arguments and options that several commands share."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable


def _quantity(reader: str) -> "Callable[[str], Any]":
    """A number as people write it, read by a function of `reidrisk.study.quantities`."""

    def read(text: str) -> Any:
        from reidrisk.study import quantities

        try:
            return getattr(quantities, reader)(text)
        except InvalidInput as wrong:
            raise click.BadParameter(str(wrong)) from None

    read.__name__ = reader  # as --help shows it
    return read


SIZE, SHARE, SIZES = _quantity("size"), _quantity("share"), _quantity("sizes")
_MEMORY = _quantity("memory")


def attack(text: str) -> str:
    """The name of an attack of the one table, or `module:Class`."""
    try:
        rr.attacks.attack_named(text)
    except InvalidInput as wrong:
        raise click.BadParameter(str(wrong)) from None
    return text


def _attacks(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Names that begin so, for shells."""
    return sorted(name for name in rr.attacks.ATTACKS if name.startswith(begun))


def study_file() -> "Callable[..., Any]":
    """The argument FILE, a study file; one that is not there is named before options are missed."""

    def check(_context: click.Context, _argument: click.Parameter, file: str) -> str:
        from reidrisk.study.toml import read_study

        if not Path(file).exists():
            read_study(file)  # refuses it
        return file

    return click.argument("file", type=click.Path(), is_eager=True, callback=check)


def as_json() -> "Callable[..., Any]":
    """For machines."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


def quiet() -> "Callable[..., Any]":
    """For scripts."""
    return click.option("-q", "--quiet", is_flag=True, help="Print nothing except what goes wrong.")


def max_memory() -> "Callable[..., Any]":
    """The option `--max-memory`, which sets a limit for the whole process."""

    def limit(context: click.Context, _option: click.Parameter, most: int | None) -> None:
        from reidrisk.core.machine import limited

        context.with_resource(limited(most))

    return click.option(
        "--max-memory", type=_MEMORY, metavar="SIZE", expose_value=False, callback=limit,
        help="Use no more memory than this, such as 2GiB; if not given, four fifths of what is "
        "free. The answer does not depend on it.",
    )  # fmt: skip


def engine() -> "Callable[..., Any]":
    """Options that choose the engine; commands do not see them (`reidrisk.cli.engines`)."""
    from reidrisk.cli import engines

    def decorate(command: "Callable[..., Any]") -> "Callable[..., Any]":
        @functools.wraps(command)
        def placed(*arguments: Any, **given: Any) -> Any:
            engines.place()  # refuses what makes no sense, before anything is done
            return command(*arguments, **given)

        offered = [
            # From the last to the first of the help: click lists first what is applied last.
            click.option("--spark-setting", "settings", multiple=True, metavar="KEY=VALUE",
                         type=_spark_setting, expose_value=False, callback=engines.note_settings,
                         help="A setting of Spark, spark.executor.memory=4g; may be repeated."),
            click.option("--master", metavar="URL", expose_value=False, callback=engines.note,
                         help="The cluster, spark://host:7077; if not given, that of spark-submit, "
                         "or SPARK_MASTER, or else Spark on this machine."),
            click.option("--engine", type=click.Choice(engines.ENGINES), default="local",
                         show_default=True, expose_value=False, callback=engines.note,
                         help="Where it runs; the result does not depend on it."),
        ]  # fmt: skip
        for option in offered:
            placed = option(placed)
        return placed

    return decorate


def _spark_setting(text: str) -> tuple[str, str]:
    """The name of a setting of Spark, and its value."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip().startswith("spark.")):
        raise click.BadParameter(
            f"{text!r} is not a Spark setting; write name=value, such as spark.executor.memory=4g"
        )
    return name.strip(), value.strip()


def seen_folder(seen: str) -> Path:
    """The folder that `reidrisk release` wrote, if it is there."""
    if not Path(seen).is_dir():
        wrong = "is a file and no folder" if Path(seen).exists() else "there is no such folder"
        raise InvalidInput(
            f"{seen}: {wrong}; `reidrisk release` makes one", code="folder-not-found"
        )
    return Path(seen)


_RUN = ("run.json", "result.json", "log.txt", "spark.log", "report.html", "users.parquet")
"""Files in the folder of a run, besides study.toml and steps/."""

_READ = (".csv", ".tsv", ".txt", ".dat", ".data", ".parquet", ".gz", ".zip", "result.json",
         "release.json")  # fmt: skip
"""How the names of files end that are read where a folder is named."""


class Written(click.Path):
    """A path that is written to; all others are read."""


def output(kind: str, *, holds: tuple[str, ...] = _RUN, **more: Any) -> "Callable[..., Any]":
    """The option `-o`, checked before the command runs.

    An output is refused if it is an input of the command, or cannot be written.

    Args:
        kind: FILE, FOLDER, or PATH, which is a file if it ends in .json or .html.
        holds: Names of the files that a folder gets.
        more: Further arguments of `click.option`.
    """
    option = click.option("-o", "--output", type=Written(), metavar=kind, **more)

    def decorate(command: "Callable[..., Any]") -> "Callable[..., Any]":
        @functools.wraps(command)
        def guarded(*arguments: Any, **given: Any) -> Any:
            _keep_inputs(kind, holds)
            return command(*arguments, **given)

        return option(guarded)

    return decorate


def is_file(output: str) -> bool:
    """Whether the answer goes into one file, not a folder."""
    return output.lower().endswith(".json") or is_page(output)


def is_page(output: str) -> bool:
    """Whether that file is the report alone."""
    return output.lower().endswith((".html", ".htm"))


def _keep_inputs(kind: str, holds: tuple[str, ...]) -> None:
    """Refuse outputs that are inputs, among all paths of the command that runs."""
    from reidrisk.core.files import keep_inputs, writable

    context = click.get_current_context()
    read: list[Path] = []
    written: list[Path] = []
    for part in context.command.params:
        if (value := context.params.get(part.name or "")) is None:
            continue
        if isinstance(part.type, Written):
            folder = part.name == "output" and (
                kind == "FOLDER" or (kind == "PATH" and not is_file(value))
            )
            written += _within(Path(value), holds) if folder else [_beside_others(Path(value))]
        elif isinstance(part.type, click.Path):
            read += _files(Path(value))
    keep_inputs(written, read)
    # Now, and not after hours of work.
    for path in written:
        writable(path)


def _beside_others(file: Path) -> Path:
    if not file.parent.is_dir():
        raise InvalidInput(
            f"{file}: cannot be written, its folder does not exist; make the folder, or name "
            "another",
            code="folder-not-found",
        )
    return file


def _within(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Files of a folder, or what stands in its place."""
    if folder.exists() and not folder.is_dir():
        return [folder]
    # A folder that is yet to be made is a name of its own, which no other output may have.
    own = [] if folder.is_dir() else [folder]
    return [*own, *(folder / name for name in names)]


def _files(path: Path) -> list[Path]:
    """The file, or those of a folder that are read."""
    if not path.is_dir():
        return [path]
    return [file for file in path.iterdir() if file.name.lower().endswith(_READ)]


def with_users() -> "Callable[..., Any]":
    """Names, only for who asks."""
    return click.option(
        "--with-users", is_flag=True,
        help="Also write users.parquet: each target with its user, credit, ties and the users who "
        "score best. Only you may read it. Nothing else names users.",
    )  # fmt: skip


def seed() -> "Callable[..., Any]":
    """Of chance."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True,
        help="Same seed, same draws.",
    )  # fmt: skip


def chosen_attacks() -> "Callable[..., Any]":
    """Which attacks."""
    return click.option(
        "--attack",
        "attacks",
        type=attack,
        metavar="NAME",
        multiple=True,
        shell_complete=_attacks,
        help="May be repeated; `reidrisk attacks` lists all. One of your own is module:Class. If "
        "none is named: all that apply to such rows.",
    )


def effort() -> "Callable[..., Any]":
    """How many attacks are tried."""
    return click.option(
        "--effort",
        type=click.Choice(["quick", "normal", "thorough"]),
        default="normal",
        show_default=True,
        help="How many attacks are tried, if none is named: those that train no model; all that "
        "fit into half an hour of one core, as predicted from the size of the tables; or all.",
    )


def slots() -> "Callable[..., Any]":
    """After how many slots."""
    return click.option(
        "--slots", type=SIZES, metavar="1,2,4", help="After how many slots; all, if not given."
    )  # fmt: skip


_LAYOUT = {
    "user": "The column of users.",
    "item": "The column of items: songs, products, pages.",
    "count": "The column of how often, or how much.",
    "epoch": "The column of epochs: weeks, visits.",
    "columns": "Columns that describe a person: age,postcode,genre.",
    "vector": "The column of vectors, such as embeddings: lists of numbers.",
    "vectors": "In its place, columns with a number of a vector each, by a pattern: 'v*'.",
}
_MORE = {
    "time_format": click.option(
        "--time-format", metavar="FORM",
        help='How the column of times is written, if not seen: "%d.%m.%Y %H:%M".'),
    "returns": click.option(
        "--returns", type=click.Choice(["refuse", "net", "skip"]), default="refuse",
        show_default=True, help="Rows with a count below zero: refuse them, add them up with the "
        "others of the same user and item, or skip them."),
}  # fmt: skip
"""What only some commands can be told of a table."""


def layout(*parts: str) -> "Callable[..., Any]":
    """Which column is what, and how the file is cut: the command gets one `layout`.

    Args:
        parts: The columns that the command takes, and `time_format` and `returns`.
    """

    def made(said: dict[str, Any]) -> dict[str, Any]:
        from reidrisk.io.layouts import Layout

        for name in said.keys() & {"columns", "vectors"}:
            said[name] = tuple(one.strip() for one in (said[name] or "").split(",") if one.strip())
        return {"layout": Layout(**said)}

    return _laid(parts, _LAYOUT, made)


_PAIRED = {
    "user": "The column of users in both tables.",
    "known_user": "That of KNOWN, if the two have different names for it.",
    "anonymous_user": "That of ANONYMOUS.",
    "item": 'The column of items: songs, products, pages. With =, its name in ANONYMOUS: '
    'sku="Stock code".',
    "count": "The column of how often each item came; likewise.",
    "epoch": "The column of epochs, weeks or visits; likewise.",
    "time": "The column of when each item came, which attackers then compare as well; likewise.",
    "columns": "Columns that describe a person: age,postcode. With =, the name in ANONYMOUS: "
    'given_name="First name",surname=last.',
    "vector": "The column of vectors, such as embeddings: lists of numbers. With =, its name in "
    "ANONYMOUS.",
    "vectors": "Columns with a number of a vector each, by a pattern: 'v*'. With =, that in "
    "ANONYMOUS: 'v*=w*'.",
}  # fmt: skip


_METAVARS = {"columns": "NAME,NAME", "vectors": "PATTERN"}


def two_layouts() -> "Callable[..., Any]":
    """Which column is what in two tables: the command gets `said`, what was told of them."""

    def made(said: dict[str, Any]) -> dict[str, Any]:
        from reidrisk.io.paired_columns import parse_pair, parse_pairs

        for name in ("user", "item", "count", "epoch", "time", "vector"):
            said[name] = None if said[name] is None else parse_pair(said[name])
        for name in ("columns", "vectors"):
            said[name] = {} if said[name] is None else parse_pairs(said[name])
        return {"said": said}

    return _laid((*_PAIRED, "time_format", "returns"), _PAIRED, made)


def _laid(
    parts: tuple[str, ...], texts: dict[str, str], made: "Callable[[dict[str, Any]], Any]"
) -> "Callable[..., Any]":
    """Options of tables, for a command that gets what is made of them.

    Args:
        parts: The options, by their names in Python.
        texts: The help of those that name columns.
        made: Makes arguments of the command from what was said.
    """

    def decorate(command: "Callable[..., Any]") -> "Callable[..., Any]":
        @functools.wraps(command)
        def with_layout(*arguments: Any, **given: Any) -> Any:
            cut = ("header", "separator", "encoding", "skip", "where")
            said = {name: given.pop(name) for name in (*parts, *cut)}
            return command(*arguments, **made(said), **given)

        offered = [
            # From the last to the first of the help, as above.
            *(_MORE[part] for part in reversed(parts) if part in _MORE),
            click.option("--where", metavar="CONDITION",
                         help="Take only rows that meet it, an SQL expression over the names of "
                         "columns: \"Quantity > 0 and Country = 'France'\"."),
            click.option("--skip", metavar="LINES", type=click.IntRange(min=0),
                         help="Lines above the table, such as a title, if not recognised."),
            click.option("--encoding", metavar="NAME",
                         help="Of a text that is not UTF-8: latin-1, cp1252, utf-16."),
            click.option("--separator", metavar="SIGN", help="Between columns, if not guessed."),
            click.option("--header/--no-header", default=None,
                         help="Whether the first line names the columns, if not guessed. Without "
                         "names, columns are 1, 2, 3."),
            *(click.option(f"--{part.replace('_', '-')}", help=texts[part],
                           metavar=_METAVARS.get(part, "COLUMN"))
              for part in reversed(parts) if part in texts),
        ]  # fmt: skip
        for option in offered:
            with_layout = option(with_layout)
        return with_layout

    return decorate


def strangers() -> "Callable[..., Any]":
    """Visitors whom nobody knows."""
    hidden = click.option(
        "--strangers", type=SHARE, default=0.0, metavar="SHARE",
        help="Share of users whom the attackers do not know, but meet: 30%.",
    )  # fmt: skip
    return lambda command: hidden(present()(command))


def training() -> "Callable[..., Any]":
    """Users from whom attacks learn."""
    return click.option(
        "--training", type=SHARE, default=0.0, metavar="SHARE",
        help="Share of users who are not attacked; attacks that learn from people known on both "
        "sides learn from these: 50%.",
    )  # fmt: skip


def present() -> "Callable[..., Any]":
    """How often those come who are known."""
    return click.option(
        "--present", type=SHARE, metavar="SHARE",
        help="Share of visitors whom the attackers know; if not given, as in the data.",
    )  # fmt: skip


def shown_with() -> "Callable[..., Any]":
    """The release behind rows that are given."""
    noise = click.option(
        "--noise", type=SHARE, help="Chance that the release shows a random token: 5%."
    )
    top = click.option(
        "--top", type=click.IntRange(min=1), help="Tokens of a user and slot that it may show."
    )
    return lambda command: noise(top(command))
