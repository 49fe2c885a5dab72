"""Bits of whole rows by models that learn to continue them.  Paper: section 8.4.

A model is trained twice: to write what one site is shown, and to write it given what the other was
shown. Its cross-entropy on users it was not trained on is at least the entropy. The difference of
the two is an estimate of the mutual information, not a bound on either side.
"""

from dataclasses import dataclass

from reidrisk.information.sequences import Mean
from reidrisk.learning.looks import Look


@dataclass(frozen=True, slots=True)
class Curve:
    """How a model learned one of its figures: cross-entropies in bits per slot."""

    figure: str
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class SequenceBits:
    """Bits per slot of what the anonymous site is shown, on users whom no model was trained on.

    Attributes:
        model: Its name, one of `MODELS`.
        parameters: Of the model, both times it was trained.
        slots: Of a row.
        training: Users it was trained on.
        held_out: Users who decided when to stop.
        tested: Users whom the bits are of.
        entropy: Cross-entropy without the other site: the entropy or more.
        conditional_entropy: Cross-entropy given what the other site was shown.
        mutual_information: The difference: an estimate.
        curves: How the two were learned.
    """

    model: str
    parameters: int
    slots: int
    training: int
    held_out: int
    tested: int
    entropy: Mean
    conditional_entropy: Mean
    mutual_information: Mean
    curves: tuple[Curve, ...]
