"""Measure attackers who may meet strangers and speak only above a threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reidrisk.attacks.protocol import View
from reidrisk.core.matches import Matches
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import OpenSet, Rule, confidence, open_set
from reidrisk.estimates._open_set import ACCUSED, FEWEST, share_present
from reidrisk.risk._posterior import Posterior
from reidrisk.risk.arguments import Fitted, Floats, SearchEngine, Subject, fitted, one_length
from reidrisk.risk.eligibility import Mask, assessable, something_shown
from reidrisk.scores import OfAnyone, Score, normalised
from reidrisk.scores.protocol import in_units


def measure_strangers(
    seen: Observations,
    attack: Subject | Sequence[Subject],
    *,
    view: View | None = None,
    slots: int | None = None,
    present: float | None = None,
    accused: Sequence[float] = ACCUSED,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> tuple[OpenSet, ...]:
    """Measure attackers who meet known people and strangers, and name somebody only when sure.

    Three rules decide whether to name somebody: the best *score*; the *gap* between it and the
    second best; and the *posterior* that the best is right, by Bayes' rule over all known users and
    strangers. The posterior needs an attack that is a likelihood and knows how likely rows of
    strangers are; the gap needs two known users.

    Args:
        seen: Who is compared with whom; with `strangers`.
        attack: One attack, or several; `Fitted` ones are not fitted again.
        view: What attackers may use to fit; what they have seen, if not given.
        slots: After how many slots; all, if not given.
        present: Share of visitors whom the attackers know; if not given, as in `seen`. Only the
            share of false claims and the posterior depend on it.
        accused: Shares of strangers whom attackers may accuse; each gives a threshold.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.

    Returns:
        For each attack and rule that applies, the trade-off: `found.at(0.01).right` is how many of
        those present are named rightly if at most 1 % of strangers may be accused.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, strangers=0.3, seed=7)
        >>> found, *_ = rr.measure_strangers(seen, rr.Hamming(), present=0.5)
        >>> found.rule, found.targets, found.strangers
        ('score', 725, 275)
        >>> print(found.decisions[-1].right)
        2.0839% [1.0644%, 3.7693%] (95%, n=725)
    """
    # A string is a sequence too; `check_needs` then says that it is no attack.
    one = isinstance(attack, str) or not isinstance(attack, Sequence)
    attacks: Any = [attack] if one else attack
    length, level = one_length(seen, slots), confidence(level)
    if present is None:
        strangers = 0 if seen.strangers is None else len(seen.strangers)
        present = len(seen.anonymous) / (len(seen.anonymous) + strangers)
    meeting = Meeting.of(seen.prefix(length), share_present(present))
    engine = LocalEngine() if engine is None else engine
    return tuple(
        found
        for each in attacks
        for found in trade_offs(meeting, fitted(each, seen, view), engine, accused, level)
    )


@dataclass(frozen=True, eq=False)
class Meeting:
    """Targets and strangers whom an attacker meets.

    Attributes:
        targets: Observations whose anonymous rows are those of known people.
        strangers: Observations whose anonymous rows are those of strangers.
        of_targets: Whether each target can be assessed.
        of_strangers: Whether each stranger can be assessed.
        present: Share of visitors who are known.
    """

    targets: Observations
    strangers: Observations
    of_targets: Mask
    of_strangers: Mask
    present: float

    @classmethod
    def of(cls, seen: Observations, present: float) -> "Meeting":
        """The targets and strangers of observations; refuses fewer than two strangers."""
        met = seen.of_strangers()
        something = something_shown(met)
        if something.sum() < FEWEST:
            raise InvalidInput(
                f"in the first {seen.slots} slots something was seen of {int(something.sum())} of "
                f"{len(something)} strangers; one must choose when to speak and another judge it, "
                "so there are two at least: use more strangers or more slots",
                code="too-few-strangers",
            )
        return cls(seen, met, assessable(seen), something, present)

    @property
    def not_assessed(self) -> int:
        """Targets and strangers of whom nothing was seen."""
        return int((~self.of_targets).sum() + (~self.of_strangers).sum())


def trade_offs(
    meeting: Meeting,
    subject: Fitted,
    engine: SearchEngine,
    accused: Sequence[float],
    level: float,
    belief: Posterior | None = None,
) -> list[OpenSet]:
    """The trade-off of one attack by each rule that applies.

    Args:
        meeting: Whom the attacker meets.
        subject: The fitted attack.
        engine: The engine.
        accused: Shares of strangers whom the attacker may accuse.
        level: Level of the intervals.
        belief: The attacker's posterior after as many slots, if it is known: it spares a search.
    """
    found = []
    seen = meeting.targets
    # Targets of whom nothing is known cannot be named rightly, but claims about them are false
    # claims all the same, so they take part.
    shown = something_shown(seen)
    for rule, (sure, others, matches) in _rules(meeting, subject, engine, belief).items():
        decisions = open_set(
            sure[shown],
            matches.credit[shown],
            others[meeting.of_strangers],
            present=meeting.present,
            wanted=accused,
            level=level,
            assessed=meeting.of_targets[shown],
        )
        found.append(
            OpenSet(
                attack=subject.attack.name,
                rule=rule,
                slots=seen.slots,
                users=seen.users,
                targets=int(meeting.of_targets.sum()),
                strangers=int(meeting.of_strangers.sum()),
                not_assessed=meeting.not_assessed,
                present=meeting.present,
                decisions=decisions,
            )
        )
    return found


def _rules(
    meeting: Meeting, subject: Fitted, engine: SearchEngine, belief: Posterior | None
) -> dict[Rule, tuple[Floats, Floats, Matches]]:
    """For each rule, how sure it is of targets and of strangers, and the matches of targets."""
    score, sides = subject.score, (meeting.targets, meeting.strangers)
    both = meeting.targets.users >= FEWEST
    found, met = (engine.search(side, score, second=both) for side in sides)
    sure: dict[Rule, tuple[Floats, Floats, Matches]] = {
        "score": (in_units(score, found.best), in_units(score, met.best), found)
    }
    if both:
        sure["gap"] = (_gap(score, found), _gap(score, met), found)
    model = normalised(score)
    if subject.attack.likelihood and isinstance(model, OfAnyone):
        # Score and gap use simplified weights as they are; Bayes' rule needs sums of 1.
        if model is not score:
            found = engine.search(meeting.targets, model) if belief is None else belief.matches
            met = engine.search(meeting.strangers, model)
        sums = engine.evidence(meeting.targets, model) if belief is None else belief.evidence
        claimed, of_strangers = (
            posterior_of_best(side, model, matches, evidence, meeting.present)
            for side, matches, evidence in (
                (meeting.targets, found, sums),
                (meeting.strangers, met, engine.evidence(meeting.strangers, model)),
            )
        )
        sure["posterior"] = (claimed, of_strangers, found)
    return sure


def _gap(score: Score, found: Matches) -> Floats:
    assert found.second is not None
    return in_units(score, found.best - found.second)


def posterior_of_best(
    seen: Observations, model: Score, found: Matches, evidence: Floats, present: float
) -> Floats:
    """For each anonymous row the posterior that the best known one is its user's.

    With pi the share of visitors who are known, n of them, and L_i = Pr(x | known i) / Pr(x):
    (pi/n) L_i / ((pi/n) sum_j L_j + 1 - pi). Pr(x) is how likely it is that anyone shows the row.
    `evidence` is the logarithm of the sum over j.
    """
    if present < 1:
        assert isinstance(model, OfAnyone)
        # The formula divided by pi/n: strangers enter the sum with the weight n (1 - pi) / pi.
        odds = np.log((1 - present) / present * seen.users)
        of_anyone = model.of_anyone(seen.known, np.asarray(seen.anonymous))
        evidence = np.logaddexp(evidence, odds + of_anyone)
    # As in `beliefs`: rounding may leave a sure guess above 1.
    return np.minimum(np.exp(in_units(model, found.best) - evidence), 1.0)
