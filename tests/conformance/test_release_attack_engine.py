"""Every release, attack and engine with each other; what makes no sense is refused, exactly so."""

import dataclasses
import re

import numpy as np
import pytest

from reidrisk import (
    BagRows,
    Cohorts,
    Generalised,
    InvalidInput,
    ItemSamples,
    LocalEngine,
    MinimumUsers,
    Observations,
    RandomisedResponse,
    ReferenceEngine,
    TopicsApi,
)
from reidrisk.attacks import Neural, PairNetwork, attack_named
from reidrisk.attacks.protocol import View
from reidrisk.attacks.table import all_attacks
from reidrisk.core.matches import Matches
from reidrisk.learning.progress import Training
from reidrisk.releases import observe, prepared, reveal
from reidrisk.scores import GRID
from reidrisk.testing.releases import small_worlds

_CALLS = TopicsApi(topics=6, top=2, noise=0.2, per_call=2, every=1, delay=2.0)
RELEASES = {
    "topics": TopicsApi(topics=6, top=2, noise=0.2),
    "topics, absence": TopicsApi(topics=6, top=2, noise=0.2, absence=0.3),
    "topics, withheld": TopicsApi(topics=6, top=2, noise=0.2, blocked=0.3, presence=0.6),
    "topics, calls": _CALLS,
    "randomised response": RandomisedResponse(epsilon=1.0),
    "item samples": ItemSamples(samples=3),
    "item samples, no replacement": ItemSamples(samples=3, by_count=False, replacement=False),
    "generalised": Generalised(users=9, of=ItemSamples(samples=3)),
    "generalised, calls": Generalised(rounding=2, of=_CALLS),
    "minimum users": MinimumUsers(users=9, of=RandomisedResponse(epsilon=1.0)),
    "cohorts": Cohorts(users=3),
}
NO_CHANCES = {
    "item samples": "item-samples",
    "item samples, no replacement": "item-samples",
    "generalised": "generalised",
    "generalised, calls": "generalised",
    "minimum users": "minimum-users",
    "cohorts": "cohorts",
}
"""Releases that do not say with which chances they show tokens, nor reveal what these are."""
WORLDS = dict(zip(("all there", "away at times"), small_worlds(), strict=True))
ENGINES = {
    "local": LocalEngine(),
    "local, small blocks": LocalEngine(threads=3, rows=5),
}

_TOP = "needs a release that can say with which chances it shows tokens of a top set (one_of_top)"
_REVEAL = "needs a release that can reveal what its chances follow from (secrets and likelihood)"
_SWITCHES = "leave these switches off to reveal it"
_SINGLE = "looks at one known token of each slot"
_COLUMNS = "learned-pairs compares rows column by column, and known rows hold a set of tokens"
_TYPES = "types are told from what one site was shown"
LEARNED = ("neural", "pair-network")
"""They need a panel, and torch: without a panel they say so, with one they are tested below."""
_PANEL = "needs to know a panel: other users, of whom both sides and who is who are known"


def refusal(release, attack):
    """The sentence with which a pair is refused; None if it makes sense."""
    if release in NO_CHANCES:
        weighing = {"weighted-hamming", "token-table", "type-aware", "denoised-overlap"}
        if attack in weighing:
            return re.escape(f"{attack} {_TOP}; {NO_CHANCES[release]} cannot")
        if attack == "full-information":
            return re.escape(f"full information {_REVEAL}; {NO_CHANCES[release]} cannot")
    if attack == "full-information" and release in {"topics, withheld", "topics, calls"}:
        return _SWITCHES
    if release.endswith(", calls") and attack == "learned-pairs":
        return _COLUMNS
    refused = {name: f"{name} {_PANEL}" for name in LEARNED}
    if release == "topics, calls":
        refused |= {"token-table": _SINGLE, "type-aware": _TYPES}
    return refused.get(attack)


def fitted(release, people, name):
    """What is seen, and the score of an attack on it."""
    show = reveal if name == "full-information" else observe
    seen = show(release, people, targets=9, seed=3)
    score = attack_named(name).fit(View.of(seen, release=prepared(release, people)))
    score.check(seen)
    return seen, score


PAIRS = [(release, attack) for release in RELEASES for attack in sorted(all_attacks())]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("release", "attack"), PAIRS)
def test_all_engines_give_one_answer(release, attack, world):
    sentence = refusal(release, attack)
    if sentence is not None:
        with pytest.raises(InvalidInput, match=sentence):
            fitted(RELEASES[release], WORLDS[world], attack)
        return
    seen, score = fitted(RELEASES[release], WORLDS[world], attack)
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
OF_CALLS = "reads rows slot by slot, and known rows hold a set of tokens"


@pytest.mark.torch
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", [Neural, PairNetwork])
def test_all_engines_give_one_answer_of_what_was_learned(kind, release, world):
    seen = observe(RELEASES[release], WORLDS[world], targets=9, seed=3)
    panel = seen.only(np.arange(27) % 9)  # everybody three times: there are too few
    attack = kind(panel, training=QUICK, keep_best=5)
    if release.endswith(", calls"):
        with pytest.raises(InvalidInput, match=OF_CALLS):
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


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("release", "attack"), LIKELIHOODS)
def test_likelihoods_say_how_sure_they_are(release, attack, world):
    """Beliefs are chances, and those over all known users sum to one."""
    seen, score = fitted(RELEASES[release], WORLDS[world], attack)
    evidence = LocalEngine().evidence(seen, score)
    np.testing.assert_allclose(evidence, ReferenceEngine().evidence(seen, score), rtol=1e-6)
    known = np.asarray(seen.known)
    for target, shown in enumerate(np.asarray(seen.anonymous)):
        beliefs = np.exp(score.of(known, shown) / GRID - evidence[target])
        assert beliefs.sum() == pytest.approx(1, abs=1e-4)


_NO_SLOTS = (
    "known holds a bag of tokens, without slots; TokenWeights rates one token for each slot or a "
    "set of tokens for each slot: use an attack for rows of that kind, or give it rows of this one"
)
OF_BAGS = {
    "full-information": "full-information needs top sets of 2 tokens for each user and slot",
    "gaps": _NO_SLOTS,
    "hamming": _NO_SLOTS,
    "weighted-hamming": _NO_SLOTS,
    "neural": f"neural {_PANEL}",
    "pair-network": f"pair-network {_PANEL}",
    "learned-pairs": (
        "learned-pairs compares rows column by column, and known rows hold a bag of tokens, "
        "without slots; give one token for each slot, or use an attack that counts tokens in common"
    ),
    "repetition": (
        "known holds a bag of tokens, without slots; repetition counts the slots in which a token "
        "came again: use overlap or rarity-overlap, or give it rows with slots"
    ),
    "token-table": (
        "token-table looks at one known token of each slot, and known rows hold a bag of tokens, "
        "without slots; keep one, or use weighted-hamming"
    ),
    "type-aware": (
        "what is seen holds a bag of tokens, without slots; types are told from what one site was "
        "shown: keep one token of each slot"
    ),
}
"""The sentence with which bags are refused; other attacks take them."""


def some_bags():
    random = np.random.default_rng(1)
    bags = [random.integers(0, 6, size) for size in random.integers(0, 7, 60)]
    return Observations(BagRows(bags, tokens=6), bags[:9], np.arange(9), tokens=6)


@pytest.mark.parametrize("attack", sorted(all_attacks()))
def test_bags_are_rated_or_refused(attack):
    seen = some_bags()
    view = View.of(seen, release=RELEASES["topics"])
    if attack in OF_BAGS:
        with pytest.raises(InvalidInput, match=re.escape(OF_BAGS[attack])):
            attack_named(attack).fit(view).check(seen)
        return
    score = attack_named(attack).fit(view)
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
