"""Completion of commands and options in shells."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for completion in a shell.

    \b
    Examples:
      reidrisk completion bash >> ~/.bashrc
      reidrisk completion zsh >> ~/.zshrc
      reidrisk completion fish > ~/.config/fish/completions/reidrisk.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  the choices above are those click knows
    click.echo(kind(context.find_root().command, {}, "reidrisk", "_REIDRISK_COMPLETE").source())
