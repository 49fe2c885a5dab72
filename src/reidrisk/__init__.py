"""Re-identification risk, measured: if we release this, can a person be picked out again?

The parts are loaded when they are first used, so importing the package is quick. The examples in
docstrings take two lines for granted: `import numpy as np` and `import reidrisk as rr`.

    >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
    >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
    >>> print(study.run(people).risks[0].estimate)
    2.3403% [1.3669%, 3.7266%] (95%, n=1,000)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.2.0"
