"""How an attacker rates known users: frozen descriptions that are fitted to a score.

A new attack is one new file here, of the same name: `ATTACKS` finds it.
"""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.attacks.card import Card, card_of
    from reidrisk.attacks.denoised_overlap import DenoisedOverlap
    from reidrisk.attacks.full_information import FullInformation
    from reidrisk.attacks.gaps import Gaps
    from reidrisk.attacks.hamming import Hamming
    from reidrisk.attacks.learned_pairs import Coarsened, Equal, LearnedPairs, Within
    from reidrisk.attacks.neural import Neural
    from reidrisk.attacks.overlap import Overlap
    from reidrisk.attacks.pair_network import PairNetwork
    from reidrisk.attacks.protocol import Attack, View, check_needs
    from reidrisk.attacks.rarity_overlap import RarityOverlap
    from reidrisk.attacks.repetition import Repetition
    from reidrisk.attacks.table import ATTACKS, attack_named
    from reidrisk.attacks.token_table import TokenTable
    from reidrisk.attacks.type_aware import TypeAware
    from reidrisk.attacks.weighted_hamming import WeightedHamming
    from reidrisk.learning.latent_types import LatentTypes, fit_types
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            ".learning.latent_types": ("LatentTypes", "fit_types"),
            "protocol": ("Attack", "View", "check_needs"),
            "card": ("Card", "card_of"),
            "denoised_overlap": ("DenoisedOverlap",),
            "full_information": ("FullInformation",),
            "gaps": ("Gaps",),
            "hamming": ("Hamming",),
            "learned_pairs": ("Coarsened", "Equal", "LearnedPairs", "Within"),
            "neural": ("Neural",),
            "overlap": ("Overlap",),
            "pair_network": ("PairNetwork",),
            "rarity_overlap": ("RarityOverlap",),
            "repetition": ("Repetition",),
            "table": ("ATTACKS", "attack_named"),
            "token_table": ("TokenTable",),
            "type_aware": ("TypeAware",),
            "weighted_hamming": ("WeightedHamming",),
        },
    )

__all__ = [
    "ATTACKS",
    "Attack",
    "Card",
    "Coarsened",
    "DenoisedOverlap",
    "Equal",
    "FullInformation",
    "Gaps",
    "Hamming",
    "LatentTypes",
    "LearnedPairs",
    "Neural",
    "Overlap",
    "PairNetwork",
    "RarityOverlap",
    "Repetition",
    "TokenTable",
    "TypeAware",
    "View",
    "WeightedHamming",
    "Within",
    "attack_named",
    "card_of",
    "check_needs",
    "fit_types",
]
