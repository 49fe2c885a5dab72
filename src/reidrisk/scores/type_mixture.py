"""Score: likelihood under a hidden type of each user.

Each user has one type, which never changes and nobody sees; given the type, slots are independent.
So seeing a user's row says something about the type, the type says something about every other
slot, and a row is scored as a whole, not slot by slot.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidrisk.core.observations import Observations, Tokens
from reidrisk.core.parallel import kernel
from reidrisk.core.rows import Kind, Rows
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.scores.protocol import (
    GRID,
    NATS,
    Floats,
    Gains,
    Unit,
    as_tokens,
    check_kind,
    choose,
    coins,
    frozen,
)

# The score, in nats, of a row that cannot be this person's; no score is below it.
IMPOSSIBLE = -(2**20)

_MOST_BYTES = 4 * 10**9
_TOLERANCE = 1e-6
_SMALLEST = 2.0**-400  # smaller chances count as 0
# Products below 2**-500 are multiplied by this factor, so that with a chance of at least 2**-400
# they stay above 2**-1000 and never underflow.
_LIFT, _LIFT_BITS = 2.0**500, 500
_LOG_LIFT = _LIFT_BITS * math.log(2)

Array: TypeAlias = NDArray[Any]


class Chances(NamedTuple):
    """The tables of a mixture as kernels read them: types last, gaps behind the tokens.

    `steps` is how many slots can be multiplied before a product must be lifted.
    """

    weights: Floats
    single: Floats
    joint: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class TypeMixture:
    """The log-likelihood of an anonymous row given a known one, for users of hidden types.

    Args:
        weights: Share of each type.
        single: `single[type, token]`, the chance that a site shows a token in one slot.
        joint: `joint[type, shown, known]`, the chance that two sites show these tokens in the same
            slot; its sum over shown is `single[type, known]`.
        gaps: Whether the last token of `single` and `joint` is the gap, with chances of its own.

    With w the known row and o the anonymous one, the score is log Pr(o | w): the logarithm of
    sum_z weights[z] prod_s joint[z, o_s, w_s], less that of sum_z weights[z] prod_s single[z, w_s].
    Without chances of gaps a slot that one side does not see is left to the other: `joint` is
    `single` of the token that is seen, and 1 if neither is. The score is rounded once to whole
    multiples of 2**-40. A row of chance 0 scores `IMPOSSIBLE`; chances below 2**-400 count as 0.

    Example:
        >>> single = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> joint = single[:, :, None] * single[:, None, :]
        >>> score = rr.TypeMixture([0.5, 0.5], single, joint)
        >>> scores = score.of(np.array([[0], [1]]), np.array([0]))
        >>> np.exp(scores / rr.scores.GRID).round(3).tolist()
        [0.773, 0.278]
    """

    unit: ClassVar[Unit] = NATS

    chances: Chances
    gaps: bool

    def __init__(
        self, weights: ArrayLike, single: ArrayLike, joint: ArrayLike, *, gaps: bool = False
    ) -> None:
        types, tokens = _shape(np.shape(weights), np.shape(single), np.shape(joint))
        if types * tokens**2 * 8 > _MOST_BYTES:
            raise TooLarge(
                f"joint of {types} types and {tokens} tokens takes "
                f"{types * tokens**2 * 8 / 1e9:.3g} GB, more than {_MOST_BYTES / 1e9:g}; use fewer "
                "types, or put rare tokens together",
                code="too-many-types",
            )
        # Copies with the types last, so that a kernel finds all types of a pair side by side.
        size = tokens if gaps else tokens + 1
        shares = np.array(checked_chances("weights", weights))
        with_gap, pairs_with_gap = np.ones((size, types)), np.ones((size, size, types))
        ones, pairs = with_gap[:tokens], pairs_with_gap[:tokens, :tokens]
        ones[:] = checked_chances("single", single).T
        pairs[:] = checked_chances("joint", joint).transpose(1, 2, 0)
        _check_sum("weights", shares.sum(), 1.0)
        _check_sum("single, over tokens,", ones.sum(axis=0), 1.0)
        _check_sum("joint, over shown tokens,", pairs.sum(axis=0), ones)
        for table in (shares, ones, pairs):
            table[table < _SMALLEST] = 0.0
        # Within the tolerance, a token that a type never shows may have a pair: it has none.
        pairs[:, ones == 0] = 0.0
        if not gaps:  # a gap says nothing of its own
            pairs_with_gap[:tokens, -1] = pairs_with_gap[-1, :tokens] = ones
        least = min(table[table > 0].min() for table in (ones, pairs))
        steps = max(int(_LIFT_BITS / max(-math.log2(least), 1)), 1)
        chances = Chances(frozen(shares), frozen(with_gap), frozen(pairs_with_gap), steps)
        object.__setattr__(self, "chances", chances)
        object.__setattr__(self, "gaps", gaps)

    @property
    def tokens(self) -> int:
        """Size of the alphabet."""
        return len(self.chances.single) - 1

    def check(self, observations: Observations) -> None:
        """Refuse sets, bags and another alphabet."""
        check_kind("TypeMixture", observations, Kind.TOKENS)
        if self.tokens != observations.tokens:
            raise InvalidInput(
                f"the mixture has {self.tokens} tokens, the observations have "
                f"{observations.tokens}",
                code="alphabet-mismatch",
            )

    def of(self, known: Tokens, shown: Tokens) -> Gains:
        """Scores of known rows for the anonymous row beside each, or for one row."""
        rows = np.require(known, np.int32, ["C", "W"])
        targets = np.require(np.broadcast_to(shown, rows.shape), np.int32, ["C", "W"])
        alone, scores = np.empty(len(rows)), np.empty(len(rows), np.int64)
        rate_alone(self.chances, rows, alone)
        places = np.arange(len(rows))
        score_pairs(self.chances, targets, rows, alone, places, places, scores)
        return scores

    def types_of(self, rows: Tokens) -> Floats:
        """Chance of each type given a row, rows x types; zeros if the row is impossible."""
        tokens = np.require(rows, np.int32, ["C", "W"])
        types = np.empty((len(tokens), len(self.chances.weights)))
        infer_types(self.chances, tokens, types)
        return types

    def of_anyone(self, known: Rows, shown: Tokens) -> Floats:
        """Logarithm of the chance that anyone shows these rows: of a user of any type."""
        tokens = np.require(shown, np.int32, ["C", "W"])
        nats = np.empty(len(tokens))
        rate_alone(self.chances, tokens, nats)
        return np.maximum(nats, IMPOSSIBLE)

    def normalised(self) -> "TypeMixture":
        """Itself: it is the logarithm of a distribution."""
        return self

    def sample(self, known: Tokens, *, seed: int) -> NDArray[np.int64]:
        """What may be shown beside each of these known rows.

        First a type, given the known row; then each slot, given the type and the known token.
        """
        rows, slots = known.shape
        chance = coins(rows, slots + 1, seed)
        types = choose(self.types_of(known), chance[:, slots])
        outcomes = self.tokens + self.gaps
        shown = np.empty((rows, slots), np.int64)
        for slot in range(slots):
            chances = self.chances.joint[:outcomes, known[:, slot], types].T
            shown[:, slot] = choose(chances, chance[:, slot])
        return as_tokens(shown, self.tokens)


@kernel
def score_pairs(
    chances: Chances,
    shown: Array,
    known: Array,
    alone: Array,
    targets: Array,
    rows: Array,
    scores: Array,
) -> None:
    """Score pairs of a target, a place in `shown`, and a row, a place in `known`.

    `alone` is what `rate_alone` gives for the known rows, as far as they are in a pair.
    """
    types = chances.weights.shape[0]
    product, lifts = np.empty(types), np.empty(types, np.int64)
    for pair in range(scores.shape[0]):
        row = rows[pair]
        both = _log_chance(chances, shown[targets[pair]], known[row], product, lifts)
        scores[pair] = on_grid(both, alone[row])


@kernel
def on_grid(both: float, alone: float) -> Any:
    """The score, from the logarithms of the chance of both rows and of the known one."""
    if both == -np.inf or alone == -np.inf:
        return np.int64(IMPOSSIBLE) * GRID
    return np.int64(np.rint(max(both - alone, float(IMPOSSIBLE)) * GRID))


@kernel
def _log_chance(
    chances: Chances, shown: Array, known: Array, product: Array, lifts: Array
) -> float:
    """Logarithm of the chance of two rows; minus infinity if they are impossible."""
    _multiply_slots(chances, shown, known, product, lifts)
    return _log_total(chances, known.shape[0], product, lifts)


@kernel
def _log_chance_alone(chances: Chances, known: Array, product: Array, lifts: Array) -> float:
    """Logarithm of the chance of a known row; minus infinity if it is impossible."""
    _multiply_alone(chances, known, product, lifts)
    return _log_total(chances, known.shape[0], product, lifts)


@kernel
def _log_total(chances: Chances, slots: int, product: Array, lifts: Array) -> float:
    """Logarithm of the sum of products that were lifted."""
    if slots <= chances.steps:  # nothing was lifted
        total = sum_of(product)
        return math.log(total) if total > 0 else -np.inf
    # Types may have been lifted a different number of times; a sum needs one scale.
    fewest = _level_lifts(product, lifts)
    total = sum_of(product)
    return math.log(total) - fewest * _LOG_LIFT if total > 0 else -np.inf


@kernel
def _multiply_slots(
    chances: Chances, shown: Array, known: Array, product: Array, lifts: Array
) -> None:
    """For each type, its share times the chances of all slots, and how often it was lifted."""
    _begin(chances, product, lifts)
    until_lift = chances.steps
    for slot in range(known.shape[0]):
        pair = chances.joint[shown[slot], known[slot]]
        for kind in range(product.shape[0]):
            product[kind] *= pair[kind]
        until_lift -= 1
        if until_lift == 0:
            until_lift = chances.steps
            _lift(product, lifts)


@kernel
def _multiply_alone(chances: Chances, known: Array, product: Array, lifts: Array) -> None:
    """The same for a known row, whatever is shown beside it."""
    _begin(chances, product, lifts)
    until_lift = chances.steps
    for slot in range(known.shape[0]):
        one = chances.single[known[slot]]
        for kind in range(product.shape[0]):
            product[kind] *= one[kind]
        until_lift -= 1
        if until_lift == 0:
            until_lift = chances.steps
            _lift(product, lifts)


@kernel
def _begin(chances: Chances, product: Array, lifts: Array) -> None:
    """For each type, its share, not lifted."""
    # A loop, since assigning whole arrays takes seconds to compile.
    for kind in range(product.shape[0]):
        product[kind] = chances.weights[kind]
        lifts[kind] = 0


@kernel
def _lift(product: Array, lifts: Array) -> None:
    """Lift products that are small."""
    for kind in range(product.shape[0]):
        if 0 < product[kind] < 1 / _LIFT:
            product[kind] *= _LIFT
            lifts[kind] += 1


@kernel
def sum_of(product: Array) -> float:
    """The sum, as four partial sums: the processor adds them in parallel, in a fixed order."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    whole = product.shape[0] - product.shape[0] % 4
    for kind in range(0, whole, 4):
        one += product[kind]
        two += product[kind + 1]
        three += product[kind + 2]
        four += product[kind + 3]
    for kind in range(whole, product.shape[0]):
        one += product[kind]
    return (one + two) + (three + four)


@kernel
def _level_lifts(product: Array, lifts: Array) -> Any:
    """Bring all products to the fewest lifts that any has; return that number."""
    fewest = np.int64(2**62)
    for kind in range(product.shape[0]):
        if product[kind] > 0:
            fewest = min(fewest, lifts[kind])
    for kind in range(product.shape[0]):
        extra = lifts[kind] - fewest
        if extra > 0:
            product[kind] = product[kind] / _LIFT / _LIFT if extra > 1 else product[kind] / _LIFT
            if extra > 2:  # noqa: PLR2004  far below what a sum can hold
                product[kind] = 0.0
    return fewest


@kernel
def rate_alone(chances: Chances, rows: Array, nats: Array) -> None:
    """Logarithm of the chance of each row, whatever is shown beside it."""
    types = chances.weights.shape[0]
    product, lifts = np.empty(types), np.empty(types, np.int64)
    for row in range(rows.shape[0]):
        nats[row] = _log_chance_alone(chances, rows[row], product, lifts)


@kernel
def infer_types(chances: Chances, rows: Array, types: Array) -> None:
    """The chance of each type given each row."""
    lifts = np.empty(types.shape[1], np.int64)
    for row in range(rows.shape[0]):
        _multiply_alone(chances, rows[row], types[row], lifts)
        _level_lifts(types[row], lifts)
        total = sum_of(types[row])
        for kind in range(types.shape[1]):
            types[row, kind] = types[row, kind] / total if total > 0 else 0.0


def _shape(
    weights: tuple[int, ...], single: tuple[int, ...], joint: tuple[int, ...]
) -> tuple[int, int]:
    """Number of types and tokens."""
    types, tokens = single if len(single) == 2 else (0, 0)  # noqa: PLR2004  types x tokens
    if types * tokens == 0 or weights != (types,) or joint != (types, tokens, tokens):
        raise InvalidInput(
            f"weights has shape {weights}, single {single}, joint {joint}; they need types, "
            "types x tokens and types x tokens x tokens",
            code="wrong-shape",
        )
    return types, tokens


def checked_chances(name: str, values: ArrayLike) -> Floats:
    """A table, if all its entries may be chances."""
    table = np.asarray(values, dtype=np.float64)
    wrong = ~(table >= 0)
    if wrong.any() or np.isinf(table).any():
        place = tuple(int(index) for index in np.argwhere(wrong | np.isinf(table))[0])
        raise InvalidInput(
            f"{name}{list(place)} is {table[place]}: a chance is between 0 and 1",
            code="not-a-probability",
        )
    return table


def _check_sum(name: str, sums: Floats, expected: Floats | float) -> None:
    off = np.abs(sums - expected)
    if off.max() > _TOLERANCE:
        raise InvalidInput(
            f"{name} sums to something that is {off.max():.3g} off; weights and single sum to 1, "
            "and joint over its shown tokens to single of the known one. Divide by the sums",
            code="not-normalised",
        )
