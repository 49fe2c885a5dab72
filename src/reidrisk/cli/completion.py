"""Completion of commands and options in shells."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands in a shell.

    \b
    Examples:
      reidrisk completion bash >> ~/.bashrc
      reidrisk completion zsh >> ~/.zshrc
      reidrisk completion fish > ~/.config/fish/completions/reidrisk.fish
    """
    root = context.find_root().command
    click.echo(_SHELLS[shell](root, {}, "reidrisk", "_REIDRISK_COMPLETE").source())
