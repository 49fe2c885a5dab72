"""How risk falls with the size of the crowd."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.attack import View
from reidrisk.checks import whole_number
from reidrisk.engines import LocalEngine
from reidrisk.engines.truth import true_scores
from reidrisk.errors import InvalidInput
from reidrisk.estimates import mean_of_credits
from reidrisk.matches import Matches
from reidrisk.observations import Observations
from reidrisk.randomness import uniforms
from reidrisk.risk.assessing import assessable
from reidrisk.risk.curves import SizeCurve
from reidrisk.risk.engine import Engine, Floats, one_length
from reidrisk.risk.fitting import Subject, attack_of, fitted


def measure_sizes(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    users: Sequence[int],
    slots: int | None = None,
    engine: Engine | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> SizeCurve:
    """Measure an attack among fewer users.

    The crowds are nested: each is the first users in one random order; a target's true user takes
    the place of the last of them if it is not among them. So every target counts at every size.
    The attack is fitted once, on all users.

    Args:
        seen: Who is compared with whom.
        attack: How.
        users: Sizes of the crowd.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.
        seed: Of the random order.
    """
    length = one_length(seen, slots)
    sizes = sorted({whole_number("users", size, least=1) for size in users})
    if not sizes or sizes[-1] > seen.known.users:
        raise InvalidInput(
            f"users are sizes of a crowd, numbers from 1 to {seen.known.users}; got {list(users)}"
        )
    engine = LocalEngine() if engine is None else engine
    score, seen = fitted(attack, seen, view).score, seen.prefix(length)
    assessed = assessable(seen)
    truth = true_scores(seen, score)
    crowd = _in_random_order(seen, sizes[-1], seed)
    points, found, done = {}, None, 0
    for size in sizes:
        # The last of a crowd is searched alone: it makes room for a true user from outside.
        if done < size - 1:
            found = _merged(found, engine.search(crowd.shard(done, size - 1), score))
        others, done = found, size
        found = _merged(found, engine.search(crowd.shard(size - 1, size), score))
        inside = np.where(truth == found.best, 1 / found.ties, 0.0)
        credit = np.where(crowd.truth < size, inside, _as_one_more(truth, others))
        points[size] = mean_of_credits(credit[assessed], level=level)
    return SizeCurve(attack_of(attack).name, points, length, int((~assessed).sum()))


def _in_random_order(seen: Observations, users: int, seed: int) -> Observations:
    """The first users in an order by hash of their rows; targets may lie outside."""
    everyone = np.arange(seen.known.users)
    hashes = uniforms(seed=seed, purpose="risk/crowd", users=everyone, count=1)[:, 0]
    order = np.argsort(hashes, kind="stable")
    place = np.empty_like(order)
    place[order] = everyone
    return Observations(
        seen.known.select(order[:users]),
        seen.anonymous,
        place[seen.truth],
        tokens=seen.tokens,
        users=len(everyone),
    )


def _merged(found: Matches | None, more: Matches) -> Matches:
    return more if found is None else found.merge(more)


def _as_one_more(truth: NDArray[np.int64], others: Matches | None) -> Floats:
    """Credit of a true user who joins others, with these scores."""
    if others is None:
        return np.ones(len(truth))
    tied = np.where(truth == others.best, 1 / (others.ties + 1), 0.0)
    return np.where(truth > others.best, 1.0, tied)
