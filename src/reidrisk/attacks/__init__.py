"""How an attacker rates known users: frozen descriptions that are fitted to a score.

A new attack is one new file here: `ATTACKS` finds it.
"""

from typing import Any

from reidrisk.attacks.attack import Attack, View, check_needs
from reidrisk.attacks.full_information import FullInformation
from reidrisk.attacks.gaps import Gaps
from reidrisk.attacks.hamming import Hamming
from reidrisk.attacks.learned_pairs import Coarsened, Equal, LearnedPairs, Within
from reidrisk.attacks.neural import Neural
from reidrisk.attacks.overlap import DenoisedOverlap, Overlap
from reidrisk.attacks.pair_network import PairNetwork
from reidrisk.attacks.pair_table import TokenTable
from reidrisk.attacks.rarity import RarityOverlap
from reidrisk.attacks.repetition import Repetition
from reidrisk.attacks.table import all_attacks, attack_named
from reidrisk.attacks.type_aware import TypeAware
from reidrisk.attacks.weighted_hamming import WeightedHamming
from reidrisk.learning.latent_types import LatentTypes, fit_types

__all__ = [
    "ATTACKS",
    "Attack",
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
    "check_needs",
    "fit_types",
]

ATTACKS: dict[str, type[Attack]]
"""All attacks of this package by name."""


def __getattr__(name: str) -> Any:
    """Make the table of all attacks when it is first asked for."""
    if name == "ATTACKS":
        return all_attacks()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
