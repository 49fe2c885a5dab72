"""Theory: exact optimum and bounds of re-identification, without sampling.

Paper: sections 3 to 6.

Everywhere a matrix is expected, anything that makes a `RepresentationMatrix` will do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
