"""Programs of their own that drive the cluster: with other settings, or to be killed."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.spark.standalone import SETTINGS

SECONDS = 600
"""No program here takes so long; one that does hangs."""

PROGRAM = """
import json, os, signal, sys, time
from pathlib import Path
import numpy as np
from reidrisk import SparkEngine
from reidrisk.engines.spark.session import session
from reidrisk.errors import ReidriskError
{before}

def tell(action):
    try:
        return action()
    except ReidriskError as wrong:
        print(wrong.code + ":", wrong, flush=True)

def main(spark):
{main}

settings = json.loads(os.environ["SETTINGS"])
spark = tell(lambda: session(sys.argv[1], settings=settings))
if spark is not None:
    main(spark)
    spark.stop()
"""


@dataclass(frozen=True)
class Driver:
    """A program, and with what it starts."""

    command: list[str]
    environment: dict[str, str]

    def start(self) -> subprocess.Popen[str]:
        """Let it run."""
        return subprocess.Popen(
            self.command, env=self.environment, cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def lines(self) -> list[str]:
        """What it says, once it came to its end."""
        with self.start() as process:
            try:
                said, complained = process.communicate(timeout=SECONDS)
            finally:
                process.kill()
        assert process.returncode == 0, complained
        return said.splitlines()


def driver(
    address: str, main: str = "pass", *, before: str = "", settings=(), environment=()
) -> Driver:
    """A program that starts a session, says what is wrong with it, or goes on with `main(spark)`.

    Args:
        address: Of the master.
        main: What to do with `spark`, and with numpy, `SparkEngine` and `tell`, which says what is
            wrong with what it calls, if something is.
        before: What to do before there is a session.
        settings: Of Spark, beside those that the tests share.
        environment: Variables that differ from ours.
    """
    program = PROGRAM.replace("{main}", textwrap.indent(textwrap.dedent(main), "    "))
    program = program.replace("{before}", before)
    told = {"SETTINGS": json.dumps({**SETTINGS, **dict(settings)})}
    return Driver(
        [sys.executable, "-c", program, address], {**os.environ, **told, **dict(environment)}
    )
