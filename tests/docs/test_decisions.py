"""Decision records have a status, a place in the index and no holes in their numbers."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))
NUMBERS = {int(page.name[:4]) for page in PAGES}


def test_numbers_have_no_holes():
    assert sorted(NUMBERS) == list(range(1, len(PAGES) + 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_record_is_short_has_a_status_and_is_in_the_index(page):
    title, _, status, *text = page.read_text(encoding="utf-8").splitlines()
    replaced = re.fullmatch(r"Status: replaced by (\d{4})", status)
    assert replaced or re.fullmatch(r"Status: accepted( \(.+\))?", status)
    assert not replaced or int(replaced[1]) in NUMBERS
    assert 150 <= len(" ".join(text).split()) <= 400
    assert {"## Context", "## Decision", "## Consequences"} <= set(text)
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"| [{page.name[:4]}]({page.name}) | {title.removeprefix('# ')} |" in index


def test_whoever_names_a_decision_names_one_that_there_is():
    for top in ("src", "tests", "docs", "benchmarks"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in {".py", ".md"} and "_build" not in file.parts:
                text = file.read_text(encoding="utf-8")
                named = {int(number) for number in re.findall(r"\b[Dd]ecision (\d+)\b", text)}
                assert named <= NUMBERS, file
