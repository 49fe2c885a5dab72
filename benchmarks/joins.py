"""Two tables of 100,000 people, 6 columns, by equality: processor seconds, and ratios to all pairs.

One table is as a census: age, a skewed postcode, sex, education, occupation, month of birth. In the
other, surnames of 20,000 replace occupations; in the third, a twentieth of the cells of the census
are empty. All pairs are compared for a few of the targets, by the strategies that the plan takes
for small tables, and their time is scaled up; on those targets answers must be equal. Baskets of 20
items of 20,000 are compared with the product of two sparse matrices.
"""

import time

import numpy as np

from benchmarks.overlap import matrix, sparse_search
from benchmarks.tools import table
from benchmarks.worlds import draw, popularity
from reidrisk.attacks import LearnedPairs, Overlap, RarityOverlap, View
from reidrisk.core.matches import Wanted
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.engines import LocalEngine
from reidrisk.engines.encode import codes_of
from reidrisk.engines.histogram import gap_groups
from reidrisk.engines.strategies import bit_scan, joins, lanes

PEOPLE, FEW = 100_000, 1_000
CENSUS = ((90, 0.2), (5_000, 0.8), (2, 0.0), (16, 0.7), (50, 0.6), (12, 0.0))
SURNAMES = (*CENSUS[:4], (20_000, 0.7), CENSUS[5])
ITEMS, SIZE = 20_000, 20


def census(columns=CENSUS, *, gaps=0.0, same=0.85):
    """Two tables: how many values each column has, and the exponent of their popularity."""
    random = np.random.default_rng(1)
    sides = [
        np.stack([draw(random, PEOPLE, popularity(*each)).astype(np.int32) for each in columns], 1)
        for _ in range(2)
    ]
    first = np.cumsum([0, *(size for size, _ in columns[:-1])], dtype=np.int32)
    known, shown = (side + first for side in sides)
    truth = random.permutation(PEOPLE)
    shown = np.where(random.random(shown.shape) < same, known[truth], shown)
    for rows in (known, shown):
        rows[random.random(rows.shape) < gaps] = -1
    return Observations(known, shown, truth, tokens=sum(size for size, _ in columns))


def baskets(same=0.5):
    """Two baskets of each person, half of the items alike."""
    random = np.random.default_rng(1)
    known, shown = (draw(random, (PEOPLE, SIZE), popularity(ITEMS, 1.0)) for _ in range(2))
    truth = random.permutation(PEOPLE)
    shown = np.where(random.random(shown.shape) < same, known[truth], shown)
    starts = np.arange(PEOPLE + 1) * SIZE
    sides = (BagRows.of(rows.ravel(), starts, tokens=ITEMS) for rows in (known, shown))
    return Observations(*sides, truth, tokens=ITEMS)


def processor(work):
    """Processor seconds of all threads, and the answer."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def warm(work, seen):
    """The same, after a call for a few targets, which may compile."""
    work(seen.only(slice(10)))
    return processor(lambda: work(seen))


def patterns(way, engine):
    """Counts of match patterns of a part of the targets by one strategy."""

    def count(seen):
        with engine.begin(1) as crew:
            groups = gap_groups(seen, crew)
            return way.count(seen, codes_of(seen), groups, crew)

    return count


def by_pairs(seen, score, engine):
    """Search and evidence of a few targets, all pairs compared: processor seconds and answers."""
    few = seen.only(slice(FEW))

    def search(some):
        with engine.begin(1) as crew:
            return bit_scan.search_normalised(some, score, Wanted(), crew)

    def evidence(some):
        with engine.begin(1) as crew:
            return bit_scan.evidence(some, score, crew)

    return [warm(each, few) for each in (search, evidence)]


def people(name, seen, engine):
    """Rows of the table for two tables of people."""
    score = LearnedPairs().fit(View.of(seen)).normalised()
    (slow, pairs), (slower, sums) = by_pairs(seen, score, engine)
    fast, found = warm(lambda some: engine.search(some, score), seen)
    faster, evidence = warm(lambda some: engine.evidence(some, score), seen)
    for field in ("best", "ties", "true_score", "above", "level"):
        np.testing.assert_array_equal(getattr(found, field)[:FEW], getattr(pairs, field))
    np.testing.assert_allclose(evidence[:FEW], sums, rtol=1e-9)
    few = seen.only(slice(FEW * 10))
    ours, counts = warm(patterns(joins, engine), few)
    theirs, expected = warm(patterns(lanes, engine), few)
    np.testing.assert_array_equal(counts, expected)
    scale = PEOPLE / FEW
    return [
        (f"{name}: patterns of {FEW * 10:,}", ours, "bits of targets", theirs, 1),
        (f"{name}: best of everybody", fast, "all pairs", slow * scale, 1 / 2),
        (f"{name}: evidence", faster, "all pairs", slower * scale, 1 / 10),
    ]


def shopping(engine):
    """Rows of the table for baskets."""
    seen, rows = baskets(), []
    for attack in (Overlap(), RarityOverlap(), RarityOverlap("support")):
        score = attack.fit(View.of(seen))
        ours, found = warm(lambda some, score=score: engine.search(some, score), seen)
        known, shown = matrix(seen.known, score.match), seen.anonymous[:FEW]
        shown = matrix(shown, np.ones(ITEMS, np.int64)).T
        theirs, (best, ties) = processor(lambda a=known, b=shown: sparse_search(a, b))
        np.testing.assert_array_equal(found.best[:FEW], best)
        np.testing.assert_array_equal(found.ties[:FEW], ties)
        name = getattr(attack, "weighting", "overlap")
        rows.append((f"baskets: {name}", ours, "scipy sparse", theirs * PEOPLE / FEW, 1 / 10))
    return rows


def main():
    engine = LocalEngine()
    rows = [
        *people("census", census(), engine),
        *people("surnames", census(SURNAMES), engine),
        *people("census with gaps", census(gaps=0.05), engine),
        *shopping(engine),
    ]
    table(f"{PEOPLE:,} x {PEOPLE:,} rows by equality, processor s", rows)
