"""The group of all commands, and how failures become messages and exit codes."""

import errno
import io
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from reidrisk import __version__
from reidrisk.cli.click_lazy import LazyGroup
from reidrisk.cli.signals import stopped
from reidrisk.core.plugins import whose
from reidrisk.core.sanitize import cleaned
from reidrisk.core.settings_syntax import speaking
from reidrisk.errors import Assumed, ReidriskError, Unverified

_NO_MEMORY = re.compile(
    r"failed to map segment|cannot allocate memory|can't start new thread|bad_alloc|"
    r"error return without exception|without setting an exception",
    re.IGNORECASE,
)
"""What loaders and compiled parts say when memory is refused."""

_COMMANDS = {
    "Begin here": {
        "demo": (
            "reidrisk.cli.demo:demo",
            "Run a whole study on synthetic people, in about a minute.",
        ),
        "attacks": ("reidrisk.cli.attacks:attacks", "List every attack and bound."),
        "reproduce": (
            "reidrisk.cli.reproduce:reproduce",
            "Reproduce the paper: our figures beside the published ones.",
        ),
    },
    "A whole study": {
        "study": (
            "reidrisk.cli.study:study",
            "Run a study file, or write one to begin with.",
        ),
        "report": ("reidrisk.cli.results:report", "Write the report of a run."),
        "compare": (
            "reidrisk.cli.compare:compare",
            "Show which of two runs is worse, and by how much.",
        ),
        "gate": ("reidrisk.cli.results:gate", "Fail if a risk may be too high."),
        "sweep": (
            "reidrisk.cli.study:sweep",
            "Run a study with several values of a parameter, or several releases.",
        ),
        "calibrate": ("reidrisk.cli.calibrate:calibrate", "Find how much noise is enough."),
    },
    "Data you already have": {
        "inspect": (
            "reidrisk.cli.inspect:inspect",
            "Show what a file looks like, who is alone in it, and the commands to run next.",
        ),
        "items": (
            "reidrisk.cli.items:items",
            "Measure how many people two sites can match if each sees some of their items.",
        ),
        "link": ("reidrisk.cli.link:link", "Find the people of one table in another."),
        "singling": ("reidrisk.cli.singling:singling", "Show who is alone in a table of people."),
        "unicity": ("reidrisk.cli.singling:unicity", "Show how many points single a person out."),
        "bounds": (
            "reidrisk.cli.theory:bounds",
            "Show what attackers can and cannot do with a release.",
        ),
    },
    "Without any data": {
        "explain": (
            "reidrisk.cli.theory:explain",
            "Say what an epsilon means for who may be named, or find one.",
        ),
    },
    "Step by step": {
        "synth": ("reidrisk.cli.data:synth", "Make synthetic people."),
        "release": (
            "reidrisk.cli.data:release",
            "Show sites what a release would show them of people.",
        ),
        "attack": ("reidrisk.cli.link:attack", "Attack what a release showed."),
        "information": (
            "reidrisk.cli.information:information",
            "Show how many bits two sites share about a user.",
        ),
    },
}


@click.group(
    cls=LazyGroup,
    parts=_COMMANDS,
    renamed={"plays": "items"},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="reidrisk %(version)s")
def cli() -> None:
    """How likely is it that a person can be picked out again?

    \b
    Examples:
      reidrisk demo                    a whole study on synthetic people, in about a minute
      reidrisk study new               a study file to begin with
      reidrisk inspect FILE            your own data, and the command to run next
    """


def run() -> None:
    """Run the command line and turn failures into messages and exit codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may hold undecodable bytes
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with speaking("options", offers=_is_option), _warnings_in_a_line():
            # Click gives the code of whoever left early, and None otherwise.
            sys.exit(cli(standalone_mode=False) or 0)
    except Exception as wrong:  # noqa: BLE001  the last line of defence: say whose fault it is
        if stopped() or isinstance(wrong.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        sys.exit(_tell(wrong))


def _tell(wrong: Exception) -> int:
    """Say what went wrong; the exit code."""
    if isinstance(wrong, click.Abort) and isinstance(wrong.__cause__, Exception):
        wrong = wrong.__cause__  # click turns any EOFError into Abort, also that of a damaged file
    if isinstance(wrong, click.ClickException):
        wrong.show()
        return wrong.exit_code
    if _lacks_memory(wrong):
        said = (
            "reidrisk: there is not enough memory for this; allow the program more, or use fewer "
            "users or targets"
        )
    elif isinstance(wrong, ReidriskError):
        said = f"reidrisk: {wrong}"
    elif isinstance(wrong, OSError):
        where = f"{wrong.filename}: " if wrong.filename else ""
        why = wrong.strerror or type(wrong).__name__
        said = (
            f"reidrisk: {where}the system refused ({why}); check that the path exists, has room, "
            "and may be read or written"
        )
    else:
        # Exit code 1 is a fault in code, ours or a plug-in's; whatever else goes wrong is 2.
        click.echo(_where(wrong), err=True)
        click.echo(_blame(whose(wrong)), err=True)
        return 1
    click.echo(cleaned(said), err=True)
    return 2


def _lacks_memory(wrong: BaseException | None) -> bool:
    """Whether memory was refused, also where a loader or library only says so in its message.

    The causes of an exception are searched too: what fails while memory is short follows from it.
    """
    while wrong is not None:
        if isinstance(wrong, MemoryError) or getattr(wrong, "errno", None) == errno.ENOMEM:
            return True
        kinds = (ImportError, OSError, RuntimeError, SystemError)
        if isinstance(wrong, kinds) and _NO_MEMORY.search(str(wrong)):
            return True
        wrong = wrong.__cause__ or wrong.__context__
    return False


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print our own warnings in one line, like errors, without file and line of code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", Unverified)
        # A command may open a file several times.
        warnings.simplefilter("once", Assumed)
        usual = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
            if issubclass(category, Assumed):
                click.echo(f"warning: {message}", err=True)
            elif issubclass(category, Unverified):
                click.echo(f"reidrisk: {message}", err=True)
            else:
                usual(message, category, *where, **how)

        warnings.showwarning = say
        yield


def _is_option(name: str) -> bool:
    """Whether the command that runs has this option."""
    context = click.get_current_context(silent=True)
    option = f"--{name.replace('_', '-')}"
    return context is None or any(option in one.opts for one in context.command.params)


def _where(wrong: BaseException) -> str:
    """Where in the code something went wrong, without messages: these may quote people's data."""
    told = traceback.TracebackException.from_exception(wrong)
    kinds = [type(wrong).__name__]
    lines = ["Traceback (most recent call last):\n", *told.stack.format()]
    while (wrong := wrong.__cause__ or wrong.__context__) is not None:  # type: ignore[assignment]
        kinds.append(type(wrong).__name__)
    said = f"{', after '.join(kinds)} (what it says is left out: it may quote your data)"
    return "".join((*lines, said))


def _blame(module: str | None) -> str:
    """Whose fault it is: that of a part of someone else, or ours."""
    if module is not None:
        return (
            f"\nThis went wrong in {module}, which is not part of reidrisk: correct it there. "
            "The checks of\nreidrisk.testing find most such faults."
        )
    return (
        f"\nThis is a fault in reidrisk {__version__}, not yours. Please report it with the "
        "lines above;\nthey may name files, so look before you send."
    )
