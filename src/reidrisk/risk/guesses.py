"""Measure how often the right user is within the first k guesses."""

from collections.abc import Iterable, Sequence

from reidrisk.attacks.protocol import View
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.risk._measure import Measured, measured
from reidrisk.risk.curves import GuessCurve
from reidrisk.risk.engine import SearchEngine, one_length
from reidrisk.risk.fitting import Subject


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
        attack: How.
        guesses: How many users may be named, several numbers; at most all.
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
    """What was found as a curve over numbers of guesses.

    Args:
        found: Searched with ranks for the most guesses.
        guesses: Numbers of guesses, ascending.
    """
    points = {number: found.mean_of(found.matches.credit_of(number)) for number in guesses}
    return GuessCurve(found.name, points, found.slots, found.curve.users, found.not_assessed)


def checked_guesses(guesses: Iterable[int], users: int) -> list[int]:
    """Numbers of guesses among so many users, ascending, each once."""
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
