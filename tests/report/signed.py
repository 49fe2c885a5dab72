"""Results that somebody is to sign."""

from dataclasses import replace

from tests.report.sample import sample

from reidrisk.estimates import Estimate
from reidrisk.study.result import Decision, OpenSet, Signoff

SIGNOFF = Signoff(
    scope="Weekly topics of visitors of our news site, released to three advertisers for "
    "measuring reach. No other use is allowed by the contract.",
    data="Visits of consenting readers, March to May 2026; children excluded by sign-up age.",
    recipients="Three advertisers under contract (Annex B); onward transfer is forbidden.",
    knowledge="Each knows its own customers by name and has seen their topics on its own site "
    "for at most four weeks; none holds our logs.",
    before="The same topics were released with a row per visit and without noise.",
    limit=0.4,
    limit_source="Contract of 3 March 2026, clause 4; decided by the board",
    valid_until="30 June 2027, or the next change of the taxonomy",
    signer="Dr. Anna Beispiel",
    role="Data protection officer",
)


def estimate(value, error=0.01):
    return Estimate(value, max(0.0, value - error), min(1.0, value + error), 0.95, 200, "binomial")


def decision(right, wanted=0.01):
    return Decision(
        3.0, wanted, estimate(right), estimate(0.02), estimate(0.009, 0.005), estimate(0.2, 0.05)
    )


def open_set(attack, rule, *decisions, slots=4):
    return OpenSet(attack, rule, slots, 400, 200, 170, 0, 0.5, decisions)


STRANGERS = (
    open_set("type-aware", "score", decision(0.01, 0.001), decision(0.03)),
    open_set("type-aware", "gap", decision(0.09)),
    open_set("type-aware", "posterior", decision(0.08)),
    open_set("hamming", "gap", decision(0.05)),
)


def signed(**changes):
    """The sample with every field said, and with strangers."""
    return replace(sample(), **{"signoff": SIGNOFF, "strangers": STRANGERS, **changes})
