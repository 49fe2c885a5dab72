"""Alvim and others: one Topics answer against known top sets, in closed form.

With m' topics that are in somebody's top set of k, and a share p of random answers, seeing one
answer multiplies the chance to name the user by `m' (1-p)/k + p`: the sum of the column maxima of
the matrix of who answers what. A topic of somebody's is answered by such a user with chance `q_in`,
any other topic by everybody with `q_out`. The factor depends on no other property of the people, so
any people with m' topics are as good as theirs.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from reidrisk.estimates import Estimate
from reidrisk.releases import TopicsApi
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, claimed, exact
from reidrisk.theory import multiplicative_leakage

TITLE = "What one answer can tell (Alvim, Fernandes, McIver and Nunes)"
SOURCE = (
    "M. S. Alvim, N. Fernandes, A. McIver and G. H. Nunes, The Privacy-Utility Trade-off in the "
    "Topics API, CCS 2024"
)

HELD = 169
_TOP = 5
_PUBLISHED = ((Fraction(5, 100), "32.16"), (Fraction(0), "33.8"))
"""Share of random answers, and the leakage, as printed."""

_CLOSE = 1e-12
"""Relative: the matrix is of floating-point numbers."""


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The closed form, and the matrix; both at once on every scale."""
    del scale
    yield ChapterStep("closed form", lambda: tuple(_row(noise, said) for noise, said in _PUBLISHED))
    yield ChapterStep("any matrix", lambda: (_by_matrix(),))


def closed_form(noise: Fraction, *, held: int, top: int = _TOP) -> Fraction:
    """The leakage of one answer, in fractions."""
    return held * (1 - noise) / top + noise


def leakage_of(sets: list[list[int]], noise: Fraction) -> float:
    """The leakage of one answer of people with these top sets, from the matrix of chances."""
    api = TopicsApi(top=_TOP, noise=float(noise))
    rows = np.full((len(sets), api.topics), api.q_out)
    for row, topics in zip(rows, sets, strict=True):
        row[topics] = api.q_in
    return multiplicative_leakage(rows)


def people_with(held: int, top: int = _TOP) -> list[list[int]]:
    """The fewest people who hold so many topics between them, and one who holds none of his own."""
    # The last set is filled up with the first topics, so that every set is full.
    rounds = [[(start + place) % held for place in range(top)] for start in range(0, held, top)]
    return [*rounds, rounds[0]]


def _row(noise: Fraction, said: str) -> Row:
    ours = closed_form(noise, held=HELD)
    return Row(
        where="Multiplicative Bayes leakage of the Topics API, one answer, uniform prior",
        what=(
            f"Factor by which one answer raises the chance to name the user; {HELD} topics are in "
            f"somebody's top {_TOP}; {float(noise):.0%} of the answers are random"
        ),
        published=said,
        ours=Estimate.computed(float(ours)),
        unit="",
        mark=exact(Fraction(said), ours),
        why=(
            f"{HELD} (1-p)/{_TOP} + p in fractions is {ours}. It needs the number of topics, "
            "and nothing else about the people."
        ),
    )


def _by_matrix() -> Row:
    noise = _PUBLISHED[0][0]
    found = leakage_of(people_with(HELD), noise)
    form = float(closed_form(noise, held=HELD))
    return Row(
        where="The same, from the definition",
        what="The closed form equals the sum of the column maxima of the matrix of chances",
        published=_PUBLISHED[0][1],
        ours=Estimate.computed(found),
        unit="",
        mark=claimed(holds=abs(found - form) <= _CLOSE * form),
        why=(
            f"Computed by `theory.multiplicative_leakage` for {len(people_with(HELD))} people of "
            f"ours who hold {HELD} of 349 topics; other people with as many topics give the same."
        ),
    )
