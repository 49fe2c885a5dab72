"""Risk at 10,000,000 users, predicted from fewer: which law comes closest, and how often it holds.

Seven populations, each measured with the same 10,000 targets at nested sizes from 1,000 users on.
The last population was not looked at when the law and its drift were chosen. A quarter of an hour.
"""

import itertools
from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import least_squares
from scipy.special import betaln, gammaln, log_ndtr

from benchmarks.main_experiment import weighted_hamming
from reidrisk import LocalEngine, TokenWeights, TopicsApi
from reidrisk.data import synthetic_topics
from reidrisk.estimates import mean_of_credits
from reidrisk.estimates.extrapolation import extrapolate
from reidrisk.matches import Matches

SIZES = tuple(int(size) for power in range(3, 7) for size in (10**power, 3 * 10**power))
SIZES = (*SIZES, 10_000_000)
TARGETS, SLOTS = 10_000, (1, 2, 4, 6, 8)
ZIPF = {"sigma": 0.0}
MOODS = {"types": 32, "s": 1.018, "sigma": 1.7, "moods": 3, "mood_sigma": 1.482, "seed": 2}
POPULATIONS = {
    **{f"embedded, noise {noise}": (noise, {}) for noise in (0.0, 0.05, 0.3)},
    **{f"Zipf, noise {noise}": (noise, ZIPF) for noise in (0.0, 0.05, 0.3)},
    "not looked at: moods, noise 0.1": (0.1, MOODS),
}


def nested_credits(seen, scores, slots, sizes):
    """Credits by (score, slots): sizes x targets; the true user is always present."""
    starts, engine = (0, *sizes[:-1]), LocalEngine()
    shards = [seen.shard(start, stop) for start, stop in zip(starts, sizes, strict=True)]
    parts = [engine.curves(shard, scores, slots) for shard in shards]
    found = {}
    for score in range(len(scores)):
        for short in slots:
            merged = [parts[0][score][short]]
            for part in parts[1:]:
                merged.append(merged[-1].merge(part[score][short]))
            found[score, short] = _credits(seen, sizes, merged)
    return found


def _credits(seen, sizes, merged: list[Matches]):
    truth, rows = merged[-1].true_score, []
    for size, matches in zip(sizes, merged, strict=True):
        ties = matches.ties + (seen.truth >= size)  # a true user from outside joins the others
        tied = np.where(truth == matches.best, 1 / ties, 0.0)
        rows.append(np.where(truth > matches.best, 1.0, tied))
    return np.array(rows)


def measured(noise, people):
    """Estimates at all sizes, by attack and slots."""
    api = TopicsApi(topics=349, top=5, noise=noise)
    users = synthetic_topics(users=SIZES[-1], **{"seed": 1, **people})
    seen = api.observe(users, targets=TARGETS, seed=7)
    scores = {"unweighted": TokenWeights(np.ones(api.topics))}
    if noise:
        scores["weighted"] = weighted_hamming(api, seen.known)
    names = list(scores)
    found = nested_credits(seen, list(scores.values()), SLOTS, SIZES)
    return {
        (names[score], short): dict(zip(SIZES, map(mean_of_credits, credits_), strict=True))
        for (score, short), credits_ in found.items()
        if not (score and short == 1)  # after one slot both attacks are the same
    }


# The candidates: log risk at sizes n for parameters p.
STEPS = np.linspace(-6, 6, 241)
CHANCES = np.exp(-(STEPS**2) / 2) / np.exp(-(STEPS**2) / 2).sum()


def crowds(p, n):
    logs = np.log(n)[:, None] + p[0] + np.exp(min(p[1], 4)) * STEPS
    crowd = np.exp(np.clip(logs, -500, 500))
    return np.log((-np.expm1(-crowd) / crowd) @ CHANCES)


def beta(p, n):
    a, b = np.exp(p)
    return betaln(a, b + n - 1) - betaln(a, b)


def pitman_yor(p, n):
    """Expected number of distinct values of a Pitman-Yor process, over n."""
    discount, strength = 1 / (1 + np.exp(-p[0])), np.exp(p[1])
    rise = gammaln(1 + strength) - gammaln(strength + discount)
    rise = rise + gammaln(n + strength + discount) - gammaln(n + strength)
    return np.log(np.maximum(np.exp(rise) - strength, 1e-300) / (discount * n))


def power(p, n):
    return p[0] - np.exp(p[1]) * np.log(n)


def quadratic(p, n):
    return np.polyval(p, np.log(n))


def probit(p, n):
    return log_ndtr(p[0] - np.exp(p[1]) * np.log(n))


# By name: log risk, starts to try for each parameter (the best fit counts), decades fitted or all.
LAWS = {
    "power law, last decade": (power, ((0,), (-1,)), 1),
    "power law": (power, ((0,), (-1,)), None),
    "beta mixture, last decade": (beta, ((-2, 0), (0, 3, 6)), 1),
    "beta mixture": (beta, ((-2, 0), (0, 3, 6)), None),
    "Pitman-Yor, last decade": (pitman_yor, ((-2, 0, 2), (0, 4, 8)), 1),
    "Pitman-Yor": (pitman_yor, ((-2, 0, 2), (0, 4, 8)), None),
    "log-quadratic": (quadratic, ((0,), (-0.3,), (0,)), None),
    "probit, last decade": (probit, ((0, 3), (-2, -1)), 1),
    "probit": (probit, ((0, 3), (-2, -1)), None),
    "log-normal crowds, last decade": (crowds, ((-16, -10, -4), (0, 1, 2)), 1),
    "log-normal crowds": (crowds, ((-16, -10, -4), (0, 1, 2)), None),
}


def law_error(law, curve, fitted, size):
    """Log of predicted over measured risk."""
    function, starts, decades = LAWS[law]
    sizes = np.array([n for n in fitted if not decades or n >= fitted[-1] / 10**decades], float)
    risks = [curve[int(n)] for n in sizes]
    logs = np.log([risk.value for risk in risks])
    errors = np.hypot([np.log(risk.high / risk.value) / 1.96 for risk in risks], 0.03)
    fits = [
        least_squares(lambda p: (function(p, sizes) - logs) / errors, start, bounds=(-60, 60))
        for start in itertools.product(*starts)
    ]
    best = min(fits, key=lambda fit: fit.cost)
    return function(best.x, np.array([float(size)]))[0] - np.log(curve[size].value)


def compare_laws(curves):
    """Errors of all laws, one and two decades beyond the fit."""
    grid = Table("law", title="|log(predicted / measured)|: median, root mean square; mean")
    jumps = [("1M to 10M", SIZES[:7], SIZES[8]), ("100k to 1M", SIZES[:5], SIZES[6]),
             ("100k to 10M", SIZES[:5], SIZES[8])]  # fmt: skip
    for title, _, _ in jumps:
        grid.add_column(title)
    for law in LAWS:
        cells = []
        for _, fitted, size in jumps:
            errors = np.array([law_error(law, curve, fitted, size) for curve in curves])
            middle, square = np.median(np.abs(errors)), np.sqrt((errors**2).mean())
            cells.append(f"{middle:.2f} {square:.2f}; {errors.mean():+.2f}")
        grid.add_row(law, *cells)
    Console(width=110).print(grid)


def holds(curves):
    """For each curve and each fit, whether the interval holds what was measured: 10x, 100x."""
    for factor, ahead in ((10, 2), (100, 4)):
        sides, slots_missed, widths = Counter(), Counter(), []
        for (_, slots), curve in curves:
            for end in range(4, len(SIZES) - ahead + 1):
                size = SIZES[end - 1 + ahead]
                known = {n: curve[n] for n in SIZES[:end]}
                guess, truth = extrapolate(known, [size]).predicted[size], curve[size].value
                side = "above" if truth > guess.high else "below" if truth < guess.low else "held"
                sides[side] += 1
                slots_missed[slots] += side != "held"
                widths.append(guess.high / guess.low)
        print(
            f"{factor}x beyond: {sides['held']} of {sides.total()} held "
            f"({sides['held'] / sides.total():.0%}), measured above {sides['above']}, below "
            f"{sides['below']}; misses by slots {dict(slots_missed)}; "
            f"median high/low {np.median(widths):.1f}"
        )


def main():
    chosen = []
    for name, (noise, people) in POPULATIONS.items():
        curves = measured(noise, people)
        print(name)
        for (attack, slots), curve in curves.items():
            known = {n: curve[n] for n in SIZES[:7]}
            guess = extrapolate(known, [SIZES[-1]]).predicted[SIZES[-1]]
            print(f"  {attack:10} r = {slots}: predicted {guess}, measured {curve[SIZES[-1]]}")
        if people is MOODS:
            holds(list(curves.items()))
            compare_laws(list(curves.values()))
        else:
            chosen.extend(curves.items())
    print("the six others together")
    holds(chosen)
    compare_laws([curve for _, curve in chosen])
