"""Sentences on attackers who rate only a shortlist."""

from reidrisk.study.result import Result
from reidrisk.study.text.numbers import count, share_with_interval
from reidrisk.study.text.units import opening


def shortlists(result: Result, attack: str | None = None) -> list[str]:
    """How often the right person is listed, a sentence for each attack, or of one alone.

    Nothing where nobody was left out.
    """
    return [
        opening(
            f"{one.attack} rates only those whom it lists at first sight, {count(one.listed)} at "
            "most and fewer where many look alike: the right one is among them in "
            f"{share_with_interval(one.recall)} of {count(one.recall.trials)} cases; in the others "
            "its ratings do not help."
        )
        for one in result.shortlists
        if attack in {None, one.attack} and one.listed < result.users
    ]
