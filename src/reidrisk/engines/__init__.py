"""Search over everyone: a slow engine that defines the answer, a fast one that equals it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
