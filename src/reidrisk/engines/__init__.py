"""Finding, for every anonymous row, the best known rows; how many there are; the true one's score."""

from reidrisk.engines.engine import Engine
from reidrisk.engines.histogram import PatternHistogram
from reidrisk.engines.local import LocalEngine
from reidrisk.engines.reference import ReferenceEngine
from reidrisk.engines.search import Searches

__all__ = ["Engine", "LocalEngine", "PatternHistogram", "ReferenceEngine", "Searches"]
