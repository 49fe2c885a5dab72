"""Measure the risk of single users by repeated releases."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.protocol import View
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import PerUserRisk, per_user_risk
from reidrisk.estimates.inputs import refuse_repeats
from reidrisk.risk.engine import SearchEngine, one_length
from reidrisk.risk.fitting import Subject, fitted


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

    What the attacker knows stays as it is. Where nothing is shown, it can only guess.

    Args:
        seen: Whose known rows.
        rows: The users, rows of `seen.known`, each once.
        again: What they show, users x repeats x slots: `TopicsApi.repeat`.
        attack: How.
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
    if again.ndim != 3 or len(again) != len(rows) or again.shape[2] != seen.slots:  # noqa: PLR2004
        raise InvalidInput(
            f"again holds users x repeats x slots, here {len(rows)} x repeats x {seen.slots}; got "
            f"an array of shape {again.shape}",
            code="wrong-shape",
        )
    refuse_repeats("rows", rows)
    users, repeats, _ = again.shape
    shown = again.reshape(users * repeats, -1)
    repeated = Observations(seen.known, shown, np.repeat(rows, repeats), tokens=seen.tokens)
    engine = LocalEngine() if engine is None else engine
    credit = engine.credit(repeated.prefix(length), fitted(attack, seen, view).score)
    return per_user_risk(credit.reshape(users, repeats), level=level)
