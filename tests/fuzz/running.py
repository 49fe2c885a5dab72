"""One case: a folder with files and the words of a command, run in this process and judged.

A command may end well or refuse its input in one line; nothing else. It prints no user id, changes
no file that was there before, and comes to an end.
"""

import contextlib
import faulthandler
import hashlib
import io
import os
import re
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from unittest import mock

from reidrisk import cli, data
from reidrisk.errors import Assumed, ReidriskError
from reidrisk.reproduction import chapters
from reidrisk.reproduction.chapters import songs

NAME = "secret-person-"
"""What user ids of all worlds begin with."""

WORK, PATIENCE = 60, 300
"""Seconds of all processors, and of the clock."""
MEMORY, FILE_SIZE = 6 << 30, 64 << 20
OUTPUTS = {"-o", "--output", "--records", "--files"}
GATES = {"gate", "calibrate", "explain"}
READERS: dict[str, Callable[..., object]] = {
    "weights": data.read_token_weights,
    "topic-tree": data.read_topic_tree,
    "taxonomy": data.read_taxonomy,
    "histories": data.read_histories,
    "tfrecord-people": data.read_tfrecord_profiles,
    "tfrecord-rows": data.read_tfrecord_observations,
}
"""What no command reads, or only as part of a study: run as `read NAME FILE ...`."""

READING = (songs,)
"""Chapters of a reproduction that read a file; all others take what was never spoilt."""

_SAID = re.compile(
    r"(reidrisk|Error|warning|note|doubt|not passed|accepted by name|answered by what is proved"
    r"|No page|--accept [a-z-]+|--strict): |--strict does nothing|`reidrisk gate --help` says"
)
_USAGE = re.compile(r"Usage: |Try '.* --help' for help|$")


class Hangs(BaseException):
    """A case did not come to an end; no command may catch this."""


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    code: int | str | None
    out: str
    err: str


def chance(name: object) -> Random:
    """The generator of a case: the same name, the same case, on every machine."""
    return Random(str(name))  # noqa: S311  nothing is to be kept secret here


@contextlib.contextmanager
def limits():
    """No case may fill the memory or the disk of the machine; warnings are errors."""
    kinds = {resource.RLIMIT_DATA: MEMORY, resource.RLIMIT_FSIZE: FILE_SIZE}
    before = {kind: resource.getrlimit(kind) for kind in kinds}
    try:
        for kind, most in kinds.items():
            resource.setrlimit(kind, (most, before[kind][1]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # A header that is broken into two lines leaves one that may be a title.
            warnings.simplefilter("ignore", Assumed)
            yield
    finally:
        for kind, limit in before.items():
            resource.setrlimit(kind, limit)


@contextlib.contextmanager
def watchdog():
    """Raise in who takes too long; where Python is not even heard, print its place and end.

    Work is counted, not time, since others may keep the machine busy and the first call of a kernel
    compiles it; who waits for ever does no work, and has more patience spent on.
    """

    def bark(number, _frame):
        raise Hangs("no end" if number == signal.SIGALRM else f"no end after {WORK} s of work")

    before = {one: signal.signal(one, bark) for one in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, WORK)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    faulthandler.dump_traceback_later(2 * PATIENCE, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in before.items():
            signal.signal(one, handler)


def run(words: tuple[str, ...], place: Path) -> Done:
    """Run a command or a reader in a folder, with streams that encode as real ones do."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    with (
        contextlib.chdir(place),
        mock.patch.object(sys, "argv", ["reidrisk", *words]),
        mock.patch.dict(os.environ, {"COLUMNS": "120", "TERM": "dumb"}),
        mock.patch.object(chapters, "CHAPTERS", READING),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        watchdog(),
    ):
        code = _read(*words[1:]) if words[0] == "read" else _command()
    said = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Done(code, *said)


def _command() -> int | str | None:
    try:
        cli.main()
    except SystemExit as left:
        return left.code
    return 0


def _read(reader: str, *paths: str) -> int:
    try:
        READERS[reader](*paths)
    except ReidriskError as wrong:
        sys.stderr.write(f"reidrisk: {wrong}\n")
        return 2
    return 0


def faults(words: tuple[str, ...], place: Path) -> list[str]:
    """Run a case; what is wrong with how it ended."""
    before, threads = _contents(place), threading.active_count()
    try:
        done = run(words, place)
    except Hangs as hangs:
        return [str(hangs)]
    except Exception as wrong:  # noqa: BLE001  a reader that raises what is no message
        return [f"{type(wrong).__name__}: {str(wrong)[:500]}"]
    found = [*_of_the_end(done, words), *_of_the_words(done)]
    after = _contents(place)
    changed = [name for name, hashed in before.items() if after.get(name) != hashed]
    found += [f"{name} was changed" for name in changed if not _asked_for(name, words)]
    if (more := threading.active_count() - threads) > 0:
        found.append(f"{more} threads were left behind")
    return [*found, f"it said: {done.err[-1500:]}"] if found else []


def _of_the_end(done: Done, words: tuple[str, ...]) -> list[str]:
    allowed = {0, 2, 3} if words[0] in GATES else {0, 2}
    found = [] if done.code in allowed else [f"exit code {done.code}"]
    if "Traceback" in done.err:
        found.append("a traceback")
    # Click lists what one may choose from, a line each.
    lines = [
        one for one in done.err.split("\n") if not _USAGE.match(one) and not one.startswith("\t")
    ]
    if done.code == 2:
        said = [line for line in lines if not line.startswith(("doubt: ", "warning: ", "note: "))]
        if not said or not _SAID.match(said[0]):
            found.append("exit code 2 without a message")
        # A study file or a command has all its faults told at once, a line each.
        elif not all(re.match(r"[^ :]+\.toml[:,]|--[a-z-]+:", line) for line in said[1:]):
            found.append(f"a message of {len(said)} lines")
    elif not all(_SAID.match(line) for line in lines):
        found.append("unexplained words on stderr")
    if any(len(line) > 3000 + len(repr(words)) for line in lines):  # who writes much is answered so
        found.append("an endless message")
    return found


def _asked_for(name: str, words: tuple[str, ...]) -> bool:
    """Whether somebody named a file as the place of an answer, and as nothing else."""
    outputs = [word for option, word in pairwise(words) if option in OUTPUTS]
    return name in outputs and words.count(name) == outputs.count(name)


def _of_the_words(done: Done) -> list[str]:
    found = [
        f"a user id on {name}"
        for name, text in (("stdout", done.out), ("stderr", done.err))
        # What all ids begin with is their shape, which messages may tell.
        if re.search(rf"{NAME}\d", text)
    ]
    if strange := {sign for sign in done.out + done.err if sign < " " and sign not in "\n\t"}:
        found.append(f"signs that steer a terminal: {sorted(strange)}")
    return found


def _contents(place: Path) -> dict[str, str]:
    """Files that are somebody's: all but those of runs, which commands go on with."""
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(place.rglob("*"))
        if file.is_file() and not (name := str(file.relative_to(place))).startswith("ours")
    }
