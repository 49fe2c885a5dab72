"""Every option of every command, as click knows them, with odd values."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import click
from tests.fuzz.families.odd import NUMBERS, PATHS, WORDS
from tests.fuzz.world import runs

from reidrisk.cli.app import cli

prepare = runs
"""What a folder of cases needs besides the sound files."""

VECTORS = ("vectors.csv", "--user", "user", "--vectors", "v*")

ARGUMENTS = {
    "study run": ("study.toml", "-o", "ours-new"),
    "study new": ("ours.toml",),
    "report": ("ours-run", "--edition", "signoff", "-o", "ours.html"),
    "compare": ("ours-run", "ours-other"),
    "gate": ("ours-run", "--max-risk", "50%"),
    "sweep": ("study.toml", "--vary", "noise=5%", "-o", "ours-new"),
    "calibrate": ("study.toml", "--max-risk", "90%"),
    "inspect": ("plays.csv",),
    "items": ("plays.csv", "--samples", "1,2"),
    "link": ("known.csv", "anonymous.csv"),
    "singling": ("persons.csv", "--columns", "age,zip"),
    "unicity": ("plays.csv", "--points", "1,2"),
    "bounds": ("matrix.csv",),
    "explain": ("--epsilon", "3", "--users", "1k"),
    "synth topics": ("--users", "20", "--epochs", "2", "-o", "ours.csv"),
    "release topics": ("people.csv", "-o", "ours-new"),
    "release item-samples": ("plays.csv", "--samples", "2", "-o", "ours-new"),
    "release cohorts": ("people.csv", "--users", "5", "-o", "ours-new"),
    "release generalised": ("plays.csv", "--users", "5", "--of", "item-samples samples=2", "-o", "ours-new"),
    "release minimum-users": ("plays.csv", "--users", "2", "--of", "item-samples samples=2", "-o", "ours-new"),
    "release randomised-response": ("people.csv", "--epsilon", "2", "-o", "ours-new"),
    "release averaged": (*VECTORS, "--items", "1", "-o", "ours-new"),
    "release gaussian-noise": (*VECTORS, "--scale", "1", "--clip", "9", "-o", "ours-new"),
    "release laplace-noise": (*VECTORS, "--scale", "1", "--clip", "9", "-o", "ours-new"),
    "release microaggregated": (*VECTORS, "--k", "3", "-o", "ours-new"),
    "release projected": (*VECTORS, "--dimensions", "2", "-o", "ours-new"),
    "release quantised": (*VECTORS, "--bits", "2", "-o", "ours-new"),
    "attack": ("ours-seen",),
    "information": ("ours-seen",),
    "attacks": ("hamming",),
    "reproduce": ("--plays", "plays.csv", "-o", "ours-new"),
}  # fmt: skip
HOURS = {("synth topics", "--users"), ("synth topics", "--epochs"), ("calibrate", "--high")}
"""Options that do what they are told, for hours: no large numbers there."""


def commands() -> dict[str, click.Command]:
    """All commands by their words, those of groups too; the demo takes a minute and is left out."""
    return {name: one for name, one in _commands(cli, ()) if name != "demo"}


def _commands(group: click.Group, before: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command, words = group.get_command(context, name), (*before, name)
        if isinstance(command, click.Group):
            yield from _commands(command, words)
        elif command is not None:
            yield " ".join(words), command


COMMANDS = commands()


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A command with a few odd options or arguments."""
    name = rng.choice(list(COMMANDS))
    arguments = list(ARGUMENTS[name])
    offered = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if offered and rng.random() < 0.85:
            arguments += _option(rng, name, rng.choice(offered))
        elif arguments and rng.random() < 0.7:
            place_of = rng.randrange(len(arguments))
            arguments[place_of] = rng.choice((*PATHS, *WORDS))
        else:
            arguments += [rng.choice((*PATHS, *WORDS, "--nope", "-x", "--help"))]
    if name.startswith("report") and rng.random() < 0.8:
        arguments = [word for word in arguments if word != "--files"]  # draws all charts: slow
    return (*name.split(" "), *arguments)


def _option(rng: Random, command: str, option: click.Option) -> list[str]:
    word = rng.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [word]
    if isinstance(option.type, click.Path) or "FILE" in str(option.metavar):
        return [word, rng.choice(PATHS)]
    if (command, word) in HOURS:
        return [word, rng.choice([one for one in NUMBERS if len(one) < 4 and "M" not in one])]
    return [word, rng.choice(rng.choice((NUMBERS, NUMBERS, WORDS)))]
