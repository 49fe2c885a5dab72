"""Risk among ten times as many users, predicted from fewer, against what was measured there.

The embedded population, weighted Hamming after 2, 4 and 8 weeks. `python -m benchmarks
extrapolation` does the same on eight populations.
"""

import numpy as np

import reidrisk as rr
from benchmarks.comparison import Agreement, Comparison, cost
from reidrisk.estimates.extrapolation import extrapolate, sizes_to_fit
from reidrisk.risk._measure import measured, size_curve

PEERS = ("pydataless",)
USERS, TARGETS, TIMES = 300_000, 3_000, 10
QUICK_USERS, QUICK_TARGETS = 20_000, 500
SLOTS = (2, 4, 8)


def compare(peer, *, quick):
    from dataless import PYPExtrapolation

    users, targets = (QUICK_USERS, QUICK_TARGETS) if quick else (USERS, TARGETS)
    api, few = rr.TopicsApi(), users // TIMES
    people = rr.data.synthetic_topics(users=users, seed=1)
    everyone = api.observe(people, targets=targets, seed=7)
    for slots in SLOTS:
        (found,) = measured(
            everyone, [rr.WeightedHamming(api)], slots=slots, engine=rr.LocalEngine(), ranks=None
        )
        curve, truth = size_curve(found, sizes_to_fit(few)), size_curve(found, [users])[users]
        sizes, shares = np.array(list(curve)), np.array([one.value for one in curve.values()])
        our_cost, law = cost(
            lambda curve=curve: extrapolate(curve, [users], correlation=curve.correlation)
        )
        their_cost, predicted = cost(
            lambda sizes=sizes, shares=shares: PYPExtrapolation(
                sizes, correctness=shares
            ).predict(np.array([users]))[0]
        )  # fmt: skip
        yield Comparison(
            "extrapolation", f"{few:,} to {users:,} users, {slots} slots", "extrapolate", peer,
            "PYPExtrapolation", our_cost, their_cost,
            predictions(truth.value, law.predicted[users], float(predicted)),
        )  # fmt: skip


def predictions(truth, ours, theirs):
    """Ours must hold what was measured in its interval; the peer gives no interval."""
    words = f"another law: measured {truth:.2%}, ours {ours.value:.2%} "
    words += f"[{ours.low:.2%}, {ours.high:.2%}], theirs {theirs:.2%}"
    return Agreement(ours.low <= truth <= ours.high, words)
