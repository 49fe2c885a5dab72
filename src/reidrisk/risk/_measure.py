"""Measure how often an attack names the right user: by slots, guesses, size of the crowd, user."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import Attack, View
from reidrisk.core.checks import real_number, whole_number
from reidrisk.core.matches import Matches, join_targets, select_targets
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine, ranks_are_free
from reidrisk.errors import InvalidInput
from reidrisk.estimates import (
    Estimate,
    PerUserRisk,
    anytime_interval,
    confidence,
    mean_of_credits,
    per_user_risk,
)
from reidrisk.estimates.crowds import credit_in_crowds, ranks_for
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.risk._crossfit import is_refitted, search_refitted
from reidrisk.risk.arguments import (
    Fitted,
    Floats,
    SearchEngine,
    Slots,
    Subject,
    checked_slots,
    fitted,
    one_length,
)
from reidrisk.risk.curves import GuessCurve, RiskCurve, SizeCurve
from reidrisk.risk.eligibility import Mask, assessable
from reidrisk.scores import Score

Found = list[dict[int, Matches]]
"""For each attack and number of slots, the matches of every target that was attacked."""

Assessed = dict[int, Mask]

# Targets of the first batch, if one stops early; batches double, so at most half is wasted.
_FIRST_TARGETS = 500


@dataclass(frozen=True, eq=False, slots=True)
class Measured:
    """An attack that was carried out.

    Attributes:
        attack: The attack.
        score: Its score; None if it was fitted anew for each search.
        curve: How often it named the right user.
        matches: Matches after the most slots, of the targets that were attacked.
        assessed: Whether each of them can be assessed after the most slots.
        interval: Computes the mean of credits with its interval.
    """

    attack: Attack
    score: Score | None
    curve: RiskCurve
    matches: Matches
    assessed: Mask
    interval: Callable[[Floats], Estimate]

    @property
    def fitted(self) -> Fitted:
        """The attack with its score, for further searches."""
        assert self.score is not None
        return Fitted(self.attack, self.score)

    @property
    def name(self) -> str:
        """Name of the attack."""
        return self.attack.name

    @property
    def slots(self) -> int:
        """The most slots."""
        return max(self.curve)

    @property
    def not_assessed(self) -> int:
        """Number of attacked targets that cannot be assessed after the most slots."""
        return int((~self.assessed).sum())

    def mean_of(self, credit: Floats) -> Estimate:
        """Mean credit over the targets that can be assessed.

        Args:
            credit: Credit of each attacked target.
        """
        return self.interval(credit[self.assessed])


@overload
def measure(
    seen: Observations,
    attack: Subject,
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve: ...


@overload
def measure(
    seen: Observations,
    attack: Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> tuple[RiskCurve, ...]: ...


def measure(
    seen: Observations,
    attack: Subject | Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
) -> RiskCurve | tuple[RiskCurve, ...]:
    """Attack every target and count how often the right user is named, ties counted as chances.

    Args:
        seen: Who is compared with whom.
        attack: One attack, or several that share one pass over the users where they can; `Fitted`
            ones are not fitted again.
        view: What attackers may use to fit; what they have seen, if not given.
        slots: After how many slots; all, if not given. An attack is fitted once, on all slots.
        engine: Where it runs; this machine, if not given. The answer does not depend on it.
        level: Chance with which an interval holds the truth.
        precision: Stop as soon as no interval is wider than twice this. Targets are then attacked
            in batches, in their order, and the intervals are of a kind that holds whenever one
            stops. If the targets do not suffice, the intervals show it.

    Returns:
        A curve for each attack: `curve[8].value`, `curve[8].low`, `curve[8].high`.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure(seen, rr.Hamming(), slots=(1, 2)))
        hamming, 1,000 users (guessing 0.001)
          after  1 slots: 0.7789% [0.2441%, 1.6937%] (95%, n=1,000)
          after  2 slots: 2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
    """
    # A string is a sequence too; `check_needs` then says that it is no attack.
    one = isinstance(attack, str) or not isinstance(attack, Sequence)
    attacks: Any = [attack] if one else attack
    found = measured(
        seen, attacks, view=view, slots=slots, engine=engine, level=level, precision=precision
    )
    curves = tuple(each.curve for each in found)
    return curves[0] if one else curves


def measured(
    seen: Observations,
    attacks: Sequence[Subject],
    *,
    view: View | None = None,
    slots: Slots = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    precision: float | None = None,
    ranks: int | None = 1,
) -> list[Measured]:
    """Measure attacks as `measure` does, and keep their matches for further figures.

    Args:
        seen: Who is compared with whom.
        attacks: The attacks.
        view: What attackers may use to fit; what they have seen, if None.
        slots: After how many slots; all, if None.
        engine: The engine; a local one if None.
        level: Level of the intervals.
        precision: As in `measure`.
        ranks: Up to which rank the truth is counted after the most slots; to the end if None. If
            above 1, it is counted to the end also where that costs nothing.
    """
    if not attacks:
        raise InvalidInput("there is no attack to measure; give at least one", code="no-attack")
    lengths, level = checked_slots(seen, slots), confidence(level)
    engine = LocalEngine() if engine is None else engine
    subjects = [_subject(one, seen, view) for one in attacks]
    # After few slots less was seen, so who can be assessed depends on the length.
    assessed = {length: assessable(seen.prefix(length)) for length in lengths}
    # Stopping when the interval is narrow enough would bias an interval of fixed size.
    method = mean_of_credits if precision is None else anytime_interval
    interval = partial(method, level=level)
    if precision is None:
        found = _searched(engine, seen, subjects, lengths, ranks)
        points = _estimates(found, assessed, interval)
    else:
        width = 2 * real_number("precision", precision, least=0)
        found, points = [], []
        for batch in _batches(len(seen.anonymous)):
            more = _searched(engine, seen, subjects, lengths, ranks, batch)
            found = _joined(found, more)
            # The first batches may hold nobody who can be assessed, and then there is no mean yet.
            if all(mask[: batch.stop].any() for mask in assessed.values()):
                points = _estimates(found, assessed, interval)
                if all(one.high - one.low <= width for each in points for one in each.values()):
                    break
    last = lengths[-1]
    # Fewer than all targets, if it stopped early.
    attacked = len(found[0][last])
    left_out = {length: int((~mask[:attacked]).sum()) for length, mask in assessed.items()}
    return [
        Measured(
            one.attack,
            one.score if isinstance(one, Fitted) else None,
            RiskCurve(one.attack.name, mine, seen.users, left_out),
            matches[last],
            assessed[last][:attacked],
            interval,
        )
        for one, mine, matches in zip(subjects, points, found, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Refitted:
    """An attack that is fitted anew for each search, and what its searches found for all targets.

    Attributes:
        attack: The attack.
        view: What it may use to fit.
        found: Matches of all targets by number of slots, once they were searched.
    """

    attack: Attack
    view: View
    found: dict[int, Matches] = field(default_factory=dict)

    def search(
        self,
        engine: SearchEngine,
        seen: Observations,
        lengths: Sequence[int],
        ranks: int | None,
        targets: slice,
    ) -> dict[int, Matches]:
        """Matches of some targets after each number of slots, with ranks after the most."""
        for length in lengths:
            if length not in self.found:
                counted = ranks if length == lengths[-1] else 1
                self.found[length] = search_refitted(
                    engine, seen.prefix(length), self.attack, self.view, ranks=counted
                )
        return {length: select_targets(self.found[length], targets) for length in lengths}


def _subject(one: Subject, seen: Observations, view: View | None) -> "Fitted | _Refitted":
    """An attack that was fitted, unless it is to be fitted anew for each search."""
    if isinstance(one, Fitted) or not is_refitted(one):
        return fitted(one, seen, view)
    return _Refitted(one, View.of(seen) if view is None else view)


def _searched(
    engine: SearchEngine,
    seen: Observations,
    subjects: Sequence["Fitted | _Refitted"],
    lengths: Sequence[int],
    ranks: int | None,
    targets: slice = slice(None),
) -> Found:
    """Search for some targets after all numbers of slots, with ranks after the most."""
    scores = [one.score for one in subjects if isinstance(one, Fitted)]
    some = seen if targets == slice(None) else seen.only(targets)
    together = iter(_searched_together(engine, some, scores, lengths, ranks) if scores else ())
    return [
        next(together)
        if isinstance(one, Fitted)
        else one.search(engine, seen, lengths, ranks, targets)
        for one in subjects
    ]


def _searched_together(
    engine: SearchEngine,
    seen: Observations,
    scores: Sequence[Score],
    lengths: Sequence[int],
    ranks: int | None,
) -> Found:
    """Search with scores that need not be fitted again; some share a pass over the rows."""
    if ranks == 1:
        return engine.curves(seen, scores, lengths)
    last = seen.prefix(lengths[-1])
    # Where match patterns are counted, all ranks cost next to nothing.
    free = [ranks_are_free(last, score) for score in scores]
    # Scores whose ranks are free share a pass; the others are searched one by one.
    counted = [score for score, known in zip(scores, free, strict=True) if known]
    curves = iter(engine.curves(seen, counted, lengths, ranks=None) if counted else ())
    return [
        next(curves) if known else _with_last(engine, seen, score, lengths, ranks)
        for score, known in zip(scores, free, strict=True)
    ]


def _with_last(
    engine: SearchEngine,
    seen: Observations,
    score: Score,
    lengths: Sequence[int],
    ranks: int | None,
) -> dict[int, Matches]:
    """Search with ranks after the most slots only, for scores whose ranks take time."""
    *shorter, last = lengths
    found = engine.curves(seen, [score], shorter)[0] if shorter else {}
    return {**found, last: engine.search(seen.prefix(last), score, ranks=ranks)}


def _estimates(
    found: Found, assessed: Assessed, interval: Callable[[Floats], Estimate]
) -> list[dict[int, Estimate]]:
    return [
        {
            length: interval(matches.credit[assessed[length][: len(matches)]])
            for length, matches in curve.items()
        }
        for curve in found
    ]


def _batches(targets: int) -> Iterator[slice]:
    """All targets in batches, each as large as all before it together."""
    start, stop = 0, min(_FIRST_TARGETS, targets)
    while start < stop:
        yield slice(start, stop)
        start, stop = stop, min(2 * stop, targets)


def _joined(found: Found, more: Found) -> Found:
    if not found:
        return more
    return [
        {length: join_targets([matches, others[length]]) for length, matches in curve.items()}
        for curve, others in zip(found, more, strict=True)
    ]


def per_user(
    seen: Observations,
    rows: NDArray[np.integer],
    again: NDArray[np.integer],
    attack: Subject,
    *,
    view: View | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> PerUserRisk:
    """How often single users are named when what is shown of them is drawn again and again.

    What the attacker knows stays the same. Where nothing is shown, the attacker can only guess.

    Args:
        seen: Observations with the known rows.
        rows: The users, as rows of `seen.known`, each once.
        again: What they show, users x repeats x slots: `TopicsApi.repeat`.
        attack: The attack.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> rows = np.arange(50)
        >>> again = api.repeat(people, rows, repeats=20, seed=7)
        >>> print(rr.per_user(seen, rows, again, rr.Hamming()).worst_decile)
        2.4472% [0.8441%, 75.1175%] (95%, n=50)
    """
    length = one_length(seen, slots)
    # Slots; or slots and dimensions, of vectors.
    row = np.shape(seen.anonymous.block(0, 1))[1:]
    if again.shape[:1] + again.shape[2:] != (len(rows), *row):
        raise InvalidInput(
            f"again holds users x repeats x slots, here {len(rows)} x repeats x {seen.slots}; got "
            f"an array of shape {again.shape}",
            code="wrong-shape",
        )
    # The spread is over people: a user given twice would count as two.
    refuse_repeats("rows", rows)
    users, repeats = again.shape[:2]
    shown = again.reshape(users * repeats, *row)
    repeated = Observations(seen.known, shown, np.repeat(rows, repeats))
    engine = LocalEngine() if engine is None else engine
    # Credits only: repeats of a user are no independent targets, and `measured` refuses them.
    credit = engine.credit(repeated.prefix(length), fitted(attack, seen, view).score)
    return per_user_risk(credit.reshape(users, repeats), level=level)


def measure_guesses(
    seen: Observations,
    attack: Subject,
    *,
    guesses: Sequence[int],
    view: View | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> GuessCurve:
    """Attack every target and count how often the right user is among the first few named.

    The users who rate best are named first, equal ones in random order: with `above` users above
    the truth and `level` others level with it, k guesses find it with chance
    `(k - above) / (level + 1)`, between 0 and 1. One guess is `measure`.

    Args:
        seen: Who is compared with whom.
        attack: The attack.
        guesses: Numbers of users that may be named; at most all users.
        view: What the attacker may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> print(rr.measure_guesses(seen, rr.Hamming(), guesses=(1, 10)))
        hamming after 2 slots, 1,000 users
          names       1: 2.2737% [1.2901%, 3.6051%] (95%, n=1,000)
          names      10: 8.0172% [6.1863%, 10.2436%] (95%, n=1,000)
    """
    numbers = checked_guesses(guesses, seen.known.users)
    length = one_length(seen, slots)
    (found,) = measured(
        seen, [attack], view=view, slots=length, engine=engine, level=level, ranks=numbers[-1]
    )
    return guess_curve(found, numbers)


def guess_curve(found: Measured, guesses: Iterable[int]) -> GuessCurve:
    """The curve over numbers of guesses of an attack that was measured.

    Args:
        found: The measured attack, with ranks up to the most guesses.
        guesses: Numbers of guesses, ascending.
    """
    points = {number: found.mean_of(found.matches.credit_of(number)) for number in guesses}
    return GuessCurve(found.name, points, found.slots, found.curve.users, found.not_assessed)


def checked_guesses(guesses: Iterable[int], users: int) -> list[int]:
    """Numbers of guesses, ascending and distinct; refuses more than there are users."""
    numbers = sorted({whole_number("guesses", number, least=1) for number in guesses})
    if not numbers:
        raise InvalidInput(
            "guesses is empty; name at least one number of guesses, such as 10", code="empty-list"
        )
    if numbers[-1] > users:
        raise InvalidInput(
            f"guesses go up to {numbers[-1]:,}, and there are {users:,} users to name; ask for "
            "fewer, since whoever names all of them is always right",
            code="too-many-guesses",
        )
    return numbers


COUNTED_TO = ", ranks counted to "
"""Part of a method's name: the rank at which counting stopped follows it."""


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

    A crowd is a target's true user and others, drawn at random from all known users. The mean over
    all crowds of a size follows exactly from the number of users who rate above the truth and level
    with it, so no crowd is drawn. The attack is fitted once, on all users.

    Where counting these users takes time, it stops at a rank from which on somebody above is almost
    surely in the smallest crowd. What that leaves open, less than 0.01 % of a credit, is added to
    the upper end, and the method says so.

    Args:
        seen: Who is compared with whom.
        attack: The attack.
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
    """The curve over sizes of crowds of an attack that was measured among all users.

    Args:
        found: The measured attack, with the ranks of `ranks_for` these sizes.
        sizes: Sizes of the crowds, ascending.
    """
    matches, everyone = found.matches, found.curve.users
    # Of targets not counted to the end the rank is a lower limit, so the credit is an upper one.
    beyond = (
        np.zeros(len(matches), bool) if matches.ranks is None else matches.above >= matches.ranks
    )
    credits_ = [credit_in_crowds(matches.above, matches.level, everyone, size) for size in sizes]
    points = {
        # A crowd of one is the true user alone, who is named whatever the rank.
        size: _between(found, np.where(beyond & (size > 1), 0.0, credit), credit)
        for size, credit in zip(sizes, credits_, strict=True)
    }
    correlation = _correlation([credit[found.assessed] for credit in credits_])
    return SizeCurve(found.name, points, found.slots, found.not_assessed, correlation)


def _between(found: Measured, least: Floats, most: Floats) -> Estimate:
    """The interval of a mean credit of which each target's lies between two values."""
    estimate = found.mean_of(least)
    high = found.mean_of(most).high if (least < most).any() else estimate.high
    if high == estimate.high:
        return estimate
    method = f"{estimate.method}{COUNTED_TO}{found.matches.ranks:,}"
    return replace(estimate, high=high, method=method)


def _correlation(credits_: Sequence[Floats]) -> tuple[tuple[float, ...], ...]:
    """Correlation of the means at different sizes; 0 for credits that do not vary."""
    deviations = np.array([credit - credit.mean() for credit in credits_])
    lengths = np.sqrt((deviations**2).sum(axis=1))
    units = deviations / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = np.clip(units @ units.T, -1.0, 1.0)
    # Where credits do not vary, the product is 0, but an estimate always errs as itself.
    np.fill_diagonal(found, 1.0)
    return tuple(tuple(row) for row in found.tolist())
