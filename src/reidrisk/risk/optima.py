"""The best that any attacker with this knowledge can do, under a model.  Paper: section 4."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.attack import View
from reidrisk.engines import LocalEngine
from reidrisk.estimates import Estimate
from reidrisk.observations import MISSING, Observations
from reidrisk.risk.assessing import among, assessable, traced_of
from reidrisk.risk.engine import Engine, one_length
from reidrisk.risk.fitting import Subject, attack_of, fitted
from reidrisk.risk.posteriors import believed, check_likelihood
from reidrisk.rows import Kind, Rows, smallest_type
from reidrisk.scores import GRID, Distribution, normalised

MOST_OUTCOMES = 250_000


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
    through (one or two slots of a few hundred tokens, and gaps where the model has chances for
    them), it is exact. Beyond, outcomes are drawn from the model, each for the user of one target;
    the mean of the posterior of the best guess is unbiased. Models that cannot be drawn from
    (scores of others that are no `Distribution`) take the targets' own rows, which is the same if
    the model is true.

    It is a ceiling only within the model: an attacker who knows more of the population may exceed
    it. `posterior(...).claims` tells whether the model fits.

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
    score, short = normalised(fitted(model, seen, view).score), seen.prefix(length)
    # As for attacks: targets of whom one side saw nothing are in no figure.
    short = among(short, traced_of(short.known), assessable(short))
    if isinstance(score, Distribution):
        outcomes = (seen.tokens + score.gaps) ** length
        if outcomes <= MOST_OUTCOMES:
            value = _by_enumeration(short, score, engine)
            return Estimate(value, value, value, 1.0, outcomes, "exact, all outcomes")
        short = _drawn(short, score)
    found = believed(attack_of(model).name, short, score, engine, level)
    return replace(found.mean_claim, method=f"{found.mean_claim.method}, mean posterior")


def _by_enumeration(seen: Observations, score: Distribution, engine: Engine) -> float:
    """The sum over all outcomes but the one that shows nothing, as a share of these."""
    symbols = seen.tokens + score.gaps
    outcomes = np.indices((symbols,) * seen.slots).reshape(seen.slots, -1).T
    shown = np.where(outcomes == seen.tokens, MISSING, outcomes)
    shown = shown[(shown != MISSING).any(axis=1)]
    known, count = _different(seen)
    nobody = np.zeros(len(shown), np.int64)
    everything = Observations(known, shown, nobody, tokens=seen.tokens)
    best = engine.search(everything, score).best
    targets = float(seen.users)
    if score.gaps:
        nothing = np.full(seen.slots, MISSING)
        targets -= float(count @ np.exp(score.of(known.block(0, known.users), nothing) / GRID))
    return math.fsum(np.exp(best / GRID)) / targets


def _drawn(seen: Observations, score: Distribution) -> Observations:
    """What the model says the targets' users might have shown."""
    shown = score.sample(seen.true_rows, seed=0)
    return seen.changed(anonymous=shown.astype(smallest_type(seen.tokens)))


def _different(seen: Observations) -> tuple[Rows, NDArray[np.int64]]:
    """The known rows, single tokens each once, and how many users have each."""
    if seen.known.kind is not Kind.TOKENS:
        return seen.known, np.ones(seen.known.users, np.int64)
    rows = seen.known.block(0, seen.known.users).astype(np.int64)
    units = (seen.tokens + 1) ** np.arange(seen.slots)
    _, first, count = np.unique((rows - MISSING) @ units, return_index=True, return_counts=True)
    return seen.known.select(first), count
