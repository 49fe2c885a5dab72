"""The verdict: one range in plain words."""

from collections.abc import Iterator

from reidrisk.core.sanitize import cleaned
from reidrisk.study.analyses import ANALYSES
from reidrisk.study.result import Result, Risk
from reidrisk.study.text.attacks import Sentence, found, headline, shortlists, strongest
from reidrisk.study.text.bounds import possible, ruled_out, unfit
from reidrisk.study.text.limits import limit, remedy
from reidrisk.study.text.numbers import count, percent, targets_word, units

__all__ = ["Sentence", "basis", "headline", "strongest", "text", "verdict"]


def verdict(result: Result) -> tuple[Sentence, ...]:
    """What was found, what is possible, what is ruled out, for whom; and whether that is enough."""
    return (
        found(result),
        *(Sentence("input", text, warns=True) for text in result.warnings),
        *possible(result),
        *ruled_out(result),
        *_of_analyses(result),
        *limit(result),
        *remedy(result),
        *unfit(result),
    )


def _of_analyses(result: Result) -> Iterator[Sentence]:
    for one in ANALYSES:
        if hasattr(one, "verdict"):
            yield from one.verdict(result)


def basis(result: Result) -> str:
    """What the verdict rests on: who was attacked, who could be assessed, how sure ranges are."""
    best = strongest(result)
    listed = [] if best is None else shortlists(result, best.attack)
    ranges = f"Ranges are {percent(result.level)} intervals."
    return " ".join([_attacked(result, best), *listed, ranges])


def _attacked(result: Result, best: Risk | None) -> str:
    if best is None:
        return f"{_targets(result, result.targets)} to be attacked."
    every = best.targets + best.not_assessed
    if not best.not_assessed:
        all_of = "all could" if every > 1 else "could"
        text = f"{_targets(result, every)} attacked, and {all_of} be assessed"
        return f"{text}{_sooner(result, best)}."
    return (
        f"{_targets(result, every)} attacked, of whom {count(best.targets)} could be assessed: of "
        f"the other {count(best.not_assessed)} one side had seen nothing, which does not make them "
        "safe."
    )


def _sooner(result: Result, best: Risk) -> str:
    """After how many slots not everybody could be assessed, although all can after the most."""
    risks = [one for one in result.risks if one.attack == best.attack and not one.setting]
    worst = max(risks, key=lambda one: one.not_assessed)
    if not worst.not_assessed:
        return ""
    return (
        f" after {units(result, best.slots)}; after {units(result, worst.slots)}, "
        f"{count(worst.not_assessed)} could not"
    )


def _targets(result: Result, number: int) -> str:
    return f"{count(number)} {targets_word(result, number)} {'was' if number == 1 else 'were'}"


def text(result: Result) -> str:
    """The verdict in plain words, for a terminal.

    Args:
        result: What a study found.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> result = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40)).run(people)
        >>> print(rr.report.text(result).splitlines()[-1])
        1,000 people were attacked, and all could be assessed. Ranges are 95 % intervals.
    """
    known = cleaned(result)
    return "\n\n".join(
        [known.title, *(statement.text for statement in verdict(known)), basis(known)]
    )
