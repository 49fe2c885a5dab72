"""Search over everyone: a slow engine that defines the answer, a fast one that equals it."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.engines.histogram import PatternHistogram
    from reidrisk.engines.local import LocalEngine
    from reidrisk.engines.plan import ranks_are_free
    from reidrisk.engines.protocol import Engine
    from reidrisk.engines.reference import ReferenceEngine
    from reidrisk.engines.search import Searches
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "protocol": ("Engine",),
            "histogram": ("PatternHistogram",),
            "local": ("LocalEngine",),
            "plan": ("ranks_are_free",),
            "reference": ("ReferenceEngine",),
            "search": ("Searches",),
        },
    )

__all__ = [
    "Engine",
    "LocalEngine",
    "PatternHistogram",
    "ReferenceEngine",
    "Searches",
    "ranks_are_free",
]
