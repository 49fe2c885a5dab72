"""Score: likelihood under a hidden type that may change from slot to slot.

In each slot a user is of one of some classes. The class of the slot before is kept with a chance of
its own, else one is drawn anew. So what is seen in a slot says much about the slots beside it and
less about those far away, and a row is again scored as a whole.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput
from reidrisk.scores.protocol import (
    NATS,
    Floats,
    Gains,
    Unit,
    as_tokens,
    check_kind,
    choose,
    coins,
    frozen,
    log_chance,
)
from reidrisk.scores.token_weights import TokenWeights
from reidrisk.scores.type_mixture import (
    IMPOSSIBLE,
    TypeMixture,
    checked_chances,
    on_grid,
    sum_of,
)

_LIFT, _LIFT_BITS = 2.0**500, 500
_LOG_LIFT = _LIFT_BITS * math.log(2)
_SMALLEST = 2.0**-200  # smaller chances count as 0
_TOLERANCE = 1e-6

Array: TypeAlias = NDArray[Any]


class ChainChances(NamedTuple):
    """The tables of a chain as kernels read them: classes last, the gap behind the tokens.

    With z a class, a the token known and b the one shown, the chance of both in one slot is
    `same[a, z]` if they are equal, else `rest[a, z] * other[b, z]`. `steps` is how many slots can
    be multiplied before a product must be lifted.
    """

    weights: Floats
    keep: Floats
    move: Floats
    known: Floats
    same: Floats
    rest: Floats
    other: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class TypeChain:
    """The log-likelihood of an anonymous row given a known one, for users whose class may change.

    Args:
        weights: Chance of each class in the first slot, and whenever one is drawn anew.
        keep: Chance of each class to stay for the next slot.
        known: `known[class, symbol]`, the chance of what the known side shows; the last symbol is
            the gap.
        copy: `copy[class, symbol]`, the chance that the other side then shows the same.
        other: `other[class, symbol]`, what it shows if not: `other[b] / (1 - other[a])`, with a
            the symbol known and b another.

    With w the known row and o the anonymous one, the score is log Pr(o | w): the logarithm of the
    sum over all ways through the classes of the chance of both rows, less that of the known one. It
    is rounded once to whole multiples of 2**-40. A row of chance 0 scores `IMPOSSIBLE`; chances
    below 2**-200 count as 0.

    Example:
        >>> weights, keep = [0.5, 0.5], [0.9, 0.9]
        >>> known = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]
        >>> copy = np.full((2, 3), 0.5)
        >>> score = rr.scores.TypeChain(weights, keep, known, copy, known)
        >>> scores = score.of(np.array([[0, 0], [1, 1]]), np.array([0, 0]))
        >>> np.exp(scores / rr.scores.GRID).round(3).tolist()
        [0.25, 0.065]
    """

    unit: ClassVar[Unit] = NATS

    chances: ChainChances

    def __init__(
        self,
        weights: ArrayLike,
        keep: ArrayLike,
        known: ArrayLike,
        copy: ArrayLike,
        other: ArrayLike,
    ) -> None:
        given = {"weights": weights, "keep": keep, "known": known, "copy": copy, "other": other}
        tables = {name: np.array(checked_chances(name, table)) for name, table in given.items()}
        _check(tables)
        for name in ("weights", "known", "other"):
            tables[name][tables[name] < _SMALLEST] = 0.0
        shares, stays, single, copied, drawn = tables.values()
        left = 1 - drawn
        copied[left <= 0] = 1.0  # there is nothing else to show
        rest = np.divide((1 - copied) * single, left, out=np.zeros_like(left), where=left > 0)
        by_symbol = [np.ascontiguousarray(one.T) for one in (single, copied * single, rest, drawn)]
        # The smallest factor of one slot says how many slots fit into the range of doubles.
        least = min(_least(one) for one in (by_symbol[0], by_symbol[1], rest * _least(drawn)))
        least *= min(_least(stays), _least(1 - stays) * _least(shares))
        steps = max(int(_LIFT_BITS / max(-math.log2(least), 1)), 1)
        one, two, three, four = (frozen(one) for one in by_symbol)
        of_classes = frozen(shares), frozen(stays), frozen(1 - stays)
        chances = ChainChances(*of_classes, one, two, three, four, steps)
        object.__setattr__(self, "chances", chances)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return len(self.chances.known) - 1

    @property
    def gaps(self) -> bool:
        """A gap is always one of the outcomes."""
        return True

    @property
    def changes(self) -> bool:
        """Whether any class may be left; if none is, `for_good` is the same score."""
        return bool((self.chances.keep < 1).any())

    def check(self, observations: Observations) -> None:
        """Refuse sets, bags and another alphabet."""
        check_kind("TypeChain", observations, Kind.TOKENS)
        if self.tokens != observations.tokens:
            raise InvalidInput(
                f"the chain has {self.tokens} tokens, the observations have {observations.tokens}",
                code="alphabet-mismatch",
            )

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows = np.ascontiguousarray(known, np.int32)
        targets = np.ascontiguousarray(np.broadcast_to(shown, rows.shape), np.int32)
        scores = np.empty(len(rows), np.int64)
        _score_chain_pairs(self.chances, targets, rows, scores)
        return scores

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that anyone shows these rows: of a user of any class."""
        chances = self.chances
        anyone = chances.same + chances.other * (chances.rest.sum(axis=0) - chances.rest)
        tokens = np.ascontiguousarray(shown, np.int32)
        nats = np.empty(len(tokens))
        rate_chain_alone(chances, anyone, tokens, nats)
        return np.maximum(nats, IMPOSSIBLE)

    def normalised(self) -> "TypeChain":
        """Itself: it is the logarithm of a distribution."""
        return self

    def for_good(self) -> TypeMixture:
        """The mixture in which every user keeps the class of the first slot."""
        weights, _, _, known, same, rest, other, _ = self.chances
        joint = other[:, None] * rest[None]
        place = np.arange(len(known))
        joint[place, place] = same
        return TypeMixture(weights, known.T, joint.transpose(2, 0, 1), gaps=True)

    def by_token(self) -> TokenWeights:
        """Token weights of a slot on its own, over all classes: quick to search, for a shortlist.

        A match gains the logarithm of the chance that a token is shown beside itself, a mismatch
        that of the chance beside any other.
        """
        weights, _, _, known, same, rest, other, _ = self.chances
        single, both = known @ weights, same @ weights
        apart = (other * (rest.sum(axis=0) - rest)) @ weights
        apart[:-1] -= (other * rest[-1])[:-1] @ weights  # beside another token, no gap
        elsewhere = np.maximum(1 - single[-1] - single, 0.0)
        elsewhere[-1] = 1 - single[-1]
        beside_gap = (other * rest[-1]) @ weights
        match, mismatch, known_gap = (
            log_chance(np.divide(part, whole, out=np.zeros_like(single), where=whole > 0))
            for part, whole in ((both, single), (apart, elsewhere), (beside_gap, single[-1:]))
        )
        return TokenWeights(
            match[:-1],
            mismatch[:-1],
            known_gap=known_gap[:-1],
            shown_gap=mismatch[-1],
            both_gaps=match[-1],
        )

    def sample(self, known: Tokens, *, seed: int) -> NDArray[np.int64]:
        """What may be shown beside each of these known rows.

        First the classes of all slots, the last one first, given the known row; then each slot,
        given its class and the known token.
        """
        rows, slots = known.shape
        chance = coins(rows, 2 * slots, seed)
        beliefs = self._beliefs(known)
        weights, keep, move, _, same, rest, other, _ = self.chances
        shown = np.empty((rows, slots), np.int64)
        classes = choose(beliefs[slots - 1], chance[:, 2 * slots - 1])
        for slot in range(slots - 1, -1, -1):
            if slot < slots - 1:
                into = move * weights[classes, None]
                into[np.arange(rows), classes] += keep[classes]
                classes = choose(beliefs[slot] * into, chance[:, slots + slot])
            tokens = known[:, slot]
            outcomes = other[:, classes].T * rest[tokens, classes][:, None]
            outcomes[np.arange(rows), tokens] = same[tokens, classes]
            shown[:, slot] = choose(outcomes, chance[:, slot])
        return as_tokens(shown, self.tokens)

    def _beliefs(self, known: Tokens) -> Floats:
        """Chance of each class given what is known up to a slot: slots x rows x classes."""
        weights, keep, move = self.chances[:3]
        beliefs = np.empty((known.shape[1], len(known), len(weights)))
        before = np.broadcast_to(weights, beliefs.shape[1:])
        for slot, column in enumerate(known.T):
            if slot:
                moved = (before * move).sum(axis=1, keepdims=True)
                before = before * keep + moved * weights
            belief = before * self.chances.known[column]
            total = belief.sum(axis=1, keepdims=True)
            before = np.divide(belief, total, out=np.zeros_like(belief), where=total > 0)
            beliefs[slot] = before
        return beliefs


@kernel
def _score_chain_pairs(chances: ChainChances, shown: Array, known: Array, scores: Array) -> None:
    """Score each known row for the shown row beside it."""
    belief = np.empty(chances.weights.shape[0])
    for row in range(known.shape[0]):
        alone = _log_chain_alone(chances, chances.known, known[row], belief)
        both = log_chain(chances, shown[row], known[row], belief)
        scores[row] = on_grid(both, alone)


@kernel
def rate_chain_alone(chances: ChainChances, table: Array, rows: Array, nats: Array) -> None:
    """Logarithm of the chance of each row, by the chance of its symbols in a slot."""
    belief = np.empty(chances.weights.shape[0])
    for row in range(rows.shape[0]):
        nats[row] = _log_chain_alone(chances, table, rows[row], belief)


@kernel
def log_chain(chances: ChainChances, shown: Array, known: Array, belief: Array) -> float:
    """Logarithm of the chance of two rows; minus infinity if they are impossible."""
    weights, keep, move = chances.weights, chances.keep, chances.move
    same, rest, drawn = chances.same, chances.rest, chances.other
    lifts, until_lift = 0, chances.steps
    belief[:] = 0.0
    moved = 1.0  # before the first slot everybody draws a class
    for slot in range(known.shape[0]):
        one, other = known[slot], shown[slot]
        # Two loops without a branch inside, so that each becomes vector code.
        if one == other:
            for kind in range(belief.shape[0]):
                before = belief[kind] * keep[kind] + moved * weights[kind]
                belief[kind] = before * same[one, kind]
        else:
            for kind in range(belief.shape[0]):
                before = belief[kind] * keep[kind] + moved * weights[kind]
                belief[kind] = before * (rest[one, kind] * drawn[other, kind])
        until_lift -= 1
        if until_lift == 0:
            until_lift = chances.steps
            lifts += _lift_all(belief)
        # Whoever leaves a class draws from the same weights: one sum instead of K times K products.
        moved = _sum_of_products(belief, move)
    return _log_of_sum(belief, lifts)


@kernel
def _log_chain_alone(chances: ChainChances, table: Array, row: Array, belief: Array) -> float:
    """The same for one row, with the chance of each symbol in a slot."""
    weights, keep, move = chances.weights, chances.keep, chances.move
    lifts, until_lift = 0, chances.steps
    belief[:] = 0.0
    moved = 1.0  # before the first slot everybody draws a class
    for slot in range(row.shape[0]):
        one = row[slot]
        for kind in range(belief.shape[0]):
            belief[kind] = (belief[kind] * keep[kind] + moved * weights[kind]) * table[one, kind]
        until_lift -= 1
        if until_lift == 0:
            until_lift = chances.steps
            lifts += _lift_all(belief)
        moved = _sum_of_products(belief, move)
    return _log_of_sum(belief, lifts)


@kernel
def _sum_of_products(ones: Array, others: Array) -> float:
    """The sum of products, as eight partial sums for vector instructions, in a fixed order."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = ones.shape[0] - ones.shape[0] % 8
    for place in range(0, whole, 8):
        a += ones[place] * others[place]
        b += ones[place + 1] * others[place + 1]
        c += ones[place + 2] * others[place + 2]
        d += ones[place + 3] * others[place + 3]
        e += ones[place + 4] * others[place + 4]
        f += ones[place + 5] * others[place + 5]
        g += ones[place + 6] * others[place + 6]
        h += ones[place + 7] * others[place + 7]
    for place in range(whole, ones.shape[0]):
        a += ones[place] * others[place]
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


@kernel
def _lift_all(belief: Array) -> int:
    """Lift all chances while their sum is small; return how many times."""
    lifts = 0
    while 0 < sum_of(belief) < 1 / _LIFT:
        for kind in range(belief.shape[0]):
            belief[kind] *= _LIFT
        lifts += 1
    return lifts


@kernel
def _log_of_sum(belief: Array, lifts: int) -> float:
    """Logarithm of a sum of chances that were lifted."""
    total = sum_of(belief)
    return math.log(total) - lifts * _LOG_LIFT if total > 0 else -np.inf


def _least(table: Floats) -> float:
    """The smallest chance above 0; 1 if there is none."""
    return float(np.min(table, where=table > 0, initial=1.0))


def _check(tables: dict[str, Floats]) -> None:
    """Refuse tables that do not belong together, or are no chances."""
    shapes = {name: table.shape for name, table in tables.items()}
    classes, symbols = shapes["known"] if tables["known"].ndim == 2 else (0, 0)  # noqa: PLR2004
    expected = dict.fromkeys(shapes, (classes, symbols)) | dict.fromkeys(
        ("weights", "keep"), (classes,)
    )
    if classes < 1 or symbols < 2 or shapes != expected:  # noqa: PLR2004  a token and the gap
        raise InvalidInput(
            f"the tables have shapes {', '.join(f'{name} {shapes[name]}' for name in shapes)}; "
            "weights and keep need one number per class, the others classes x (tokens + 1)",
            code="wrong-shape",
        )
    for name, table in tables.items():
        if table.max() > 1 + _TOLERANCE:
            raise InvalidInput(
                f"{name} reaches {table.max():g}: a chance is at most 1", code="not-a-probability"
            )
    for name in ("weights", "known", "other"):
        off = np.abs(tables[name].sum(axis=-1) - 1).max()
        if off > _TOLERANCE:
            raise InvalidInput(
                f"{name} sums to something that is {off:.3g} off; weights sum to 1 over classes, "
                "known and other over symbols. Divide by the sums",
                code="not-normalised",
            )
