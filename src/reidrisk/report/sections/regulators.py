"""Section: regulators' words, and which of our figures each one is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.report.exhibits import (
    Exhibit,
    Row,
    Section,
    figure_cells,
    share_columns,
    words_column,
)
from reidrisk.study.credits import credits_in
from reidrisk.study.result import Result, Risk, UserRisk
from reidrisk.study.text.numbers import Interval, count, in_full, percent, targets_word
from reidrisk.study.text.verdict import strongest

ORDER = 20

PAGE = "docs/concepts/regulators.md"
"""Where the words are explained."""

_NOT_ASKED = "not asked in this study"


@dataclass(frozen=True)
class Term:
    """A word of regulators.

    Attributes:
        word: Theirs.
        here: What it is in our figures.
        source: Which record it is of, or where to get it.
        figure: It, if there is one.
    """

    word: str
    here: str
    source: str
    figure: Interval | None = None


def section(result: Result) -> Section | None:
    """A table of words."""
    best = strongest(result)
    if best is None:
        return None
    return section_of((*_criteria(result, best), *_attackers(best), *_spread(result, best),
                       *_whom(result, best)), percent(result.level))  # fmt: skip


def section_of(terms: Iterable[Term], level: str) -> Section:
    """A table of any such words."""
    rows: tuple[Row, ...] = tuple(
        {"word": one.word, "here": one.here, **figure_cells(one.figure), "source": one.source}
        for one in terms
    )
    exhibit = Exhibit(
        name="regulators",
        title="Regulators' words for these figures",
        sentence=_sentence(rows),
        rows=rows,
        columns=(
            words_column("Word", "word"),
            words_column("What it is here", "here"),
            *share_columns("Figure", level),
            words_column("From", "source"),
        ),
        open=True,
    )  # fmt: skip
    meaning = (
        f"What each word means, who uses it, and where thresholds come from: {PAGE} of the "
        "documentation."
    )
    return Section("regulators", "What do regulators call this?", (meaning,), (exhibit,))


def _sentence(rows: Sequence[Row]) -> str:
    known = sum(row["value"] is not None for row in rows)
    return (
        f"{count(known)} of {count(len(rows))} words have a figure here; a dash means that "
        "there is none, not that it is zero."
    )


def _criteria(result: Result, best: Risk) -> Iterable[Term]:
    """The three questions of the European opinion on anonymisation."""
    certain = _certain(result, best)
    yield Term(
        "singling out",
        "people whom the attack names correctly, tied with nobody",
        f"credits of {best.attack}" if certain else f"{_NOT_ASKED}; reidrisk unicity, or singling",
        certain,
    )
    yield Term(
        "linkability",
        "how often what was shown is linked to the right person: the mean credit",
        f"risk of {best.attack}",
        best,
    )
    yield Term(
        "inference",
        "what is learned about a person without naming them: g-vulnerability",
        f"{_NOT_ASKED}; theory.g_vulnerability in Python, with a gain of your own",
    )


def _attackers(best: Risk) -> Iterable[Term]:
    """Three attackers of health data, by what they want."""
    yield Term(
        "prosecutor risk",
        "the attacker knows that the person is in the data, as always here; the average",
        f"risk of {best.attack}",
        best,
    )
    yield Term(
        "journalist risk",
        "the attacker has a register of the population, and need not know who is in the data",
        f"{_NOT_ASKED}; reidrisk singling --register, for tables (k-map)",
    )
    yield Term(
        "marketer risk",
        "the share of all people who are named correctly: the average again",
        f"risk of {best.attack}",
        best,
    )


def _spread(result: Result, best: Risk) -> Iterable[Term]:
    spread = next((one for one in result.per_user if one.slots == best.slots), None)
    own = f"per_user of {spread.attack}" if spread else f"{_NOT_ASKED}; per_user in the study"
    yield Term(
        "maximum risk",
        "the person most at risk: no sample shows it",
        f"{_NOT_ASKED}; reidrisk singling, for tables",
    )
    yield Term(
        "average risk", "the mean over all people", f"risk of {best.attack}", best
    )  # fmt: skip
    yield Term("worst tenth", "the mean over the tenth most at risk", own, _worst(spread))


def _worst(spread: UserRisk | None) -> Estimate | None:
    return spread.worst_decile if spread else None


def _whom(result: Result, best: Risk) -> Iterable[Term]:
    who = targets_word(result)
    yield Term(
        "population",
        f"{count(result.users)} users, among whom the attacker chooses",
        "users of the study",
    )
    attacked = best.targets + best.not_assessed
    yield Term(
        "sample",
        f"{count(attacked)} {who} attacked at random, {count(best.targets)} of them assessed",
        "targets of the study",
    )
    limit = result.signoff.limit if result.signoff else None
    source = result.signoff.limit_source if result.signoff else ""
    yield Term(
        "threshold",
        "none was set" if limit is None else f"{in_full(limit)}; the verdict says if it is kept",
        "limit of [signoff]" if not source else f"limit of [signoff]: {source}",
    )


def _certain(result: Result, best: Risk) -> Estimate | None:
    """The share of those assessed who were named alone and rightly."""
    for record in result.credits:
        if (record.attack, record.slots) == (best.attack, best.slots):
            try:
                credit = credits_in(record, best.targets + best.not_assessed)
            except InvalidInput:  # damaged, which is no zero
                return None
            known = credit[~np.isnan(credit)]
            return mean_of_credits(known == 1, level=result.level) if known.size else None
    return None
