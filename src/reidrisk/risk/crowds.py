"""Measure risk among fewer users, from ranks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reidrisk.attacks.protocol import View
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.estimates.crowds import credit_in_crowds, ranks_for
from reidrisk.risk._measure import Measured, measured
from reidrisk.risk.curves import SizeCurve
from reidrisk.risk.engine import Floats, SearchEngine, one_length
from reidrisk.risk.fitting import Subject

COUNTED_TO = ", ranks counted to "
"""In a method, before the rank up to which others were counted, if not to the end."""


def measure_sizes(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    users: Sequence[int],
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> SizeCurve:
    """Measure an attack among fewer users, by one search among all of them.

    A crowd is a target's true user and others, drawn at random from all known users. From how many
    of all rate above the truth, and how many level with it, the mean over all crowds of a size
    follows exactly: no crowd is drawn. The attack is fitted once, on all users.

    Where counting them all takes time, they are counted up to a rank at which somebody above is in
    the smallest crowd all but surely. What that leaves open, less than 0.01 % of a credit, is added
    to the upper end, and the method says so.

    Args:
        seen: Who is compared with whom.
        attack: How.
        users: Sizes of the crowd.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure_sizes(seen, rr.Hamming(), users=(10, 1_000)))
        hamming after 2 slots
          among            10 users: 28.5044% [25.3355%, 31.9288%] (95%, n=1,000)
          among         1,000 users: 2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
    """
    length = one_length(seen, slots)
    sizes = sorted({whole_number("users", size, least=1) for size in users})
    if not sizes or sizes[-1] > seen.known.users:
        raise InvalidInput(
            f"users are sizes of a crowd, numbers from 1 to {seen.known.users}; got {list(users)}",
            code="out-of-range",
        )
    ranks = ranks_for(seen.known.users, sizes)
    how = {"view": view, "slots": length, "engine": engine, "level": level}
    (found,) = measured(seen, [attack], ranks=ranks, **how)  # type: ignore[arg-type]
    return size_curve(found, sizes)


def size_curve(found: Measured, sizes: Sequence[int]) -> SizeCurve:
    """What was found among all users as a curve over smaller crowds.

    Args:
        found: Searched with `ranks_for` these sizes.
        sizes: Of the crowds, ascending.
    """
    matches, everyone = found.matches, found.curve.users
    # Those who were not counted to the end have this rank at least, and this credit at most.
    beyond = (
        np.zeros(len(matches), bool) if matches.ranks is None else matches.above >= matches.ranks
    )
    credits_ = [credit_in_crowds(matches.above, matches.level, everyone, size) for size in sizes]
    points = {
        size: _between(found, np.where(beyond & (size > 1), 0.0, credit), credit)
        for size, credit in zip(sizes, credits_, strict=True)
    }
    correlation = _correlation([credit[found.assessed] for credit in credits_])
    return SizeCurve(found.name, points, found.slots, found.not_assessed, correlation)


def _between(found: Measured, least: Floats, most: Floats) -> Estimate:
    """An interval for what lies between two credits of each target."""
    estimate = found.mean_of(least)
    high = found.mean_of(most).high if (least < most).any() else estimate.high
    if high == estimate.high:
        return estimate
    method = f"{estimate.method}{COUNTED_TO}{found.matches.ranks:,}"
    return replace(estimate, high=high, method=method)


def _correlation(credits_: Sequence[Floats]) -> tuple[tuple[float, ...], ...]:
    """How means at different sizes err together; what does not vary goes with nothing."""
    deviations = np.array([credit - credit.mean() for credit in credits_])
    lengths = np.sqrt((deviations**2).sum(axis=1))
    units = deviations / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = np.clip(units @ units.T, -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return tuple(tuple(row) for row in found.tolist())
