"""The table of attacks by name, made from the modules of this package."""

from functools import cache
from typing import Any

from reidrisk.attacks.protocol import Attack
from reidrisk.core.plugins import is_path, part_at, part_named, parts_of
from reidrisk.errors import InvalidInput

ATTACKS: dict[str, type[Attack]]
"""All attacks of this package by name."""


def __getattr__(name: str) -> Any:
    """Make the table of all attacks when it is first asked for."""
    if name == "ATTACKS":
        return all_attacks()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def all_attacks() -> dict[str, type[Attack]]:
    """All attacks of this package by name."""
    import reidrisk.attacks as package  # noqa: PLC0415  it imports this module

    return parts_of(package, _is_attack)


def own_attack(name: str) -> type[Attack] | None:
    """The attack of this package of this name, if there is one."""
    import reidrisk.attacks as package  # noqa: PLC0415  it imports this module

    found: type[Attack] | None = part_named(package, name, _is_attack)
    return found


def attack_named(name: str) -> Attack:
    """An attack without arguments: what else it needs to know it takes from the view.

    Args:
        name: That of an attack of this package, such as "weighted-hamming"; or `module:Class`.

    Example:
        >>> rr.attacks.attack_named("rarity-overlap")
        RarityOverlap(weighting='log')
        >>> rr.attacks.attack_named("reidrisk.attacks:Hamming")
        Hamming()
    """
    if is_path(name):
        return _made(name, part_at(name, "an attack"))
    if (own := own_attack(name)) is None:
        raise InvalidInput(
            f"there is no attack {name!r}; there are {', '.join(sorted(all_attacks()))}, and "
            "your own as module:Class",
            code="unknown-attack",
        )
    return own()


def _made(path: str, part: Any) -> Attack:
    if not _is_attack(part):
        raise InvalidInput(
            f"{path!r} should be an attack, but is none: a class with name, knows, assumes, "
            "likelihood, needs and fit; reidrisk.testing.check_attack tests one",
            code="not-an-attack",
        )
    try:
        attack: Attack = part()
    except TypeError as wrong:
        raise InvalidInput(
            f"{path!r} cannot be made without arguments ({wrong}); give its fields defaults, and "
            "take the release from the view",
            code="attack-needs-arguments",
        ) from wrong
    return attack


def _is_attack(part: object) -> bool:
    """Whether this is a class of attacks; a protocol is not, since it has no name."""
    said = ("knows", "assumes", "likelihood", "needs", "fit")
    named = isinstance(part, type) and isinstance(getattr(part, "name", None), str)
    return named and all(hasattr(part, one) for one in said)
