"""The promises of attacks, kept by ours and missed by broken ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from reidrisk import Observations, TokenPairWeights, TokenWeights, TopicsApi, attacks, data
from reidrisk.attacks import ATTACKS, attack_named
from reidrisk.releases import RandomisedResponse, observe, reveal
from reidrisk.scores import GRID
from reidrisk.testing import check_attack

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=150, epochs=3, seed=1)
SEEN = API.observe(PEOPLE, targets=30, seed=1)
SMALL = data.synthetic_topics(users=60, topics=12, epochs=3, types=3, size=3, seed=4)


@pytest.mark.parametrize(
    "attack",
    [
        attacks.Hamming(),
        attacks.Gaps(),
        attacks.WeightedHamming(API),
        attacks.WeightedHamming(API, pooled=False),
        attacks.TokenTable(API),
        attacks.TokenTable(API, corrected=False),
        attacks.TokenTable(API, pairs=PEOPLE.interests.pairs),
        attacks.TypeAware(API, PEOPLE.interests),
        attacks.TypeAware(API, types=3),
        attacks.Overlap(),
        attacks.DenoisedOverlap(API),
        attacks.LearnedPairs(),
        attacks.LearnedPairs(SEEN),
    ],
    ids=lambda attack: attack.name,
)
def test_our_attacks_keep_every_promise(attack):
    check_attack(attack, SEEN)


OTHERS = {"full-information", "nearest"}
"""These rate no tokens that a site was shown: what was revealed, and vectors."""


def answered():
    """Attacks that need nothing but what was shown and what showed it."""
    for name, kind in sorted(ATTACKS.items()):
        if set(kind().needs) <= {"anonymous", "release"} and name not in OTHERS:
            yield name


@pytest.mark.parametrize("name", list(answered()))
@pytest.mark.parametrize(
    "release",
    [
        TopicsApi(topics=12, top=3, noise=0.2, absence=0.3),
        TopicsApi(topics=12, top=3, noise=0.2, blocked=0.2, presence=0.7),
        RandomisedResponse(epsilon=2.0),
    ],
    ids=["absence", "withheld", "response"],
)
def test_attacks_by_name_keep_every_promise(name, release):
    check_attack(attack_named(name), observe(release, SMALL, targets=20, seed=1), release=release)


@pytest.mark.parametrize("release", [API, TopicsApi(absence=0.3), RandomisedResponse(epsilon=2.0)])
def test_full_information_keeps_every_promise(release):
    seen = reveal(release, PEOPLE, targets=30, seed=1)
    check_attack(attacks.FullInformation(), seen, release=release)


@pytest.mark.parametrize(
    "attack", [attacks.Hamming(), attacks.Gaps(), attacks.WeightedHamming(API)]
)
def test_several_sites_change_no_promise(attack):
    check_attack(attack, API.observe(PEOPLE, targets=30, sites=3, seed=1))


@dataclass(frozen=True)
class Own:
    """A plug-in: matches in later slots count more."""

    name: ClassVar[str] = "own"
    knows: ClassVar[str] = "the order of slots"
    assumes: ClassVar[str] = "Later is better."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    def fit(self, view):
        return TokenWeights(np.outer(np.arange(1, view.slots + 1), np.ones(view.tokens)))


@dataclass(frozen=True)
class Learns(Own):
    """A plug-in that needs a panel."""

    needs: ClassVar[tuple[str, ...]] = ("panel",)

    def fit(self, view):
        return TokenWeights(np.ones(view.tokens) * len(view.panel.known))


class Evens:
    """A score of its own: known rows with even tokens."""

    def check(self, observations):
        pass

    def of(self, known, shown):
        return (known % 2 == 0).sum(axis=1) * np.int64(GRID)


@dataclass(frozen=True)
class OwnScore(Own):
    def fit(self, view):
        return Evens()


@dataclass(frozen=True)
class LooksAtTargets(Own):
    def fit(self, view):
        return TokenWeights(1.0 + np.bincount(view.anonymous[:, 0], minlength=view.tokens))


@dataclass(frozen=True)
class LooksAtOthers(Own):
    """Says that it uses one row, and counts all of them where it can."""

    uses: ClassVar[str] = "one row"

    def fit(self, view):
        others = 0 if view.anonymous is None else len(view.anonymous)
        return TokenWeights(np.full(view.tokens, 1.0 + others))


@dataclass(frozen=True)
class UsesWhatItLikes(Own):
    uses: ClassVar[str] = "some rows"


@dataclass(frozen=True)
class Targets(LooksAtTargets):
    """A plug-in that needs the rows it is to name."""

    needs: ClassVar[tuple[str, ...]] = ("anonymous",)


@pytest.mark.parametrize("kind", [Own, Learns, OwnScore, Targets])
def test_a_plug_in_is_checked_without_a_world(kind):
    check_attack(kind())


@dataclass(frozen=True)
class Peeks(Own):
    def fit(self, view):
        return TokenWeights(np.full(view.tokens, 1.0 + view.truth[0]))


@dataclass(frozen=True)
class Forgetful(Own):
    count: ClassVar[int] = 0

    def fit(self, view):
        type(self).count += 1
        return TokenWeights(np.full(view.tokens, 1.0 * self.count))


@dataclass(frozen=True)
class FallsForStrangers(Own):
    def fit(self, view):
        return TokenPairWeights(np.full((view.tokens, view.tokens), -1.0))


@dataclass(frozen=True)
class GoesByPlace(Own):
    """Takes users to stand in the same order on both sides."""

    needs: ClassVar[tuple[str, ...]] = ("anonymous",)

    def fit(self, view):
        known = view.known.block(0, len(view.anonymous)).astype(int)
        return TokenWeights(np.ones(view.tokens) * (1 + (known * view.anonymous).sum()))


@dataclass(frozen=True)
class AsksForMore(Own):
    def fit(self, view):
        return TokenWeights(np.ones(view.tokens) * view.release.q_in)


@dataclass(frozen=True)
class GoesByOrder(Own):
    def fit(self, view):
        return TokenWeights(np.ones(view.tokens) * (1 + view.known[0, 0]))


@dataclass(frozen=True)
class NeedsTheMoon(Own):
    needs: ClassVar[tuple[str, ...]] = ("moon",)


@dataclass(frozen=True)
class OnlyCounts(Own):
    likelihood: ClassVar[bool] = True

    def fit(self, view):
        return Evens()


@dataclass(frozen=True)
class BlindToGaps(Own):
    likelihood: ClassVar[bool] = True

    def fit(self, view):
        return TokenWeights(np.ones(view.tokens))


class DoesNotSumToOne(TokenWeights):
    def normalised(self):
        return self


@dataclass(frozen=True)
class NoChances(Own):
    likelihood: ClassVar[bool] = True

    def fit(self, view):
        return DoesNotSumToOne(np.ones(view.tokens))


@dataclass(frozen=True)
class Shouts(Own):
    name: ClassVar[str] = "OWN"


@dataclass(frozen=True)
class Silent(Own):
    assumes: ClassVar[str] = ""


class Thawed:
    name, knows, assumes, likelihood, needs = "thawed", "nothing", "Nothing.", False, ()


class Unhashable(Own):
    __hash__ = None


@dataclass(frozen=True)
class Unsure(Own):
    likelihood: ClassVar[str] = "perhaps"


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Peeks, "never at the truth"),
        (AsksForMore, "nothing but the known rows and what it needs"),
        (LooksAtTargets, "nothing but the known rows and what it needs"),
        (LooksAtOthers, "to use one row"),
        (UsesWhatItLikes, 'to use "one row" or "all rows"'),
        (GoesByPlace, "in whatever order users stand"),
        (GoesByOrder, "in whatever order users stand"),
        (NeedsTheMoon, "to need nothing but"),
        (OnlyCounts, "can be normalised and drawn from"),
        (BlindToGaps, "how likely gaps are"),
        (NoChances, "chances sum to one"),
        (Forgetful, "the same score each time"),
        (FallsForStrangers, "a stranger"),
        (Shouts, "a name, lower case"),
        (Silent, "sentences"),
        (Thawed, "to be a value"),
        (Unhashable, "to be a value"),
        (Unsure, "whether its score is a likelihood"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_attack(broken(), SEEN)


def test_an_attack_that_changes_what_it_sees_is_caught():
    rows = np.array(SEEN.known)
    seen = Observations(rows, SEEN.anonymous, SEEN.truth, tokens=349)

    @dataclass(frozen=True)
    class Rubs(Own):
        def fit(self, view):
            rows[0, 0] = 7 - rows[0, 0] % 7
            return super().fit(view)

    with pytest.raises(AssertionError, match="to leave what it is fitted on as it is"):
        check_attack(Rubs(), seen)
