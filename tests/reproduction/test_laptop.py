"""The command as the docs have it, at its real size."""

import re
from pathlib import Path

import pytest
from tests.cli.tools import call

from reidrisk.reproduction import Reproduction

PAGE = Path(__file__).parents[2] / "docs/how-to/reproduce.md"


@pytest.mark.slow
def test_the_table_of_the_page_is_printed_by_its_command(tmp_path):
    """45 processor seconds; of what was not learned nothing is said here."""
    done = call("reproduce", "-o", tmp_path, width=100)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    assert _lines(shown) == _lines(done.stdout)[: len(_lines(shown))]
    found = Reproduction.read(tmp_path)
    assert {row.mark for row in found.rows if not row.ours} <= {"not run", "not reproducible"}


def _lines(text):
    lines = text.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    return [line.rstrip() for line in lines if line.strip()]
