"""The command line: each command parses arguments, makes a public call and prints.

Exit codes: 0 done, 2 bad input or usage, 3 a gate is exceeded, 1 our fault; 130 interrupted, 143
terminated, 129 the terminal was closed.

This module and `signals` import nothing slow, so that Ctrl-C works while the rest is imported.
"""

import atexit
import gc
import sys
from typing import TYPE_CHECKING, Any

from reidrisk.cli.signals import stoppable

if TYPE_CHECKING:
    from reidrisk.cli.app import cli

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line with the arguments of this process."""
    # Python looks for cycles in everything loaded when it exits, for up to half a second; what is
    # frozen is skipped.
    atexit.unregister(_freeze)
    atexit.register(_freeze)

    def run() -> None:
        from reidrisk.cli.app import run as run_command

        run_command()

    stoppable(run)


def _freeze() -> None:
    # DuckDB's bindings would print everything that is frozen as leaked.
    if "duckdb" not in sys.modules:
        gc.freeze()


def __getattr__(name: str) -> Any:
    """All commands, loaded on first use."""
    if name != "cli":
        raise AttributeError(f"module 'reidrisk.cli' has no attribute {name!r}")
    from reidrisk.cli.app import cli as commands

    return commands
