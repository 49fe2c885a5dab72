"""Types of users, learned from what one site was shown: a mixture fitted by EM.

A user has a type z, for good. In each slot a site is shown token o with chance
`noise/N + (1 - noise) phi[z, o]`, where `phi[z, o]` is the chance that o is in the user's top set,
over the size of the set. Slots are independent given the type. Decision 26 says why it is fitted
as it is.

In the E and M steps a mixture is a pair: the share of each type, and phi, tokens x types.
"""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import probability, real_number, whole_number
from reidrisk.core.mapreduce import Blocks, over_rows
from reidrisk.core.observations import MISSING
from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import Rows, TokenRows
from reidrisk.errors import InvalidInput
from reidrisk.learning.splits import MULTIPLIER, contents_of, times_before
from reidrisk.people.bottom_k import BottomK, Kept

Floats = NDArray[np.float64]
Sample = NDArray[np.int32]
_Mixture: TypeAlias = tuple[Floats, Floats]

_BLOCK = 1 << 13
"""Users per call of the kernel: it fixes the order of sums, so it must not depend on cores."""

NEARLY = 1 - 1e-4
"""The largest chance to be in a set. A token of chance 1 would need an infinite weight."""

_TINY = 1e-200
"""The least share of a type, so that one can divide by it."""

_SURPLUS = 3
"""The fit begins with this many times the wanted types; the most similar are then merged."""

_START_USERS, _START_ITERATIONS = 50_000, 30
"""Users and steps of the first, rough fit with all these types."""

_LEAST_SIGHTINGS = 0.5
"""A token that was never seen counts as seen half a time, as when popularity is counted."""

MOST_USERS = 1 << 20
"""Users whose draws are held in memory while a sample is chosen."""

_NOBODY = np.empty(0), np.empty(0, np.int64), np.empty(0, np.uint64)

_HELD_OUT = 0.2
"""Share of users on whom numbers of types are compared."""


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
        # Each round fills at least one more entry up to the cap, so there are at most `tokens`.
        while (phi > cap).any():
            full = phi >= cap
            rest = np.where(full, 0, counts)
            phi = np.where(full, cap, rest / rest.sum(axis=0) * (1 - cap * full.sum(axis=0)))
        return phi

    def climb(
        self, rows: Sample, start: _Mixture, steps: int, tolerance: float
    ) -> tuple[Floats, Floats, list[float]]:
        """Take steps until one gains less than the tolerance per user.

        Whether a token was real or noise is not seen either. The belief that it was real depends
        on token and type alone, so it is applied to the sums.

        Args:
            rows: Users x slots.
            start: The mixture to begin with.
            steps: At most so many.
            tolerance: Nats per user that a step must gain.

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
            # EM never lowers the likelihood times the prior of the smoothing.
            history.append((likelihood + prior) / len(rows))
            if len(history) > 1 and history[-1] - history[-2] < tolerance:
                break
            # The share of sightings that were real, not noise.
            real = counts * ((1 - self.noise) * phi / chances)
            weights, phi = load / load.sum(), self.best(real + self.pseudo[:, None])
        return weights, phi, history

    def merge(self, mixture: _Mixture, types: int) -> _Mixture:
        """Merge the two types whose union loses least likelihood, until so many types are left.

        The loss in a slot is the entropy of what the union shows, less that of its parts.

        Args:
            mixture: With too many types.
            types: How many are to be left.
        """
        shares = np.maximum(mixture[0], _TINY)
        mass = np.ascontiguousarray((shares * mixture[1]).T)

        def entropy(share: Floats, mass: Floats) -> Floats:
            chances = self.chances(mass / share[..., None])
            return np.asarray(-share * (chances * np.log(chances)).sum(axis=-1))

        def losses(one: int) -> Floats:
            loss = entropy(shares[one] + shares, mass[one] + mass) - alone[one] - alone
            return np.where(gone | (np.arange(shares.size) == one), np.inf, loss)

        alone, gone = entropy(shares, mass), np.zeros(shares.size, bool)
        # All losses are computed once; a merge then changes one row and one column only.
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


def expect(rows: Sample, weights: Floats, chances: Floats) -> tuple[Floats, Floats, float]:
    """Expected sightings of each token by type, expected users of each type, log-likelihood.

    They are summed block by block, in order.

    Args:
        rows: Users x slots.
        weights: Share of each type.
        chances: Tokens x types, that a token is shown.
    """

    def work(start: int, stop: int) -> tuple[Floats, Floats, float]:
        counts, load = np.zeros_like(chances), np.zeros_like(weights)
        total = _add_expectations(rows[start:stop], weights, chances, counts, load)
        return counts, load, total

    counts, load, totals = zip(*over_blocks(work, len(rows), _BLOCK), strict=True)
    return np.add.reduce(counts), np.add.reduce(load), sum(totals)


@dataclass(frozen=True, eq=False, slots=True)
class LatentTypes:
    """A mixture of types of users.

    Attributes:
        weights: Share of each type.
        inclusion: Chance that a token is in the top set of a user of a type, types x tokens;
            each row sums to the size of the set.
        history: What each step of the fit reached: mean log-likelihood of a user, in nats, and
            the smoothing's part in it. It never falls.

    Example:
        >>> rows = np.repeat([[0, 0], [1, 1]], 50, axis=0)
        >>> found = rr.attacks.fit_types(rows, tokens=2, top=1, noise=0.1, types=2, smoothing=1)
        >>> found.weights.round(2).tolist(), found.inclusion.shape
        ([0.5, 0.5], (2, 2))
    """

    weights: Floats
    inclusion: Floats
    history: Floats


def fit_types(
    rows: NDArray[np.integer] | Rows,
    *,
    tokens: int,
    top: int,
    noise: float,
    types: int,
    seed: int = 0,
    users: int = 200_000,
    iterations: int = 500,
    tolerance: float = 1e-5,
    smoothing: float = 64.0,
) -> LatentTypes:
    """Fit a mixture of types to what one site was shown.

    Args:
        rows: Tokens, users x slots, `MISSING` where nothing was shown; an array or a handle.
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

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.attacks.fit_types(seen.known, tokens=40, top=5, noise=0.05, types=4)
        >>> found.weights.shape, found.inclusion.sum(axis=1).round(6).tolist()
        ((4,), [5.0, 5.0, 5.0, 5.0])
    """
    some = sample_of_rows(rows, tokens, whole_number("users", users, least=1), seed)
    types = whole_number("types", types, least=1)
    if types > len(some):
        raise InvalidInput(
            f"{types} types cannot be told from {len(some)} users with something shown; "
            "ask for fewer types or give more users",
            code="too-few-users",
        )
    model = _model(some, tokens, top, noise, smoothing)
    tolerance = real_number("tolerance", tolerance, least=0)
    steps = whole_number("iterations", iterations, least=1)
    # EM finds a local optimum, which depends on where it begins: decision 26.
    first = some[:_START_USERS]
    many = min(_SURPLUS * types, len(first))
    weights, phi, _ = model.climb(first, _begin(first, model, many), _START_ITERATIONS, tolerance)
    merged = model.merge((weights, phi), types)
    weights, phi, history = model.climb(some, merged, steps, tolerance)
    return LatentTypes(weights, np.ascontiguousarray(phi.T) * model.top, np.array(history))


def choose_types(
    rows: NDArray[np.integer] | Rows,
    candidates: tuple[int, ...],
    *,
    tokens: int,
    top: int,
    noise: float,
    seed: int = 0,
    users: int = 200_000,
) -> int:
    """The number of types that best predicts users on whom they were not fitted.

    Of equally good candidates the first wins; more types than users are no candidate. Everything
    else is as for `fit_types`.

    Args:
        rows: An array or a handle.
        candidates: Numbers of types.
        tokens: Size of the alphabet.
        top: Size of a top set.
        noise: Chance that a random token is shown.
        seed: Of chance.
        users: The most users to fit on.
    """
    some = sample_of_rows(rows, tokens, whole_number("users", users, least=2), seed)
    # The sample is in random order, so its first rows are as good as any others.
    held = max(1, int(_HELD_OUT * len(some)))

    def reached(types: int) -> float:
        fit = fit_types(
            some[held:], tokens=tokens, top=top, noise=noise, types=types, seed=seed, users=users
        )
        return mean_log_likelihood(fit, some[:held], noise=noise)

    possible = [types for types in candidates if types <= len(some) - held]
    return max(possible or [min(candidates)], key=reached)


def mean_log_likelihood(fit: LatentTypes, rows: NDArray[np.integer], *, noise: float) -> float:
    """Mean log-likelihood of users under a mixture, in nats: of others than it was fitted on.

    Args:
        fit: The mixture.
        rows: Users x slots.
        noise: Chance that a random token is shown.
    """
    top, tokens = fit.inclusion[0].sum(), fit.inclusion.shape[1]
    chances = noise / tokens + (1 - noise) / top * fit.inclusion.T
    seen = rows[(rows != MISSING).any(axis=1)].astype(np.int32)
    return expect(seen, fit.weights, np.ascontiguousarray(chances))[2] / len(seen)


def sample_of_rows(rows: NDArray[np.integer] | Rows, tokens: int, users: int, seed: int) -> Sample:
    """Rows of some users of whom anything was seen, in random order: the first few are a sample.

    Chance goes by what a row holds and how many of the same came before it, so the order of users
    does not matter: rows that are alike cannot be told apart by anything else. That takes a number
    of each user; of more than `MOST_USERS`, so many are chosen first, by their rows.

    Args:
        rows: An array or a handle.
        tokens: Size of the alphabet.
        users: How many rows to take at most.
        seed: Of chance.
    """
    handle = TokenRows(rows, tokens=tokens, name="rows") if isinstance(rows, np.ndarray) else rows
    _, chosen, content = over_rows(handle, partial(_some_of, seed=seed), _some_of_both)
    if not chosen.size:
        raise InvalidInput(
            "nothing was shown of anyone, so there is nothing to learn types from",
            code="nothing-shown",
        )
    # Equal rows get different names, and so draws of their own.
    names = content + times_before(content) * MULTIPLIER
    draws = uniforms(seed=seed, purpose="types/users", users=names, count=1)[:, 0]
    # Equal draws go by what rows hold, so that the order of users never matters.
    return handle.take(chosen[np.lexsort((content, draws))[:users]]).astype(np.int32)


def _some_of(blocks: Blocks, *, seed: int) -> Kept:
    """Some of the rows of whom anything was seen: draws, rows, and what they hold."""
    kept = BottomK(MOST_USERS).add(*_NOBODY)
    for start, rows in blocks:
        seen = np.flatnonzero((rows != MISSING).any(axis=1))
        draws = uniforms(seed=seed, purpose="types/rows", users=start + seen, count=1)[:, 0]
        kept.add(draws, start + seen, contents_of(rows)[seen])
    return kept.kept


def _some_of_both(some: Kept, others: Kept) -> Kept:
    return BottomK(MOST_USERS).add(*some).add(*others).kept


def _model(rows: Sample, tokens: int, top: int, noise: float, smoothing: float) -> TypeModel:
    tokens, top = whole_number("tokens", tokens, least=1), whole_number("top", top, least=1)
    if top >= tokens:
        raise InvalidInput(
            f"a top set of {top} of {tokens} tokens holds all of them, so it tells no types apart",
            code="nothing-to-learn",
        )
    if probability("noise", noise) == 1:
        raise InvalidInput(
            "with noise 1 what is shown says nothing about types; lower the noise",
            code="nothing-to-learn",
        )
    if not 0 < real_number("smoothing", smoothing) < np.inf:
        raise InvalidInput(
            f"smoothing is a number of slots above 0, got {smoothing}", code="out-of-range"
        )
    counts = _count(rows, tokens)
    # Sightings less those that noise gives on average, of which every token gets the same.
    real = np.maximum(counts - noise / tokens * counts.sum(), _LEAST_SIGHTINGS)
    everyone = TypeModel(top, noise, real).best(real[:, None])[:, 0]
    return TypeModel(top, noise, smoothing * everyone)


def _count(tokens: NDArray[np.integer], size: int) -> Floats:
    """Times each token occurs."""
    return np.bincount(tokens[tokens != MISSING], minlength=size).astype(np.float64)


def _begin(rows: Sample, model: TypeModel, types: int) -> _Mixture:
    """Types around one user each: half what that user was shown, half what everyone is."""
    everyone = model.pseudo / model.pseudo.sum()
    counts = np.column_stack([_count(row, everyone.size) for row in rows[:types]])
    phi = model.best(counts + counts.sum(axis=0) * everyone[:, None])
    return np.full(types, 1 / types), phi


@kernel
def _add_expectations(
    rows: NDArray[np.int32], weights: Floats, chances: Floats, counts: Floats, load: Floats
) -> float:
    """Add up what rows say about the type of their users, and return their log-likelihood.

    Beliefs are scaled after every slot, so that rows may be of any length.

    Args:
        rows: Users x slots, negative where nothing was seen.
        weights: Share of each type.
        chances: Tokens x types, that a token is shown; not all 0 for a token that was.
        counts: Tokens x types; the belief in each type is added for each token shown.
        load: The belief in each type is added once for each user.
    """
    types = weights.size
    belief = np.empty(types)
    total = 0.0
    for user in range(rows.shape[0]):
        for one in range(types):
            belief[one] = weights[one]
        for slot in range(rows.shape[1]):
            token = rows[user, slot]
            if token < 0:
                continue
            mass = 0.0
            for one in range(types):
                belief[one] *= chances[token, one]
                mass += belief[one]
            # Beliefs sum to 1 before each slot, so the masses multiply to the chance of the row.
            total += np.log(mass)
            for one in range(types):
                belief[one] /= mass
        load += belief
        for slot in range(rows.shape[1]):
            token = rows[user, slot]
            if token >= 0:
                for one in range(types):
                    counts[token, one] += belief[one]
    return total
