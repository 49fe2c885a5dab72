"""Risk over slots, where not everybody can be assessed after every number of them."""

import json
import re
from dataclasses import replace

from tests.report.sample import bare, risk

from reidrisk.plotting import PAGE
from reidrisk.report.sections import risks


def curve(*targets):
    found = [
        replace(risk("x", 0.1, slots=slots), targets=n, not_assessed=3_000 - n)
        for slots, n in zip((1, 2, 4), targets, strict=True)
    ]
    (exhibit,) = risks.section(bare(risks=tuple(found), study={"unit": "weeks"})).exhibits
    return exhibit


def second_line(exhibit):
    """What stands under each tick."""
    drawn = exhibit.draw(exhibit.rows, PAGE).to_dict()
    axis = drawn["layer"][0]["encoding"]["x"]["axis"]
    found = re.search(r"\{.*\}", axis.get("labelExpr", "{}"))[0]
    return json.loads(found)


def test_the_number_of_people_is_said_where_it_changes_along_a_curve():
    exhibit = curve(400, 900, 3_000)
    assert exhibit.sentence.endswith(
        "Not everybody can be assessed after every number of weeks: 400 after 1, 900 after 2 and "
        "3,000 after 4. Where a curve falls, or rises, this may be because others are assessed, "
        "not because of more weeks."
    )
    assert second_line(exhibit) == {"1": "400", "2": "900", "4": "3,000"}


def test_nothing_is_said_where_it_does_not():
    exhibit = curve(3_000, 3_000, 3_000)
    assert "assessed" not in exhibit.sentence
    assert second_line(exhibit) == {}
