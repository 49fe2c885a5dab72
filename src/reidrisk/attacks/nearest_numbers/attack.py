"""The attack that learns how exact columns are, and compares numbers and dates by it.

References:
    I. Fellegi and A. Sunter, A theory for record linkage, JASA 64, 1969.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.nearest_numbers.columns import RANKS, SUMS, Column, Noise, Pairs
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.core.mapreduce import rows_in_order
from reidrisk.core.observations import MISSING
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput
from reidrisk.learning.latent_types import sample_of_rows
from reidrisk.scores.compared_numbers import ComparedNumbers
from reidrisk.scores.protocol import GRID

Floats = NDArray[np.float64]

_TARGETS, _DRAWN, _ROUNDS = 250, 20, 16
"""Anonymous rows to learn from, known rows beside each, and how often it is done at most."""

_FIRST_SCALES, _FIRST_ROUNDS = (2, 4), 2
"""How exact columns may be at first, and for how many rounds each of these is tried."""

_CELLS, _FEWEST = 1 << 25, 50  # scores to learn from, and rows where there are very many known ones

_STRANGER = 0.05
"""An anonymous row is at least as likely as this beside a random one: it may be a stranger's."""

_SETTLED = 2e-3  # nats for each target


@dataclass(frozen=True, slots=True)
class NearestNumbers:
    """Guess the user whose numbers and dates are nearest, for how exact each column is.

    How far the numbers of one person are apart is learned column by column, without labels: at many
    scales at once, beside a share of values that are simply wrong. So is whether a column changes
    by sums, by factors or only keeps its order, so that another unit costs nothing. To be near a
    rare number counts more. Columns that hold no numbers are compared by equality.

    Example:
        >>> random = np.random.default_rng(1)
        >>> ages = random.integers(0, 100_000, (200, 2))
        >>> values = np.concatenate([ages, ages + random.integers(-99, 100, ages.shape)])
        >>> known = np.arange(400).reshape(200, 2)
        >>> seen = rr.Observations(known, known + 400, np.arange(200), tokens=800)
        >>> view = rr.attacks.View.of(seen, labels=values.ravel().astype(str).astype(object))
        >>> credit = rr.LocalEngine().credit(seen, rr.attacks.NearestNumbers().fit(view))
        >>> bool(credit.mean() > 0.9)
        True
    """

    name: ClassVar[str] = "nearest-numbers"
    knows: ClassVar[str] = (
        "nothing but the two tables, compares numbers and dates by how far they are apart, and "
        "learns from them how exact each column is"
    )
    assumes: ClassVar[str] = (
        "Close to best if columns hold numbers or dates, errors of different columns are "
        "independent, and everybody's values are as exact."
    )
    limits: ClassVar[str] = (
        "Compares names and codes by equality, so that one wrong letter is as bad as another name. "
        "Refuses sets, bags and vectors, which have no columns."
    )
    cost: ClassVar[str] = (
        "Learns from at most 250 anonymous rows, in up to 40 rounds. The search compares every "
        "target with every known row."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: Fellegi and Sunter's weights, 1969, for distances of numbers."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous", "labels")
    uses: ClassVar[str] = ALL_ROWS

    def fit(self, view: View) -> ComparedNumbers:
        """The score under which some anonymous rows are likeliest, if each is of a known user."""
        check_needs(self, view)
        if view.known.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{self.name} compares rows column by column, and known rows hold "
                f"{view.known.kind.value}; give one token for each slot",
                code="wrong-kind-of-rows",
            )
        shown = np.asarray(view.anonymous)
        known = rows_in_order(view.known)
        columns = [
            Column.of(known[:, at], shown[:, at], np.asarray(view.labels))
            for at in range(view.slots)
        ]
        targets = int(np.clip(_CELLS // len(known), _FEWEST, _TARGETS))
        some = sample_of_rows(view.anonymous, view.tokens, targets, 0)
        fits = []
        for way in (RANKS, SUMS):
            starts = [[Noise.of(one, way, scale) for one in columns] for scale in _FIRST_SCALES]
            tried = (_learned(start, known, some, _FIRST_ROUNDS) for start in starts)
            fits.append(_learned(max(tried, key=_evidence)[1], known, some, _ROUNDS))
        best = max(fits, key=_evidence)[1]
        return ComparedNumbers([noise.slot(noise.column.shown) for noise in best])


def _evidence(fit: tuple[float, Sequence[Noise]]) -> float:
    return fit[0]


def _learned(
    noises: Sequence[Noise], known: NDArray[Any], shown: NDArray[Any], rounds: int
) -> tuple[float, Sequence[Noise]]:
    """The noise of all columns under which anonymous rows are likeliest, and how likely.

    Args:
        noises: What is assumed at first.
        known: Known rows.
        shown: Some anonymous rows.
        rounds: How often they are learned from at most.
    """
    best = (-np.inf, noises)
    for _ in range(rounds):
        evidence, pairs = _compared(noises, known, shown)
        settled = evidence <= best[0] + _SETTLED
        best = max(best, (evidence, noises), key=_evidence)
        if settled:
            break
        noises = [noise.learned(pairs, at) for at, noise in enumerate(noises)]
    return best


def _compared(
    noises: Sequence[Noise], known: NDArray[Any], shown: NDArray[Any]
) -> tuple[float, Pairs]:
    """How likely some anonymous rows are, in nats each, and pairs, drawn by how likely they are."""
    scores = np.zeros((len(shown), len(known)), np.int64)
    for at, noise in enumerate(noises):
        met, place = np.unique(shown[:, at], return_inverse=True)
        score = ComparedNumbers([noise.slot(met[met != MISSING])])
        scores += np.stack([score.of(known[:, at : at + 1], one) for one in met[:, None]])[place]
    drawn, nats = [], []
    for row in scores:
        likely = np.cumsum(np.exp(row / GRID))
        # Spread evenly over what is likely, so that each stands for as much.
        places = (np.arange(_DRAWN) + 0.5) / _DRAWN * likely[-1]
        drawn.append(np.searchsorted(likely, places))
        nats.append(np.log(max(likely[-1] / len(known), _STRANGER)))
    pairs = Pairs(known[np.concatenate(drawn)], np.repeat(shown, _DRAWN, axis=0))
    return float(np.mean(nats)), pairs
