"""Reading our pages: their fences, and the commands that stand in them."""

import re
import shlex
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import click

from reidrisk.cli.app import cli
from reidrisk.errors import MissingExtra

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PAGES = [page for page in PAGES if page.exists() and "_build" not in page.parts]

_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"(?:^|(?<=[`$/ ]))reidrisk (?=[a-z-])")
_ENDS = {"#", "|", ">", ">>", "&&", "||", ";"}


@dataclass(frozen=True)
class Fence:
    """A fenced block of a page: its kind (`python`, `console`, `sh`, ...) and its text."""

    kind: str
    text: str


def fences(page):
    """The fenced blocks of a page, also those within lists."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Fence(kind.strip(), dedent(text)) for _, kind, text in found]


def typed(page):
    """The words after `reidrisk` of every command line in the fences of a page."""
    lines = [
        line
        for fence in fences(page)
        if fence.kind in {"", "sh", "console", "yaml"}
        for line in re.sub(r" *\\\n\s*", " ", fence.text).splitlines()
        if re.match(r"(\$ |- |run: |[A-Z_]+=\S+ )*(\S*/)?reidrisk ", line.strip())
    ]
    return [_words(line[found.end() :]) for line in lines if (found := _COMMAND.search(line))]


def mentioned(page):
    """The words after `reidrisk` of every command that the prose of a page speaks of."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [
        [word for word in _words(line) if word != "..."]
        for line in re.findall(r"(?<!`)`reidrisk ([^`]+)`(?!`)", re.sub(r"\s*\n\s*", " ", text))
    ]


def _words(line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars=">")
    lexer.whitespace_split, lexer.commenters = True, ""
    words = []
    for word in lexer:
        if word in _ENDS:
            break
        words.append(word)
    return words


def check_command(words, *, whole=True):
    """Refuse commands and options that do not exist, and values that an option cannot have.

    Files need not be there. Unless it is whole, the last option may lack its value, and a command
    of a group may be called by a word in capitals or not at all.
    """
    command, context = cli, click.Context(cli, info_name="reidrisk", **cli.context_settings)
    while isinstance(command, click.Group) and words and words[0] not in {"--help", "--version"}:
        found = command.get_command(context, words[0])
        if found is not None:
            words = words[1:]
        elif command.name == "study":  # `study FILE` is `study run FILE`
            found = command.get_command(context, "run")
        elif not whole:
            found = command.get_command(context, command.list_commands(context)[0])
            words = words[words[0].isupper() :]
        assert found is not None, f"there is no command {words[0]}"
        command, context = found, click.Context(found, info_name=found.name, parent=context)
    parser = command.make_parser(context)
    try:
        given, left, _ = parser.parse_args(args=list(words))
    except click.BadOptionUsage:
        if whole:
            raise
        given, left, _ = parser.parse_args(args=list(words[:-1]))
    assert not left, f"{command.name} takes no {left}"
    for parameter in command.params:
        values = given.get(parameter.name)
        if isinstance(values, str | list) and not isinstance(parameter.type, click.Path):
            for value in [values] if isinstance(values, str) else values:
                with suppress(MissingExtra):
                    parameter.type.convert(value, parameter, context)


def extras():
    """What may stand in `pip install 'reidrisk[...]'`."""
    made = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return set(made["project"]["optional-dependencies"])


def targets():
    """What may stand after `make`."""
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z]+):", made, re.MULTILINE))
