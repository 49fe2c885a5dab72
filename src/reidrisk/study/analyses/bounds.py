"""Analysis: bounds on all attackers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from reidrisk import risk
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.information.records import Bits
from reidrisk.people.subset import Subset
from reidrisk.releases.protocol import Reveals
from reidrisk.risk.bounds.noisy_vectors import noise_behind
from reidrisk.study.analyses.protocol import Part, Step, need_people, release_that
from reidrisk.study.settings import named

if TYPE_CHECKING:
    from reidrisk.risk.bounds import Setting
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 80


def _bound_name(name: str) -> str:
    risk.bounds.bound_named(name)
    return name


@dataclass(frozen=True, kw_only=True)
class BoundSettings:
    """Bounds that take a search of their own, or are those of others.

    Attributes:
        full_information: Whether to add the optimum of who knows what all chances follow from.
        bounds: Bounds of others to add, `module:function` each.
    """

    full_information: bool = False
    bounds: tuple[Annotated[str, named(_bound_name)], ...] = ()


FULL = "full-information"
"""The bound that takes a search of its own: only if a study asks for it."""


def check(study: "Study", source: "Source | None") -> None:
    """Bounds of others can be found; full information has secrets from which chances follow."""
    for name in study.bounds:
        risk.bounds.bound_named(name)
    if not study.full_information:
        return
    if noise_behind(study.release) is not None:
        need_people(study, source, "full_information")
        return
    release = release_that(study, Reveals, "full_information")
    need_people(study, source, "full_information")
    if source is not None and source.people is not None:
        try:  # with some parameters they do not
            release.secrets(Subset.of(source.people, np.arange(1)), 0, 1, seed=study.seed)
        except InvalidInput as wrong:
            raise InvalidInput(
                f"full_information cannot be computed: {wrong}", code=wrong.code
            ) from wrong


def steps(context: "Context") -> Iterator[Step]:
    """A step for all that is computed, and one for what is searched."""
    if context.study.full_information:
        yield Step(FULL, lambda parts: _found(context, parts, (FULL,)))
    # The search comes first and as a step of its own: if the run is stopped, it is kept.
    names = tuple(name for name in risk.bounds.BOUNDS if name != FULL)
    done = {*names, FULL} if context.study.full_information else set(names)
    others = tuple(name for name in dict.fromkeys(context.study.bounds) if name not in done)
    yield Step("bounds", lambda parts: _found(context, parts, (*names, *others)))


def setting_of(
    context: "Context", *, revealed: Observations | None, shared_bits: Bits | None = None
) -> "Setting":
    """What bounds of a context are asked with.

    Args:
        context: Of which.
        revealed: What a full-information attacker has, if bounds need it.
        shared_bits: What two sites share, if it is known.
    """
    return risk.bounds.Setting(
        context.seen,
        context.headline,
        context.study.level,
        context.engine,
        context.shows,
        context.attacked_people,
        context.study.seed,
        revealed,
        shared_bits,
    )


def _found(context: "Context", parts: Part, names: tuple[str, ...]) -> Part:
    # Only this bound needs it, and for it everybody's secrets must be made.
    secrets = names == (FULL,) and noise_behind(context.shows) is None
    revealed = context.revealed if secrets else None
    setting = setting_of(
        context, revealed=revealed, shared_bits=_shared_bits(parts, context.headline)
    )
    found = risk.bounds.bounds_in(setting, names)
    return {"bounds": tuple(replace(one, slots=context.headline) for one in found)}


def _shared_bits(parts: Part, slots: int) -> Bits | None:
    """What two sites share in these slots, if the release could tell."""
    for bits in parts.get("information", ()):
        if (bits.name, bits.slots) == ("mutual information", slots):
            return bits  # type: ignore[no-any-return]
    return None
