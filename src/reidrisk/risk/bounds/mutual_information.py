"""Fano's inequality.  Paper: lemma 9."""

from reidrisk.estimates import Bound, Estimate, confidence, standard_errors
from reidrisk.estimates.estimate import Side
from reidrisk.risk.bounds.setting import Setting
from reidrisk.theory import upper_from_mutual_information

SIDE: Side = "estimate"


def bound(setting: Setting) -> Bound | None:
    """What the bits that two sites share about a user allow, on average over a population.

    It is no upper bound: nothing is proved about the people at hand, nor about attackers who know
    more. Bits that were sampled enter with both ends of their interval.
    """
    bits = setting.shared_bits
    if bits is None:
        return None
    total, error = bits.value * bits.slots, bits.error * bits.slots
    reach = standard_errors(confidence(setting.level)) * error
    low, value, high = (
        float(upper_from_mutual_information(bits=max(amount, 0.0), users=setting.seen.users))
        for amount in (total - reach, total, total + reach)
    )
    found = Estimate(value, low, high, setting.level, 0, "Fano, normal interval of the bits")
    sentence = (
        f"Fano's inequality: two sites share {total:.3g} bits about a user. For attackers who know "
        "of each user only what one site is shown, on average over people drawn from the "
        "population; it is not proved for the people at hand."
    )
    exact = Estimate.computed(value, "Fano, exact bits")
    return Bound("mutual information", SIDE, found if error else exact, sentence)
