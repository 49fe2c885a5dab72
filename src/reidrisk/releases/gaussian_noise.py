"""Release: Gaussian noise on a vector of each user."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from reidrisk.core.randomness import uniforms
from reidrisk.estimates.estimate import Bound, Estimate
from reidrisk.people.protocol import People
from reidrisk.releases.noise import Known, NoiseRelease, inside
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import AnyRelease, Crowd, Floats, Noise

_DEVIATIONS = 8.3
"""Standard deviations beyond which no draw lies: they are made of 2**53 steps."""


@dataclass(frozen=True, slots=True)
class GaussianNoise(NoiseRelease):
    """Show a vector of each user with Gaussian noise, independent in each coordinate.

    Vectors longer than `clip` are scaled down to that length first; a user with several vectors has
    their mean. The site whose visitors are to be identified is shown noisy vectors; those that
    know their users hold clean ones, or noisy ones of their own.

    Args:
        scale: Standard deviation of the noise in each coordinate, in units of the vectors.
        clip: Length (l2) to which longer vectors are scaled down.
        fresh: Whether repeated releases have noise of their own; else all of a site are the same.
        releases: How often a site is shown the vector: one slot each.
        known: What sites that know their users hold: "clean" vectors, as whoever made the vectors
            does; or "noisy" ones, with noise of their own.
        of: The release whose vectors get noise, which must show the same each time; people's own
            vectors if not given.

    Example:
        >>> people = rr.data.VectorPeople([[1.0, 0.0], [0.0, 1.0]], ["ann", "bob"])
        >>> release = rr.GaussianNoise(scale=0.1, clip=1.0)
        >>> release.drawn(people, 0, 2, site=2, seed=7).round(2).tolist()
        [[[1.06, 0.06]], [[0.09, 0.97]]]
    """

    name: ClassVar[str] = "gaussian-noise"

    scale: float = parameter(
        help="Standard deviation of the noise in each coordinate",
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

    @property
    def noise(self) -> Noise:
        """Gaussian noise."""
        return Noise("gaussian", self.scale)

    def largest(self, people: People) -> float:
        """The length of the longest vector, and the farthest draw."""
        return self.clip + _DEVIATIONS * self.scale

    def typical(self, people: People) -> float:
        """That of the longest vectors with their noise."""
        return math.hypot(self.clip / math.sqrt(self.width(people)), self.scale)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """The cone bound, and what is promised of the vectors before noise."""
        from reidrisk.theory.vectors import upper_from_cone  # noqa: PLC0415  few need it

        # The mean of all draws tells as much as they do, and has less noise.
        mu = self.clip / self.scale * math.sqrt(self.draws(slots))
        value = upper_from_cone(people.users, self.width(people), mu)
        sentence = (
            f"Gaussian noise on vectors within {mu:.4g} standard deviations of the middle, that of "
            "the mean of all draws: for any attacker, whatever else is known, if each user is as "
            "likely to be the one as any other."
        )
        own = Bound("Gaussian noise in a ball", "upper", Estimate.computed(value), sentence)
        return (own, *super(GaussianNoise, self).promises(people, 1))

    def _noise(self, ids: Any, draws: int, dimensions: int, *, purpose: str, seed: int) -> Floats:
        from scipy.special import ndtri  # noqa: PLC0415  heavy, and few need it

        coins = uniforms(seed=seed, purpose=purpose, users=ids, count=draws * dimensions)
        noise: Floats = self.scale * ndtri(inside(coins))
        return noise.reshape(-1, draws, dimensions)
