"""Releases by name: those found in the modules of this package."""

from functools import cache

from reidrisk.plugins import part_named, parts_of
from reidrisk.releases.release import AnyRelease


@cache
def release_kinds() -> dict[str, type[AnyRelease]]:
    """All releases of this package by name."""
    import reidrisk.releases as package  # noqa: PLC0415  which has this module

    return parts_of(package, is_release)


def own_release(name: str) -> type[AnyRelease] | None:
    """The release of this package of this name, if there is one."""
    import reidrisk.releases as package  # noqa: PLC0415  which has this module

    found: type[AnyRelease] | None = part_named(package, name, is_release)
    return found


def is_release(part: object) -> bool:
    """Whether this is a class of releases: not a protocol, which has no name of its own."""
    named = isinstance(part, type) and isinstance(getattr(part, "name", None), str)
    return named and any(
        all(callable(getattr(part, one, None)) for one in said)
        for said in (("slots", "show", "promises"), ("slots", "surveyed"))
    )
