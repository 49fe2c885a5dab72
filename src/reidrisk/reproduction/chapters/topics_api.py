"""The Topics API: chances, popularity and the optimal attack.

Paper: section 7.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from reidrisk import data
from reidrisk.attacks import TokenTable, View
from reidrisk.core.observations import Observations
from reidrisk.estimates import Estimate, mean_of_credits
from reidrisk.releases import TopicsApi, popularity
from reidrisk.reproduction.chapter import (
    ChapterStep,
    Row,
    Scale,
    claimed,
    exact,
    measured,
    no_difference,
)
from reidrisk.reproduction.small_worlds import Score, TopSets, gap

TITLE = "The Topics API"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), section 7 and appendix"

API = TopicsApi(topics=349, top=5, noise=0.05)
NOISE, TOP, TOPICS = Fraction(1, 20), 5, 349
WORLDS, USERS = 6, 3
SAMPLES, SAMPLE = 200, 2_000
_DELTA = 0.05
_ROUNDING = 1e-12
_GRAIN = 1e-4
_BIAS = 5.0
"""Standard errors that no mean of 349 exceeds but once in thousands of runs."""

Also = Callable[[TopSets, int, int, int], Fraction]
"""Of a week, the topic shown and the one known: chance that the former is in the set."""

_SMALL = (
    f"{WORLDS} small random worlds (fixed seed): {USERS} users, 3 topics, sets of 2, 2 weeks, "
    "noise 1/4"
)


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The statements, in order."""
    yield ChapterStep("chances of a week", _chances_of_a_week)
    yield ChapterStep("weeks multiply", lambda: (_weeks_multiply(scale.seed),))
    yield ChapterStep("popularity", lambda: _popularity_rows(scale.seed))
    yield ChapterStep("weighted Hamming distance", lambda: _optimality(scale.seed))
    yield ChapterStep("pairs of topics", lambda: _pairs(scale.seed))


def _chances_of_a_week() -> tuple[Row, ...]:
    """Equation of P_s, and how often two sites agree."""
    q_out = NOISE / TOPICS
    q_in = (1 - NOISE) / TOP + q_out
    total = TOP * q_in + (TOPICS - TOP) * q_out
    agreement = sum(  # all pairs of what two sites may show, given any top set
        (Fraction(times) * chance**2 for times, chance in ((TOP, q_in), (TOPICS - TOP, q_out))),
        Fraction(0),
    )
    said = (1 - NOISE) / TOP
    computed = f"k = {TOP}, p = 5 %, N = {TOPICS}: the fraction, and the package's float beside it."
    return (
        Row("Section 7", "q_in, the chance that a topic of the top set is shown: (1-p)/5 + p/N",
            f"{float(q_in):.6f}", Estimate.computed(API.q_in), "",
            claimed(holds=gap(API.q_in, q_in) <= _ROUNDING), computed),
        Row("Section 7", "q_out, the chance that another topic is shown: p/N",
            f"{float(q_out):.8f}", Estimate.computed(API.q_out), "",
            claimed(holds=gap(API.q_out, q_out) <= _ROUNDING), computed),
        Row("Section 7", "All chances of a week sum to one", "1", Estimate.computed(float(total)),
            "", exact(1, total), "5 q_in + 344 q_out in fractions."),
        Row("Section 7", "Two sites are shown the same topic in a share (1-p)/5 of the weeks",
            "19 %", Estimate.computed(API.agreement), "%",
            measured(float(said), Estimate.computed(API.agreement), rounding=0.005),
            "This chance is the same for every population: in "
            f"fractions {float(agreement):.6f}, by the package {API.agreement:.6f}. The text "
            "counts noise at one site only.",
            "An exact match is expected in (1-p)²/5 + p(2-p)/N of the weeks, not in (1-p)/5: both "
            "sites must be free of noise, or noise must hit by chance."),
    )  # fmt: skip


def _weeks_multiply(seed: int) -> Row:
    """P[i, o] is a product over weeks."""
    api = TopicsApi(topics=4, top=2, noise=0.25)
    people = data.synthetic_topics(users=6, topics=4, epochs=2, size=2, types=3, seed=seed)
    rows = api.rows(people, seed=seed)
    sets = people.top_sets(0, people.users, top=2, seed=seed)
    largest = 0.0
    for user, column in itertools.product(range(people.users), range(rows.chances.shape[1])):
        product = math.prod(
            api.q_in if topic in sets[user, week] else api.q_out
            for week, topic in enumerate(rows.outcomes[column])
        )
        largest = max(largest, abs(rows.chances[user, column] - product))
    return Row(
        where="Section 7",
        what="The chance of a sequence is the product of the chances of its weeks: largest "
        "difference",
        published="0",
        ours=Estimate.computed(largest),
        unit="",
        mark=claimed(holds=largest <= _ROUNDING),
        why="6 random users (fixed seed), 4 topics, 2 weeks: the release's own enumeration of all "
        "sequences was compared with the product.",
        slip="The formula has P inside the product over weeks; P_s, the matrix of the week, is "
        "meant.",
    )


def _popularity_rows(seed: int) -> tuple[Row, Row, Row]:
    """Lemma 10: unbiased, and within its band."""
    worst = Fraction(0)
    for place in range(WORLDS):
        world = TopSets.drawn(seed, place, topics=5)
        rise = world.q_in - world.q_out
        for week, topic in itertools.product(range(2), range(world.topics)):
            expected = (world.shown(week, topic) - world.q_out) / rise
            worst = max(worst, abs(expected - world.popularity(week, topic)))
    truth = data.synthetic_topics(users=1).interests.popularity
    within, sums, squares = np.zeros(SAMPLES), np.zeros(TOPICS), np.zeros(TOPICS)
    for sample in range(SAMPLES):
        people = data.synthetic_topics(users=SAMPLE, epochs=1, seed=seed + sample)
        seen = API.observe(people, targets=1, seed=seed + sample)
        found = popularity(seen, API, delta=_DELTA)
        # Before they are cut to chances: the lemma is about the unbiased estimates.
        within[sample] = (np.abs(found.raw[0] - truth) <= found.band[0]).all()
        sums, squares = sums + found.raw[0], squares + found.raw[0] ** 2
    means = sums / SAMPLES
    errors = np.sqrt((squares / SAMPLES - means**2) / (SAMPLES - 1))
    bias = float(np.max(np.abs(means - truth) / errors))
    held = mean_of_credits(within)
    drawn = f"{SAMPLES} samples (fixed seeds) of {SAMPLE:,} users of the calibrated population"
    return (
        no_difference(
            "Lemma 10", "The estimate of popularity is unbiased: largest difference of its mean",
            worst,
            f"{WORLDS} small random worlds (fixed seed), 5 topics, sets of 2; in fractions."),
        Row("Lemma 10", "The same by simulation: largest deviation of a mean, in standard errors",
            "0 but for chance", Estimate.computed(bias, "simulated"), "",
            claimed(holds=bias <= _BIAS),
            f"{drawn}; chance alone exceeds {_BIAS:g} once in thousands of runs."),
        Row("Lemma 10", "With chance 1-δ no estimate is off by √(log(2N/δ)/(2n))/(q_in - q_out) or "
            "more: share of samples, δ = 5 %", "at least 95 %", held, "%",
            claimed(holds=held.high >= 1 - _DELTA),
            f"{drawn}. The band is wide: it rests on Hoeffding's inequality and a union bound."),
    )  # fmt: skip


def _optimality(seed: int) -> tuple[Row, ...]:
    """Theorem 1, as it should be and as the text has it; and what simpler attacks lose."""
    lost = dict.fromkeys(("theorem", "package", "text", "simple", "plain"), Fraction(0))
    for place in range(WORLDS):
        world = TopSets.drawn(seed, place)
        best = world.optimum(USERS)
        rules = {
            "theorem": weighted(world, given_shown),
            "package": packaged(world),
            "text": weighted(world, given_in_set),
            "simple": weighted(world, simplified),
            "plain": _hamming,
        }
        for name, score in rules.items():
            lost[name] = max(lost[name], best - world.accuracy(USERS, score))
    shown = {name: Estimate.computed(float(loss)) for name, loss in lost.items()}
    exactly = f"{_SMALL}. Everything both sites may show was enumerated in exact fractions."
    return (
        Row("Theorem 1", "The asymmetric weighted Hamming distance is optimal for users who are "
            "alike but for chance and independent weeks: largest loss against the exact optimum",
            "0", shown["theorem"], "%", exact(0, lost["theorem"]),
            f"{exactly} The chance that o is in the set is conditioned on what site 1 showed."),
        Row("Theorem 1", "The same by the attack of the package (token-table): largest loss", "0",
            shown["package"], "%", claimed(holds=lost["package"] <= _GRAIN),
            f"{exactly} Its scores are whole numbers, so that chances which differ by less than "
            f"one part in 65,536 tie; a loss up to {_GRAIN:g} is allowed for that."),
        Row("Theorem 1", "The same with the chance as it is printed, P(o in S | W in S)", "0",
            shown["text"], "%", exact(0, lost["text"]),
            f"{exactly} The loss comes from the slip in the text: W may be noise, and then it is "
            "not in S.",
            "The theorem conditions on “W in S”. What is known is that W was shown, which may have "
            "been noise."),
        Row("Section 8.2.2", "The simplified attack, P(o in S | W in S) = (k-1)p/(k-p): largest "
            "loss", "not said", shown["simple"], "%", "added here",
            f"{exactly} The simplification costs this much at most in these worlds."),
        Row("Example 1", "The unweighted Hamming distance: largest loss", "not said",
            shown["plain"], "%", "added here", exactly,
            "In the definition of the attack a bar is missing: |{s : W ≠ o}| is meant."),
    )  # fmt: skip


def weighted(world: TopSets, also: Also) -> Score:
    """The product of factors whose logarithms are the distance of theorem 1."""
    q_in, q_out = world.q_in, world.q_out
    rise = q_in - q_out
    table = {}
    for week, shown, known in itertools.product(
        range(len(world.weeks)), range(world.topics), range(world.topics)
    ):
        p = world.popularity(week, shown)
        held = q_in * p / (q_out + rise * p) if shown == known else also(world, week, shown, known)
        table[week, shown, known] = q_out + rise * held

    def score(shown: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        weeks = enumerate(zip(shown, known, strict=True))
        return math.prod((table[week, *both] for week, both in weeks), start=Fraction(1))

    return score


def packaged(world: TopSets) -> Score:
    """The attack that looks at both tokens, told the chances of pairs."""
    topics, rows = range(world.topics), np.array(world.rows)
    pairs_ = [
        [[float(world.pair(week, one, other)) for other in topics] for one in topics]
        for week in range(len(world.weeks))
    ]
    api = TopicsApi(topics=world.topics, top=world.top, noise=float(world.noise))
    seen = Observations(rows, rows, np.arange(len(rows)), tokens=world.topics)
    table = TokenTable(api, np.array(pairs_), pooled=False).fit(View.of(seen))
    gains = {
        (tuple(shown), tuple(known)): int(gain)
        for shown in rows.tolist()
        for known, gain in zip(rows.tolist(), table.of(rows, np.array(shown)), strict=True)
    }
    return lambda shown, known: gains[shown, known]


def given_shown(world: TopSets, week: int, topic: int, known: int) -> Fraction:
    """P(o in S | W = w): w may have been noise."""
    both, p = world.pair(week, topic, known), world.popularity(week, topic)
    other = world.popularity(week, known)
    return (both * world.q_in + (p - both) * world.q_out) / (
        world.q_in * other + world.q_out * (1 - other)
    )


def given_in_set(world: TopSets, week: int, topic: int, known: int) -> Fraction:
    """P(o in S | w in S)."""
    return world.pair(week, topic, known) / world.popularity(week, known)


def simplified(world: TopSets, week: int, topic: int, _known: int) -> Fraction:
    """Lemma 11: by the popularity of o alone."""
    p = world.popularity(week, topic)
    return (world.top - 1) * p / (world.top - p)


def _hamming(shown: tuple[int, ...], known: tuple[int, ...]) -> int:
    return sum(o == w for o, w in zip(shown, known, strict=True))


def _pairs(seed: int) -> tuple[Row, ...]:
    """Appendix B: pair sums, and what follows from one parameter."""
    singles = doubles = alike = Fraction(0)
    for place in range(WORLDS):
        world = TopSets.drawn(seed, place, topics=5, top=3)
        for week, topic in itertools.product(range(2), range(world.topics)):
            others = [one for one in range(world.topics) if one != topic]
            p = world.popularity(week, topic)
            sum_of = sum((world.popularity(week, one) for one in others), Fraction(0))
            both = sum((world.pair(week, topic, one) for one in others), Fraction(0))
            singles = max(singles, abs(sum_of - (world.top - p)))
            doubles = max(doubles, abs(both - (world.top - 1) * p))
    # Ten sets of three out of five topics, all as likely: there the lemma's assumption holds.
    equal = TopSets(5, 3, Fraction(1, 4), ((Fraction(1, 10),) * 10,))
    for topic, other in itertools.permutations(range(5), 2):
        given = equal.pair(0, topic, other) / equal.popularity(0, other)
        alike = max(alike, abs(given - simplified(equal, 0, topic, other)))
    interests = data.synthetic_topics(users=1).interests
    table, popular = interests.pairs, interests.popularity
    sums = float(np.max(np.abs(table.sum(axis=1) - popular - (TOP - 1) * popular)))
    worlds = f"{WORLDS} small random worlds (fixed seed) of 5 topics, sets of 3; in exact fractions"
    return (
        no_difference(
            "Proposition 1", "Σ p[o'] over the other topics is k - p[o]: largest difference",
            singles, f"{worlds}.",
            "The indicator inside the first sum of the proof is for o; o' is meant."),
        no_difference(
            "Proposition 1", "Σ P(o and o' in S) over the other topics is (k-1) p[o]: largest "
            "difference", doubles,
            f"{worlds}; in the calibrated population of 349 topics {sums:.1g}, by rounding.",
            "The proof ends “by taking expectation of” an equation that is the result itself; the "
            "first identity of the proof is meant."),
        no_difference(
            "Lemma 11", "If P(o in S | o' in S) depends on o alone, it is (k-1)p/(k-p): largest "
            "difference", alike,
            "5 topics, sets of 3, all equally likely; in exact fractions.",
            "The assumption is narrower than it looks. P(o and o' in S) is the same both ways, so "
            "p[o'] a(o) = p[o] a(o'), and with a = (k-1)p/(k-p) all topics are equally popular. "
            "Elsewhere it is an approximation."),
    )  # fmt: skip
