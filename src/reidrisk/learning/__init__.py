"""Models that attacks and information learn: types of users, chains and networks.

Modules that use torch import it when they are loaded, so they are loaded only where they are used.
"""

from reidrisk.learning.latent_types import LatentTypes, fit_types

__all__ = ["LatentTypes", "fit_types"]
