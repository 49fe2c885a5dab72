"""Sentences on how many points single a person out, for terminal and page."""

from collections.abc import Sequence

from reidrisk.estimates import Estimate
from reidrisk.io.column_roles import column_name
from reidrisk.risk.tables.records import POINTS_WORLD, KnownPoints, Unicity
from reidrisk.study.text.attacks import Sentence
from reidrisk.study.text.numbers import (
    count,
    listed,
    opening,
    percent,
    share_with_interval,
)

NOT_COVERED = (
    "Attackers who know points only roughly or with errors, and those who know more.",
    "What else the data tell about a person who is found.",
    "People who are not in the data, and people with fewer points than an attacker knows.",
)
_KNOWN = {"random": "random points", "rarest": "the rarest points that the person has"}


def headline(found: Unicity) -> KnownPoints | None:
    """As written, with the most points that anybody has.

    Args:
        found: What `unicity` found.
    """
    measured = [one for one in found if one.coarsening == "as written" and one.singled_out]
    return measured[-1] if measured else None


def verdict(found: Unicity) -> tuple[Sentence, ...]:
    """Who is singled out by the most points, and what making them coarser helps.

    Args:
        found: What `unicity` found.
    """
    best = headline(found)
    if best is None or best.right is None:
        return (Sentence("found", "Nobody has as many points as were asked for."),)
    points = f"point{'s' * (best.points > 1)} ({point(found)})"
    known = f"{count(best.points)} random {points}"
    if found.known == "rarest":
        known = (
            f"the {count(best.points)} rarest {points}"
            if best.points > 1
            else f"the rarest {points}"
        )
    first = (
        f"Whoever knows {known} of a person singles them out among {count(found.users)} in "
        f"{_share(best.singled_out)} of cases: nobody else has them all."
    )
    guess = (
        "By guessing among all who have the points, the attacker is right in "
        f"{_share(best.right)} of cases."
    )
    statements = [Sentence("found", first), Sentence("possible", guess)]
    coarser = [one for one in found if one.points == best.points and one.singled_out]
    least = min(coarser, key=lambda one: one.singled_out.value if one.singled_out else 1.0)
    if least is not best:
        way = (
            least.coarsening if least.coarsening.startswith("rounded") else f"by {least.coarsening}"
        )
        text = f"Known only {way}, they single out {_share(least.singled_out)} of people."
        statements.append(Sentence("remedy", text))
    return tuple(statements)


def targets(found: Unicity) -> str:
    """How many people were attacked.

    Args:
        found: What `unicity` found.
    """
    if found.targets == found.users:
        return f"All {count(found.users)} people were attacked."
    return f"{count(found.targets)} of {count(found.users)} people were attacked."


def knowledge(found: Unicity) -> str:
    """What the attacker knows.

    Args:
        found: What `unicity` found.
    """
    return f"The attacker knows {known_points(found)}; a point is {point(found)}."


def known_points(found: Unicity) -> str:
    """Which points the attacker knows, as part of a sentence.

    Args:
        found: What `unicity` found.
    """
    return _KNOWN[found.known]


def too_few_points(one: KnownPoints) -> tuple[str, ...]:
    """Who could not be assessed; nothing if everybody was.

    Args:
        one: What so many points show.
    """
    if not one.not_assessed:
        return ()
    points = f"{count(one.points)} point{'s' * (one.points != 1)}"
    have, are, them = ("has", "is", "it") if one.not_assessed == 1 else ("have", "are", "them")
    text = (
        f"{count(one.not_assessed)} of them {have} fewer than {points} and {are} in no such "
        f"figure, which does not make {them} safe."
    )
    return (text,)


def basis(found: Unicity) -> str:
    """Who was attacked, who could be assessed, how sure figures are.

    Args:
        found: What `unicity` found.
    """
    best = headline(found)
    if best is None or best.singled_out is None:
        return targets(found)
    level = best.singled_out.level
    ranges = "These figures are exact." if level == 1 else f"Ranges are {percent(level)} intervals."
    return " ".join((targets(found), *too_few_points(best), ranges))


def rise(some: Sequence[KnownPoints], figures: Sequence[Estimate | None]) -> str:
    """From the fewest points to the most, known in one way.

    Args:
        some: What so many points show, the fewest first.
        figures: The share of each that is spoken of; None where nobody has so many points.
    """
    measured = [
        (one, figure) for one, figure in zip(some, figures, strict=True) if figure is not None
    ]
    if not measured:
        return opening(f"{some[0].coarsening}: nobody has so many points.")
    said = [f"{_share(figure)} with {count(one.points)}" for one, figure in measured]
    if len(said) == 1:
        return opening(f"{some[0].coarsening}: {said[0]}.")
    return opening(f"{some[0].coarsening}: from {said[0]} to {said[-1]}.")


def assumptions(found: Unicity) -> tuple[str, ...]:
    """What figures rest on, a sentence each.

    Args:
        found: What `unicity` found.
    """
    drawn = (
        "Points are drawn at random among those of a person, each as likely."
        if found.known == "random"
        else "The attacker happens to know the points that the fewest people have."
    )
    return (POINTS_WORLD, drawn, "A point counts once, however often a person has it.")


def _share(figure: Estimate | None) -> str:
    return "no" if figure is None else share_with_interval(figure)


def point(found: Unicity) -> str:
    """What a point is made of, as part of a sentence.

    Args:
        found: What `unicity` found.
    """
    return listed([column_name(name) for name in found.point])
