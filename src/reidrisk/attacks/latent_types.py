"""Types of users, learned from what one site was shown: a mixture fitted by EM.

A user has a type z, for good. In each slot a site is shown token o with chance
`noise/N + (1 - noise) phi[z, o]`, where `phi[z, o]` is the chance that o is in the user's top set,
over the size of the set. Slots are independent given the type.  Decision 0061 says why it is fitted
as it is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.kernels import add_expectations
from reidrisk.checks import probability, real_number, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.observations import MISSING
from reidrisk.parallel import over_blocks
from reidrisk.randomness import uniforms

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]

BLOCK = 1 << 13
"""Users per call of the kernel: it fixes the order of sums, so it may not depend on cores."""

SURPLUS = 3
"""Times as many types as wanted are begun with; the most alike are then merged."""

START_USERS, START_ITERATIONS = 50_000, 30
"""Users and steps of the first, rough fit of all these."""

NEARLY = 1 - 1e-6
"""The largest chance to be in a set. A sure token has no finite weight among those drawn."""

TINY = 1e-200
"""The least share of a type, so that one can divide by it."""

ROWS = 2
"""Dimensions of rows."""

LEAST_SIGHTINGS = 0.5
"""A token that was never seen counts as seen half a time, as in popularity."""


@dataclass(frozen=True, eq=False, slots=True)
class LatentTypes:
    """A mixture of types of users.

    Attributes:
        weights: Share of each type.
        inclusion: Chance that a token is in the top set of a user of a type, types x tokens;
            each row sums to the size of the set.
        history: What each step of the fit reached: mean log-likelihood of a user, in nats, and
            the smoothing's part in it. It never falls.
    """

    weights: Floats
    inclusion: Floats
    history: Floats


@dataclass(frozen=True, slots=True)
class _Model:
    """What is given: the alphabet, the release, and how far types may be from everyone."""

    tokens: int
    top: int
    noise: float
    pseudo: Floats  # tokens: slots added to those of each type

    def chances(self, phi: Floats) -> Floats:
        """Chance that a token is shown."""
        shown: Floats = self.noise / self.tokens + (1 - self.noise) * phi
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

    def objective(self, likelihood: float, phi: Floats) -> float:
        """What the fit raises, of all users."""
        return likelihood + float((self.pseudo[:, None] * np.log(phi)).sum())


def fit_types(
    rows: NDArray[np.integer],
    *,
    tokens: int,
    top: int,
    noise: float,
    types: int,
    seed: int = 0,
    users: int = 200_000,
    iterations: int = 500,
    tolerance: float = 1e-5,
    smoothing: float = 16.0,
) -> LatentTypes:
    """Fit a mixture of types to what one site was shown.

    Args:
        rows: Tokens, users x slots, `MISSING` where nothing was shown.
        tokens: Size of the alphabet.
        top: Size of a top set.
        noise: Chance that a random token is shown.
        types: How many.
        seed: Chooses the users to fit on and those to begin with.
        users: The most users to fit on.
        iterations: The most steps of the fit.
        tolerance: Stop when a step gains less than this many nats per user.
        smoothing: Slots added to those of each type, spread as everyone's are: a token that no
            user of a type was shown keeps a chance, and a type of few users stays near everyone.
    """
    rows = _sample(_checked(rows, tokens), whole_number("users", users, least=1), seed)
    types = whole_number("types", types, least=1)
    if types > len(rows):
        raise InvalidInput(
            f"{types} types cannot be told from {len(rows)} users with something shown; "
            "ask for fewer types or give more users"
        )
    model = _model(rows, tokens, top, noise, smoothing)
    tolerance = real_number("tolerance", tolerance, least=0)
    steps = whole_number("iterations", iterations, least=1)
    first = rows[:START_USERS]
    many = min(SURPLUS * types, len(first))
    begin = np.full(many, 1 / many), _begin(first, model, many)
    weights, phi, _ = _climb(first, model, begin, START_ITERATIONS, tolerance)
    merged = _merge(model, weights, phi, types)
    weights, phi, history = _climb(rows, model, merged, steps, tolerance)
    return LatentTypes(weights, np.ascontiguousarray(phi.T) * model.top, np.array(history))


def mean_log_likelihood(fit: LatentTypes, rows: NDArray[np.integer], *, noise: float) -> float:
    """Mean log-likelihood of users under a mixture, in nats: of others than it was fitted on."""
    top, tokens = fit.inclusion[0].sum(), fit.inclusion.shape[1]
    chances = noise / tokens + (1 - noise) / top * fit.inclusion.T
    rows = _checked(rows, tokens).astype(np.int32)
    return _expect(rows, fit.weights, np.ascontiguousarray(chances))[2] / len(rows)


def _checked(rows: NDArray[np.integer], tokens: int) -> NDArray[np.integer]:
    """Rows of users of whom anything was seen."""
    rows = np.asarray(rows)
    if rows.ndim != ROWS or not np.issubdtype(rows.dtype, np.integer):
        raise InvalidInput(
            "types are learned from one row of tokens per user and one column per slot; "
            f"got {rows.dtype} of shape {rows.shape}: take what one site was shown"
        )
    seen = (rows != MISSING).any(axis=1)
    rows = rows if seen.all() else rows[seen]
    if not rows.size:
        raise InvalidInput("nothing was shown of anyone, so there is nothing to learn types from")
    if rows.min() < MISSING or rows.max() >= tokens:
        raise InvalidInput(
            f"rows hold tokens from {rows.min()} to {rows.max()}; they are numbered from 0 to "
            f"{tokens - 1}, and -1 where nothing was shown"
        )
    return rows


def _sample(rows: NDArray[np.integer], users: int, seed: int) -> Rows:
    """Rows of some users in random order, so that the first few are a sample too."""
    draws = uniforms(seed=seed, purpose="types/users", users=np.arange(len(rows)), count=1)
    return rows[np.argsort(draws[:, 0], kind="stable")[:users]].astype(np.int32)


def _model(rows: Rows, tokens: int, top: int, noise: float, smoothing: float) -> _Model:
    tokens, top = whole_number("tokens", tokens, least=1), whole_number("top", top, least=1)
    if top >= tokens:
        raise InvalidInput(
            f"a top set of {top} of {tokens} tokens holds all of them, so it tells no types apart"
        )
    if probability("noise", noise) == 1:
        raise InvalidInput("with noise 1 what is shown says nothing about types; lower the noise")
    if not 0 < real_number("smoothing", smoothing) < np.inf:
        raise InvalidInput(f"smoothing is a number of slots above 0, got {smoothing}")
    counts = _count(rows, tokens)
    real = np.maximum(counts - noise / tokens * counts.sum(), LEAST_SIGHTINGS)
    everyone = _Model(tokens, top, noise, real).best(real[:, None])[:, 0]
    return _Model(tokens, top, noise, smoothing * everyone)


def _count(tokens: NDArray[np.integer], size: int) -> Floats:
    """Times each token occurs."""
    return np.bincount(tokens[tokens != MISSING], minlength=size).astype(np.float64)


def _begin(rows: Rows, model: _Model, types: int) -> Floats:
    """Types around one user each: half what that user was shown, half what everyone is."""
    counts = np.column_stack([_count(row, model.tokens) for row in rows[:types]])
    return model.best(counts + counts.sum(axis=0) * (model.pseudo / model.pseudo.sum())[:, None])


def _climb(
    rows: Rows, model: _Model, start: tuple[Floats, Floats], steps: int, tolerance: float
) -> tuple[Floats, Floats, list[float]]:
    """Expectation and maximisation, in turns.

    Whether a token was real or noise is not seen either. The belief that it was real depends on
    token and type alone, so it is applied to the sums.
    """
    weights, phi = start
    history: list[float] = []
    for _ in range(steps):
        chances = model.chances(phi)
        counts, load, likelihood = _expect(rows, weights, chances)
        history.append(model.objective(likelihood, phi) / len(rows))
        if len(history) > 1 and history[-1] - history[-2] < tolerance:
            break
        real = counts * ((1 - model.noise) * phi / chances)
        weights, phi = load / load.sum(), model.best(real + model.pseudo[:, None])
    return weights, phi, history


def _expect(rows: Rows, weights: Floats, chances: Floats) -> tuple[Floats, Floats, float]:
    """Expected times that users of each type were shown each token, users of each type, and the
    log-likelihood: summed block by block, in order.
    """

    def work(start: int, stop: int) -> tuple[Floats, Floats, float]:
        counts, load = np.zeros_like(chances), np.zeros_like(weights)
        total = add_expectations(rows[start:stop], weights, chances, counts, load)
        return counts, load, total

    parts = over_blocks(work, len(rows), BLOCK)
    counts, load = (np.add.reduce([part[place] for part in parts]) for place in (0, 1))
    return counts, load, sum(part[2] for part in parts)


def _merge(model: _Model, weights: Floats, phi: Floats, types: int) -> tuple[Floats, Floats]:
    """Join the two types whose union explains what is shown least worse, until few are left.

    What is lost in a slot is the entropy of what the union shows, over that of its parts.
    """
    shares = np.maximum(weights, TINY)
    mass = np.ascontiguousarray((shares * phi).T)

    def entropy(share: Floats, mass: Floats) -> Floats:
        chances = model.chances(mass / share[..., None])
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
        table[other], table[:, other] = np.inf, np.inf
        table[one] = table[:, one] = losses(one)
    left = ~gone
    return shares[left], np.ascontiguousarray((mass[left] / shares[left, None]).T)
