"""A result as a study of the embedded population among ten million people might give it."""

from reidrisk.estimates import Estimate
from reidrisk.study.result import (
    Bits,
    Bound,
    ClaimBin,
    Claims,
    Extrapolation,
    Result,
    Risk,
    Selection,
    UserRisk,
)  # fmt: skip

USERS, TARGETS, LEVEL, SLOTS = 10_000_000, 10_000, 0.95, (1, 2, 4, 6, 8)
METHOD = "binomial, doubled tails"

# Shares right after 1, 2, 4, 6 and 8 weeks.
CURVES = {
    "Hamming": (6.1e-7, 0.00031, 0.0041, 0.0070, 0.0099),
    "weighted Hamming": (6.3e-7, 0.00033, 0.0057, 0.0115, 0.0170),
    "type-aware": (7.0e-7, 0.0004, 0.0081, 0.0196, 0.0312),
}
SIZES = {
    1_000: (0.231, 0.302, 0.395),
    10_000: (0.118, 0.171, 0.249),
    100_000: (0.0578, 0.0918, 0.150),
    1_000_000: (0.0244, 0.0459, 0.0741),
    10_000_000: (0.0099, 0.0170, 0.0312),
}


def spread(value, trials=TARGETS):
    """About two standard errors to each side, and a little more above."""
    error = 2 * (value / trials) ** 0.5
    return max(0.0, value - error), min(1.0, value + error + 2 / trials)


def figure(value, trials=TARGETS, method=METHOD):
    return Estimate(value, *spread(value, trials), LEVEL, trials, method)


def exact(value, method="exact"):
    return Estimate(value, value, value, LEVEL, 0, method)


def risk(attack, value, *, slots=8, users=USERS, **setting):
    low, high = spread(value)
    return Risk(
        attack, slots, users, TARGETS, 0, value, low, high, LEVEL, METHOD, 1 / users, setting
    )


def bound(name, side, number, assumes, fits=None, slots=8):
    return Bound(
        name, side, slots, number.value, number.low, number.high, LEVEL, number.trials,
        number.method, assumes, fits,
    )  # fmt: skip


def law(attack, place):
    measured = [(users, figure(values[place])) for users, values in SIZES.items()]
    last = measured[-1][1].value

    def wide(value, factor):
        return Estimate(value, value / factor, value * factor, LEVEL, TARGETS, "extrapolated, Beta")

    return Extrapolation(
        attack, 8, "Beta mixture of match chances", {"a": 0.41, "b": 812.0}, tuple(measured),
        ((100_000_000, wide(last * 0.38, 1.4)), (1_000_000_000, wide(last * 0.14, 2.1))),
        ((USERS, wide(last * 1.08, 1.25), measured[-1][1]),),
    )  # fmt: skip


def sweeps():
    noises = {0.0: 1.16, 0.05: 1.0, 0.1: 0.84, 0.2: 0.57, 0.4: 0.21}
    tops = {1: 9.8, 3: 2.1, 5: 1.0, 10: 0.31}
    for name, factors in (("noise", noises), ("top", tops)):
        for at, factor in factors.items():
            for attack, curve in CURVES.items():
                yield risk(attack, curve[-1] * factor, **{name: at})


def levels():
    named = {attack: figure(curve[-1]) for attack, curve in CURVES.items()}
    yield bound("guessing", "lower", exact(1 / USERS), "nothing")
    for attack, number in named.items():
        yield bound(attack, "lower", number, "two sites compare what they were shown")
    yield bound(
        "partial-information optimum", "estimate", figure(0.0331),
        "the 64 types of people are known exactly", fits=True,
    )  # fmt: skip
    yield bound(
        "full-information optimum", "estimate", figure(0.36),
        "every top set of every week is known", fits=None,
    )  # fmt: skip
    yield bound(
        "mutual information (Fano)",
        "upper",
        exact(0.4187),
        "Bits as computed, for partial information.",
    )
    yield bound("local privacy", "upper", exact(1.0), "epsilon 57.5 over eight weeks")


def selections():
    for precision, named, right in ((0.5, 0.021, 0.55), (0.9, 0.0054, 0.92), (0.95, 0.0031, 0.957)):
        yield Selection(
            "type-aware", 8, precision, figure(named), figure(right, 120), named * right * TARGETS
        )
    yield Selection("type-aware", 8, 0.99, Estimate(0, 0, 0.0004, LEVEL, TARGETS, METHOD), None, 0.0)


def claims():
    pairs = ((0.011, 0.012), (0.06, 0.055), (0.16, 0.17), (0.33, 0.31), (0.52, 0.55), (0.71, 0.69),
             (0.84, 0.86), (0.93, 0.92))  # fmt: skip
    bins = tuple(ClaimBin(claimed, figure(right, 140)) for claimed, right in pairs)
    gap = Estimate(0.0004, -0.0021, 0.0029, LEVEL, TARGETS, "betting")
    return Claims("type-aware", 8, 0.0316, figure(0.0312), gap, fits=True, bins=bins)


def per_user():
    edges = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    shares = (0.874, 0.041, 0.035, 0.02, 0.012, 0.008, 0.005, 0.004, 0.001)
    return UserRisk(
        "type-aware", 8, 2_000, 20, figure(0.0312), figure(0.0, 2_000), figure(0.075, 2_000),
        figure(0.46, 2_000), figure(0.21, 200), edges, shares,
    )  # fmt: skip


def sample():
    return Result(
        title="Topics API among ten million people, eight weeks",
        study={
            "title": "Topics API among ten million people, eight weeks",
            "unit": "weeks",
            "people": {"source": "synthetic", "users": USERS, "seed": 1},
            "release": {"kind": "topics", "topics": 349, "top": 5, "noise": 0.05},
            "attacks": ["hamming", "weighted-hamming", "type-aware"],
            "slots": list(SLOTS),
            "targets": TARGETS,
            "seed": 7,
            "sweep": {"noise": [0.0, 0.05, 0.1, 0.2, 0.4], "top": [1, 3, 5, 10]},
        },
        users=USERS,
        targets=TARGETS,
        slots=SLOTS,
        level=LEVEL,
        seed=7,
        risks=(
            *(
                risk(attack, value, slots=slots)
                for attack, curve in CURVES.items()
                for slots, value in zip(SLOTS, curve, strict=True)
            ),
            *sweeps(),
        ),
        bounds=tuple(levels()),
        sizes=tuple(
            risk(attack, values[place], users=users)
            for place, attack in enumerate(CURVES)
            for users, values in SIZES.items()
        ),
        extrapolations=tuple(law(attack, place) for place, attack in enumerate(CURVES)),
        selections=tuple(selections()),
        claims=(claims(),),
        per_user=(per_user(),),
        information=(
            Bits("entropy", 1, 7.59, 0.0, "exact, embedded population"),
            Bits("conditional entropy", 1, 6.66, 0.0, "exact"),
            Bits("mutual information", 1, 0.93, 0.0, "exact"),
            Bits("entropy", 8, 6.553, 0.006, "Monte Carlo"),
            Bits("conditional entropy", 8, 5.456, 0.006, "Monte Carlo"),
            Bits("mutual information", 8, 1.097, 0.006, "Monte Carlo"),
        ),
        assumptions=(
            "People are drawn from the embedded population of 64 persistent types.",
            "Matching the published information figures does not identify the real population.",
            "Two sites collude, each sees every person once a week, and neither misses a week.",
            "Popularity of topics is estimated from what the first site saw.",
        ),
        not_covered=(
            "More than two colluding sites, and side information such as addresses or times.",
            "People who are absent in some weeks.",
            "Attackers who learn from other data than the two sites'.",
        ),
        inputs={"people.parquet": "sha256:" + "5f0a2c9d" * 8},
        versions={"reidrisk": "0.1.0", "numpy": "2.3.4", "numba": "0.62.1", "python": "3.12"},
    )
