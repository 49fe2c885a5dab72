"""Every release, attack and engine with each other; what makes no sense is refused, exactly so."""

import dataclasses

import numpy as np
import pytest
from tests.conformance import discovery
from tests.snapshots import refuses

from reidrisk import (
    BagRows,
    GaussianNoise,
    Generalised,
    InvalidInput,
    ItemSamples,
    LocalEngine,
    Microaggregated,
    MinimumUsers,
    Observations,
    Projected,
    RandomisedResponse,
    ReferenceEngine,
    TopicsApi,
)
from reidrisk.attacks import Neural, PairNetwork, attack_named
from reidrisk.attacks.protocol import View
from reidrisk.attacks.table import all_attacks
from reidrisk.core.matches import Matches
from reidrisk.core.rows import Kind
from reidrisk.learning.progress import Training
from reidrisk.releases import observe, prepared, reveal
from reidrisk.releases.protocol import ShowsOneOfTop, ShowsVectors
from reidrisk.scores import GRID

_CALLS = TopicsApi(topics=6, top=2, noise=0.2, per_call=2, every=1, delay=2.0)
RELEASES = discovery.releases() | {  # and with their switches on
    "topics, small": TopicsApi(topics=6, top=2, noise=0.2),
    "topics, absence": TopicsApi(topics=6, top=2, noise=0.2, absence=0.3),
    "topics, withheld": TopicsApi(topics=6, top=2, noise=0.2, blocked=0.3, presence=0.6),
    "topics, calls": _CALLS,
    "item samples, no replacement": ItemSamples(samples=3, by_count=False, replacement=False),
    "generalised, calls": Generalised(rounding=2, of=_CALLS),
    "gaussian noise, of groups": GaussianNoise(
        1.0, 1.0, releases=2, known="noisy", of=Projected(3, of=Microaggregated(4))
    ),
    "minimum users, response": MinimumUsers(users=9, of=RandomisedResponse(epsilon=1.0)),
}
PEOPLE = ("all there", "away at times")
"""Where people have vectors, those of the second world have several."""

WORLDS = {
    (name, world): discovery.world_of(release, first=world == "all there")
    for name, release in RELEASES.items()
    for world in PEOPLE
}
ENGINES = discovery.engines() | {"small blocks": LocalEngine(threads=3, rows=5)}
COMPARE_VECTORS = {"cosine", "cosine-csls", "nearest", "self-trained"}
"""Attacks that compare vectors without a panel; all others refuse them."""

GIVEN = {"anonymous", "release", "labels"}
"""What views hold here; attacks that need more say so."""


OF_VECTORS = {"nearest", "two-covariance"}
"""Attacks that refuse tokens."""


def refusal(release, attack, world="all there"):
    """The code with which a pair is refused; None if it makes sense."""
    try:
        fitted(RELEASES[release], WORLDS[release, world], attack)
    except InvalidInput as wrong:
        return wrong.code
    return None


def fitted(release, people, name):
    """What is seen, and the score of an attack on it."""
    seen = observe(release, people, targets=9, seed=3)
    return discovery.fitted(
        attack_named(name),
        seen,
        lambda: reveal(release, people, targets=9, seed=3),
        release=prepared(release, people),
        labels=None if seen.known.kind is Kind.VECTORS else np.arange(seen.tokens) + 1990,
    )


def expected(attack, release, people):
    """The codes with which a pair must be refused, {None} if it must be answered."""
    needs, shows = set(attack.needs), prepared(release, people)
    if needs - GIVEN:
        return {"missing-knowledge"}
    if attack.name in OF_VECTORS and not isinstance(shows, ShowsVectors):
        return {"wrong-kind-of-rows"}
    reveals = not refused(reveal, release, people, targets=9, seed=3)
    if "release" in needs and not isinstance(shows, ShowsOneOfTop):
        return {"unsupported-release"}
    if isinstance(shows, ShowsVectors):
        # Vectors have no labels; what compares tokens refuses them.
        if "labels" in needs:
            return {"missing-knowledge"}
        refusals = {"not-tokens", "wrong-kind-of-rows"}
        return {None} if attack.name in COMPARE_VECTORS else refusals
    codes = {None}
    if "release" in needs and not reveals:
        codes.add("unsupported-release")
    if observe(release, people, targets=9, seed=3).known.kind is not Kind.TOKENS:
        codes.add("wrong-kind-of-rows")
    return codes


def refused(call, *arguments, **named):
    """Whether something is refused."""
    try:
        call(*arguments, **named)
    except InvalidInput:
        return True
    return False


PAIRS = [(release, attack) for release in RELEASES for attack in sorted(all_attacks())]


def in_worlds():
    """Each pair in each world; slow is what another case shows nearly as well.

    A release with its switches on is quick where people are away at times, so that it leaves gaps;
    one of vectors where all are there.
    """
    for release, attack in PAIRS:
        for world in PEOPLE:
            plain = PEOPLE[0] if isinstance(RELEASES[release], ShowsVectors) else PEOPLE[1]
            other = "," in release or plain == PEOPLE[0]
            marks = [pytest.mark.slow] if other and world != plain else []
            yield pytest.param(release, attack, world, marks=marks)


@pytest.mark.parametrize(("release", "attack", "world"), list(in_worlds()))
def test_all_engines_give_one_answer(release, attack, world):
    code = refusal(release, attack, world)
    assert code in expected(attack_named(attack), RELEASES[release], WORLDS[release, world])
    if code is not None:
        return
    seen, score = fitted(RELEASES[release], WORLDS[release, world], attack)
    assert_one_answer(seen, score)


def assert_one_answer(seen, score):
    slow = ReferenceEngine().search(seen, score)
    assert ((slow.credit >= 0) & (slow.credit <= 1)).all()
    for name, engine in ENGINES.items():
        fast = engine.search(seen, score)
        for field in dataclasses.fields(Matches):
            one, other = getattr(fast, field.name), getattr(slow, field.name)
            np.testing.assert_array_equal(one, other, f"{name}: {field.name}")
        np.testing.assert_array_equal(engine.credit(seen, score), slow.credit, name)


QUICK = Training(steps=20, every=10, rate=0.01)


@pytest.mark.torch
@pytest.mark.parametrize("world", PEOPLE)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", [Neural, PairNetwork])
def test_all_engines_give_one_answer_of_what_was_learned(kind, release, world):
    seen = observe(RELEASES[release], WORLDS[release, world], targets=9, seed=3)
    panel = seen.only(np.arange(27) % 9)  # everybody three times: there are too few
    attack = kind(panel, training=QUICK, keep_best=5)
    if seen.known.kind is not Kind.TOKENS:
        with refuses("wrong-kind-of-rows", snapshot=False):
            attack.fit(View.of(seen))
        return
    score = attack.fit(View.of(seen))
    assert_one_answer(seen, score)
    if attack.likelihood:
        evidence = LocalEngine().evidence(seen, score)
        np.testing.assert_allclose(evidence, ReferenceEngine().evidence(seen, score), rtol=1e-6)


LIKELIHOODS = [
    (release, attack)
    for release, attack in PAIRS
    if refusal(release, attack) is None and attack_named(attack).likelihood
]


@pytest.mark.parametrize("world", PEOPLE)
@pytest.mark.parametrize(("release", "attack"), LIKELIHOODS)
def test_likelihoods_say_how_sure_they_are(release, attack, world):
    """Beliefs are chances, and those over all known users sum to one."""
    seen, score = fitted(RELEASES[release], WORLDS[release, world], attack)
    evidence = LocalEngine().evidence(seen, score)
    np.testing.assert_allclose(evidence, ReferenceEngine().evidence(seen, score), rtol=1e-6)
    known = np.asarray(seen.known)
    for target, shown in enumerate(np.asarray(seen.anonymous)):
        beliefs = np.exp(score.of(known, shown) / GRID - evidence[target])
        assert beliefs.sum() == pytest.approx(1, abs=1e-4)


def some_bags():
    random = np.random.default_rng(1)
    bags = [random.integers(0, 6, size) for size in random.integers(0, 7, 60)]
    return Observations(BagRows(bags, tokens=6), bags[:9], np.arange(9), tokens=6)


@pytest.mark.parametrize("attack", sorted(all_attacks()))
def test_bags_are_rated_or_refused(attack):
    seen = some_bags()
    view = View.of(seen, release=RELEASES["topics, small"], labels=np.arange(6))
    try:
        score = attack_named(attack).fit(view)
        score.check(seen)
    except InvalidInput as wrong:
        needs = set(attack_named(attack).needs) - GIVEN
        missing = {"missing-knowledge"} if needs else {"wrong-kind-of-rows", "needs-top-sets"}
        assert wrong.code in missing  # noqa: PT017  many attacks take bags
        return
    slow = ReferenceEngine().search(seen, score)
    for engine in ENGINES.values():
        fast = engine.search(seen, score)
        for field in dataclasses.fields(Matches):
            one, other = getattr(fast, field.name), getattr(slow, field.name)
            np.testing.assert_array_equal(one, other, field.name)


def with_gaps(known, shown):
    """Two users, one anonymous row, two tokens."""
    return Observations(np.array(known), np.array([shown]), [0], tokens=2)


@pytest.mark.parametrize("attack", ["hamming", "overlap", "rarity-overlap"])
def test_what_agrees_is_counted_and_gaps_are_not(attack):
    """A gap beside a gap is worth as much as a gap beside a token: nothing."""
    seen = with_gaps([[0, -1], [0, 1]], [0, -1])
    score = attack_named(attack).fit(View.of(seen))
    here, other = score.of(seen.known.block(0, 2), seen.anonymous[0])
    assert here == other


def test_gaps_are_what_gaps_compares():
    seen = with_gaps([[0, -1], [0, 1]], [0, -1])
    here, other = attack_named("gaps").fit(View.of(seen)).of(seen.known, seen.anonymous[0])
    assert here > other


def test_repetition_takes_a_gap_as_a_slot_in_which_no_token_came():
    """So a token that came once, and nothing else, is as often there as one beside other tokens."""
    rows = np.array([[0, 0, -1, -1], [0, 0, 1, 1], [1, 1, 0, -1]])
    seen = Observations(rows, rows, np.arange(3), tokens=2)
    score = attack_named("repetition").fit(View.of(seen))
    np.testing.assert_array_equal(
        score.of(rows, np.array([0, 0, -1, -1])), score.of(rows, np.array([-1, 0, -1, 0]))
    )
