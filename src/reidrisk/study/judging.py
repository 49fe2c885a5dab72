"""Judging a result against a limit: the one rule that gate, verdict and sign-off go by."""

from reidrisk.errors import InvalidInput
from reidrisk.study.result import Result, Risk


def judged(
    result: Result, *, slots: int | None = None, attack: str | None = None
) -> tuple[Risk, ...]:
    """Figures of the study itself, perhaps of one number of slots and one attack.

    Sweeps do not count.

    Raises:
        InvalidInput: There are none: what has nothing to check does not pass.
    """
    base = [risk for risk in result.risks if not risk.setting]
    chosen = tuple(
        risk for risk in base
        if slots in {None, risk.slots} and attack in {None, risk.attack}
    )  # fmt: skip
    if not chosen:
        lengths = ", ".join(str(one) for one in sorted({risk.slots for risk in base}))
        names = ", ".join(sorted({risk.attack for risk in base}))
        raise InvalidInput(
            "the gate has nothing to check, so it does not pass; the result has slots "
            f"{lengths or 'none'} and attacks {names or 'none'}"
        )
    return chosen


def above(risks: tuple[Risk, ...], limit: float) -> tuple[Risk, ...]:
    """Those that may be above a limit: the upper end of the interval counts."""
    return tuple(risk for risk in risks if not risk.high <= limit)
