"""Compute how sure the attacker is, and whether it is right as often."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from reidrisk import engines
from reidrisk.attacks.protocol import Attack, View
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.estimates import (
    Claims,
    Estimate,
    Selective,
    claims,
    mean_of_credits,
    mean_of_numbers,
    selective,
)
from reidrisk.risk.arguments import Floats, SearchEngine, Subject, attack_of, fitted, one_length
from reidrisk.risk.eligibility import assessable
from reidrisk.scores import Score, normalised
from reidrisk.scores.protocol import in_units


@dataclass(frozen=True, eq=False)
class Posterior:
    """How sure the attacker is of its best guess for each target, and whether it is right.

    Attributes:
        attack: Name of the attack.
        slots: Number of slots it has seen.
        users: Number of users it chooses among.
        claimed: The attacker's posterior probability that the user it names is right, by Bayes'
            rule over all users.
        credits: The credit of each guess, which the attacker does not know.
        not_assessed: Targets of whom one side saw nothing; they are left out.
        level: Chance with which an interval holds the truth.
        matches: Matches under the model, of all targets, also those left out.
        evidence: Logarithm of the normaliser of each posterior, of all targets.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> belief = rr.posterior(seen, rr.WeightedHamming(api))
        >>> print(belief.risk)
        2.4641% [1.4443%, 3.8475%] (95%, n=1,000)
        >>> round(float(belief.claimed.mean()), 3), belief.claims.fits
        (0.029, True)
    """

    attack: str
    slots: int
    users: int
    claimed: Floats
    credits: Floats
    not_assessed: int
    level: float
    matches: Matches = field(repr=False)
    evidence: Floats = field(repr=False)

    @cached_property
    def risk(self) -> Estimate:
        """How often the right user is named."""
        return mean_of_credits(self.credits, level=self.level)

    @cached_property
    def mean_claim(self) -> Estimate:
        """How often the attacker expects to be right.

        If the model is true, it is right this often, and nobody with the same knowledge can be
        right more often: see `optimum`.
        """
        return mean_of_numbers(self.claimed, level=self.level)

    @cached_property
    def claims(self) -> Claims:
        """Claimed confidence against share right: does the model fit?"""
        found = claims(self.claimed, self.credits, level=self.level)
        return replace(found, attack=self.attack, slots=self.slots)

    @cached_property
    def selective(self) -> tuple[Selective, ...]:
        """Share of people named by an attacker who names them only when sure."""
        found = selective(self.claimed, self.credits, level=self.level)
        return tuple(replace(one, attack=self.attack, slots=self.slots) for one in found)


def posterior(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    slots: int | None = None,
    matches: Matches | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> Posterior:
    """Compute how sure the attacker is of each guess.

    Claims and guesses are those of the model behind the score. Simplified weights, whose chances do
    not quite sum to one, are divided by their sums first, as for `optimum`.

    Args:
        seen: Who is compared with whom.
        attack: An attack whose score is a likelihood.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        matches: Matches of this attack after as many slots, if they are known. They spare a search
            where the score needs no division.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> belief = rr.posterior(seen, rr.TypeAware(api, people.interests))
        >>> round(float(belief.claimed.max()), 3), belief.claims.fits
        (0.155, True)
    """
    check_likelihood(attack_of(attack))
    length = one_length(seen, slots)
    engine = engines.LocalEngine() if engine is None else engine
    name, score = attack_of(attack).name, fitted(attack, seen, view).score
    model = normalised(score)
    # Matches of simplified weights are not those of the model that they become by division.
    again = matches if model is score else None
    return believed(name, seen.prefix(length), model, engine, level, again)


def check_likelihood(attack: Attack) -> None:
    """Refuse an attack that cannot say how sure it is."""
    if not attack.likelihood:
        raise InvalidInput(
            f"{attack.name} rates users without saying how likely they are, so it cannot say how "
            "sure it is; use an attack that is a likelihood, such as WeightedHamming",
            code="not-a-likelihood",
        )


def believed(
    name: str,
    seen: Observations,
    score: Score,
    engine: SearchEngine,
    level: float,
    matches: Matches | None = None,
) -> Posterior:
    """The posterior of a fitted attacker, with its interval level and what it left out."""
    assessed = assessable(seen)
    claimed, found, evidence = beliefs(seen, score, engine, matches)
    return Posterior(
        name,
        seen.slots,
        seen.users,
        claimed[assessed],
        found.credit[assessed],
        int((~assessed).sum()),
        level,
        found,
        evidence,
    )


def beliefs(
    seen: Observations, score: Score, engine: SearchEngine, matches: Matches | None = None
) -> tuple[Floats, Matches, Floats]:
    """For each target the posterior of the best guess, by Bayes' rule over all known rows.

    Returns:
        The posteriors, the matches and the logarithm of the sums that they were computed from.
    """
    found = engine.search(seen, score) if matches is None else matches
    evidence = engine.evidence(seen, score)
    # Scores are rounded to a grid and sums are of floats, so a sure guess may come out above 1.
    return np.minimum(np.exp(in_units(score, found.best) - evidence), 1.0), found, evidence
