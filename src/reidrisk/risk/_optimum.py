"""The best that any attacker with given knowledge can do, under a model.

Paper: section 4.
"""

import math
import operator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.mapreduce import Blocks, over_rows, unit
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.rows import Kind, Rows, TokenRows, smallest_type
from reidrisk.engines import LocalEngine
from reidrisk.estimates import Estimate
from reidrisk.risk._posterior import believed, check_likelihood
from reidrisk.risk.arguments import SearchEngine, Subject, attack_of, fitted, one_length
from reidrisk.risk.eligibility import UserSubset, among, assessable
from reidrisk.scores import GRID, Distribution, normalised
from reidrisk.scores.protocol import in_units

MOST_OUTCOMES = 250_000
"""Outcomes up to which the optimum is exact; beyond it is a mean over sampled ones."""

Counts: TypeAlias = NDArray[np.int64]
Distinct: TypeAlias = tuple[Counts, Counts, Counts]


def optimum(
    seen: Observations,
    model: Subject,
    *,
    view: View | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> Estimate:
    """How often the best attacker is right who knows the known rows, if the model is true.

    This is `sum_o max_i E[P[i,o] given W] / n`, W the known rows (lemma 2). It is exact where all
    outcomes o can be enumerated: one or two slots of a few hundred tokens, and gaps where the model
    has chances for them. Beyond, outcomes are drawn from the model, one for the user of each
    target, and the mean posterior of the best guess is an unbiased estimate. Models that cannot be
    drawn from (scores of others that are no `Distribution`) use the targets' own rows, which has
    the same mean if the model is true.

    It is a ceiling only within the model: an attacker who knows more about the population may
    exceed it. `posterior(...).claims` tells whether the model fits.

    Args:
        seen: Known rows, and targets drawn at random from their users.
        model: An attack whose score is a likelihood.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> print(rr.optimum(seen, rr.WeightedHamming(api)))
        2.4936% [2.4936%, 2.4936%] (100%, n=1,600)
    """
    check_likelihood(attack_of(model))
    length = one_length(seen, slots)
    engine = LocalEngine() if engine is None else engine
    score, short = normalised(fitted(model, seen, view).score), seen.prefix(length)
    # As for attacks: targets of whom one side saw nothing are in no figure.
    short = among(short, UserSubset.of(short.known), assessable(short))
    if isinstance(score, Distribution):
        # A gap is one more symbol if the model has chances for it.
        outcomes = (seen.tokens + score.gaps) ** length
        if outcomes <= MOST_OUTCOMES:
            value = _by_enumeration(short, score, engine)
            return Estimate(value, value, value, 1.0, outcomes, "exact, all outcomes")
        short = _drawn(short, score)
    found = believed(attack_of(model).name, short, score, engine, level)
    return replace(found.mean_claim, method=f"{found.mean_claim.method}, mean posterior")


def _by_enumeration(seen: Observations, score: Distribution, engine: SearchEngine) -> float:
    """The sum over all outcomes that show something, divided by the expected number of them."""
    symbols = seen.tokens + score.gaps
    outcomes = np.indices((symbols,) * seen.slots).reshape(seen.slots, -1).T
    shown = np.where(outcomes == seen.tokens, MISSING, outcomes)
    # Whoever shows nothing is not assessed: left out of the sum here, of the denominator below.
    shown = shown[(shown != MISSING).any(axis=1)]
    # Equal rows have equal chances, so one of each is searched.
    known, count = _different(seen)
    # Only the best score is asked for, so any row may stand for the true one.
    nobody = np.zeros(len(shown), np.int64)
    everything = Observations(known, shown, nobody, tokens=seen.tokens)
    best = engine.search(everything, score).best
    targets = float(seen.users)
    if score.gaps:
        targets -= _showing_nothing(known, count, score)
    return math.fsum(np.exp(in_units(score, best))) / targets


def _drawn(seen: Observations, score: Distribution) -> Observations:
    """Observations in which targets show what the model draws for their users."""
    shown = score.sample(np.asarray(seen.true_rows), seed=0)
    rows = shown.astype(smallest_type(seen.tokens))
    return seen.changed(anonymous=TokenRows.checked(rows, tokens=seen.tokens))


def _different(seen: Observations) -> tuple[Rows, Counts | None]:
    """Distinct known rows and the number of users with each; rows of sets as they are, and None."""
    if seen.known.kind is not Kind.TOKENS:
        return seen.known, None
    units = (seen.tokens + 1) ** np.arange(seen.slots)
    _, first, count = over_rows(seen.known, partial(_distinct, units=units), _distinct_of_both)
    return seen.known.select(first), count


def _distinct(blocks: Blocks, *, units: Counts) -> Distinct:
    """The codes of the distinct rows of some blocks, the first row of each, and their counts."""
    found = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    for start, rows in blocks:
        codes = (rows.astype(np.int64) - MISSING) @ units
        different, first, count = np.unique(codes, return_index=True, return_counts=True)
        found = _distinct_of_both(found, (different, first + start, count))
    return found


def _distinct_of_both(some: Distinct, others: Distinct) -> Distinct:
    codes, firsts, counts = (np.concatenate(both) for both in zip(some, others, strict=True))
    different, place = np.unique(codes, return_inverse=True)
    first = np.full(len(different), np.iinfo(np.int64).max)
    count = np.zeros(len(different), np.int64)
    # The first row of all, in whatever order parts are merged.
    np.minimum.at(first, place, firsts)
    np.add.at(count, place, counts)
    return different, first, count


def _showing_nothing(known: Rows, count: Counts | None, score: Distribution) -> float:
    """Expected number of users who show nothing in any slot: figures leave them out."""
    parts = over_rows(
        known, partial(_nothing, count=count, score=score), operator.or_, step=unit(known.users)
    )
    # Added in the order of rows, whatever order threads finished in: the sum keeps its last bit.
    return float(sum(parts[start] for start in sorted(parts)))


def _nothing(blocks: Blocks, *, count: Counts | None, score: Distribution) -> dict[int, float]:
    parts = {}
    for start, rows in blocks:
        chances = np.exp(score.of(rows, np.full(rows.shape[1], MISSING)) / GRID)
        users = np.ones(len(rows)) if count is None else count[start : start + len(rows)]
        parts[start] = float(users @ chances)
    return parts
