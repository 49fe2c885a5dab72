"""A click group that imports a command when it is used."""

import importlib
from collections.abc import Mapping
from typing import Any

import click

from reidrisk.core.machine import check_start


class LazyGroup(click.Group):
    """A group that knows where its commands are and what they do, and imports one to run it.

    Args:
        parts: By heading and name, in the order of the help: where (`module:command`) and the
            first sentence of its help.
        renamed: Commands by names that they once had, which still work.
    """

    def __init__(
        self,
        *arguments: Any,
        parts: Mapping[str, Mapping[str, tuple[str, str]]],
        renamed: Mapping[str, str],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.parts = parts
        self._renamed = renamed
        self._places = {name: place for part in parts.values() for name, (place, _) in part.items()}

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All names, in the order of the help."""
        return list(self._places)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self._places:
            return None
        module, _, name = self._places[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check that there is memory to start, unless only help is asked for."""
        args = [*(self._renamed.get(word, word) for word in args[:1]), *args[1:]]
        asks_for_help = not self._places.keys() & set(args[:1]) or {*ctx.help_option_names} & {
            *args
        }
        if not (asks_for_help or ctx.resilient_parsing):
            check_start()
        return super().parse_args(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence of each command, without importing any."""
        width = max(map(len, self._places))
        for heading, part in self.parts.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in part.items()])
