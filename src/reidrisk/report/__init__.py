"""The report of a study: a page that needs nothing else, files of its charts, words."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
