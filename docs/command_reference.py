"""The reference of the command line, read off the commands themselves when the pages are built."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, ClassVar

import click
from docutils import nodes
from docutils.parsers.rst import Directive

from reidrisk.cli.app import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx


def commands() -> Iterator[tuple[str, list[click.Context]]]:
    """By heading, in the order of the help: a context for each command, groups before their own."""
    top = click.Context(cli, info_name="reidrisk", **cli.context_settings)
    for heading, part in cli.parts.items():
        yield heading, [one for name in part for one in _contexts(top, name)]


def _contexts(parent: click.Context, name: str) -> Iterator[click.Context]:
    command = parent.command.get_command(parent, name)  # type: ignore[attr-defined]
    context = click.Context(command, info_name=name, parent=parent)
    yield context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _contexts(context, inner)


class CommandLine(Directive):
    """All commands, each with its usage, its help, its examples and its options."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """The sections: one for each heading of `reidrisk --help`."""
        return [
            self._section(heading, [self._command(context) for context in contexts])
            for heading, contexts in commands()
        ]

    def _section(self, title: str, content: list[nodes.Node]) -> nodes.section:
        made = nodes.section("", nodes.title("", title), *content)
        made["names"].append(nodes.fully_normalize_name(title))
        self.state.document.note_implicit_target(made, made)
        return made

    def _command(self, context: click.Context) -> nodes.section:
        usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
        records = [
            record
            for parameter in context.command.get_params(context)
            if (record := parameter.get_help_record(context)) and record[1]
            if "--help" not in record[0]
        ]
        content: list[nodes.Node] = [_literal(usage), *_help(context.command.help or "")]
        if records:
            content.append(_options(records))
        return self._section(context.command_path, content)


def _literal(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text")


def _help(text: str) -> Iterator[nodes.Node]:
    """Paragraphs; what click leaves as it stands (after a backspace) is shown as it stands."""
    for part in inspect.cleandoc(text).split("\n\n"):
        if not part.startswith("\b"):
            words = re.sub(r"\s+", " ", part)
            yield nodes.paragraph("", "", *_quoted(words))
            continue
        head, *lines = part.removeprefix("\b\n").split("\n")
        if not lines or not lines[0].startswith(" "):
            lines, head = [head, *lines], ""
        if head:
            yield nodes.paragraph("", head)
        yield _literal(inspect.cleandoc("\n".join(["", *lines])))


def _quoted(words: str) -> Iterator[nodes.Node]:
    """Words, with options and what stands in backticks as code: else `--` becomes a dash."""
    for number, piece in enumerate(re.split(r"(`[^`]+`|(?<![\w-])--?[a-z][a-z-]*)", words)):
        code = piece.strip("`")
        yield nodes.literal(code, code) if number % 2 else nodes.Text(piece)


def _options(records: list[tuple[str, str]]) -> nodes.definition_list:
    return nodes.definition_list(
        "",
        *(
            nodes.definition_list_item(
                "",
                nodes.term("", "", nodes.literal(names, names)),
                nodes.definition("", nodes.paragraph("", "", *_quoted(told))),
            )
            for names, told in records
        ),
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
