"""Observations and scores of every awkward kind, small enough for the reference engine."""

import numpy as np
from hypothesis import strategies as st

from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows, Kind
from reidrisk.engines.plan import cheapest
from reidrisk.scores import (
    CosineWeights,
    OverlapWeights,
    PolyaChances,
    RepeatedTokens,
    TokenPairWeights,
    TokenWeights,
    TypeChain,
    TypeMixture,
)


def only(strategy):
    """What chooses this strategy, a module, wherever it can answer; for `plan.cheapest`."""

    def choose(question, among):
        mine = [entry for entry in among if entry.run.__module__ == strategy.__name__]
        return mine[0] if mine else cheapest(question, among)

    return choose


# Few different values, so that sums are often equal, and some that cancel.
AWKWARD = [-3.0, -1.5, -0.5, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.5, 3.0]


# Gains of gaps: neutral, of any sign, "impossible", and one above all.
GAPS = [[0.0], AWKWARD, [-1e4, 0.0, 2.0], [-1e4], [50.0]]


@st.composite
def observations(draw, most_slots=6, *, sets=False):
    """Rows with duplicates, missing slots, single users, alphabets of one token."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    users, targets = draw(st.integers(1, 90)), draw(st.integers(1, 70))
    slots, tokens = (
        draw(st.integers(1, most_slots)),
        draw(st.sampled_from([1, 2, 3, 8, 300, 70_000])),
    )
    shape = (users, slots, draw(st.integers(1, 4))) if sets else (users, slots)
    used = min(tokens, draw(st.sampled_from([1, 2, 5, 300])))
    known = random.integers(tokens - used, tokens, shape)
    anonymous = random.integers(tokens - used, tokens, (targets, slots))
    gaps = draw(st.sampled_from([0.0, 0.0, 0.1, 0.6]))
    known[random.random(shape) < gaps] = -1
    anonymous[random.random(anonymous.shape) < draw(st.sampled_from([0.0, gaps]))] = -1
    truth = random.integers(0, users, targets)
    if not sets and draw(st.booleans()):
        anonymous[: targets // 2] = known[truth[: targets // 2]]
    return Observations(known, anonymous, truth, tokens=tokens)


@st.composite
def weights(draw, seen):
    """Token weights with many equal sums, of any sign, per slot or for all; with gaps or not."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.sampled_from([(seen.tokens,), (seen.slots, seen.tokens)]))
    values = draw(st.sampled_from([[1.0], [0.0], [0.1, 0.2, 0.3], AWKWARD, [1e-9, 1e4]]))
    mismatch = draw(st.sampled_from([[0.0], [-1.0], AWKWARD]))
    gaps = {}
    if draw(st.booleans()):
        slots = draw(st.sampled_from([(), (seen.slots,)]))
        of_gaps = draw(st.sampled_from(GAPS))
        gaps = {
            "known_gap": random.choice(of_gaps, draw(st.sampled_from([(), shape]))),
            "shown_gap": random.choice(of_gaps, slots),
            "both_gaps": random.choice(of_gaps, slots),
        }
    score = TokenWeights(random.choice(values, shape), random.choice(mismatch, shape), **gaps)
    return score.normalised() if draw(st.integers(0, 5)) == 0 else score


@st.composite
def tables(draw, seen):
    """Token tables, with and without a strong diagonal."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    gaps = draw(st.booleans())
    size = seen.tokens + gaps
    shape = draw(st.sampled_from([(size, size), (seen.slots, size, size)]))
    gain = random.choice(draw(st.sampled_from([[1.0], [0.0, 0.1], AWKWARD, [-1e4, 1e-9]])), shape)
    gain += draw(st.sampled_from([0, 4])) * np.eye(size)
    if gaps:
        of_gaps = draw(st.sampled_from(GAPS))
        gain[..., -1, :] = random.choice(of_gaps, gain[..., -1, :].shape)
        gain[..., -1] = random.choice(of_gaps, gain[..., -1].shape)
    score = TokenPairWeights(gain, gaps=gaps)
    return score.normalised() if draw(st.integers(0, 3)) == 0 else score


@st.composite
def profiles(draw, seen):
    """Profile weights of any sign."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.sampled_from([[1.0], [0.1, 0.2, 0.3], AWKWARD]))
    return OverlapWeights(random.choice(values, seen.tokens))


@st.composite
def forgetful(draw, seen):
    """Scores of any kind that forget slots."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = ["overlap", "cosine", "polya"] + ["repeated"] * (seen.known.kind is not Kind.BAGS)
    kind = draw(st.sampled_from(kinds))
    if kind == "overlap":
        return draw(profiles(seen))
    if kind == "cosine":
        return CosineWeights(random.choice([0.0, 0.3, 1.0, 17.0], seen.tokens))
    if kind == "polya":
        gap = None if seen.known.kind is Kind.BAGS else draw(st.sampled_from([None, (0.3, 2.0)]))
        return PolyaChances(random.choice([0.01, 0.5, 7.0], seen.tokens), 2, gap)
    own = random.choice([1e-9, 0.01, 0.5, 0.999], seen.tokens)
    return RepeatedTokens(own, draw(st.sampled_from([0.19, 0.999])), 1e-4)


@st.composite
def mixtures(draw, seen):
    """Type mixtures with equal and with impossible chances."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.sampled_from([[1.0], [0.0, 1.0], [1.0, 2.0, 50.0], [1e-30, 1e-4, 1.0]]))
    gaps = draw(st.booleans())
    types, tokens = draw(st.integers(1, 6)), seen.tokens + gaps

    def shares(*shape):
        chances = random.choice(values, shape)
        chances[..., random.integers(tokens), :] += 1e-3  # somebody has some chance
        return chances / chances.sum(axis=-2, keepdims=True)

    single = shares(types, tokens, 1)[..., 0]
    same = draw(st.sampled_from([0.0, 0.5])) * np.eye(tokens)
    given = shares(types, tokens, tokens) * (1 - same.sum(axis=0)) + same
    weights = random.choice([0.5, 1.0, 3.0], types)
    return TypeMixture(weights / weights.sum(), single, given * single[:, None, :], gaps=gaps)


@st.composite
def chains(draw, seen):
    """Type chains with equal and with impossible chances, that change never, at times or always."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw(st.sampled_from([[1.0], [0.0, 1.0], [1.0, 2.0, 50.0], [1e-30, 1e-4, 1.0]]))
    classes, symbols = draw(st.integers(1, 6)), seen.tokens + 1

    def shares(*shape):
        chances = random.choice(values, shape)
        chances[..., random.integers(shape[-1])] += 1e-3  # somebody has some chance
        return chances / chances.sum(axis=-1, keepdims=True)

    keep = random.choice(draw(st.sampled_from([[0.0], [1.0], [0.0, 0.3, 0.9, 1.0]])), classes)
    copy = random.choice(draw(st.sampled_from([[0.5], [0.0, 0.2, 1.0]])), (classes, symbols))
    of_tokens = shares(classes, symbols), copy, shares(classes, symbols)
    return TypeChain(shares(classes), keep, *of_tokens)


@st.composite
def bags(draw):
    """Bags of tokens of any size, some empty, on both sides."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tokens, largest = draw(st.sampled_from([1, 3, 90, 300])), draw(st.sampled_from([1, 4, 20, 90]))

    def some(count):
        return [random.integers(0, tokens, random.integers(0, largest + 1)) for _ in range(count)]

    users, targets = draw(st.integers(1, 90)), draw(st.integers(1, 70))
    truth = random.integers(0, users, targets)
    known, shown = (BagRows(some(count), tokens=tokens) for count in (users, targets))
    known, shown = (
        counted(rows, random) if draw(st.booleans()) else rows for rows in (known, shown)
    )
    return Observations(known, shown, truth, tokens=tokens)


def counted(bags, random):
    """The same bags, whose entries came several times."""
    counts = random.integers(1, 5, bags.size)
    return BagRows.of(bags.values, bags.starts, tokens=bags.tokens, counts=counts)


@st.composite
def searches(draw, most_slots=6):
    """Observations and a score for them."""
    if draw(st.integers(0, 5)) == 0:
        seen = draw(bags())
        return seen, draw(forgetful(seen))
    if draw(st.integers(0, 3)) == 0:
        seen = draw(observations(most_slots, sets=True))
        return seen, draw(st.one_of(weights(seen), forgetful(seen)))
    seen = draw(observations(most_slots))
    if seen.tokens <= 300 and draw(st.booleans()):
        return seen, draw(st.one_of(tables(seen), mixtures(seen), chains(seen)))
    return seen, draw(st.one_of(weights(seen), forgetful(seen)))


def typed_people(users, targets, *, slots=8, types=16, tokens=60, seed=1):
    """Users of well separated types, two rows of each, and the mixture they come from."""
    random = np.random.default_rng(seed)
    tastes = random.dirichlet(np.full(tokens, 0.1), types) * 0.95 + 0.05 / tokens
    same = 0.2
    single = tastes
    joint = (1 - same) * tastes[:, :, None] * tastes[:, None, :]
    joint[:, range(tokens), range(tokens)] += same * tastes
    kinds = random.integers(0, types, users)
    steps = tastes.cumsum(axis=1)

    def draw(of):
        chance = random.random((len(of), slots))
        return np.minimum((chance[:, :, None] > steps[of][:, None, :]).sum(axis=2), tokens - 1)

    known, truth = draw(kinds), random.integers(0, users, targets)
    anonymous = np.where(random.random((targets, slots)) < same, known[truth], draw(kinds[truth]))
    seen = Observations(known, anonymous, truth, tokens=tokens)
    return seen, TypeMixture(np.full(types, 1 / types), single, joint)
