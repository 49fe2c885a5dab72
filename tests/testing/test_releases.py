"""`check_release` passes what keeps its promises and catches what breaks them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from reidrisk import (
    Cohorts,
    Generalised,
    ItemSamples,
    MinimumUsers,
    RandomisedResponse,
    TopicsApi,
)
from reidrisk.core.randomness import uniforms
from reidrisk.estimates import Bound, Estimate
from reidrisk.releases import ExactRows
from reidrisk.testing import check_release

SMALL = TopicsApi(topics=6, top=2, noise=0.3)


@pytest.mark.parametrize(
    "release",
    [
        SMALL,
        TopicsApi(topics=6, top=1, noise=0.3, absence=0.2),
        TopicsApi(topics=6, top=1, noise=0.3, presence=0.5, blocked=0.3),
        TopicsApi(topics=6, top=1, noise=0.3, per_call=2, every=1, delay=2.0),
        RandomisedResponse(epsilon=1.0),
        ItemSamples(samples=2),
        ItemSamples(samples=3, by_count=False, replacement=False),
        Generalised(users=9, of=ItemSamples(samples=2)),
        Generalised(users=9, of=RandomisedResponse(epsilon=0.5)),
        Generalised(rounding=3, of=TopicsApi(topics=6, top=2, noise=0.2, per_call=2, every=1)),
        MinimumUsers(users=9, of=ItemSamples(samples=2)),
        MinimumUsers(users=9, of=RandomisedResponse(epsilon=0.5)),
        MinimumUsers(users=8, of=Generalised(users=11, of=ItemSamples(samples=2))),
        Cohorts(users=4),
    ],
    ids=str,
)
def test_releases_keep_their_promises(release):
    check_release(release)


@dataclass(frozen=True)
class Good:
    """Shows the heaviest token, or any."""

    name: ClassVar[str] = "good"
    noise: float = 0.5

    def slots(self, people):
        return people.epochs

    def show(self, people, start, stop, *, site, seed, again=0):
        true = people.top_sets(start, stop, top=1, seed=seed)[:, :, 0]
        coins = uniforms(
            seed=seed, purpose=f"good/{site}/{again}", users=people.ids[start:stop],
            count=people.epochs,
        )  # fmt: skip
        other = (coins / self.noise * people.tokens).astype(int)
        return np.where((coins < self.noise) & (true >= 0), other, true)

    def promises(self, people, slots):
        return ()


class Renamed(Good):
    name = "GOOD"


class ShowsTooMuch(Good):
    def show(self, people, start, stop, **how):
        return super().show(people, start, stop, **how) + people.tokens


class CountsRows(Good):
    """Chance belongs to rows instead of users."""

    def show(self, people, start, stop, **how):
        return np.random.default_rng(how["seed"]).integers(0, 6, (stop - start, people.epochs))


class LooksAround(Good):
    """What is shown of a user depends on the others."""

    def show(self, people, start, stop, **how):
        return (super().show(people, start, stop, **how) + people.users // 4) % people.tokens


class Forgets(Good):
    """A slot is lost."""

    def show(self, people, start, stop, **how):
        return super().show(people, start, stop, **how)[:, 1:]


class Boasts(Good):
    """Promises what it does not keep."""

    def promises(self, people, slots):
        return (Bound("secrecy", "upper", Estimate.computed(1 / people.users), "Trust me."),)

    independent_sites = True

    def rows(self, people, *, site=1, seed=0):
        return RandomisedResponse(epsilon=5.0).rows(people, seed=seed)

    def show(self, people, start, stop, **how):
        return RandomisedResponse(epsilon=5.0).show(people, start, stop, **how)


class Understates(RandomisedResponse):
    """Promises for half of its epsilon."""

    def promises(self, people, slots):
        return RandomisedResponse(epsilon=self.epsilon / 2).promises(people, slots)


class IgnoresGaps(RandomisedResponse):
    """Promises the same to people who were away."""

    def promises(self, people, slots):
        return RandomisedResponse(self.epsilon).promises(Everyone(people.users), slots)


@dataclass(frozen=True)
class Everyone:
    users: int
    complete: bool = True


class FirstSlotOnly(RandomisedResponse):
    """Right after all slots, and wrong after the first."""

    def promises(self, people, slots):
        return super().promises(people, slots if slots > 1 else 0)


class SameEverywhere(RandomisedResponse):
    """One noisy value of each user, the same at every site."""

    def show(self, people, start, stop, *, site, seed, again=0):
        return super().show(people, start, stop, site=1, seed=seed, again=again)


class Plain(Good):
    """Writes no chances down, shows nearly the truth and promises the best."""

    noise = 0.05

    def promises(self, people, slots):
        return (Bound("secrecy", "upper", Estimate.computed(1 / people.users), "Trust me."),)


class Vague(Good):
    def promises(self, people, slots):
        return (Bound("secrecy", "estimate", Estimate.computed(1.0), "Trust me."),)


class WrongRows(Good):
    """Its exact rows are those of another release."""

    independent_sites = True

    def rows(self, people, *, site=1, seed=0):
        return RandomisedResponse(epsilon=0.1).rows(people, seed=seed)


class WrongSecrets(RandomisedResponse):
    """Its likelihood is that of less noise."""

    def likelihood(self, tokens):
        return RandomisedResponse(epsilon=self.epsilon + 1).likelihood(tokens)


@dataclass(frozen=True)
class Cut:
    """The cohorts of a release whose survey goes wrong."""

    name: ClassVar[str] = "cut"
    users: int = 3

    def slots(self, people):
        return 1

    def surveyed(self, people):
        return self.broken(people, Cohorts(self.users).surveyed(people))


class InOrder(Cut):
    """Cohorts by the order in which people stand in their file."""

    name = "cohorts"

    def broken(self, people, good):
        order = np.argsort(people.ids)
        return replace(good, cohorts=(np.arange(people.users) // 3)[order].astype(np.int32))


class NeverEnough(Cut):
    def broken(self, people, good):
        return self


class OtherName(Cut):
    def broken(self, people, good):
        return good


class OfMostUsers(Good):
    """Right on average, and wrong of the one user whom what is shown gives away."""

    independent_sites = True

    def slots(self, people):
        return 1

    def show(self, people, start, stop, **how):
        return (people.ids[start:stop] == 0).astype(int)[:, None]

    def rows(self, people, *, site=1, seed=0):
        shown = self.show(people, 0, people.users)
        return ExactRows(sp.csr_array(np.eye(2)[shown[:, 0]]), np.array([[0], [1]], np.int32))

    def promises(self, people, slots):
        if people.users < 12:
            return ()
        return (Bound("crowd", "upper", Estimate.computed(2 / people.users), "Trust me."),)


def test_a_good_one_passes():
    check_release(Good())


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Renamed(), "a name in lower case"),
        (ShowsTooMuch(), "tokens of its alphabet"),
        (CountsRows(), "chunks change nothing"),
        (LooksAround(), "company changes nothing"),
        (Forgets(), "a row of slots for each user"),
        (Boasts(), "secrecy to hold for these people"),
        (Vague(), "bounds that are upper ones"),
        (Understates(epsilon=1.0), "local privacy to hold for these people"),
        (IgnoresGaps(epsilon=0.5), "local privacy to hold for these people"),
        (FirstSlotOnly(epsilon=1.0), "local privacy to hold for these people"),
        (SameEverywhere(epsilon=1.0), "sites draw on their own"),
        (Plain(), "secrecy to hold for these people"),
        (WrongRows(), "as often as exact rows say"),
        (WrongSecrets(epsilon=1.0), "secrets that give the exact rows"),
        (InOrder(), "the order of people changes no survey"),
        (NeverEnough(), "one survey is enough"),
        (OtherName(), "to keep its name"),
        (OfMostUsers(), "crowd given whatever is shown"),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, str) else "",
)
def test_broken_releases_are_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_release(broken)
