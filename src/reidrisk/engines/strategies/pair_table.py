"""Strategy: look pairs up in a table, and count all rows that are not listed at once."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.matches import Matches, Wanted, first_by_score, no_matches, up_to_rank
from reidrisk.core.observations import Observations
from reidrisk.engines.cost_model import Search
from reidrisk.engines.protocol import Engine
from reidrisk.scores.pair_table import UNLISTED, PairTable

Whole = NDArray[np.int64]


def search(observations: Observations, score: PairTable, wanted: Wanted, engine: Engine) -> Matches:
    """Look up what the table says of each target, one target after the other."""
    del engine
    rows = score.numbers(observations.known, score.known)
    # The known rows that have each content, one content after the other.
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(len(score.known) + 1))
    targets = score.numbers(observations.anonymous, score.shown)
    here = observations.true_is_here
    true_score = np.full(len(targets), np.iinfo(np.int64).min)
    places = rows[np.where(here, observations.truth, 0)]
    true_score[here] = score.look_up(targets, places)[here]
    found = no_matches(len(targets), wanted.by_listing)
    arrays = {name: getattr(found, name).copy() for name in _FIELDS}
    for target, number in enumerate(targets):
        mine = slice(0, 0) if number < 0 else slice(*score.starts[number : number + 2])
        listed, scores = _rows_of(score.rows[mine], score.scores[mine], order, starts)
        _enter(arrays, target, listed, scores, true_score[target], len(rows), wanted.by_listing)
    above, level = up_to_rank(arrays["above"], arrays["level"], wanted.ranks)
    above, level = (np.where(here, each, -1) for each in (above, level))
    return Matches(
        arrays["best"], arrays["ties"], true_score, arrays["best_rows"], arrays["best_scores"],
        above, level, wanted.ranks,
    ).with_second(wanted)  # fmt: skip


_FIELDS = ("best", "ties", "above", "level", "best_rows", "best_scores")


def _rows_of(numbers: Whole, scores: Whole, order: Whole, starts: Whole) -> tuple[Whole, Whole]:
    """The known rows that have the contents listed, and their scores."""
    sizes = starts[numbers + 1] - starts[numbers]
    places = np.repeat(starts[numbers] - np.cumsum(sizes) + sizes, sizes)
    return order[places + np.arange(sizes.sum())], np.repeat(scores, sizes)


def _enter(
    found: dict[str, Whole], target: int, listed: Whole, scores: Whole, true: int, users: int,
    wanted: Wanted,
) -> None:  # fmt: skip
    """Enter what was found for a target, given the rows that are listed and their scores."""
    others = users - len(listed)
    best = int(scores.max(initial=UNLISTED))
    found["best"][target] = best
    found["ties"][target] = (scores == best).sum() if len(listed) else others
    found["above"][target] = (scores > true).sum()
    # The true row itself is no rival.
    found["level"][target] = (others if true == UNLISTED else (scores == true).sum()) - 1
    count = wanted.list_best
    if count:
        if len(listed) < count:
            rest = np.setdiff1d(np.arange(min(users, count + len(listed))), listed)
            listed = np.concatenate([listed, rest])
            scores = np.concatenate([scores, np.full(len(rest), UNLISTED)])
        rows, values = first_by_score(listed, scores, count)
        found["best_rows"][target, : len(rows)] = rows
        found["best_scores"][target, : len(rows)] = values


PLAN = (Search((PairTable,), search),)
