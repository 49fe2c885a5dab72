"""Analysis: what noise on vectors buys, at several scales."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from reidrisk import risk, theory
from reidrisk.core.digest import IF_SET
from reidrisk.core.ranges import Amount, Share
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Estimate
from reidrisk.releases.parameters import parameters_of
from reidrisk.releases.protocol import AddsNoise, name_of
from reidrisk.study.analyses.bounds import FULL, setting_of
from reidrisk.study.analyses.protocol import Part, Step, need_people, release_that
from reidrisk.study.analyses.risks import Risk, credits_of, risks_of
from reidrisk.study.analyses.strongest import Strongest, strongest_of
from reidrisk.study.analyses.sweeps import changed, vary
from reidrisk.study.text.attacks import Remedy

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.result import Result
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 95

DELTA = 1e-6
"""Chance with which the epsilon of Gaussian noise may fail."""

_SCALE, _CLIP = "scale", "clip"


@dataclass(frozen=True, kw_only=True)
class NoiseLevelSettings:
    """Levels of noise that are compared.

    Attributes:
        noise_levels: Scales of the noise that the release adds to vectors: for each of them, and
            for the study's own, what attacks find, what is possible and what is ruled out.
    """

    noise_levels: tuple[float, ...] = field(default=(), metadata={IF_SET: True})


@dataclass(frozen=True)
class NoiseLevel:
    """What noise of one scale buys: what is found, what is possible, and what is ruled out.

    Attributes:
        scale: Of the noise, in units of the vectors.
        slots: After how many.
        users: Among how many.
        mu: Length to which vectors are clipped, in scales of the noise of all that is shown: r
            fresh releases count `sqrt(r)` times if noise is Gaussian, else r times.
        epsilon: Of local differential privacy: how much replacing any vector, once it is clipped,
            by any other may change the chances of what is shown.
        delta: Chance with which epsilon may fail; 0 if it never does.
        attack: The strongest attack of those tried.
        uses: "one row", or "all rows" if it compared anonymous rows with each other, of which what
            is possible and proved does not speak.
        found: How often it is right, with an interval that pays for choosing it.
        possible: How often anybody can be right who knows all vectors and the noise, if that was
            computed.
        proved: The lowest of what is proved that no attacker exceeds, if anything is.
    """

    scale: Annotated[float, Amount]
    slots: int
    users: int
    mu: Annotated[float, Amount]
    epsilon: Annotated[float, Amount]
    delta: Annotated[float, Share]
    attack: str
    uses: str
    found: Estimate
    possible: Bound | None = None
    proved: Bound | None = None


def check(study: "Study", source: "Source | None") -> None:
    """A release that adds noise of a scale to vectors that are clipped, and people to show."""
    if not study.noise_levels:
        return
    what = "noise_levels"
    release = release_that(study, AddsNoise, what)
    need_people(study, source, what)
    known = parameters_of(release)
    for name in (_SCALE, _CLIP):
        if name not in known or not known[name].number:
            raise InvalidInput(
                f"noise_levels needs a release with the parameters scale and clip, and "
                f"{name_of(release)} has no {name}; leave noise_levels out, or use a release such "
                "as gaussian-noise",
                code="unsupported-release",
            )
    for scale in study.noise_levels:
        known[_SCALE].check(scale)


def steps(context: "Context") -> Iterator[Step]:
    """A step for each scale, the study's own among them."""
    if not context.study.noise_levels:
        return
    own = cast("Any", context.release).scale
    for scale in sorted({own, *context.study.noise_levels}):
        # Refuses, before anything is run, what cannot be.
        vary(context, _SCALE, scale)
        yield Step(f"noise-{scale}", partial(_at, context, scale, own=scale == own))


def assumptions(study: "Study", _source: "Source") -> Iterator[str]:
    """What an epsilon promises."""
    if study.noise_levels:
        yield (
            f"Epsilon is that of local differential privacy: by how much what is shown tells two "
            "people apart, whatever their vectors, once clipped; for Gaussian noise by the exact "
            f"curve, with delta = {DELTA:g}."
        )


def _at(context: "Context", scale: float, parts: Part, *, own: bool) -> Part:
    # At the study's own scale nothing is searched again, and never said twice.
    other = context if own else vary(context, _SCALE, scale)
    best = parts["strongest"][0] if own else _strongest(other)
    release = cast("Any", other.shows)
    mu, epsilon, delta = _spent(release, other)
    found = NoiseLevel(
        scale=scale,
        slots=best.slots,
        users=best.users,
        mu=mu,
        epsilon=epsilon,
        delta=delta,
        attack=best.attack,
        uses=best.uses,
        found=best.right,
        **_bounds(other, parts["bounds"] if own else None),
    )
    return {"noise_levels": (found,)}


def _strongest(context: "Context") -> Strongest:
    found = context.measured(context.slots[-1:])
    measured = {"risks": risks_of(context, found), "credits": credits_of(context, found)}
    return strongest_of(context, measured)[0]


def _spent(release: Any, context: "Context") -> tuple[float, float, float]:
    """The radius of all vectors in scales of the noise, epsilon, and delta."""
    draws, radius = release.draws(context.headline), release.clip / release.noise.scale
    if release.noise.law == "gaussian":
        mu = radius * math.sqrt(draws)
        return mu, theory.epsilon_of_gaussian_noise(2 * mu, DELTA), DELTA
    mu = radius * draws
    if release.noise.law == "l2-laplace":
        return mu, 2 * mu, 0.0
    # No vector is longer in l1 than this many times its length in l2.
    dimensions = release.centres(context.people, 0, 1).shape[1]
    return mu, 2 * math.sqrt(dimensions) * mu, 0.0


def _bounds(context: "Context", known: Iterable[Bound] | None) -> dict[str, Bound | None]:
    """The best possible, and the lowest of what is proved that rules something out.

    Args:
        context: In which they hold.
        known: What bounds were found before; None if they were not asked.
    """
    setting = setting_of(context, revealed=None)
    best = next(iter(risk.bounds.bounds_in(setting, (FULL,))), None)
    names = [name for name in risk.bounds.BOUNDS if name != FULL]
    uppers = [
        one
        for one in (risk.bounds.bounds_in(setting, names) if known is None else known)
        if one.side == "upper" and one.estimate.high < 1 and (best is None or one.name != best.name)
    ]
    found = {
        "possible": best,
        "proved": min(uppers, key=lambda one: one.estimate.high, default=None),
    }
    return {
        name: None if one is None else replace(one, slots=context.headline)
        for name, one in found.items()
    }


def remedies(result: "Result", own: Sequence[Risk]) -> Iterator[Remedy]:
    """Other scales of the noise."""
    for one in result.noise_levels:
        if (one.slots, one.users) == (own[0].slots, own[0].users):
            yield Remedy(changed(result, _SCALE, one.scale), one.found.high)
