"""Jha and others: Hamming attacks on rebuilt personas over ten and thirty weeks.

The authors recorded 268 people and publish how often each visited each of 349 topics in a week.
From these rates they make personas in two ways. I.I.D. personas visit a number of topics drawn from
the recorded numbers; which ones is drawn by how many people visit each; a topic is then visited at
the mean rate of those who visit it. Crossover personas take each rate from one of two recorded
people. Weekly visits are Poisson, the five topics with the most visits are the top set, ties go by
chance, and so do places that are still free. Two sites see one topic a week.

The 268 x 349 rates are public, but carry no licence, so they are not shipped; with the file
`jha` both kinds of personas are made from them. Without it, I.I.D. personas are made from marginals
of our choice, see `stand_in`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks import Attack, Hamming, Repetition, WeightedHamming
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.releases import TopicsApi
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, apart, measured
from reidrisk.reproduction.given_sets import GivenSets
from reidrisk.risk import fitted

TITLE = "A thousand visitors of two sites (Jha, Trevisan, Leonardi and Mellia)"
SOURCE = (
    "N. Jha, M. Trevisan, E. Leonardi and M. Mellia, On the Robustness of Topics API to a "
    "Re-Identification Attack, PoPETs 2023, and their simulator, "
    "github.com/nikhiljha95/topics-api-simulator"
)

_FILE = "jha"
"""The name of the authors' `lambda-user-topic.csv` among the files of a scale."""

USERS, TOPICS, TOP = 1000, 349, 5
_API = TopicsApi(topics=TOPICS, top=TOP, noise=0.05)
_EPOCHS = (10, 30)
PUBLISHED = {
    (Hamming.name, 10): 0.100,
    (WeightedHamming.name, 10): 0.165,
    (Hamming.name, 30): 0.222,
    (WeightedHamming.name, 30): 0.370,
}
_ROUNDING = 0.0005

_TOPICS_OF_ONE = (5, 200)
"""How many topics a persona visits, at least and at most, without the authors' file."""

RUNS = {"laptop": 3, "full": 10}
"""How many populations are made; the authors report means of ten."""

Rates = NDArray[np.float64]
Personas = Callable[[np.random.Generator], Rates]
_Attacked = Mapping[tuple[str, int], Estimate]

_CANDIDATES = (
    "An earlier version of the authors' simulator draws its guess also from candidates that were "
    "beaten later, which lowers the rate; the last one does not. Which one gave the figures is not "
    "said."
)
_MAYBE = "perhaps the published figure is of the other kind of personas, or of an older simulator."
_HEADER = "The authors' notebook takes the first row of rates for a header, so one person is lost."


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """Attack personas from the authors' rates if they are given, else from rates of ours."""
    path = scale.files.get(_FILE)
    if path is None:
        attack = cache(partial(_attacked, stand_in, scale))
        yield ChapterStep(
            "personas, rebuilt", lambda: (*_rows(attack(), _STAND_IN), _repetition(attack()))
        )
        yield ChapterStep("personas of the authors", lambda: (_NO_FILE,))
        return
    read = cache(partial(read_rates, path))
    for kind, make in (("I.I.D.", iid), ("crossover", crossover)):
        yield ChapterStep(f"{kind} personas", partial(_from_file, kind, make, read, scale))


def stand_in(rng: np.random.Generator) -> Rates:
    """I.I.D. personas by marginals of ours, users x topics.

    A persona visits 5 to 200 topics, every number as likely. Which ones is drawn by popularity, the
    t-th by weight 1/t. Rates are log-normal with median 5 a week and a spread of 1, the same for
    all who visit the topic, and independent of its popularity.
    """
    counts = rng.integers(_TOPICS_OF_ONE[0], _TOPICS_OF_ONE[1] + 1, USERS)
    return np.where(chosen(1 / np.arange(1, TOPICS + 1), counts, rng), stand_in_rates(), 0.0)


def stand_in_rates() -> Rates:
    """Weekly visits of those who visit a topic; drawn once, for all runs and seeds."""
    rates: Rates = 5 * np.exp(np.random.default_rng(20230407).standard_normal(TOPICS))
    return rates


def iid(recorded: Rates, rng: np.random.Generator) -> Rates:
    """Personas from the marginals of recorded people, as the authors make them.

    Numbers of topics are drawn from a histogram of ten bins, evenly within a bin.
    """
    visited = recorded > 0
    people, edges = np.histogram(visited.sum(axis=1))
    edges = edges.astype(np.int64)  # cut to whole numbers, as theirs
    bins = rng.choice(len(people), size=USERS, p=people / people.sum())
    # A bin whose edges are cut to the same number still holds that number.
    counts = rng.integers(edges[bins], np.maximum(edges[bins + 1], edges[bins] + 1))
    visitors = visited.sum(axis=0)
    mean = recorded.sum(axis=0) / np.maximum(visitors, 1)
    return np.where(chosen(visitors.astype(np.float64), counts, rng), mean, 0.0)


def crossover(recorded: Rates, rng: np.random.Generator) -> Rates:
    """Personas whose rate of each topic is that of one of two recorded people."""
    one, other = (recorded[rng.integers(0, len(recorded), USERS)] for _ in range(2))
    return np.where(rng.integers(0, 2, one.shape) > 0, one, other)


def weekly_sets(rates: Rates, epochs: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The most visited topics of each week, ties at random: users x epochs x top."""
    sets = np.empty((len(rates), epochs, TOP), np.int32)
    for epoch in range(epochs):
        # Draws below 1 put topics with as many visits in random order, and those with none as well.
        visits = rng.poisson(rates) + rng.random(rates.shape)
        sets[:, epoch] = np.argpartition(visits, -TOP, axis=1)[:, -TOP:]
    return sets


def read_rates(path: Path) -> Rates:
    """The authors' file: a line for each person, 349 rates between commas, no header."""
    try:
        rates: Rates = np.loadtxt(path, delimiter=",", ndmin=2)
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not a table of numbers between commas; {_FILE} takes the authors' "
            "lambda-user-topic.csv as it is",
            code="wrong-authors-file",
        ) from error
    if rates.shape[1] != TOPICS or not len(rates):
        raise InvalidInput(
            f"{path} has {len(rates)} rows of {rates.shape[1]} numbers; {_FILE} takes "
            f"{TOPICS} rates a row, the authors' lambda-user-topic.csv as it is",
            code="wrong-authors-file",
        )
    bad = np.argwhere(~((rates >= 0) & np.isfinite(rates)))
    if len(bad):
        raise InvalidInput(
            f"{path}, row {bad[0, 0] + 1}, column {bad[0, 1] + 1}: a rate is a number of visits, "
            "0 or more",
            code="wrong-authors-file",
        )
    return rates


def chosen(weights: Rates, counts: NDArray[np.int64], rng: np.random.Generator) -> Any:
    """For each persona, so many topics drawn one by one without replacement, by weight.

    Those with the least waiting times, exponential with the weights as rates.
    """
    counts = np.minimum(counts, np.count_nonzero(weights))
    with np.errstate(divide="ignore"):  # a topic without weight is waited for in vain
        waiting = rng.exponential(size=(len(counts), len(weights))) / weights
    return waiting.argsort(axis=1).argsort(axis=1) < counts[:, None]


def _attacked(make: Personas, scale: Scale) -> _Attacked:
    """Share named by each attack after so many epochs, over all runs."""
    engine = LocalEngine()
    attacks: tuple[Attack, ...] = (Hamming(), WeightedHamming(_API), Repetition())
    earned: dict[tuple[str, int], list[Rates]] = {
        (attack.name, epochs): [] for attack in attacks for epochs in _EPOCHS
    }
    for run in range(RUNS[scale.name]):
        rng = np.random.default_rng([scale.seed, run])
        people = GivenSets(weekly_sets(make(rng), max(_EPOCHS), rng), TOPICS)
        seen = _API.observe(people, seed=scale.seed + run)
        found = engine.curves(seen, [fitted(one, seen).score for one in attacks], _EPOCHS)
        for attack, curve in zip(attacks, found, strict=True):
            for epochs, matches in curve.items():
                earned[attack.name, epochs].append(matches.credit)
    return {key: mean_of_credits(np.concatenate(each)) for key, each in earned.items()}


_STAND_IN = (
    "I.I.D. personas whose marginals are ours: 5 to 200 topics each, popularity 1/rank, log-normal "
    "rates with median 5 a week and spread 1. They were chosen after about a hundred trials "
    "because all four published figures come near, so agreement shows no more than that such "
    "people may give such figures."
)


def _rows(attacked: _Attacked, whose: str, *, kind: str = "") -> tuple[Row, ...]:
    return tuple(
        _row(name, epochs, attacked[name, epochs], whose, kind) for name, epochs in PUBLISHED
    )


def _row(name: str, epochs: int, ours: Estimate, whose: str, kind: str) -> Row:
    published = PUBLISHED[name, epochs]
    mark = measured(published, ours, rounding=_ROUNDING, calibrated=not kind)
    weighted = "Weighted" if name == WeightedHamming.name else "Unweighted"
    return Row(
        where=f"{weighted} Hamming attack, {epochs} epochs{kind}",
        what=(
            f"Share of {USERS:,} visitors of one site who are named among those of another; "
            "p = 0.05, top 5"
        ),
        published=f"{published:.3f}",
        ours=ours,
        unit="%",
        mark=mark,
        why=(
            f"{ours.trials:,} visitors attacked, ties counted. {whose}"
            + apart(
                published, ours, mark, "the personas are not the authors'." if not kind else _MAYBE
            )
        ),
        slip=f"{_CANDIDATES} {_HEADER}" if kind else _CANDIDATES,
    )


def _repetition(attacked: _Attacked) -> Row:
    ours = attacked[Repetition.name, max(_EPOCHS)]
    return Row(
        where="Profiles without what was seen once",
        what=(
            f"Share named after {max(_EPOCHS)} epochs by `repetition`, which counts how often "
            "topics came and does not look at the weeks"
        ),
        published="only in figures, for other rules of matching",
        ours=ours,
        unit="%",
        mark="added here",
        why=f"On the same {ours.trials:,} rebuilt visitors. {_STAND_IN}",
    )


def _from_file(
    kind: str,
    make: Callable[[Rates, np.random.Generator], Rates],
    read: Callable[[], Rates],
    scale: Scale,
) -> tuple[Row, ...]:
    recorded = read()
    whose = (
        f"{kind} personas from the rates of the {len(recorded)} people in the authors' file. The "
        "figures do not say of which personas they are."
    )
    attacked = _attacked(partial(make, recorded), scale)
    return _rows(attacked, whose, kind=f", {kind} personas")


_NO_FILE = Row(
    where="The same, on personas from the recorded people",
    what="The four shares above, on I.I.D. and on crossover personas",
    published="0.100, 0.165, 0.222, 0.370",
    ours=None,
    unit="%",
    mark="not run",
    why=(
        "The recorded rates are public, but carry no licence, so they are not shipped. Give the "
        f"authors' lambda-user-topic.csv with --file {_FILE}=PATH."
    ),
)
