"""Thousands of spoilt inputs through every reader and every command."""

import shutil
from pathlib import Path

import pytest
from tests.fuzz.cases import failures
from tests.fuzz.families import FAMILIES
from tests.fuzz.families.command_lines import ARGUMENTS, COMMANDS
from tests.fuzz.running import faults, limits
from tests.fuzz.world import runs, sound

pytestmark = pytest.mark.fuzz

BLOCK = 100
CORPUS = Path(__file__).parent / "corpus"
BLOCKS = [
    (name, first) for name, (_, count) in FAMILIES.items() for first in range(0, count, BLOCK)
]


@pytest.mark.parametrize(("family", "first"), BLOCKS)
def test_spoilt_input_ends_well_or_in_one_line(family, first, tmp_path):
    last = min(first + BLOCK, FAMILIES[family][1])
    with limits():
        found = list(failures(family, range(first, last), tmp_path))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("name", sorted(place.name for place in CORPUS.iterdir() if place.is_dir()))
def test_what_once_went_wrong_ends_well_or_in_one_line(name, tmp_path):
    sound(tmp_path)
    words = (CORPUS / name / "words").read_text().splitlines()
    if (CORPUS / name / "with-runs").exists():
        runs(tmp_path)
    shutil.copytree(CORPUS / name, tmp_path, dirs_exist_ok=True)
    with limits():
        assert not faults(tuple(words), tmp_path)


def test_every_command_has_its_cases():
    assert set(COMMANDS) == set(ARGUMENTS)
