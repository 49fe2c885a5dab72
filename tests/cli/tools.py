"""Ways to run the command line."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from reidrisk import cli

SCRIPT = Path(sys.executable).parent / "reidrisk"

TINY = """
title = "tiny"
unit = "weeks"
slots = [2, 4]
targets = 200
seed = 3
attacks = ["hamming", "weighted-hamming"]
models = ["weighted-hamming"]

[people]
kind = "synthetic"
users = "2k"
epochs = 4

[sweep]
noise = ["20%", "50%"]
"""


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


class Screen(io.StringIO):
    """A terminal that keeps what it shows."""

    def isatty(self):
        return True


def run(*arguments, **environment):
    """The real executable: for signals and exit codes."""
    return subprocess.run(
        [SCRIPT, *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **environment},
    )  # fmt: skip


def call(*arguments, screen=False, width=120):
    """The same in this process, which is quicker; progress is shown on a screen."""
    out, err = io.StringIO(), Screen() if screen else io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["reidrisk", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": str(width), "TERM": "xterm"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as left:
            code = left.code or 0
    return Done(code, out.getvalue(), err.getvalue())
