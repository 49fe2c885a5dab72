"""Messages as snapshots: tests assert codes, and the words live in `tests/messages/`.

A plain run compares what is said with the snapshot of the test; `make messages` accepts what is
said now. Numbers and paths of one machine are taken out first.
"""

import json
import os
import re
import tempfile
from collections import Counter
from difflib import unified_diff
from pathlib import Path

import pytest

from reidrisk import InvalidInput, __version__

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "messages"
ACCEPT = "ACCEPT_MESSAGES"
"""Environment variable: write snapshots instead of comparing with them. Not under xdist."""

_TEMP = re.escape(tempfile.gettempdir())
_OF_THIS_MACHINE = (
    (re.compile(rf"{_TEMP}/pytest-of-[^/\s]+/pytest-\d+/(popen-gw\d+/)?[^/\s:;,'\"]+"), "TMP"),
    (re.compile(rf"{_TEMP}/tmp[a-z0-9_]{{8}}"), "TMP"),  # noqa: S108  a pattern
    (re.compile(rf"{re.escape(str(ROOT))}\b"), "REPOSITORY"),
    (re.compile(rf"\b{re.escape(__version__)}\b"), "VERSION"),
    (re.compile(r"[\d,.]+(?:e-?\d+)? ([KMGT]i?B)\b"), r"N \1"),
    (re.compile(r"\b(python -m )?pytest\.reidrisk\b"), "reidrisk"),  # as click calls it here
    (re.compile(r"'reidrisk -h' for help"), "'reidrisk --help' for help"),  # an older click
    (re.compile(r"\b[\d,]+ times as much\b"), "N times as much"),  # as an older pyarrow packs less
    (re.compile(r"\bREIDRISK_MOST_EXPANSION=\d+"), "REIDRISK_MOST_EXPANSION=N"),
    (re.compile(r"(\.\d{12})\d+"), r"\1"),  # the last digits differ between versions of numpy
    (re.compile(r"process \d+ on \S+, since [-\d]+ [:\d]+ UTC"), "process N on HOST, since TIME"),
    (re.compile(r"\b([Tt]here are )[\w-]+(, [\w-]+){5,}"), r"\1NAMES"),  # which grow with new parts
    (re.compile(r"\.[0-9a-f]{16}\.reidrisk-part\b"), ".N.reidrisk-part"),
    (re.compile(r"-[0-9a-f]{16}/model\.safetensors\b"), "-N/model.safetensors"),  # by content
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\(\S+, spark\.driver\.host\)"), "(HOST, spark.driver.host)"),
    (re.compile(r"\bthis pyspark \([\d.]+\)"), "this pyspark (VERSION)"),
)


def refuses(code, kind=InvalidInput, *, snapshot=True):
    """Expect an error of a code and a kind, whose words are those of the snapshot.

    Args:
        code: What `error.code` must be.
        kind: Class of the error.
        snapshot: Whether the words are compared; not where they are drawn at random.
    """
    return _Refusal(code, kind, snapshot=snapshot)


def says(text):
    """Assert that a text is that of the snapshot."""
    _compare(text)


class _Refusal:
    """Context manager; the error is its `value`, as with `pytest.raises`."""

    def __init__(self, code, kind, *, snapshot):
        self._code, self._snapshot = code, snapshot
        self._raises = pytest.raises(kind)

    def __enter__(self):
        self._caught = self._raises.__enter__()
        return self._caught

    def __exit__(self, *raised):
        expected = self._raises.__exit__(*raised)
        if expected:
            wrong = self._caught.value
            assert wrong.code == self._code, f"{wrong.code}: {wrong}"
            if self._snapshot:
                _compare(f"{wrong.code}: {wrong}")
        return expected


_said = Counter()  # how often the test that runs has been here


def _compare(text):
    path, _, name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0].partition("::")
    if name not in _said:
        _said.clear()
    number, text = _said[name], _without_machine(text)
    _said[name] += 1
    within = Path(path).relative_to("tests")
    file = FOLDER / f"{within.parts[0]}.json"
    key = f"{'/'.join(within.parts[1:])}::{name}"
    if os.environ.get(ACCEPT):
        _accept(file, key, number, text)
    messages = _found(_messages(file), key)
    assert number < len(messages), f"no snapshot of this message, run `make messages`: {text}"
    if text != messages[number]:
        lines = unified_diff(
            messages[number].split("\n"), text.split("\n"), "accepted", "now", lineterm=""
        )
        pytest.fail("run `make messages` to accept this:\n" + "\n".join(lines), pytrace=False)


def _found(messages, key):
    """The snapshots of a test, also if its file has another name by now."""
    name = key[key.index("::") :]
    return messages.get(key) or next(
        (said for one, said in messages.items() if one.endswith(name)), []
    )


def _without_machine(text):
    for pattern, instead in _OF_THIS_MACHINE:
        text = pattern.sub(instead, text)
    return text


_read = {}


def _messages(file):
    if file not in _read:
        _read[file] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return _read[file]


def _accept(file, key, number, text):
    assert "PYTEST_XDIST_WORKER" not in os.environ, f"{ACCEPT} needs one process: leave out -n"
    messages = _messages(file)
    messages[key] = [*messages.get(key, [])[:number], text]
    written(file, messages)


def written(file, messages):
    """Write the snapshots of a folder of tests."""
    text = json.dumps(messages, indent=1, sort_keys=True, ensure_ascii=False)
    file.write_text(text + "\n", "utf-8")
