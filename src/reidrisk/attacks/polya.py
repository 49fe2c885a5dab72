"""Attack: the chance that the known row's tastes show the tokens of the anonymous one.

References:
    T. Minka, Estimating a Dirichlet distribution, 2000: the Pólya distribution and its fit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.bag_tables import tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import View, check_needs
from reidrisk.core.rows import Kind, token_rows
from reidrisk.scores.polya import (
    MOST_TIMES,
    PolyaChances,
    add_chances,
    empty_slots,
    shown_tokens,
)

Floats = NDArray[np.float64]

_UNHELD = 0.01  # of a holder: what a token is taken to have that nobody holds
_EXACT, _STEPS = 256, 32
"""More holders than this are rounded, to so many steps from one power of 2 to the next."""

_LEAST, _MOST = np.log(0.1), np.log(1e4)  # balls of all tokens together, and of gaps
_FADES = (1, 2, 3, 4, 6, 8, 12, 16)
_SCALE, _STEPS_OF_SCALE = 2.0**0.5, 8  # of all balls, up or down
_TARGETS, _ROWS = 500, 10_000
"""Rows by which changing tastes are judged: more would hardly change the choice."""


@dataclass(frozen=True, slots=True)
class Polya:
    """Guess the user whose tastes are most likely to show these tokens, as often as they came.

    A user draws from an urn that holds what the known row does, as often as it came, and some balls
    of what everybody likes. How many these are is fitted to the rows themselves: the more often
    tokens come again in a row, the fewer. How much tastes change from one side to the other is
    fitted too, without the truth: the choice is the one under which the anonymous rows are most
    likely, if each is of some known user.

    Example:
        >>> random = np.random.default_rng(1)
        >>> tastes = random.dirichlet(np.full(50, 0.1), 200)
        >>> known, shown = (
        ...     np.array([random.choice(50, 6, p=one) for one in tastes]) for _ in range(2)
        ... )
        >>> seen = rr.Observations(known, shown, np.arange(200), tokens=50)
        >>> attacks = (rr.Overlap(), rr.attacks.Polya())
        >>> [round(rr.measure(seen, attack)[6].value, 2) for attack in attacks]
        [0.34, 0.45]
    """

    name: ClassVar[str] = "polya"
    knows: ClassVar[str] = "nothing but what both sides saw, and how often each token came"
    assumes: ClassVar[str] = (
        "Best if every user draws tokens from tastes of their own, independently, and tastes are "
        "spread around what is popular as a Dirichlet distribution says."
    )
    limits: ClassVar[str] = (
        "Ignores slots, but for how many are empty, times, and which tokens go together; where "
        "some do, it claims to be surer than it is. Learns how popular tokens are from both "
        "sides, so that bounds for one random user do not cover it."
    )
    cost: ClassVar[str] = (
        "Some ten to thirty searches of 500 anonymous rows to fit. The search compares every "
        "target with every known row."
    )
    source: ClassVar[str] = f"Not in {PAPER}: the Pólya distribution, fitted as Minka does, 2000."
    likelihood: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("anonymous",)
    uses: ClassVar[str] = "all rows"

    def fit(self, view: View) -> PolyaChances:
        """The urn, from what both sides hold."""
        check_needs(self, view)
        tables = tables_of(view, self.name)
        for side in tables:
            side.data = np.minimum(side.data, MOST_TIMES)
        prior = _popularity(tables.holders)
        prior *= _balls(tables.known, prior)
        gap = _gap_balls(view)
        random = np.random.default_rng(0)
        known, shown = (
            side[np.sort(random.permutation(side.shape[0])[:most])]
            for side, most in zip(tables, (_ROWS, _TARGETS), strict=True)
        )

        def likely(step: tuple[int, int]) -> float:
            fade, scale = _FADES[step[0]], _SCALE ** step[1]
            return _likelihood(PolyaChances(prior * scale, fade), known, shown)

        place, step = _climbed(likely)
        return PolyaChances(prior * _SCALE**step, _FADES[place], gap)


def _popularity(holders: NDArray[np.int64]) -> Floats:
    """Shares of tokens by how many rows hold them, in steps so that few are different."""
    rounded = np.exp2(np.rint(np.log2(np.maximum(holders, 1)) * _STEPS) / _STEPS)
    shares = np.where(holders < _EXACT, holders, rounded) + _UNHELD
    return np.asarray(shares / shares.sum())


def _balls(rows: Any, shares: Floats) -> float:
    """How many balls make rows of counts most likely, with these shares of tokens."""
    from scipy.special import gammaln  # noqa: PLC0415  heavy, and few need it

    totals = np.asarray(rows.sum(axis=1)).ravel()
    # Equal terms are added once, times how often they come, so that no order of rows matters.
    pairs, often = np.unique(
        np.stack([shares[rows.indices], rows.data]), axis=1, return_counts=True
    )
    lengths, users = np.unique(totals, return_counts=True)

    def nats(log_balls: float) -> float:
        balls = np.exp(log_balls)
        own, counts = balls * pairs[0], pairs[1]
        tokens = often @ (gammaln(own + counts) - gammaln(own))
        return float(tokens - users @ (gammaln(balls + lengths) - gammaln(balls)))

    return float(np.exp(_best(nats)))


def _gap_balls(view: View) -> tuple[float, float] | None:
    """Balls for empty slots and others; None where no slot is ever empty."""
    known = token_rows(view.known)
    if known.kind is Kind.BAGS:
        return None
    sides = (known.block(0, known.users), np.asarray(view.anonymous))
    empty = np.concatenate([empty_slots(rows) for rows in sides])
    if not empty.any():
        return None
    from scipy.special import betaln  # noqa: PLC0415  heavy, and few need it

    share = (empty.sum() + 0.5) / (empty.size * view.slots + 1)
    gaps, users = np.unique(empty, return_counts=True)

    def nats(log_balls: float) -> float:
        own = np.exp(log_balls) * np.array([share, 1 - share])
        return float(users @ (betaln(own[0] + gaps, own[1] + view.slots - gaps) - betaln(*own)))

    balls = float(np.exp(_best(nats)))
    return balls * share, balls * (1 - share)


def _best(nats: Any) -> float:
    """Where a function with one peak is largest, among logarithms of balls."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  heavy, and few need it

    found = minimize_scalar(lambda one: -nats(one), bounds=(_LEAST, _MOST), method="bounded")
    return float(found.x)


def _climbed(likely: Callable[[tuple[int, int]], float]) -> tuple[int, int]:
    """The best place of `_FADES` and the best step of the scale, climbing from (0, 0)."""
    found: dict[tuple[int, int], float] = {}
    here, before = (0, 0), None
    while here != before:
        before = here
        near = [(here[0] + fade, here[1] + scale) for fade in (-1, 0, 1) for scale in (-1, 0, 1)]
        for one in near:
            if one not in found and one[0] in range(len(_FADES)) and abs(one[1]) <= _STEPS_OF_SCALE:
                found[one] = likely(one)
        # Where several are as likely, the first is taken that was looked at.
        here = max(found, key=lambda one: found[one])
    return here


def _likelihood(score: PolyaChances, known: Any, shown: Any) -> float:
    """Logarithm of the chance of anonymous rows, if each is of a random known user."""
    none = np.zeros(shown.shape[0], np.int64)
    rows = shown_tokens(score, shown, none, 1, int(known.sum(axis=1).max()))
    peaks, sums = np.full(len(none), -np.inf), np.zeros(len(none))
    gaps = np.zeros(known.shape[0], np.int64)
    starts = known.indptr.astype(np.int64)
    add_chances(known.indices, known.data, starts, gaps, rows, peaks, sums)
    return float((peaks + np.log(sums)).sum())
