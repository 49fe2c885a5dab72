"""Bound: the sampled envelope of what noise makes of the vectors of all users.

For every `g >= 0`, `int max_i p_i <= int g + sum_i int (p_i - g)_+`. With `g = lambda Q`, for a law
Q that integrates to at most 1, the best attacker is right in at most
`lambda/n + mean_i E_{o ~ p_i} (1 - lambda Q(o) / p_i(o))_+`. The second term is a mean over random
users and draws, so it is sampled. Proof: `docs/concepts/noise-bounds.md`.
"""

import math
from dataclasses import replace

import numpy as np

from reidrisk.core.matrix_products import one_blas_thread
from reidrisk.estimates import Bound, Estimate, mean_of_numbers
from reidrisk.risk.bounds.fitted_laws import fitted_laws
from reidrisk.risk.bounds.noisy_vectors import Floats, NoisyVectors
from reidrisk.risk.bounds.protocol import (
    ANYONE,
    AS_IT_SAYS,
    AS_LIKELY,
    NOT_COVERED,
    RANDOM_USER,
    WHICHEVER,
    Setting,
    ThreatModel,
)
from reidrisk.risk.bounds.vector_draws import VectorDraws

_CHOOSING, _JUDGING = 1 << 12, 1 << 16
"""Draws by which the law and lambda are chosen, and those on which they are judged."""

_NUMBERS = 1 << 22
"""Numbers of all draws on which they are judged, at most: fewer draws of long vectors."""

_LAMBDAS = 400
_OUTWARD = 1 + 1e-9
"""Laws integrate to 1, but for rounding."""

ABOUT = ThreatModel(
    figures=("envelope",),
    side="upper",
    knows="the vector that noise is added to of every user",
    needs=("release", "people", "seed"),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=f"{RANDOM_USER} {WHICHEVER}",
    holds_for=f"{ANYONE}, whatever else is known",
    limits=(
        "Sampled, so it holds with the confidence of its interval. It is as good as the law that "
        "is fitted to the people: one cloud, or a mixture of several. Left out where some targets "
        f"are shown nothing. {NOT_COVERED}"
    ),
    cost=(
        f"Rates at most {_CHOOSING + _JUDGING:,} draws by laws fitted to some of the users, "
        "however many there are."
    ),
    source=(
        "Verdu and Han 1994 (information spectrum), as a bound by one inequality; "
        "Waudby-Smith and Ramdas 2023 (interval)."
    ),
)


def bound(setting: Setting) -> Bound | None:
    """How often anybody can be right, by how far users stand out from a law fitted to all.

    Laws are fitted to the people before anything is drawn. Which of them and lambda are chosen on
    some of the draws and judged on the others.
    """
    if setting.seed is None or not setting.noisy_vectors:
        return None
    with one_blas_thread():  # matrices are small, and more threads would wait for each other
        found = [
            _envelope(part, seed=setting.seed, level=setting.level)
            for part in setting.noisy_vectors
        ]
    best = max(found, key=lambda one: one.high)
    sentence = f"For {ABOUT.holds_for}: by a law fitted to the vectors and their noise."
    return Bound(ABOUT.figure, ABOUT.side, best, sentence)


def _envelope(vectors: NoisyVectors, *, seed: int, level: float) -> Estimate:
    judging = max(min(_JUDGING, _NUMBERS // (vectors.dimensions * vectors.draws)), 2)
    choosing = min(_CHOOSING, judging)
    drawn = VectorDraws.of(vectors, choosing + judging, seed=seed)
    first, second = drawn.part(0, choosing), drawn.part(choosing, choosing + judging)
    laws, own = fitted_laws(vectors), first.log_density
    leads = [own - law.log_density(first) for law in laws]
    _, log_lambda, place = min(
        (*_best_lambda(lead, vectors.users), place) for place, lead in enumerate(leads)
    )
    lead = second.log_density - laws[place].log_density(second)
    judged = mean_of_numbers(_excess(lead, log_lambda), level=level)
    base = math.exp(log_lambda) / vectors.users * _OUTWARD
    return replace(
        judged,
        value=min(base + judged.value, 1.0),
        low=min(base + judged.low, 1.0),
        high=min(base + judged.high, 1.0),
        method="betting, envelope",
    )


def _best_lambda(lead: Floats, users: int) -> tuple[float, float]:
    """The least envelope over some lambdas, and the logarithm of that lambda.

    Args:
        lead: Logarithm of p_i over Q at each draw.
        users: Number of users.
    """
    choices = np.linspace(0.0, math.log(users), _LAMBDAS)
    found = [math.exp(one) / users + float(_excess(lead, one).mean()) for one in choices]
    best = int(np.argmin(found))
    return found[best], float(choices[best])


def _excess(lead: Floats, log_lambda: float) -> Floats:
    """`(1 - lambda Q / p)_+` at each draw."""
    return np.asarray(-np.expm1(np.minimum(log_lambda - lead, 0.0)))
