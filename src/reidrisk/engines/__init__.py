"""Search over everyone: the slow engine that defines the answer, and the fast one that equals it."""

from reidrisk.engines.histogram import PatternHistogram
from reidrisk.engines.local import LocalEngine
from reidrisk.engines.reference import ReferenceEngine

__all__ = ["LocalEngine", "PatternHistogram", "ReferenceEngine"]
