"""The closed form of one answer, against the matrix it is of."""

from fractions import Fraction

import numpy as np
import pytest

from reidrisk.reproduction.chapter import Scale
from reidrisk.reproduction.chapters import alvim

SCALE = Scale("laptop", users=1000, targets=100, seconds=0)


def rows():
    return [row for step in alvim.steps(SCALE) for row in step.run()]


def test_all_figures_are_reproduced():
    assert [(row.published, row.ours.value, row.mark) for row in rows()] == [
        ("32.16", 32.16, "reproduced"),
        ("33.8", 33.8, "reproduced"),
        ("32.16", pytest.approx(32.16, rel=1e-14), "reproduced"),
    ]


def test_another_number_of_topics_differs(monkeypatch):
    monkeypatch.setattr(alvim, "HELD", 168)
    assert [row.mark for row in rows()] == ["differs", "differs", "reproduced"]


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 20), Fraction(1, 2)])
def test_the_factor_depends_on_the_number_of_topics_alone(noise):
    rng = np.random.default_rng(1)
    sets = [rng.choice(60, 5, replace=False).tolist() for _ in range(40)]
    held = len({topic for each in sets for topic in each})
    assert 40 < held < 60
    form = float(alvim.closed_form(noise, held=held))
    assert alvim.leakage_of(sets, noise) == pytest.approx(form, rel=1e-13)


def test_people_hold_so_many_topics():
    for held in (5, 7, 169):
        people = alvim.people_with(held)
        assert {topic for each in people for topic in each} == set(range(held))
        assert all(len(set(each)) == 5 for each in people)
