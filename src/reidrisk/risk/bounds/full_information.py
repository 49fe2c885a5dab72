"""Bound: the optimum of an attacker who knows every user's secrets.

Paper: section 7.
"""

import numpy as np

from reidrisk.attacks.full_information import FullInformation
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Estimate, mean_of_numbers
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.people.subset import Subset
from reidrisk.releases._observe import reveal
from reidrisk.releases.protocol import Reveals, asked
from reidrisk.risk._posterior import beliefs
from reidrisk.risk.bounds.noisy_vectors import Floats
from reidrisk.risk.bounds.posterior_of_vectors import largest_posteriors
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
from reidrisk.risk.eligibility import among, assessed_of

ABOUT = ThreatModel(
    figures=("full information",),
    side="upper",
    knows=(f"{FullInformation.knows}; or the vector that a release adds noise to"),
    needs=("release", "people", "seed"),
    assumes=f"{AS_LIKELY}, and {AS_IT_SAYS}.",
    bounds=f"{RANDOM_USER} {WHICHEVER}",
    holds_for=f"{ANYONE}, whatever else is known",
    limits=(
        "Measured on targets, so it holds with the confidence of its interval. Left out where "
        "sites depend on each other, or where chances do not follow from secrets of each user. Of "
        "noisy vectors, fewer targets are compared where there are more users and dimensions. "
        f"{NOT_COVERED}"
    ),
    cost=(
        "Compares every target with everyone's secrets; a study does so only if it asks for "
        "full_information."
    ),
    source=FullInformation.source,
)


def bound(setting: Setting) -> Bound | None:
    """How often an attacker who knows every user's secrets, gaps included, can be right at best.

    It is estimated on the targets: over all targets, and over those that attacks assess, among
    users of whom something is known. The larger of the two holds for both denominators.
    """
    if not setting.independent_sites:
        return None  # an attacker who has seen another site knows more than the secrets
    posteriors = _of_vectors(setting) if setting.noisy_vectors else _of_secrets(setting)
    if posteriors is None:
        return None
    # The likelihood is exact, so on average the best guess is as good as its posterior.
    found = [mean_of_numbers(one, level=setting.level) for one in posteriors]
    larger = max(found, key=lambda one: one.high)  # an upper bound is judged by its upper end
    best = Estimate(
        larger.value,
        larger.low,
        larger.high,
        larger.level,
        larger.trials,
        f"{larger.method}, mean posterior",
    )
    which = (
        ""
        if len(found) == 1
        else (" Over all targets or over those that attacks assess, whichever is larger.")
    )
    sentence = f"For {ABOUT.holds_for}, gaps included.{which}"
    return Bound(ABOUT.figure, ABOUT.side, best, sentence)


def _of_secrets(setting: Setting) -> list[Floats] | None:
    """For each denominator the posterior of the best guess, by the likelihood of the secrets."""
    revealed = _revealed(setting)
    if revealed is None:
        return None
    release = asked(setting.release, Reveals, "full information")
    score, engine = release.likelihood(revealed.tokens), setting.engine
    parts = _denominators(setting, revealed.prefix(setting.slots))
    return [beliefs(part, score, engine)[0] for part in parts]


def _of_vectors(setting: Setting) -> list[Floats] | None:
    """The same for noise on vectors: all targets among all, and those of traced users among them.

    None where there are too many users to compare enough targets with.
    """
    if setting.seed is None:
        return None
    everybody, *some = setting.noisy_vectors
    truth = setting.short.truth
    refuse_repeats("targets", truth)  # intervals are of independent people
    numbers = [(everybody, truth)]
    if some:
        known = truth[assessed_of(setting.short)]
        numbers += [(some[0], setting.traced.numbers(known))] if len(known) else []
    found = [largest_posteriors(part, who, seed=setting.seed) for part, who in numbers]
    return [one for one in found if one is not None] if found[0] is not None else None


def _revealed(setting: Setting) -> Observations | None:
    """Everyone's secrets and what was shown of the targets; None if there are no secrets."""
    if setting.revealed is not None and setting.release is None:
        raise InvalidInput(
            "full information needs the release beside what it revealed", code="missing-release"
        )
    revealed = _reveal(setting) if setting.revealed is None else setting.revealed
    if revealed is None:
        return None
    same = (
        revealed.users == setting.seen.users
        and np.array_equal(revealed.truth, setting.seen.truth)
        and np.array_equal(revealed.anonymous, setting.seen.anonymous)
    )
    if not same:
        raise InvalidInput(
            "what was revealed belongs to other users or targets than what was seen; reveal with "
            "the people, the number of targets and the seed that were observed",
            code="observations-differ",
        )
    return revealed


def _reveal(setting: Setting) -> Observations | None:
    release, people, seed = setting.release, setting.people, setting.seed
    if release is None or people is None or seed is None or not isinstance(release, Reveals):
        return None
    try:
        # Tried with one user: only the release knows whether its parameters allow it.
        release.secrets(Subset.of(people, np.arange(1)), 0, 1, seed=seed)
    except InvalidInput:
        return None  # with these parameters chances do not follow from secrets
    targets = len(setting.seen.anonymous)
    return reveal(release, people, targets=targets, seed=seed, hold=setting.engine.hold)


def _denominators(setting: Setting, revealed: Observations) -> list[Observations]:
    """All targets among all users; and those assessed among users of whom something is known."""
    # A bound over all targets does not bound a figure that leaves some out (decision 10).
    assessed, traced = assessed_of(setting.short), setting.traced
    if not assessed.any() or (assessed.all() and traced.are_all):
        return [revealed]
    return [revealed, among(revealed, traced, assessed)]
