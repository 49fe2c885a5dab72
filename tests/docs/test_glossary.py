"""The glossary has every word of the design, and every term once."""

import re
from collections import Counter
from pathlib import Path

import pytest

GLOSSARY = Path(__file__).parents[2] / "docs/glossary.md"
WORDS = (
    "user",
    "token",
    "slot",
    "gap",
    "people",
    "release",
    "known",
    "anonymous",
    "view",
    "attack",
    "score",
    "engine",
    "credit",
    "estimate",
    "bound",
    "level",
    "truth",
    "top set",
    "sweep",
    "calibrate",
)
"""The words of the design that mean one thing each."""

REPORT = (
    "target",
    "stranger",
    "guessing",
    "ceiling",
    "spectrum",
    "interval",
    "trials",
    "not assessed",
    "verdict",
    "gate",
    "sign-off",
    "full information",
    "partial information",
    "local differential privacy",
    "epsilon",
    "k-anonymity",
    "mutual information",
    "entropy",
    "per-user risk",
    "worst tenth",
    "claims",
    "extrapolation",
    "singling out",
    "linkability",
    "inference",
    "prosecutor risk",
    "journalist risk",
    "marketer risk",
)
"""Words that the report uses."""


def terms():
    blocks = re.findall(
        r"^```\{glossary\}\n(.*?)^```$",
        GLOSSARY.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    return [line for block in blocks for line in block.splitlines() if re.match(r"\S", line)]


@pytest.mark.parametrize("word", [*WORDS, *REPORT])
def test_a_word_that_everybody_uses_is_explained(word):
    assert word in terms()


def test_no_term_is_explained_twice():
    assert not [term for term, times in Counter(map(str.lower, terms())).items() if times > 1]
