"""Attack: the paper's full theorem, a gain for each pair of tokens.

Paper: section 7, theorem 1.

A site that showed w tells which tokens may be in the set. Site 2 then shows o with chance
`q_out + (q_in - q_out) Pr(o in S | W = w)`, whose logarithm is the gain. The paper's text
conditions on w being in the set; it may have been noise, which the corrected table takes into
account:

    Pr(o in S | W = w) = (pi q_in + (p[o] - pi) q_out) / (q_in p[w] + q_out (1 - p[w])),

with p[o] the chance that o is in the set and pi that both are. On the diagonal, where pi is p[o],
the paper does the same.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from reidrisk import scores
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.gap_chances import gap_chances
from reidrisk.attacks.protocol import ONE_ROW, View, release_of
from reidrisk.core.observations import MISSING, Observations, Tokens
from reidrisk.core.rows import Kind
from reidrisk.errors import InvalidInput, TooLarge
from reidrisk.releases import popularity
from reidrisk.releases.protocol import OneOfTop, Release, ShowsOneOfTop
from reidrisk.scores.protocol import log_chance

Floats = NDArray[np.float64]

_HALVINGS = 60
"""Bisections of the interval of a weight: more than a double has digits."""


@dataclass(frozen=True, eq=False, slots=True)
class PairChances:
    """Chances of tokens in a top set, and of what a site shows given what another showed.

    Args:
        shows: How tokens of a top set are shown.
        popularity: p, the chance that a token is in the set.
        pairs: pi, that two tokens are, tokens x tokens.
    """

    shows: OneOfTop
    popularity: Floats
    pairs: Floats

    @classmethod
    def one_parameter(cls, shows: OneOfTop, popularity: Floats) -> Self:
        """One parameter: `pi(o, w) = a(o) p[w]`, `a = (k-1) p / (k - p)`.  Paper: appendix B."""
        top = shows.top
        # Two different tokens cannot both be in a top of one.
        also = 0 * popularity if top == 1 else (top - 1) * popularity / (top - popularity)
        pairs = np.outer(also, popularity)
        # A token is in the set together with itself whenever it is there at all: pi(o, o) = p[o].
        np.fill_diagonal(pairs, popularity)
        return cls(shows, popularity, pairs)

    @classmethod
    def of_shown(cls, shows: OneOfTop, joint: Floats) -> Self:
        """From the chance that two sites show two tokens; may leave [0, 1] where it is estimated.

        It gives back that joint: `corrected` is its conditional.
        """
        out, rise = shows.q_out, shows.q_in - shows.q_out
        # The inverse of `alone` and `shown`; `fit` has refused q_in <= q_out, so rise is above 0.
        popularity = (joint.sum(axis=0) - out) / rise
        either = popularity[:, None] + popularity
        return cls(shows, popularity, (joint - out**2 - out * rise * either) / rise**2)

    @property
    def alone(self) -> Floats:
        """Chance that a site shows a token."""
        rise = self.shows.q_in - self.shows.q_out
        chances: Floats = self.shows.q_out + rise * self.popularity
        return chances

    def shown(self) -> Floats:
        """Chance that two sites show two tokens."""
        out, rise = self.shows.q_out, self.shows.q_in - self.shows.q_out
        either = self.popularity[:, None] + self.popularity
        joint: Floats = out**2 + out * rise * either + rise**2 * self.pairs
        return joint

    def corrected(self) -> Floats:
        """Chance that a site shows o if another showed w, at [o, w]."""
        alone = self.alone
        chances = np.repeat(alone[:, None], alone.size, axis=1)  # where w is never shown
        return np.divide(self.shown(), alone, where=alone > 0, out=chances)

    def uncorrected(self) -> Floats:
        """The same as if w were known to be in the set, unless o is w.  Paper: theorem 1."""
        out, rise = self.shows.q_out, self.shows.q_in - self.shows.q_out
        # Estimates may leave [0, 1]. They are cut here; `_proper` mends `corrected` ones.
        p = np.clip(self.popularity, 0, 1)
        pairs = np.clip(self.pairs, 0, np.minimum(p[:, None], p))
        given = np.divide(pairs, p, where=p > 0, out=np.repeat(p[:, None], p.size, axis=1))
        alone = out + rise * p
        match = np.divide(self.shows.q_in * p, alone, where=alone > 0, out=np.zeros_like(p))
        # On the diagonal the paper, too, allows for w being noise.
        np.fill_diagonal(given, match)
        chances: Floats = out + rise * given
        return chances


def from_shown(
    shows: OneOfTop, popularity: Floats, users: NDArray[np.int64], rows: tuple[Tokens, Tokens]
) -> PairChances:
    """Chances counted from pairs of tokens that two sites showed of the same user.

    Sites are exchangeable, so (o, w) and (w, o) are counted together.

    Args:
        shows: How tokens of a top set are shown.
        popularity: For the one-parameter assumption, which fills in for pairs that were not seen.
        users: Users of the rows.
        rows: Rows of either site.
    """
    seen = (rows[0] != MISSING) & (rows[1] != MISSING)
    found = _cells(rows[0][seen], rows[1][seen], shows.topics)
    assumed = _folded(PairChances.one_parameter(shows, popularity).shown())
    cells = _blend(found, np.broadcast_to(users[:, None], seen.shape)[seen], assumed)
    # A folded cell holds both orders of a pair: each gets half.
    return PairChances.of_shown(shows, (cells + cells.T) / 2)


def from_sets(shows: OneOfTop, sets: Tokens) -> PairChances:
    """Chances counted in top sets, users x slots x k.

    A token that is in no set counts as being in half a set, as in `popularity`.
    """
    # Sets that are there: a user who was away in a slot has none.
    slots = np.count_nonzero((sets != MISSING).any(axis=2))
    counts = np.bincount(sets[sets != MISSING], minlength=shows.topics)
    assumed = PairChances.one_parameter(shows, np.maximum(counts, 0.5) / slots)
    # A set of one token holds no pair that could be counted.
    if shows.top == 1:
        return assumed
    one, other = (sets[:, :, place] for place in np.triu_indices(sets.shape[2], 1))
    seen = (one != MISSING) & (other != MISSING)
    found = _cells(one[seen], other[seen], shows.topics)
    users = np.broadcast_to(np.arange(len(sets))[:, None, None], seen.shape)[seen]
    base = _folded(assumed.pairs)
    # A set holds no token twice, so pairs of equal tokens were never counted.
    np.fill_diagonal(base, 0)
    # Shares of all pairs, times the pairs of a set: chances that a set holds the pair.
    cells = _blend(found, users, base) * (found.size / slots)
    pairs = cells + cells.T
    np.fill_diagonal(pairs, assumed.popularity)
    return PairChances(shows, assumed.popularity, pairs)


def _proper(chances: Floats, shows: OneOfTop) -> Floats:
    """Make estimated chances proper: none below the noise, and a sum of 1 along the first axis.

    The parts above the noise keep their proportions.
    """
    excess = np.maximum(chances - shows.q_out, 0)
    # Chances sum to 1 and noise is q_out for every token: this is what the top set adds.
    real = shows.top * (shows.q_in - shows.q_out)
    sound: Floats = shows.q_out + excess * (real / excess.sum(axis=0))
    return sound


def _cells(one: NDArray[np.integer], other: NDArray[np.integer], tokens: int) -> NDArray[np.int64]:
    """Places of pairs in a folded table: the lower token's row, the higher one's column."""
    # 64 bits before the product: tokens come in the smallest type that holds them.
    low, high = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
    return np.asarray(low * tokens + high, np.int64)


def _folded(table: Floats) -> Floats:
    """A table with both orders of a pair added up above the diagonal."""
    folded: Floats = np.triu(table + table.T, 1)
    np.fill_diagonal(folded, np.diagonal(table))
    return folded


def _blend(found: NDArray[np.int64], users: NDArray[np.int64], base: Floats) -> Floats:
    """Shares of cells, as counted and as assumed, mixed in the proportion that predicts best.

    The best proportion maximises the likelihood of users who are each predicted from all others.
    Leaving out a user means subtracting its counts, and the logarithm is concave in the weight of
    the assumption, so its slope has one root. The assumption weighs at least one observation.

    Args:
        found: Cells of a folded table, one for each observation.
        users: User of each observation.
        base: The assumption, a folded table; scaled to sum to 1.
    """
    base = base / base.sum()
    # Of everybody; those without a user follow by subtraction.
    counts = np.bincount(found, minlength=base.size)
    codes, own = np.unique(users * base.size + found, return_counts=True)
    user, cell = np.divmod(codes, base.size)
    # Most entries are equal: the same cell, as often, of a user with as many observations.
    kinds, times = _distinct(cell, own, np.bincount(users)[user])
    cell, own, of_user = kinds
    # Without the user's own observations: nobody helps to predict themselves.
    left = (counts[cell] - own) / np.maximum(found.size - of_user, 1)
    gap, weight = base.ravel()[cell] - left, own * times
    low, high = 1 / (found.size + 1), 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        slope = (weight * gap / (left + middle * gap)).sum()
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (1 - low) * counts.reshape(base.shape) / found.size + low * base


def _distinct(*columns: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Rows that differ, and how often each occurs."""
    shape = tuple(int(column.max()) + 1 for column in columns)
    codes, times = np.unique(np.ravel_multi_index(columns, shape), return_counts=True)
    return list(np.unravel_index(codes, shape)), times


_MOST_ENTRIES = 250_000_000
"""Most entries of all tables, 2 GB."""

_SLACK = 1e-9
"""Rounding error that given chances may have."""


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Score a known row by the chance of the anonymous one, slot by slot.

    Where slots may be empty, a gap is one more symbol: `gap_chances`.

    Args:
        release: What showed the rows; that of the view, if None.
        pairs: The chance that two tokens are in a top set, tokens x tokens, popularity on the
            diagonal; slots x tokens x tokens if not pooled.
        panel: Other users of whom pairs are learned: what two sites were shown of them, linked by
            the panel's truth; or their top sets, as `known` of users x slots x top.
        corrected: Take into account that the known token may have been noise.
        pooled: One table for all slots, or one for each.

    With neither pairs nor panel, those of the view's population are taken if its sets are those of
    the release; else they are learned from the view's panel; else the one-parameter assumption
    holds: o is in the set with the same chance whatever other token is (paper: appendix B).

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> attack = rr.attacks.TokenTable(api, pairs=people.interests.pairs)
        >>> print(rr.measure(seen, attack)[2])
        2.4308% [1.4443%, 3.8475%] (95%, n=1,000)
    """

    name: ClassVar[str] = "token-table"
    knows: ClassVar[str] = "how the release works and how often two tokens go together"
    assumes: ClassVar[str] = "Best if users differ only by chance and slots are independent."
    limits: ClassVar[str] = (
        "Takes slots to be independent. Told neither pairs nor a panel nor a population, it "
        "assumes how often two tokens go together, by one parameter. Works only with a release "
        "that shows one token of a top set."
    )
    cost: ClassVar[str] = (
        "A table of tokens times tokens, at most 2 GB. The search compares every target with "
        "every known row."
    )
    source: ClassVar[str] = (
        f"{PAPER}, section 7, theorem 1, corrected for noise at the known site; appendix B."
    )
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ONE_ROW
    asks: ClassVar[type[ShowsOneOfTop]] = ShowsOneOfTop

    release: Release | None = None
    pairs: Floats | None = field(default=None, repr=False)
    panel: Observations | None = None
    corrected: bool = field(default=True, kw_only=True)
    pooled: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if self.pairs is not None and self.panel is not None:
            raise InvalidInput(
                "pairs and panel both tell how often two tokens are in a set; give one of them",
                code="conflicting-arguments",
            )
        if self.pairs is not None:
            object.__setattr__(self, "pairs", _checked_pairs(self.pairs, pooled=self.pooled))

    @property
    def needs(self) -> tuple[str, ...]:
        """The release, unless it was given."""
        return ("release",) if self.release is None else ()

    def fit(self, view: View) -> scores.TokenPairWeights:
        """The score, from chances as they are given or as rows tell."""
        release = release_of(self, view, self.asks)
        shows = release.one_of_top(view.tokens)
        self._check_size(view, shows)
        pairs, panel = self._told(view, shows)
        self._check_told(view, shows, pairs, panel)
        tables = self._tables(view, shows, pairs, panel)
        given = [table.corrected() if self.corrected else table.uncorrected() for table in tables]
        # Only chances learned from a panel can leave their range; `uncorrected` has cut them.
        if panel is not None and self.corrected:
            given = [_proper(chances, shows) for chances in given]
        gaps = gap_chances(view, release, self.name, pooled=self.pooled)
        if gaps is None:
            return scores.TokenPairWeights(log_chance(given))
        size = view.tokens + 1
        chances = np.empty((len(tables), size, size))
        for slot, table in enumerate(tables):
            # Tables are [shown, known], a gap is the last symbol; the cases are in `gap_chances`.
            gap, back = gaps.given_token[slot], 1 - gaps.given_gap[slot]
            chances[slot, :-1, :-1] = (1 - gap) * given[slot]
            chances[slot, -1, :-1] = gap
            chances[slot, :-1, -1] = back * table.alone
            chances[slot, -1, -1] = 1 - back
        return scores.TokenPairWeights(log_chance(chances), gaps=True)

    def _told(self, view: View, shows: OneOfTop) -> tuple[Floats | None, Observations | None]:
        """Pairs, slots x tokens x tokens, or the panel that tells them: given, or the view's."""
        if self.pairs is not None:
            return self.pairs.reshape(-1, *self.pairs.shape[-2:]), None
        if self.panel is not None:
            return None, self.panel
        people = view.population
        # Sets of another size than the release draws from have other pairs.
        if people is not None and (people.topics, people.size) == (shows.topics, shows.top):
            return people.pairs[None], None
        return None, view.panel

    def _tables(
        self, view: View, shows: OneOfTop, pairs: Floats | None, panel: Observations | None
    ) -> list[PairChances]:
        """One for all slots, or one for each."""
        if pairs is not None:
            tables = scores.by_slot(pairs, 1 if self.pooled else view.slots)
            return [PairChances(shows, np.diagonal(one).copy(), one) for one in tables]
        if panel is not None and panel.known.kind is Kind.SETS:
            sets = panel.known.block(0, panel.users)
            return [from_sets(shows, part) for part in self._parts(sets, view)]
        popular = popularity(view.known, shows, pooled=self.pooled).in_use
        if panel is None:
            return [PairChances.one_parameter(shows, row) for row in popular]
        known = self._parts(panel.true_rows, view)
        rows = zip(known, self._parts(panel.anonymous, view), strict=True)
        return [
            from_shown(shows, row, panel.truth, part)
            for row, part in zip(popular, rows, strict=True)
        ]

    def _parts(self, rows: Tokens, view: View) -> list[Tokens]:
        """All slots together, or one by one as far as the view has them."""
        return [rows] if self.pooled else [rows[:, slot, None] for slot in range(view.slots)]

    def _check_size(self, view: View, shows: OneOfTop) -> None:
        if shows.q_in <= shows.q_out:
            raise InvalidInput(
                f"{self.name} learns nothing where every token is shown as often, in the top or "
                "not; lower the noise",
                code="nothing-to-learn",
            )
        if view.known.kind is not Kind.TOKENS:
            raise InvalidInput(
                f"{self.name} looks at one known token of each slot, and known rows hold "
                f"{view.known.kind.value}; keep one, or use weighted-hamming",
                code="wrong-kind-of-rows",
            )
        tables, entries = 1 if self.pooled else view.slots, shows.topics**2
        if tables * entries > _MOST_ENTRIES:
            raise TooLarge(
                f"{tables} table(s) of {shows.topics} x {shows.topics} gains would take "
                f"{tables * entries * 8 / 1e9:.0f} GB; pool the slots, or use WeightedHamming",
                code="too-many-tokens",
            )

    def _check_told(
        self, view: View, shows: OneOfTop, pairs: Floats | None, panel: Observations | None
    ) -> None:
        if pairs is not None and pairs.shape[-1] != shows.topics:
            raise InvalidInput(
                f"pairs are of {pairs.shape[-1]} tokens and the rows of {shows.topics}; "
                "number the tokens alike",
                code="alphabet-mismatch",
            )
        if panel is not None:
            _check_panel(panel, shows)
        told = view.slots if panel is None else panel.slots
        # One table from a population holds for every slot; those given are for a slot each.
        told = told if self.pairs is None else len(self.pairs)
        if not self.pooled and told < view.slots:
            raise InvalidInput(
                f"chances of {told} slots are given and {view.slots} are seen; give all or pool",
                code="slot-mismatch",
            )


def _checked_pairs(pairs: Floats, *, pooled: bool) -> Floats:
    """Tables of pairs, one or one for each slot."""
    tables = np.asarray(pairs, np.float64)
    if tables.ndim != (2 if pooled else 3) or tables.shape[-1] != tables.shape[-2]:
        wanted = "tokens x tokens" if pooled else "slots x tokens x tokens"
        raise InvalidInput(
            f"pairs has shape {tables.shape}; pooled={pooled} needs {wanted}: the chance that two "
            "tokens are in a top set, popularity on the diagonal",
            code="wrong-shape",
        )
    single = np.diagonal(tables, axis1=-2, axis2=-1)
    # Two tokens are in a set together at most as often as the rarer of them.
    most = np.minimum(single[..., :, None], single[..., None, :]) + _SLACK
    sound = (tables >= 0) & (tables <= most) & (single <= 1 + _SLACK)[..., None, :]
    sound &= np.abs(tables - np.swapaxes(tables, -1, -2)) <= _SLACK
    if not sound.all():
        place = tuple(int(index) for index in np.argwhere(~sound)[0])
        raise InvalidInput(
            f"pairs{list(place)} is {tables[place]:g}: the chance that two tokens are in a set is "
            "the same in either order, from 0 to the chance of each, which is on the diagonal",
            code="not-a-probability",
        )
    return tables


def _check_panel(panel: Observations, shows: OneOfTop) -> None:
    if panel.tokens != shows.topics:
        raise InvalidInput(
            f"the panel has {panel.tokens} tokens and the release {shows.topics} topics; "
            "number the tokens alike",
            code="alphabet-mismatch",
        )
    if not panel.true_is_here.all():
        raise InvalidInput(
            "the panel is a shard without some of its true rows; give all of it",
            code="incomplete-panel",
        )
    if panel.known.kind is Kind.SETS:
        ordered = np.sort(panel.known.block(0, panel.users), axis=2)
        twice = (ordered[:, :, 1:] == ordered[:, :, :-1]) & (ordered[:, :, 1:] != MISSING)
        if panel.set_size != shows.top or twice.any():
            raise InvalidInput(
                f"known slots of the panel hold up to {panel.set_size} tokens, "
                f"{'some' if twice.any() else 'none'} twice: a panel of top sets has {shows.top} "
                "different ones, and one of what is shown has one; give known[:, :, 0]",
                code="panel-mismatch",
            )
