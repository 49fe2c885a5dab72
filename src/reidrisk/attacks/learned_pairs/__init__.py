"""The attacker who learns, from rows alone, how far each column is to be trusted."""

from reidrisk.attacks.learned_pairs.attack import LearnedPairs
from reidrisk.attacks.learned_pairs.comparisons import Coarsened, ComparisonLevel, Equal, Within
from reidrisk.attacks.learned_pairs.learning import SlotChances

__all__ = ["Coarsened", "ComparisonLevel", "Equal", "LearnedPairs", "SlotChances", "Within"]
