"""Every release, attack and engine with each other; what makes no sense is refused, exactly so."""

import dataclasses
import re

import numpy as np
import pytest

from reidrisk import (
    Cohorts,
    Generalised,
    InvalidInput,
    ItemSamples,
    LocalEngine,
    MinimumUsers,
    RandomisedResponse,
    ReferenceEngine,
    TopicsApi,
)
from reidrisk.attacks import attack_named
from reidrisk.attacks.attack import View
from reidrisk.attacks.table import all_attacks
from reidrisk.matches import Matches
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
    if release == "topics, calls":
        return {"token-table": _SINGLE, "type-aware": _TYPES}.get(attack)
    return None


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
    slow = ReferenceEngine().search(seen, score)
    assert ((slow.credit >= 0) & (slow.credit <= 1)).all()
    for name, engine in ENGINES.items():
        fast = engine.search(seen, score)
        for field in dataclasses.fields(Matches):
            one, other = getattr(fast, field.name), getattr(slow, field.name)
            np.testing.assert_array_equal(one, other, f"{name}: {field.name}")
        np.testing.assert_array_equal(engine.credit(seen, score), slow.credit, name)


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
