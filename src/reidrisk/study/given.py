"""A result from what two sites saw, where no people and perhaps no release are known."""

from collections.abc import Sequence
from pathlib import Path

from reidrisk.attacks import Attack
from reidrisk.observations import Observations
from reidrisk.releases import TopicsApi
from reidrisk.risk import measure
from reidrisk.risk.engine import Engine, Slots
from reidrisk.risk.spectra import arranged, attack_level, local_privacy_level
from reidrisk.study.analyses.steps import bound_of, records_of
from reidrisk.study.describe import describe, hash_of_file
from reidrisk.study.result import Result
from reidrisk.study.words import NOT_COVERED, assumptions, versions


def measure_given(
    seen: Observations,
    attacks: Sequence[Attack],
    *,
    release: TopicsApi | None = None,
    slots: Slots = None,
    level: float = 0.95,
    seed: int = 0,
    inputs: Sequence[Path] = (),
    engine: Engine | None = None,
) -> Result:
    """Attack given rows.

    Args:
        seen: Who is compared with whom.
        attacks: At least one.
        release: What showed the tokens, if known: adds what local differential privacy allows.
        slots: After how many slots; all, if not given.
        level: Chance with which an interval holds the truth.
        seed: With which the rows were shown, to be noted.
        inputs: Files the rows came from.
        engine: Where it runs; this machine, if not given.
    """
    curves = measure(seen, list(attacks), slots=slots, level=level, engine=engine)
    lengths = tuple(curves[0])
    last = lengths[-1]
    levels = [attack_level(one, curve[last]) for one, curve in zip(attacks, curves, strict=True)]
    if release is not None:
        levels.append(local_privacy_level(release, seen.users, slots=last))
    return Result(
        title="Re-identification risk",
        study={"attacks": describe(tuple(attacks)), "release": describe(release)},
        users=seen.users,
        targets=len(seen.anonymous),
        slots=lengths,
        level=level,
        seed=seed,
        risks=tuple(risk for curve in curves for risk in records_of(curve, {})),
        bounds=tuple(bound_of(one, last) for one in arranged(levels, seen.users)),
        assumptions=assumptions(attacks, level),
        not_covered=NOT_COVERED,
        inputs={one.name: hash_of_file(one) for one in inputs if one.is_file()},
        versions=versions(),
    )
