"""The command line: arguments only; each command is a few public calls and a way to print them.

Exit codes: 0 done, 2 bad input or usage, 3 a gate is exceeded, 130 interrupted, 1 our fault.
"""

from reidrisk.cli.app import cli, main

__all__ = ["cli", "main"]
