"""Section: attackers who name everybody at once, and nobody twice."""

from collections.abc import Iterator

from reidrisk.report.exhibits import (
    Column,
    Exhibit,
    Row,
    Section,
    count_column,
    figure_cells,
    share_over_interval,
    span,
    words_column,
)
from reidrisk.study.analyses.assignments import bound_at_once, compared
from reidrisk.study.result import Assignment, Result
from reidrisk.study.text.numbers import after, count, share

ORDER = 45


def section(result: Result) -> Section | None:
    """How often each attack is right at once, beside one by one."""
    found = result.assignments
    if not found:
        return None
    exhibit = Exhibit(
        name="everyone",
        title=f"Named correctly, {after(result, found[0].slots)}",
        sentence=" ".join(compared(one) for one in found),
        rows=tuple(_row(one) for one in found),
        columns=(
            words_column("Attack", "attack"),
            _figure("One by one", "alone_"),
            _figure("Everyone at once", "right_"),
            _figure("Right one listed", "recall_"),
            count_column("Listed", "listed"),
            count_column("Assessed", "targets"),
        ),
        open=True,
    )
    sentences = (_asked(found[0]), *_bounded(result))
    return Section("everyone", "What if everybody is named at once?", sentences, (exhibit,))


def _asked(one: Assignment) -> str:
    return (
        f"An attacker who sees all {count(one.together)} rows at once need not look at them one by "
        "one: no person has two of them, so whoever surely has one of them does not have another. "
        f"For each row the {count(one.listed)} best of {count(one.users)} people are listed, and "
        "people are given to rows so that the sum of the ratings is the largest there is. People "
        "who are right or wrong together do not count as many: the intervals allow for it."
    )


def _bounded(result: Result) -> Iterator[str]:
    bound = bound_at_once(result)
    if bound is None:
        yield (
            "What is proved about one random person says nothing about attackers who see everybody "
            "at once."
        )
    else:
        yield (
            f"Nobody who sees everybody at once names more than {share(bound.estimate)} of all "
            "people rightly, if what this bound assumes holds."
        )


def _figure(heading: str, prefix: str) -> Column:
    """A figure and its interval in one column."""
    return Column(
        heading, lambda row: share_over_interval(span(row, prefix)), f"{prefix}value", breaks=True
    )


def _row(one: Assignment) -> Row:
    return {
        "attack": one.attack,
        "slots": one.slots,
        "users": one.users,
        "together": one.together,
        "listed": one.listed,
        **figure_cells(one.alone, "alone_"),
        **figure_cells(one.right, "right_"),
        **figure_cells(one.recall, "recall_"),
        "level": one.right.level,
        "targets": one.right.trials,
        "not_assessed": one.not_assessed,
        "method": one.right.method,
    }
