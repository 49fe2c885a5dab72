"""Estimate how popular each topic is from what known users were shown.

Paper: section 7.

The estimate is unbiased, so it may lie outside [0, 1]. It is kept as it is; weights use a smoothed
value, and the estimate says for how many topics the two differ.
"""

import math
import operator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.observations import MISSING, Observations
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import Rows, entry_of, is_rows, rows_of, token_rows, tokens_in
from reidrisk.errors import InvalidInput

_Floats = NDArray[np.float64]


class _Shown(Protocol):
    """Chances of tokens: a `OneOfTop`, or a release with the same properties."""

    @property
    def topics(self) -> int: ...

    @property
    def top(self) -> int: ...

    @property
    def q_in(self) -> float: ...

    @property
    def q_out(self) -> float: ...


@dataclass(frozen=True, eq=False, slots=True)
class Popularity:
    """Chance that a topic is in a user's top set, estimated from known users.

    Attributes:
        raw: Unbiased estimates, slots x topics; one row if pooled. Some may be below 0 or above 1.
        band: Half width for each row: with probability `1 - delta` all estimates of a row are
            within it of the truth.
        delta: Chance that a band is too narrow.
        floor: The least value in use for each row: with this popularity, half a sighting beyond
            noise is expected among all sightings of the row.
        users: Independent observations behind each row. Pooled slots of a user are one observation,
            and there are fewer than users if users are seen in unequal numbers of slots.
        unseen: Topics never shown, for each row.
        not_positive: Topics whose estimate is 0 or below; with it weights would have no logarithm
            or the wrong sign.
        above_one: Topics whose estimate is above 1.
        inverted: Topics for which, by the estimate, a match would speak less for a user than a
            mismatch, or have no logarithm.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> found = rr.popularity(api.observe(people, seed=7).known, api)
        >>> found.raw.shape, found.unseen.tolist()
        ((2, 40), [0, 0])
    """

    raw: _Floats
    band: _Floats
    delta: float
    floor: _Floats
    users: _Floats
    unseen: NDArray[np.int64]
    not_positive: NDArray[np.int64]
    above_one: NDArray[np.int64]
    inverted: NDArray[np.int64]

    @property
    def in_use(self) -> _Floats:
        """Estimates for weights: raised to the floor, lowered to 1.

        With chances in (0, 1] a match never speaks less for a user than a mismatch.
        """
        return np.clip(self.raw, np.minimum(self.floor, 1)[:, None], 1)

    @property
    def smoothed(self) -> NDArray[np.int64]:
        """Topics whose value in use is not the estimate, for each row."""
        changed: NDArray[np.int64] = np.count_nonzero(self.in_use != self.raw, axis=1)
        return changed

    def __str__(self) -> str:
        return (
            f"popularity of {self.raw.shape[1]} topics, {len(self.raw)} row(s), within "
            f"{self.band.max():.2g} with probability {1 - self.delta:g}: {self.unseen.max()} never "
            f"seen, {self.not_positive.max()} at or below zero, {self.above_one.max()} above one, "
            f"{self.inverted.max()} with inverted weights; {self.smoothed.max()} smoothed (largest "
            "of the rows)"
        )


def popularity(
    known: NDArray[np.integer] | Rows | Observations,
    release: _Shown,
    *,
    pooled: bool = False,
    delta: float = 0.05,
) -> Popularity:
    """Estimate popularity as `(frequency - q_out) / (q_in - q_out)`.

    Slots in which nothing was shown are left out, so the estimate is of what was shown. That equals
    the popularity only if showing does not depend on the topic: not where callers must witness
    topics, users block some, or calls show several weeks at once.

    Args:
        known: Rows of tokens, users x slots, or users x slots x sites; or the observations.
        release: What showed the rows.
        pooled: Take all slots together, for an attacker who takes popularity to be constant.
        delta: Chance that the band of a row is too narrow.

    Example:
        >>> api = rr.TopicsApi(topics=3, top=1, noise=0.3)
        >>> rr.popularity(np.array([[0], [0], [0], [2]]), api).raw.round(3)
        array([[ 0.929, -0.143,  0.214]])
    """
    if not 0 < probability("delta", delta) < 1:
        raise InvalidInput(
            f"delta is a probability above 0 and below 1, got {delta}", code="not-a-probability"
        )
    rise = release.q_in - release.q_out
    if rise <= 0:
        raise InvalidInput(
            "with noise 1 what is shown says nothing about the top; lower the noise",
            code="nothing-to-learn",
        )
    rows = _rows(known.known if isinstance(known, Observations) else known, release.topics)
    counts, users = _count(rows, release.topics, pooled=pooled)
    if not users.all():
        raise InvalidInput(
            f"slot {int(np.flatnonzero(users == 0)[0])} was seen for nobody, so nothing can be "
            "said about it; leave it out or pool the slots",
            code="nothing-shown",
        )
    raw = (counts / counts.sum(axis=1, keepdims=True) - release.q_out) / rise
    return Popularity(
        raw=raw,
        # Hoeffding's inequality for each topic, and the union bound over all topics and both sides.
        band=np.sqrt(math.log(2 * release.topics / delta) / (2 * users)) / rise,
        delta=delta,
        floor=0.5 / (counts.sum(axis=1) * rise),
        users=users,
        unseen=np.count_nonzero(counts == 0, axis=1),
        not_positive=np.count_nonzero(raw <= 0, axis=1),
        above_one=np.count_nonzero(raw > 1, axis=1),
        inverted=np.count_nonzero(_inverted(raw, release), axis=1),
    )


def _rows(known: NDArray[np.integer] | Rows, topics: int) -> Rows:
    if is_rows(known):
        tokens = token_rows(known).tokens
        # Rows of an alphabet that fits need no pass to find their highest token.
        held = tokens - 1 if tokens <= topics else over_rows(known, _highest, max)
        _check_topic(held, topics)
        return known
    rows = np.asarray(known)
    if rows.ndim not in {2, 3} or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise InvalidInput(
            "known has one row of whole numbers per user and one column per slot; "
            f"got {rows.dtype} of shape {rows.shape}",
            code="wrong-shape",
        )
    for token in (rows.min(), rows.max()):
        _check_topic(token, topics)
    return rows_of(rows, tokens=topics)


def _highest(blocks: Blocks) -> int:
    """The highest token of some rows."""
    return max((int(tokens_in(rows).max(initial=MISSING)) for _, rows in blocks), default=MISSING)


def _check_topic(token: int, topics: int) -> None:
    if not MISSING <= token < topics:
        raise InvalidInput(
            f"known holds token {token}, which is not one of the {topics} topics, 0 to "
            f"{topics - 1}, nor -1 for nothing; renumber the tokens or use another release",
            code="token-out-of-range",
        )


def _count(rows: Rows, topics: int, *, pooled: bool) -> tuple[NDArray[np.int64], _Floats]:
    """Times each token was shown, slots x topics, and the independent observations behind it.

    Hoeffding's inequality for a mean of users' means with weights v needs `1 / sum(v^2)`, which
    is the number of users if all were seen equally often.
    """
    work = partial(_counted, slots=1 if pooled else rows.slots, topics=topics)
    counts = over_rows(rows, work, operator.add)
    seen, squares = counts[:, -2].astype(np.float64), counts[:, -1]
    users = np.divide(seen**2, squares, out=np.zeros_like(seen), where=squares > 0)
    return counts[:, :topics], users


def _counted(blocks: Blocks, *, slots: int, topics: int) -> NDArray[np.int64]:
    """What `_count_tokens` counts in some rows."""
    counts = np.zeros((slots, topics + 2), np.int64)
    for _, rows in blocks:
        _count_tokens(rows.reshape(len(rows), slots, -1), topics, counts)
    return counts


@kernel
def _count_tokens(sets: NDArray[np.integer], topics: int, counts: NDArray[np.int64]) -> None:
    """Add up tokens, users x slots x places, by slot.

    `counts[slot]` holds the number of each token, then the sum over users of the tokens seen and
    that of their squares.
    """
    for user in range(sets.shape[0]):
        for slot in range(sets.shape[1]):
            seen = 0
            for place in range(sets.shape[2]):
                token, count = entry_of(sets[user, slot, place])
                if token >= 0:
                    counts[slot, token] += count
                    seen += count
            counts[slot, topics] += seen
            counts[slot, topics + 1] += seen * seen


def _inverted(raw: _Floats, release: _Shown) -> NDArray[np.bool_]:
    """Where the plain estimate would make a match no better than a mismatch.  Paper: section 7."""
    q_out, q_in, top = release.q_out, release.q_in, release.top
    rise = q_in - q_out
    with np.errstate(divide="ignore", invalid="ignore"):
        match = q_out + rise * q_in * raw / (q_out + rise * raw)
        # Two different tokens cannot both be in a top of one.
        also = 0.0 if top == 1 else (top - 1) * raw / (top - raw)
        mismatch = q_out + rise * also
        sound: NDArray[np.bool_] = (match > 0) & (mismatch >= 0) & (match >= mismatch)
    return ~sound
