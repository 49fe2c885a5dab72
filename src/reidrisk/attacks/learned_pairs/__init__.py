"""Attack: learn from the rows alone how reliable each column is."""

from reidrisk.attacks.learned_pairs.attack import LearnedPairs
from reidrisk.attacks.learned_pairs.columns import Coarsened, ComparisonLevel, Equal, Within
from reidrisk.attacks.learned_pairs.learning import SlotChances

__all__ = ["Coarsened", "ComparisonLevel", "Equal", "LearnedPairs", "SlotChances", "Within"]
