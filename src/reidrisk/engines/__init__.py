"""Search over everyone: a slow engine that defines the answer, a fast one that equals it."""

from reidrisk.engines.engine import Engine
from reidrisk.engines.histogram import PatternHistogram
from reidrisk.engines.local import LocalEngine
from reidrisk.engines.plan import ranks_are_free
from reidrisk.engines.reference import ReferenceEngine
from reidrisk.engines.search import Searches

__all__ = [
    "Engine",
    "LocalEngine",
    "PatternHistogram",
    "ReferenceEngine",
    "Searches",
    "ranks_are_free",
]
