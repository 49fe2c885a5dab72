"""Measure an attacker who names everybody at once, and nobody twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.assignments import largest_assignment
from reidrisk.core.checks import whole_number
from reidrisk.core.matches import NOBODY, Matches, in_places
from reidrisk.core.observations import Observations
from reidrisk.core.parallel import over_blocks
from reidrisk.engines import LocalEngine
from reidrisk.estimates import Estimate, confidence, mean_of_credits
from reidrisk.estimates.dependent import mean_of_dependent
from reidrisk.risk._crossfit import is_refitted, refitted
from reidrisk.risk.arguments import (
    Fitted,
    Floats,
    SearchEngine,
    Subject,
    fitted,
    one_length,
)
from reidrisk.risk.eligibility import assessable, something_shown
from reidrisk.risk.records import Assignment
from reidrisk.scores import Score

KEEP_BEST = 50
"""Rows that are listed for each target. More find few true rows, and turn out more right ones."""

_GROUPS = 10
"""Groups of people, each of which is left out once for the interval."""

_ORDERS, _PLACED = 8, 40_000
"""Orders over which a credit is averaged; fewer, if more than so many rows were placed in all."""

_MOST_GAIN = 2**60
"""Rows so far below the best of a target are not given to it."""


def measure_assignment(
    seen: Observations,
    attack: Subject,
    *,
    keep_best: int | None = None,
    view: View | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> Assignment:
    """Attack all targets at once: no known user is named for two of them.

    The best known rows of each target are listed. Then rows are given to targets, each once, so
    that the sum of scores is the largest there is; this is exact. A target may also go without, at
    the score of the last row of its list: then it names any of the rows that have just this score.
    Strangers get rows too, since an attacker cannot tell them from targets.

    Rows that tie are given out in random orders that do not depend on the truth, and the credit is
    the mean over these orders. The interval allows for targets that are right and wrong together:
    see `estimates.mean_of_dependent`.

    An attack that learns from the true pairs of half of the people names the other half at once,
    and then the other way round.

    Args:
        seen: Who is compared with whom.
        attack: The attack; a `Fitted` one is not fitted again.
        keep_best: How many rows are listed for each target; 50, or all if there are fewer.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.measure_assignment(seen, rr.WeightedHamming(rr.TopicsApi(topics=40)))
        >>> print(found.alone)
        2.3442% [1.3669%, 3.7266%] (95%, n=1,000)
    """
    most = KEEP_BEST if keep_best is None else whole_number("keep_best", keep_best, least=1)
    length, level = one_length(seen, slots), confidence(level)
    engine = LocalEngine() if engine is None else engine
    named, scores = _scores(seen, attack, view, length)
    seen, most = seen.prefix(length), min(most, seen.known.users)
    assessed, shown = assessable(seen), something_shown(seen)
    parts, places, rivals = [], [], []
    for score, mine in scores:
        some = seen.only(mine)
        parts.append(engine.search(some, score, list_best=most, ranks=most))
        places.append(mine)
        own = _Rivals.of(parts[-1], some.truth, assessed[mine], shown[mine])
        if seen.strangers is not None:
            others = seen.of_strangers()
            met = engine.search(others, score, list_best=most)
            own = own.beside(_Rivals.of_strangers(met, something_shown(others)))
        rivals.append(own)
    found, interval = in_places(parts, places), partial(mean_of_credits, level=level)
    return Assignment(
        attack=named,
        slots=seen.slots,
        users=seen.users,
        together=max(len(one.rows) for one in rivals),
        listed=most,
        not_assessed=int((~assessed).sum()),
        recall=interval(found.credit_of(most)[assessed]),
        alone=interval(found.credit[assessed]),
        right=_right(rivals, seen.users, level),
    )


def _scores(
    seen: Observations, attack: Subject, view: View | None, length: int
) -> tuple[str, Iterable[tuple[Score, NDArray[np.int64]]]]:
    """The name of an attack and its scores, each with the targets that it may rate.

    There are two if it learns from the true pairs of the other half of the people.
    """
    if isinstance(attack, Fitted) or not is_refitted(attack):
        subject = fitted(attack, seen, view)
        return subject.attack.name, [(subject.score, np.arange(len(seen.truth)))]
    known = View.of(seen) if view is None else view
    return attack.name, refitted(seen.prefix(length), attack, known)


def _right(rivals: Sequence["_Rivals"], users: int, level: float) -> Estimate:
    """The mean credit with its interval, of targets in parts that are named one after the other."""
    apart = rivals[0]
    for number, one in enumerate(rivals[1:], start=1):
        # In each part all rows can be given out: they count as other rows.
        apart = apart.beside(one.moved(number * users))
    return apart.right(users, level)


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Anonymous rows that get known rows at the same time.

    Attributes:
        rows: The best rows of each, targets x K.
        gains: What each is worth beyond going without, which is as good as the last of the list.
        truth: The known row of each; `NOBODY` of strangers.
        judged: Whether each is a target that can be assessed.
        luck: Chance of naming the right row for a target that goes without.
    """

    rows: NDArray[np.int64]
    gains: NDArray[np.int64]
    truth: NDArray[np.int64]
    judged: NDArray[np.bool_]
    luck: Floats

    @classmethod
    def of(
        cls,
        found: Matches,
        truth: NDArray[np.int64],
        judged: NDArray[np.bool_],
        shown: NDArray[np.bool_],
    ) -> "_Rivals":
        """Targets of whom something was shown: whoever shows nothing is seen to, and left out."""
        # Going without, a target names any of the rows that have the last score of its list.
        lucky = judged & (found.true_score == found.best_scores[:, -1])
        luck = np.where(lucky, 1.0 / (found.level + 1), 0.0)[shown]
        rows, gains = found.best_rows[shown], _gains(found.best_scores[shown])
        return cls(rows, gains, truth[shown], judged[shown], luck)

    @classmethod
    def of_strangers(cls, met: Matches, shown: NDArray[np.bool_]) -> "_Rivals":
        """Strangers of whom something was shown."""
        count = int(shown.sum())
        return cls(
            met.best_rows[shown], _gains(met.best_scores[shown]), np.full(count, NOBODY),
            np.zeros(count, np.bool_), np.zeros(count),
        )  # fmt: skip

    def beside(self, other: "_Rivals") -> "_Rivals":
        """All of both."""
        return _Rivals(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.gains, other.gains]),
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.judged, other.judged]),
            np.concatenate([self.luck, other.luck]),
        )

    def moved(self, rows: int) -> "_Rivals":
        """The same with other numbers of all known rows."""
        truth = np.where(self.truth == NOBODY, NOBODY, self.truth + rows)
        return replace(self, rows=self.rows + rows, truth=truth)

    def right(self, users: int, level: float) -> Estimate:
        """The mean credit with its interval.

        Args:
            users: How many are known: rows that are the same but for so many are of one user.
            level: Of the interval.
        """
        credits_ = self._credit()[self.judged]
        groups = min(_GROUPS, len(credits_))
        if groups == 1:  # nobody else to depend on
            return mean_of_credits(credits_, level=level)
        group, group_of_user = self._groups(groups, users)

        def without(one: int, _: int) -> float:
            return self._without(group == one, group_of_user[self.rows % users] == one)

        return mean_of_dependent(credits_, over_blocks(without, groups, 1), level=level)

    def _credit(self) -> Floats:
        """The credit of each, in the mean over several orders.

        Only the order decides between assignments with the same sum. It is drawn without the truth,
        so that it favours nobody, as the order of rows may.
        """
        credits_ = np.zeros(len(self.rows))
        orders = int(np.clip(_PLACED // len(self.rows), 1, _ORDERS))
        for number in range(orders):
            order = np.random.default_rng(number).permutation(len(self.rows))
            got = largest_assignment(self.rows, self.gains, order)
            credits_ += np.where(got == NOBODY, self.luck, got == self.truth)
        return credits_ / orders

    def _groups(self, count: int, users: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The group of each rival and of each known user: people are put into groups at random."""
        random, judged = np.random.default_rng(0), np.flatnonzero(self.judged)
        rivals = random.integers(count, size=len(self.rows))
        rivals[judged] = random.permutation(len(judged)) % count  # as many of them in each
        known = random.integers(count, size=users)
        own = self.truth != NOBODY
        known[self.truth[own] % users] = rivals[own]
        return rivals, known

    def _without(self, gone: NDArray[np.bool_], gone_rows: NDArray[np.bool_]) -> float:
        """The mean credit without some people, of whom neither row is there."""
        gains, stay = np.where(gone_rows, -1, self.gains), ~gone
        some = _Rivals(
            self.rows[stay], gains[stay], self.truth[stay], self.judged[stay], self.luck[stay]
        )
        return float(some._credit()[some.judged].mean())


def _gains(scores: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the rows of a list are worth beyond the last of them."""
    best, last = scores.max(axis=1), scores.min(axis=1)
    return np.asarray(scores - np.maximum(last, best - _MOST_GAIN)[:, None])
