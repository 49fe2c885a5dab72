"""Risk among more users, predicted from fewer: which law comes closest, and how often it holds.

Eight populations of a million users. Crowds of 10,000 to 100,000 of them, their targets among them,
are searched once each; what they predict is compared with what one search of everybody says of ten
and a hundred times as many. The last population was not looked at when laws and drift were chosen.
Two minutes, and a quarter of an hour with `LARGEST` at ten million.

Beside them stands pydataless, in the environment of peers.
"""

import itertools
import json
import subprocess
from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import least_squares
from scipy.special import betaln, gammaln, log_ndtr

from benchmarks.peers import environment
from reidrisk import Hamming, LocalEngine, Observations, TopicsApi, WeightedHamming
from reidrisk.data import synthetic_topics
from reidrisk.estimates.extrapolation import extrapolate, sizes_to_fit
from reidrisk.risk._measure import measured, size_curve

LARGEST, TARGETS, SLOTS = 1_000_000, 10_000, (1, 2, 4, 6, 8)
FITS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
ZIPF = {"sigma": 0.0}
MOODS = {"types": 32, "s": 1.018, "sigma": 1.7, "moods": 3, "mood_sigma": 1.482, "seed": 2}
OTHERS = {"types": 16, "s": 0.9, "sigma": 1.2, "moods": 2, "mood_sigma": 1.0, "seed": 11}
POPULATIONS = {
    **{f"embedded, noise {noise}": (noise, {}) for noise in (0.0, 0.05, 0.3)},
    **{f"Zipf, noise {noise}": (noise, ZIPF) for noise in (0.0, 0.05, 0.3)},
    "moods, noise 0.1": (0.1, MOODS),
    "not looked at: others, noise 0.2": (0.2, OTHERS),
}
FEWEST_NAMED = 3
"""A curve that ends below so many targets has nothing to continue."""


def jumps():
    """Fitted size and predicted size: ten and a hundred times as many."""
    return [(few, few * factor) for factor in (10, 100) for few in FITS if few * factor <= LARGEST]


def smaller(seen, users):
    """A crowd of some users, as many targets as fit well among them."""
    targets = min(len(seen.truth), users // 2)
    mine, others = seen.truth[:targets], np.ones(seen.known.users, bool)
    others[mine] = False
    chosen = np.random.default_rng(users).permutation(np.flatnonzero(others))[: users - targets]
    rows = seen.known.take(np.concatenate([mine, chosen]))
    return Observations(rows, seen.anonymous[:targets], np.arange(targets), tokens=seen.tokens)


def worlds(noise, people):
    """What was found, by attack, slots and size of the world."""
    api = TopicsApi(topics=349, top=5, noise=noise)
    users = synthetic_topics(users=LARGEST, **{"seed": 1, **people})
    everyone = api.observe(users, targets=TARGETS, seed=7)
    attacks = [Hamming(), *([WeightedHamming(api)] if noise else [])]
    found = {}
    for size in (*(few for few in FITS if few < LARGEST), LARGEST):
        seen = everyone if size == LARGEST else smaller(everyone, size)
        for slots in SLOTS:
            some = attacks[:1] if slots == 1 else attacks  # after one slot both are the same
            for one in measured(seen, some, slots=slots, engine=LocalEngine(), ranks=None):
                found[one.name, slots, size] = one
    return found


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


# By name: log risk, starts to try for each parameter (the best fit counts), from which part of the
# users on it is fitted.
LAWS = {
    "power law, last octave": (power, ((0,), (-1,)), 2),
    "power law, last decade": (power, ((0,), (-1,)), 10),
    "power law, two decades": (power, ((0,), (-1,)), 100),
    "beta mixture, last octave": (beta, ((-2, 0), (0, 3, 6)), 2),
    "beta mixture, last decade": (beta, ((-2, 0), (0, 3, 6)), 10),
    "Pitman-Yor, last decade": (pitman_yor, ((-2, 0, 2), (0, 4, 8)), 10),
    "Pitman-Yor, two decades": (pitman_yor, ((-2, 0, 2), (0, 4, 8)), 100),
    "log-quadratic, last decade": (quadratic, ((0,), (-0.3,), (0,)), 10),
    "log-quadratic, two decades": (quadratic, ((0,), (-0.3,), (0,)), 100),
    "probit, last octave": (probit, ((0, 3), (-2, -1)), 2),
    "probit, last decade": (probit, ((0, 3), (-2, -1)), 10),
    "log-normal crowds, last octave": (crowds, ((-16, -10, -4), (0, 1, 2)), 2),
    "log-normal crowds, last decade": (crowds, ((-16, -10, -4), (0, 1, 2)), 10),
    "log-normal crowds, two decades": (crowds, ((-16, -10, -4), (0, 1, 2)), 100),
}


def fitted_law(law, curve, size):
    """What a law predicts, as a logarithm."""
    function, starts, part = LAWS[law]
    known = [n for n in curve if n >= max(curve) / part]
    sizes, logs = np.array(known, float), np.log([curve[n].value for n in known])
    fits = [
        least_squares(lambda p: function(p, sizes) - logs, start, bounds=(-60, 60))
        for start in itertools.product(*starts)
    ]
    best = min(fits, key=lambda fit: fit.cost)
    return function(best.x, np.array([float(size)]))[0]


class Case:
    """A curve that is continued: what is known, what was found, and what everyone predicts."""

    def __init__(self, name, found, few, many):
        attack, slots = name
        self.name, self.jump = name, many // few
        crowd, everyone = found[attack, slots, few], found[attack, slots, LARGEST]
        self.curve = size_curve(crowd, sizes_to_fit(few))
        decades = [part * 10**power for power in range(1, 8) for part in (1, 2, 5)]
        self.long = size_curve(crowd, [*(n for n in decades if n < few), few])
        self.size, self.truth = many, size_curve(everyone, [many])[many].value
        law = extrapolate(self.curve, [many], correlation=self.curve.correlation)
        self.ours, self.peers = law.predicted[many], {}

    @property
    def useful(self):
        """Whether there is anything to continue."""
        least = FEWEST_NAMED / min(TARGETS, max(self.curve) // 2)
        return self.curve[max(self.curve)].value >= least and self.truth > 0


PEER = """
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from dataless import PYPExtrapolation
answers = []
for n, known, size in json.load(sys.stdin):
    model = PYPExtrapolation(np.array(n), correctness=np.array(known))
    answers.append(float(model.predict(np.array([size]))[0]))
json.dump(answers, sys.stdout)
"""


def ask_peer(cases):
    """Their predictions beside ours, from the same crowds, and from ten users on as they do."""
    if missing := environment.prepared().get("pydataless"):
        print(f"pydataless could not be installed: {missing}")
        return
    for name, title in (
        ("curve", "pydataless, same crowds"),
        ("long", "pydataless, from ten users on"),
    ):
        curves = [getattr(case, name) for case in cases]
        questions = [
            (list(curve), [one.value for one in curve.values()], case.size)
            for case, curve in zip(cases, curves, strict=True)
        ]
        done = subprocess.run(  # noqa: S603  our own words
            [environment.python(), "-c", PEER], input=json.dumps(questions), capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        for case, answer in zip(cases, json.loads(done.stdout), strict=True):
            case.peers[title] = np.log(max(answer, 1e-300))


def compare_laws(cases, title):
    """Errors of all laws, one and two decades beyond the fit."""
    grid = Table("law", title=f"{title}: |log(predicted / measured)|, median, rms; mean")
    groups = {f"{jump} times": [one for one in cases if one.jump == jump] for jump in (10, 100)}
    for name, group in groups.items():
        grid.add_column(f"{name}, {len(group)} cases")
    rows = {"ours": lambda case: np.log(case.ours.value)}
    rows |= {peer: lambda case, peer=peer: case.peers[peer] for peer in cases[0].peers}
    rows |= {law: lambda case, law=law: fitted_law(law, case.curve, case.size) for law in LAWS}
    for law, predict in rows.items():
        cells = []
        for group in groups.values():
            errors = np.array([predict(case) - np.log(case.truth) for case in group])
            middle, square = np.median(np.abs(errors)), np.sqrt((errors**2).mean())
            cells.append(f"{middle:.2f} {square:.2f}; {errors.mean():+.2f}")
        grid.add_row(law, *cells)
    Console(width=110).print(grid)


def holds(cases):
    """How often the interval holds what was measured."""
    for jump in (10, 100):
        mine = [case for case in cases if case.jump == jump]
        sides = Counter(
            "above" if case.truth > case.ours.high
            else "below" if case.truth < case.ours.low else "held"
            for case in mine
        )  # fmt: skip
        missed = Counter(
            case.name[1] for case in mine if not case.ours.low <= case.truth <= case.ours.high
        )
        width = np.median([case.ours.high / case.ours.low for case in mine])
        print(
            f"{jump} times: {sides['held']} of {len(mine)} held ({sides['held'] / len(mine):.0%}), "
            f"measured above {sides['above']}, below {sides['below']}; misses by slots "
            f"{dict(missed)}; median high/low {width:.1f}"
        )


def main():
    groups = {}
    for name, (noise, people) in POPULATIONS.items():
        found = worlds(noise, people)
        curves = dict.fromkeys(key[:2] for key in found)
        made = [Case(curve, found, few, many) for curve in curves for few, many in jumps()]
        groups[name] = [case for case in made if case.useful]
    ask_peer([case for group in groups.values() for case in group])
    for name, group in groups.items():
        print(name)
        for case in group:
            attack, slots = case.name
            few = max(case.curve)
            peers = ", ".join(f"{peer} {np.exp(log):.2%}" for peer, log in case.peers.items())
            print(
                f"  {attack:16} r = {slots}, {few:>9,} to {case.size:>9,}: measured "
                f"{case.truth:.2%}, ours {case.ours.value:.2%} [{case.ours.low:.2%}, "
                f"{case.ours.high:.2%}]{', ' if peers else ''}{peers}"
            )
    *chosen, (last, unseen) = groups.items()
    for title, cases in (
        ("seven populations", [case for _, group in chosen for case in group]),
        (last, unseen),
    ):
        holds(cases)
        compare_laws(cases, title)
