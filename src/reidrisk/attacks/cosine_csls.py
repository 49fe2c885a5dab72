"""Attack: the cosine of weighted counts, corrected for hubs.

References:
    A. Conneau, G. Lample, M. Ranzato, L. Denoyer and H. Jegou, Word translation without parallel
    data, ICLR 2018: cross-domain similarity local scaling (CSLS).
"""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.cosine import Cosine


@dataclass(frozen=True, slots=True)
class CosineCsls(Cosine):
    """Guess the user whose weighted counts are nearest, less how near that user is to everybody.

    Twice the cosine, less the mean of the ten best cosines of the known row with anonymous rows.

    Args:
        counting: As of `Cosine`.
        rarity: As of `Cosine`.
        centred: As of `Cosine`.

    Example:
        >>> rr.attacks.attack_named("cosine-csls").uses
        'all rows'
    """

    name: ClassVar[str] = "cosine-csls"
    cost: ClassVar[str] = "As `cosine`, and a second search for how near known rows are to all."
    source: ClassVar[str] = f"Not in {PAPER}: the correction of Conneau and others, ICLR 2018."
    corrects_hubs: ClassVar[bool] = True
