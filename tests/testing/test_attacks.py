"""The promises of attacks, kept by ours and missed by broken ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from reidrisk import Observations, TokenTable, TokenWeights, TopicsApi, attacks, data
from reidrisk.testing import check_attack

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=150, epochs=3, seed=1)
SEEN = API.observe(PEOPLE, targets=30, seed=1)


@pytest.mark.parametrize(
    "attack",
    [
        attacks.Hamming(),
        attacks.WeightedHamming(API),
        attacks.WeightedHamming(API, pooled=False),
        attacks.TokenTable(API),
        attacks.TokenTable(API, corrected=False),
        attacks.TokenTable(API, pairs=PEOPLE.interests.pairs),
        attacks.TypeAware(API, PEOPLE.interests),
        attacks.TypeAware(API, types=3),
        attacks.ProfileOverlap(),
        attacks.ProfileOverlap(API),
    ],
    ids=lambda attack: attack.name,
)
def test_our_attacks_keep_every_promise(attack):
    check_attack(attack, SEEN)


def test_full_information_keeps_every_promise():
    check_attack(attacks.FullInformation(API), API.reveal(PEOPLE, targets=30, seed=1))


@pytest.mark.parametrize("attack", [attacks.Hamming(), attacks.WeightedHamming(API)])
def test_several_sites_change_no_promise(attack):
    check_attack(attack, API.observe(PEOPLE, targets=30, sites=3, seed=1))


@dataclass(frozen=True)
class Own:
    """A plug-in: matches in later slots count more."""

    name: ClassVar[str] = "own"
    knows: ClassVar[str] = "the order of slots"
    assumes: ClassVar[str] = "Later is better."
    likelihood: ClassVar[bool] = False

    def fit(self, seen: Observations):
        return TokenWeights(np.outer(np.arange(1, seen.slots + 1), np.ones(seen.tokens)))


def test_a_plug_in_is_checked_without_a_world():
    check_attack(Own())


@dataclass(frozen=True)
class Peeks(Own):
    def fit(self, seen):
        return TokenWeights(np.full(seen.tokens, 1.0 + seen.truth[0]))


@dataclass(frozen=True)
class Forgetful(Own):
    count: ClassVar[int] = 0

    def fit(self, seen):
        type(self).count += 1
        return TokenWeights(np.full(seen.tokens, 1.0 * self.count))


@dataclass(frozen=True)
class FallsForStrangers(Own):
    def fit(self, seen):
        return TokenTable(np.full((seen.tokens, seen.tokens), -1.0))


@dataclass(frozen=True)
class Shouts(Own):
    name: ClassVar[str] = "OWN"


@dataclass(frozen=True)
class Silent(Own):
    assumes: ClassVar[str] = ""


class Thawed:
    name, knows, assumes, likelihood = "thawed", "nothing", "Nothing.", False


class Unhashable(Own):
    __hash__ = None


@dataclass(frozen=True)
class Unsure(Own):
    likelihood: ClassVar[str] = "perhaps"


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Peeks, "never to look at the truth"),
        (Forgetful, "the same score each time"),
        (FallsForStrangers, "a stranger"),
        (Shouts, "name, lower case"),
        (Silent, "sentences"),
        (Thawed, "to be a value"),
        (Unhashable, "to be a value"),
        (Unsure, "whether its score is a likelihood"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_attack(broken(), SEEN)
