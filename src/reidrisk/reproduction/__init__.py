"""Reproduce published figures, row by row, with reasons where ours differ.

`reidrisk.reproduction.run("folder/")` is what `reidrisk reproduce` runs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
