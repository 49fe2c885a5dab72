"""Attack: a few latent dimensions of both tables, among users who share no item."""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.latent import PRICE, Latent


@dataclass(frozen=True, slots=True)
class Unshared(Latent):
    """Guess the user of nearest taste among those who share no item: for logs split by item.

    Where the two tables cannot hold the same item of a person, because people rate a film once or
    because a log was split by item, sharing an item shows that two rows are of different people.

    Args:
        dimensions: As of `Latent`.

    Example:
        >>> rr.attacks.attack_named("unshared").knows[:38]
        'nothing but the two tables, and that p'
    """

    name: ClassVar[str] = "unshared"
    knows: ClassVar[str] = "nothing but the two tables, and that people hold no item in both"
    assumes: ClassVar[str] = (
        "Close to best if nobody holds an item in both tables, and people differ in a few tastes "
        "that decide which items they hold."
    )
    limits: ClassVar[str] = (
        "Wrong about everybody who holds an item in both tables. Ignores slots and times."
    )
    disjoint: ClassVar[bool] = True
    price: ClassVar[float | None] = PRICE
