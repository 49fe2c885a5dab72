"""A study of topics that several pictures show: with every analysis that needs no training."""

import functools

import reidrisk as rr
from reidrisk.plotting import Chart, Style
from reidrisk.report.sections import sections
from reidrisk.study import Repeats


@functools.cache
def studied() -> rr.Result:
    """Eight weeks of topics of 20,000 people, 1,000 of whom are attacked."""
    api = rr.TopicsApi()
    people = rr.data.synthetic_topics(users=20_000, epochs=8, seed=1)
    return rr.Study(
        release=api,
        attacks=(rr.Hamming(), rr.WeightedHamming(api)),
        models=(rr.TypeAware(api, people.interests),),
        full_information=True,
        slots=(1, 2, 4, 6, 8),
        sizes=(200, 500, 1_000, 2_000, 5_000, 10_000, 20_000),
        beyond=(200_000, 2_000_000),
        guesses=(1, 10, 100),
        per_user=Repeats(users=100, repeats=10),
        targets=1_000,
        seed=7,
        unit="weeks",
        title="Eight weeks of topics",
    ).run(people)


def exhibit(name: str, look: Style) -> Chart:
    """A chart of the report on this study, by the name of its exhibit."""
    found = {one.name: one for part in sections(studied()) for one in part.exhibits}[name]
    drawn: Chart = found.draw(found.rows, look)
    return drawn
