"""The attacker who knows, or learns, that users come in types."""

from reidrisk.attacks.type_aware.attack import TypeAware
from reidrisk.attacks.type_aware.latent_types import LatentTypes, fit_types

__all__ = ["LatentTypes", "TypeAware", "fit_types"]
