"""Bounds on attackers, one file each.

A bound is a function `bound(setting)` in a module of this package. It looks at the `Setting` and
returns a `Bound`, several, or None where it does not apply. The module's name is the bound's name,
and its `ABOUT`, a `ThreatModel`, says what the bound rests on. Bounds of others are named
`package.module:function`.

Side `upper` is reserved for what is proved for the given parameters and people, and for any
attacker who names a person by what one site is shown of them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, cast, get_args

from reidrisk.core.plugins import is_path, modules_of, part_at
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.protocol import Setting

__all__ = ["BOUNDS", "Setting", "bound_named", "bounds_in"]

BoundOf = Callable[[Setting], Bound | tuple[Bound, ...] | None]

BOUNDS: dict[str, BoundOf]
"""All bounds of this package by name."""


def bounds_in(setting: Setting, names: Iterable[str] | None = None) -> tuple[Bound, ...]:
    """All bounds that apply to a setting.

    Args:
        setting: The setting.
        names: Names of bounds, `module:function` for those of others; all of this package if None.
    """
    wanted = _all_bounds() if names is None else {name: bound_named(name) for name in names}
    return tuple(one for name, bound in wanted.items() for one in _checked(name, bound(setting)))


def bound_named(name: str) -> BoundOf:
    """The bound of this name, of this package or of someone else."""
    if is_path(name):
        found = part_at(name, "a bound")
        if not callable(found):
            raise InvalidInput(
                f"{name!r} should be a bound, a function of a setting; it is of type "
                f"{type(found).__name__}",
                code="not-a-bound",
            )
        return cast("BoundOf", found)  # what it returns is checked when it is called
    if name not in (known := _all_bounds()):
        raise InvalidInput(
            f"there is no bound {name!r}; there are {', '.join(known)}, and those of others as "
            "module:function",
            code="unknown-bound",
        )
    return known[name]


def _checked(name: str, found: Any) -> tuple[Bound, ...]:
    several = () if found is None else found if isinstance(found, tuple) else (found,)
    for one in several:
        if not isinstance(one, Bound):
            raise InvalidInput(
                f"the bound {name!r} returned {one!r}; a bound returns a reidrisk.estimates.Bound, "
                "a tuple of them, or None",
                code="invalid-bound",
            )
        if one.side not in get_args(Side):
            raise InvalidInput(
                f"the bound {name!r} is of side {one.side!r}; there are "
                f"{', '.join(get_args(Side))}",
                code="invalid-bound",
            )
        figure = one.estimate
        if not 0 <= figure.low <= figure.value <= figure.high <= 1:
            raise InvalidInput(
                f"the bound {name!r} is {figure.value} between {figure.low} and {figure.high}, "
                "which is no share with its interval",
                code="invalid-bound",
            )
    return several


@cache
def _all_bounds() -> dict[str, BoundOf]:
    from reidrisk.risk import bounds  # noqa: PLC0415  this package, once it is loaded

    return {
        module.__name__.rpartition(".")[2].replace("_", "-"): module.bound
        for module in modules_of(bounds)
        if hasattr(module, "bound")
    }


def __getattr__(name: str) -> Any:
    """Make the table of all bounds when it is first asked for."""
    if name == "BOUNDS":
        return _all_bounds()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
