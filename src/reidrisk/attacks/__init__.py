"""How an attacker rates known users: frozen descriptions that are fitted to a score."""

from reidrisk.attacks.attack import Attack
from reidrisk.attacks.full_information import FullInformation
from reidrisk.attacks.hamming import Hamming
from reidrisk.attacks.overlap import ProfileOverlap
from reidrisk.attacks.pair_table import TokenTable
from reidrisk.attacks.release import Release
from reidrisk.attacks.type_aware.attack import TypeAware
from reidrisk.attacks.type_aware.latent_types import LatentTypes, fit_types
from reidrisk.attacks.weighted_hamming import WeightedHamming

__all__ = [
    "Attack",
    "FullInformation",
    "Hamming",
    "LatentTypes",
    "ProfileOverlap",
    "Release",
    "TokenTable",
    "TypeAware",
    "WeightedHamming",
    "fit_types",
]
