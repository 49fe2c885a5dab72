"""Attack: as `self-trained`, beginning with guesses among users who share no item."""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.self_trained import SelfTrained


@dataclass(frozen=True, slots=True)
class SelfTrainedUnshared(SelfTrained):
    """The same, beginning with guesses among users who share no item with the target.

    Example:
        >>> rr.attacks.attack_named("self-trained-unshared").uses
        'all rows'
    """

    name: ClassVar[str] = "self-trained-unshared"
    knows: ClassVar[str] = (
        "nothing but the two tables and that people hold no item in both, and learns from its own "
        "confident guesses"
    )
    disjoint: ClassVar[bool] = True
