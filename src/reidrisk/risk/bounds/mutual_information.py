"""Bound: Fano's inequality from mutual information.

Paper: lemma 9.
"""

from reidrisk.attacks.card import PAPER
from reidrisk.estimates import Bound, Estimate, confidence, standard_errors
from reidrisk.risk.bounds.protocol import Setting, ThreatModel
from reidrisk.theory import upper_from_mutual_information

ABOUT = ThreatModel(
    figures=("mutual information",),
    side="estimate",
    knows="of each user only what one site is shown",
    needs=("shared_bits",),
    assumes="The people at hand are drawn at random from the population whose bits were computed.",
    bounds=(
        "How often one random user is named correctly, on average over people drawn from the "
        "population."
    ),
    holds_for="attackers who know of each user only what one site is shown",
    limits=(
        "It is not proved for the people at hand, nor for attackers who know more. It is loose: "
        "among few users it allows nearly everything, whatever the bits. Bits that were sampled "
        "enter with both ends of their interval."
    ),
    cost="Nothing, once the bits are known.",
    source=f"{PAPER}, section 6.4, lemma 9: Fano's inequality.",
)


def bound(setting: Setting) -> Bound | None:
    """What the bits that two sites share about a user allow, on average over a population.

    Its side is `estimate`, not `upper`: nothing is proved about the people at hand, nor about
    attackers who know more. Sampled bits enter with both ends of their interval.
    """
    bits = setting.shared_bits
    if bits is None:
        return None
    total, error = bits.value * bits.slots, bits.error * bits.slots
    reach = standard_errors(confidence(setting.level)) * error
    low, value, high = (
        # Sampled bits less their error may be below 0, which no mutual information is.
        float(upper_from_mutual_information(bits=max(amount, 0.0), users=setting.seen.users))
        for amount in (total - reach, total, total + reach)
    )
    found = Estimate(value, low, high, setting.level, 0, "Fano, normal interval of the bits")
    sentence = (
        f"Fano's inequality: two sites share {total:.3g} bits about a user. For {ABOUT.holds_for}, "
        "on average over people drawn from the population; it is not proved for the people at hand."
    )
    exact = Estimate.computed(value, "Fano, exact bits")
    return Bound(ABOUT.figure, ABOUT.side, found if error else exact, sentence)
