"""Doubts have stable codes, each explained once, and warnings keep theirs on their way."""

import copy
from typing import get_args

import pytest
from tests.snapshots import refuses

from reidrisk.core.doubts import (
    ABOUT_STRENGTH,
    CODES,
    Code,
    CodedWarning,
    Doubt,
    coded,
    doubts_of_warnings,
    known_codes,
)


def test_each_code_is_explained_and_none_besides():
    assert get_args(Code) == tuple(CODES) == tuple(sorted(CODES))
    assert ABOUT_STRENGTH.issubset(CODES)
    for text in CODES.values():
        assert ": " in text  # what it means, and what to do
        assert not text.endswith(".")


@pytest.mark.parametrize("code", ["", "all", "*", "Blind", "blind,input"])
def test_a_code_that_does_not_exist_is_refused(code):
    with refuses("unknown-doubt"):
        Doubt(code, "Something.")


def test_codes_come_once_and_in_the_order_of_the_table():
    assert known_codes(["input", "blind", "input"], "--accept") == ("blind", "input")


def test_a_warning_is_a_sentence_that_knows_its_code():
    (warning,) = coded("misaligned", ["Slots seem to be shifted."])
    assert warning == "Slots seem to be shifted."
    for again in (copy.deepcopy(warning), copy.copy(warning)):
        assert (again, again.code) == (warning, "misaligned")
    found = doubts_of_warnings((warning, "Of a source of others.", CodedWarning("Of nobody.")))
    assert [str(doubt) for doubt in found] == [
        "misaligned: Slots seem to be shifted.",
        "input: Of a source of others.",
        "input: Of nobody.",
    ]


def test_some_doubts_ask_for_stronger_attackers():
    assert Doubt("blind", "It is.").about_strength
    assert not Doubt("misaligned", "They are.").about_strength
