"""The page on the gate lists the codes of doubts as the table in the code does."""

import re
from pathlib import Path

from reidrisk.core.doubts import ABOUT_STRENGTH, CODES

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gate-a-release.md"


def test_the_page_lists_every_code_and_none_besides():
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)`( \+)? \| (.+) \|$", page, flags=re.MULTILINE)
    assert rows == [
        (code, " +" if code in ABOUT_STRENGTH else "", text) for code, text in CODES.items()
    ]
