"""Attacks: descriptions of an attacker that are fitted to a score.

A new attack is one new file here, of the same name: `ATTACKS` finds it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
