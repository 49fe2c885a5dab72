"""The best that any attacker with this knowledge can do, under a model.  Paper: section 4."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.attack import View
from reidrisk.engines import LocalEngine
from reidrisk.estimates import Estimate
from reidrisk.observations import SETS, Observations
from reidrisk.risk.engine import Engine, one_length
from reidrisk.risk.fitting import Subject, attack_of, fitted
from reidrisk.risk.models import drawn, proper
from reidrisk.risk.posteriors import believed, check_likelihood
from reidrisk.scores import GRID, Score
from reidrisk.scores.type_mixture import TypeMixture

MOST_OUTCOMES = 250_000
_CHECKED_ROWS = 20
_TOLERANCE = 1e-6


def optimum(
    seen: Observations,
    model: Subject,
    *,
    view: View | None = None,
    slots: int | None = None,
    engine: Engine | None = None,
    level: float = 0.95,
) -> Estimate:
    """How often the best attacker is right who knows the known rows, if the model is true.

    This is `sum_o max_i E[P[i,o] given W] / n`, W the known rows. Where the outcomes o can be gone
    through (one or two slots of a few hundred tokens), it is exact. Beyond, outcomes are drawn
    from the model, each for the user of one target; the mean of the posterior of the best guess
    is unbiased. Models that cannot be drawn from (full information, scores of others) take the
    targets' own rows, which is the same if the model is true.

    It is a ceiling only within the model: an attacker who knows more of the population may exceed
    it. `posterior(...).calibration` tells whether the model fits.

    Args:
        seen: Known rows, and targets drawn at random from their users.
        model: An attack whose score is a likelihood.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.
    """
    check_likelihood(attack_of(model))
    length = one_length(seen, slots)
    engine = LocalEngine() if engine is None else engine
    score, short = fitted(model, seen, view).score, seen.prefix(length)
    if seen.complete or isinstance(score, TypeMixture):
        score = proper(score)
        if seen.complete and seen.tokens**length <= MOST_OUTCOMES:
            value = _by_enumeration(short, score, engine)
            if value is not None:
                trials = seen.tokens**length
                return Estimate(value, value, value, 1.0, trials, "exact, all outcomes")
        short = drawn(score, short) or short
    found = believed(attack_of(model).name, short, score, engine, level)
    return replace(found.mean_claim, method=f"{found.mean_claim.method}, mean posterior")


def _by_enumeration(seen: Observations, score: Score, engine: Engine) -> float | None:
    """The sum over all outcomes, or None if the score is not the logarithm of a distribution."""
    outcomes = np.indices((seen.tokens,) * seen.slots).reshape(seen.slots, -1).T
    known = _different(seen)
    for row in known[:: max(1, len(known) // _CHECKED_ROWS)]:
        same = np.broadcast_to(row, (len(outcomes), *row.shape))
        if abs(np.exp(score.of(same, outcomes) / GRID).sum() - 1) > _TOLERANCE:
            return None
    nobody = np.zeros(len(outcomes), np.int64)
    everything = Observations(known, outcomes, nobody, tokens=seen.tokens)
    best = engine.search(everything, score).best
    return math.fsum(np.exp(best / GRID)) / seen.users


def _different(seen: Observations) -> NDArray[np.integer]:
    """The known rows, single tokens each once: a maximum needs no more."""
    if seen.known.ndim == SETS:
        return seen.known
    codes = np.zeros(len(seen.known), np.int64)
    for column in seen.known.T:
        codes = codes * seen.tokens + column
    _, first = np.unique(codes, return_index=True)
    return seen.known[first]
