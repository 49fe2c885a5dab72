"""The E and M steps of a mixture of types, used by `latent_types`.

A mixture is a pair: the share of each type, and phi, tokens x types: the chance that a token is in
the top set of a user of the type, over the size of the set.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import over_blocks
from reidrisk.learning.kernels import add_expectations

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
Mixture: TypeAlias = tuple[Floats, Floats]

BLOCK = 1 << 13
"""Users per call of the kernel: it fixes the order of sums, so it may not depend on cores."""

NEARLY = 1 - 1e-4
"""The largest chance to be in a set. A sure token has no finite weight among those drawn."""

TINY = 1e-200
"""The least share of a type, so that one can divide by it."""


@dataclass(frozen=True, eq=False, slots=True)
class TypeModel:
    """What is known before any user is seen.

    Args:
        top: Size of a top set.
        noise: Chance that a random token is shown.
        pseudo: Slots of each token that are added to those of every type, all above 0.
    """

    top: int
    noise: float
    pseudo: Floats

    def chances(self, phi: Floats) -> Floats:
        """Chance that a token is shown."""
        shown: Floats = self.noise / self.pseudo.size + (1 - self.noise) * phi
        return shown

    def best(self, counts: Floats) -> Floats:
        """The phi of highest likelihood for real counts, tokens x types: none above its cap.

        It is proportional to the counts but for those that would be above. They are cut, and the
        rest is filled up to a total of 1, which may lift others above.
        """
        cap = NEARLY / self.top
        phi: Floats = counts / counts.sum(axis=0)
        while (phi > cap).any():
            full = phi >= cap
            rest = np.where(full, 0, counts)
            phi = np.where(full, cap, rest / rest.sum(axis=0) * (1 - cap * full.sum(axis=0)))
        return phi

    def climb(
        self, rows: Rows, start: Mixture, steps: int, tolerance: float
    ) -> tuple[Floats, Floats, list[float]]:
        """Take steps until one gains less than the tolerance per user.

        Whether a token was real or noise is not seen either. The belief that it was real depends
        on token and type alone, so it is applied to the sums.

        Returns:
            The mixture, and what each step found: the mean log-likelihood of a user, and the
            logarithm of the smoothing's prior over the number of users.
        """
        weights, phi = start
        history: list[float] = []
        for _ in range(steps):
            chances = self.chances(phi)
            counts, load, likelihood = expect(rows, weights, chances)
            prior = float((self.pseudo[:, None] * np.log(phi)).sum())
            history.append((likelihood + prior) / len(rows))
            if len(history) > 1 and history[-1] - history[-2] < tolerance:
                break
            real = counts * ((1 - self.noise) * phi / chances)
            weights, phi = load / load.sum(), self.best(real + self.pseudo[:, None])
        return weights, phi, history

    def merge(self, mixture: Mixture, types: int) -> Mixture:
        """Join the two types whose union explains what is shown least worse, until few are left.

        What is lost in a slot is the entropy of what the union shows, over that of its parts.
        """
        shares = np.maximum(mixture[0], TINY)
        mass = np.ascontiguousarray((shares * mixture[1]).T)

        def entropy(share: Floats, mass: Floats) -> Floats:
            chances = self.chances(mass / share[..., None])
            return np.asarray(-share * (chances * np.log(chances)).sum(axis=-1))

        def losses(one: int) -> Floats:
            loss = entropy(shares[one] + shares, mass[one] + mass) - alone[one] - alone
            return np.where(gone | (np.arange(shares.size) == one), np.inf, loss)

        alone, gone = entropy(shares, mass), np.zeros(shares.size, bool)
        table = np.array([losses(one) for one in range(shares.size)])
        for _ in range(shares.size - types):
            one, other = (int(place) for place in np.unravel_index(table.argmin(), table.shape))
            shares[one] += shares[other]
            mass[one] += mass[other]
            gone[other] = True
            alone[one] = entropy(shares[one], mass[one])
            table[other] = table[:, other] = np.inf
            table[one] = table[:, one] = losses(one)
        left = ~gone
        return shares[left], np.ascontiguousarray((mass[left] / shares[left, None]).T)


def expect(rows: Rows, weights: Floats, chances: Floats) -> tuple[Floats, Floats, float]:
    """Expected sightings of each token by type, expected users of each type, log-likelihood.

    They are summed block by block, in order.
    """

    def work(start: int, stop: int) -> tuple[Floats, Floats, float]:
        counts, load = np.zeros_like(chances), np.zeros_like(weights)
        total = add_expectations(rows[start:stop], weights, chances, counts, load)
        return counts, load, total

    counts, load, totals = zip(*over_blocks(work, len(rows), BLOCK), strict=True)
    return np.add.reduce(counts), np.add.reduce(load), sum(totals)
