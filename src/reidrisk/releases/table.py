"""The table of releases by name, made from the modules of this package."""

from functools import cache

from reidrisk.core.checks import meant
from reidrisk.core.plugins import is_path, part_at, part_named, parts_of
from reidrisk.errors import InvalidInput
from reidrisk.releases.parameters import parameters_of
from reidrisk.releases.protocol import AnyRelease


@cache
def release_kinds() -> dict[str, type[AnyRelease]]:
    """All releases of this package by name."""
    import reidrisk.releases as package  # noqa: PLC0415  the package that holds this module

    return parts_of(package, _is_release)


def own_release(name: str) -> type[AnyRelease] | None:
    """The release of this package of this name, if there is one."""
    import reidrisk.releases as package  # noqa: PLC0415  the package that holds this module

    found: type[AnyRelease] | None = part_named(package, name, _is_release)
    return found


def release_kind(name: str) -> type[AnyRelease]:
    """The release of this name: one of this package, or `module:Class` of someone else."""
    if is_path(name):
        found = part_at(name, "a release")
        if not _is_release(found):
            raise InvalidInput(
                f"{name!r} should be a release, but is not: a frozen dataclass with a name, "
                "slots, show and promises, or surveyed; reidrisk.testing.check_release tests one",
                code="not-a-release",
            )
        # Refuses a class whose parameters cannot be known, before a study uses it.
        parameters_of(found)
        return found  # type: ignore[no-any-return]
    if (own := own_release(name)) is None:
        kinds = release_kinds()
        raise InvalidInput(
            f"there is no {name!r}{meant(name, kinds)} There are {', '.join(sorted(kinds))}, and "
            "those of others as module:Class",
            code="unknown-release",
        )
    return own


def _is_release(part: object) -> bool:
    """Whether this is a class of releases; a protocol is not, since it has no name."""
    named = isinstance(part, type) and isinstance(getattr(part, "name", None), str)
    return named and any(
        all(callable(getattr(part, one, None)) for one in said)
        for said in (("slots", "show", "promises"), ("slots", "surveyed"))
    )
