"""Encode the credits of all targets as short text, and decode them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.digest import sha256
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from reidrisk.core.matches import Matches
    from reidrisk.risk.eligibility import Mask

_NOT_ASSESSED = "-"
_TIMES = "x"
# Eighteen digits always fit into 64 bits.
_COUNT = "[1-9][0-9]{0,17}"
_RUN = re.compile(rf"({_NOT_ASSESSED}|0|{_COUNT})(?:{_TIMES}({_COUNT}))?")


@dataclass(frozen=True)
class Credits:
    """What became of every target, so that two runs can be compared person by person.

    Attributes:
        attack: Its name.
        slots: How many it has seen.
        people: A digest of who was attacked, in which order, and of the seed: two runs with the
            same digest attacked the same people. `study/credits.py` says what it hides.
        winners: For each target, in order, how many users share the best score if the true one is
            among them: `1` if it was named for sure; `0` if it is not, `-` if it could not be
            assessed. Words are apart by a space; `0x37` is 37 times `0`.
    """

    attack: str
    slots: int
    people: str
    winners: str


def credits_record(
    attack: str, slots: int, people: str, matches: "Matches", assessed: "Mask"
) -> Credits:
    """What a search of the targets found, as a record.

    Args:
        attack: Its name.
        slots: How many it has seen.
        people: Who was attacked: `digest_of`.
        matches: What was found, of all who were attacked.
        assessed: Who of them can be assessed.
    """
    # Ties are kept and not the credit itself: whole numbers come back exactly.
    winners = np.where(matches.true_score == matches.best, matches.ties, 0)
    told = (
        str(tied) if known else _NOT_ASSESSED
        for tied, known in zip(winners.tolist(), assessed.tolist(), strict=True)
    )
    return Credits(attack, slots, people, " ".join(_runs(told)))


def credits_in(record: Credits, targets: int) -> NDArray[np.float64]:
    """The credit of each target, in order: the chance that it was named; NaN if not assessed.

    Args:
        record: Of a result.
        targets: How many that result attacked.
    """
    runs = [_RUN.fullmatch(word) for word in record.winners.split(" ")]
    times = [int(run[2] or 1) for run in runs if run]
    # Before the runs are written out: a damaged count could ask for any amount of memory.
    if not all(runs) or sum(times) != targets:
        raise InvalidInput(
            f"the credits of {record.attack!r} are damaged: they should tell of {targets:,} "
            "targets; run the study again",
            code="damaged-file",
        )
    return np.repeat([_credit(run[1]) for run in runs if run], times)


def digest_of(ids: NDArray[np.generic], seed: int) -> str:
    """Who was attacked, in which order: the same for the same people and seed, on every machine.

    It tells nobody's id: to try one, somebody must know all others, and their order. Who knows
    them can try, so of very few targets it hides little; the seed, which a result tells, only
    makes digests of other studies useless.

    Args:
        ids: Of the targets, in order.
        seed: Of the study.
    """
    text = json.dumps(["reidrisk/people", seed, ids.tolist()], default=str)
    return sha256(text)


def _runs(told: Iterable[str]) -> Iterator[str]:
    """Equal neighbours as one word: `0x37`."""
    for word, group in groupby(told):
        times = sum(1 for _ in group)
        yield word if times == 1 else f"{word}{_TIMES}{times}"


def _credit(winners: str) -> float:
    if winners == _NOT_ASSESSED:
        return np.nan
    return 0.0 if winners == "0" else 1.0 / int(winners)
