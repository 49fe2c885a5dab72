"""Release: Laplace noise on a vector of each user, by coordinates or by length."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput
from reidrisk.estimates.estimate import Bound, Estimate
from reidrisk.people.protocol import People
from reidrisk.releases.guarantees import local_privacy
from reidrisk.releases.noise import Known, NoiseRelease, inside
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import AnyRelease, Crowd, Floats, Noise
from reidrisk.releases.vectors import UNKNOWN

_Norm = Literal["l1", "l2"]

_SCALES = 20.0
"""Scales beyond which a draw lies once in 400 million; it is shown at the end of the grid."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise(NoiseRelease):
    """Show a vector of each user with Laplace noise.

    Vectors longer than `clip` are scaled down to that length first; a user with several vectors has
    their mean. The site whose visitors are to be identified is shown noisy vectors; those that
    know their users hold clean ones, or noisy ones of their own.

    Args:
        scale: Scale of the noise, in units of the vectors: 1 / scale is the epsilon that is spent
            for each unit of distance, in the norm that is chosen.
        clip: Length (l2) to which longer vectors are scaled down.
        norm: "l1" for independent noise in each coordinate, with a density proportional to
            `exp(-|noise| / scale)`; "l2" for one density of the whole vector, proportional to
            `exp(-|noise| / scale)` of its length: in any direction alike.
        fresh: Whether repeated releases have noise of their own; else all of a site are the same.
        releases: How often a site is shown the vector: one slot each.
        known: What sites that know their users hold: "clean" vectors, as whoever made the vectors
            does; or "noisy" ones, with noise of their own.
        of: The release whose vectors get noise, which must show the same each time; people's own
            vectors if not given.

    Example:
        >>> people = rr.data.VectorPeople([[1.0, 0.0], [0.0, 1.0]], ["ann", "bob"])
        >>> release = rr.LaplaceNoise(scale=0.1, clip=1.0, norm="l2")
        >>> release.drawn(people, 0, 2, site=2, seed=7).round(2).tolist()
        [[[1.0, -0.03]], [[-0.07, 1.17]]]
    """

    name: ClassVar[str] = "laplace-noise"

    scale: float = parameter(
        help="Scale of the noise: 1 / epsilon for each unit of distance",
        least=0,
        safer_as_it_grows=True,
        search=(0.01, 10.0),
        example=0.2,
    )
    clip: float = parameter(
        help="Length to which longer vectors are scaled down",
        least=0,
        safer_as_it_grows=False,
        example=1,
    )
    norm: _Norm = parameter(
        "l1", help="Whether noise goes by coordinates (l1) or by the length of the vector (l2)"
    )
    fresh: bool = parameter(
        default=True, help="Whether repeated releases have noise of their own", kw_only=True
    )
    releases: int = parameter(
        1, help="How often a site is shown the vector", least=1, safer_as_it_grows=False,
        kw_only=True,
    )  # fmt: skip
    known: Known = parameter("clean", help="What sites that know their users hold", kw_only=True)
    of: AnyRelease | None = parameter(
        None, help="The release whose vectors get noise", kw_only=True
    )

    def __post_init__(self) -> None:
        self.check()
        if self.norm not in get_args(_Norm):
            raise InvalidInput(f"norm is one of l1, l2; got {self.norm!r}", code="unknown-choice")

    @property
    def noise(self) -> Noise:
        """Laplace noise of each coordinate, or of the length."""
        return Noise("laplace" if self.norm == "l1" else "l2-laplace", self.scale)

    def largest(self, people: People) -> float:
        """The length of the longest vector, and a draw that is hardly ever exceeded."""
        return self.clip + (_SCALES + 4 * self._deviations(self.width(people))) * self.scale

    def typical(self, people: People) -> float:
        """That of the longest vectors with their noise."""
        dimensions = self.width(people)
        noise = self._deviations(dimensions) * self.scale
        return math.hypot(self.clip / math.sqrt(dimensions), noise)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """From how fast the density falls, and what is promised of the vectors before noise."""
        numbers, draws = self.width(people), self.draws(slots)
        radius = self.clip / self.scale
        if self.norm == "l2":
            own = _ball(radius, numbers, people.users, draws)
        else:  # no vector is longer in l1 than this many times its length in l2
            own = local_privacy(2 * math.sqrt(numbers) * radius * draws, people.users)
        return (*own, *super(LaplaceNoise, self).promises(people, 1))

    def _noise(self, ids: Any, draws: int, dimensions: int, *, purpose: str, seed: int) -> Floats:
        coordinates = self.norm == "l1"
        each = dimensions if coordinates else dimensions + 1
        coins = inside(uniforms(seed=seed, purpose=purpose, users=ids, count=draws * each))
        coins = coins.reshape(len(coins), draws, each)
        return self.scale * (_by_coordinates(coins) if coordinates else _by_length(coins))

    def _deviations(self, dimensions: int) -> float:
        """Standard deviation of the noise of a coordinate, in scales."""
        return math.sqrt(2 if self.norm == "l1" else dimensions + 1)


def _ball(radius: float, dimensions: int, users: int, draws: int) -> tuple[Bound, ...]:
    """The bound from l2-Laplace noise on vectors within a ball.

    Args:
        radius: Of the ball, in scales of the noise.
        dimensions: Numbers of a vector.
        users: Number of users that an attacker chooses among.
        draws: Independent draws of noise on one vector.
    """
    from reidrisk.theory.vectors import upper_from_l2_laplace  # noqa: PLC0415  few need it

    # The density of several draws is at most `exp(draws radius)` times that around the middle of
    # the ball. That is the bound for infinitely many dimensions; for one draw there is a finer one.
    numbers = dimensions if draws == 1 else UNKNOWN
    value = upper_from_l2_laplace(users, numbers, radius * draws)
    sentence = (
        f"Laplace noise of the length of vectors within {radius:.4g} scales of the middle, drawn "
        f"{draws:,} times: for any attacker, whatever else is known, if each user is as likely to "
        "be the one as any other."
    )
    return (Bound("Laplace noise in a ball", "upper", Estimate.computed(value), sentence),)


def _by_coordinates(coins: Floats) -> Floats:
    """Independent Laplace noise of scale 1, from draws between 0 and 1."""
    low = coins < 0.5  # noqa: PLR2004  either half has one sign
    return np.asarray(np.where(low, 1, -1) * np.log(2 * np.where(low, coins, 1 - coins)))


def _by_length(coins: Floats) -> Floats:
    """Noise with a density proportional to exp(-length): the last draw is for the length."""
    from scipy.special import gammaincinv, ndtri  # noqa: PLC0415  heavy, and few need it

    towards = ndtri(coins[:, :, :-1])
    lengths = gammaincinv(towards.shape[2], coins[:, :, -1:])
    return np.asarray(towards * (lengths / np.sqrt(np.square(towards).sum(axis=2, keepdims=True))))
