"""`check_release` passes releases of vectors that keep their promises, and catches the others."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from reidrisk import (
    Averaged,
    GaussianNoise,
    LaplaceNoise,
    Microaggregated,
    Projected,
    Quantised,
)
from reidrisk.core.vector_rows import Grid
from reidrisk.testing import check_release


@pytest.mark.parametrize(
    "release",
    [
        GaussianNoise(1.0, 1.0, releases=2, known="noisy"),
        GaussianNoise(1.0, 1.0, releases=3, fresh=False, of=Projected(3)),
        LaplaceNoise(1.0, 1.0, "l2", known="noisy"),
        LaplaceNoise(2.0, 1.0, of=Microaggregated(5)),
        Quantised(2, of=Projected(3, of=GaussianNoise(1.0, 1.0, known="noisy"))),
        Projected(3, of=Microaggregated(4)),
        Averaged(1, releases=2),
    ],
    ids=str,
)
def test_releases_keep_their_promises(release):
    check_release(release)


class Understates(GaussianNoise):
    """Promises for twice its noise."""

    def promises(self, people, slots):
        return GaussianNoise(2 * self.scale, self.clip).promises(people, slots)


class OneDraw(GaussianNoise):
    """Promises for one draw, and shows four."""

    def draws(self, slots):
        return 1

    def _noise(self, ids, draws, dimensions, **how):
        return super()._noise(ids, self.releases, dimensions, **how)


class SameEverywhere(GaussianNoise):
    """One noisy vector of each user, the same at every site."""

    def drawn(self, people, start, stop, *, site, seed, again=0):
        return super().drawn(people, start, stop, site=1, seed=seed, again=again)


class CountsRows(GaussianNoise):
    """Chance belongs to rows instead of users."""

    def _noise(self, ids, draws, dimensions, **how):
        return super()._noise(np.arange(len(ids)), draws, dimensions, **how)


class GridOfTheDraws(Averaged):
    """The grid goes by whom it shows."""

    def largest(self, people):
        return float(np.abs(people.means(0, people.users)).max())


class LooksAround(GaussianNoise):
    """Vectors are centred on the people at hand."""

    def centres(self, people, start, stop):
        every = super().centres(people, 0, people.users)
        return every[start:stop] - every.mean(axis=0)


class TooCoarse(GaussianNoise):
    """Shows something else than it draws."""

    def show(self, people, start, stop, **how):
        rows = super().show(people, start, stop, **how)
        return rows.checked(rows.block(0, len(rows)) // 100 * 100, rows.codec)


class SaysTokens(Quantised):
    """Says another grid than it shows."""

    def codec(self, people):
        codec = super().codec(people)
        return replace(codec, dtype=Grid(1.0).dtype)

    def show(self, people, start, stop, **how):
        return Quantised(self.bits).show(people, start, stop, **how)


@dataclass(frozen=True)
class InOrder(Microaggregated):
    """Groups by the order in which people stand in their file."""

    def surveyed(self, people):
        good = super().surveyed(people)
        order = np.argsort(people.ids)
        return replace(good, groups=(np.arange(people.users) % len(good.means))[order])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Understates(0.5, 1.0), "Gaussian noise in a ball to hold for these people"),
        (OneDraw(1.0, 1.0, releases=4), "Gaussian noise in a ball to hold for these people"),
        (SameEverywhere(0.5, 1.0, known="noisy"), "sites draw on their own"),
        (CountsRows(0.5, 1.0), "chunks change nothing"),
        (GridOfTheDraws(1), "one grid for all sites and people"),
        (LooksAround(0.5, 1.0), "company changes"),
        (TooCoarse(0.5, 1.0), "to show what it draws"),
        (SaysTokens(2), "vectors as it says"),
        (InOrder(3), "the order of people changes no survey"),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, str) else "",
)
def test_broken_releases_are_caught(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_release(broken)
