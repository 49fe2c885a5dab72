"""Analysis: whether the attacks of a study were blind to what baskets hold.

Some attacks count what two baskets share, weigh it, and stop there. Where people share nothing with
their own rows, where large baskets win by their size, or where it matters how often an item came,
their figures are low whatever the risk is.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.attacks.table import own_attack
from reidrisk.core.doubts import Doubt
from reidrisk.core.rows import Kind
from reidrisk.scores.inner_product import counts_of
from reidrisk.study.analyses.protocol import Part, Step, alone

if TYPE_CHECKING:
    from reidrisk.study.context import Context
    from reidrisk.study.source import Source
    from reidrisk.study.study import Study

ORDER = 12

_PAIRS = 2_000
"""True pairs that are looked at; of more, only some."""
_FEWEST = 20
"""With fewer, what they share may be chance."""
_OTHERS = 4
"""Other people's known rows with which each row is compared, to see what chance gives."""
_SIGNIFICANCE = 3.0
"""Standard errors by which true pairs must share more than other pairs do."""
_WIDELY = 0.5
"""Standard deviation of sizes over their mean from which they differ widely."""

_FIND_APART = frozenset({"latent", "self-trained", "stacked", "unshared"})
"""Attacks that can find people who share nothing with their own row."""
_BY_SIZE = _FIND_APART | {"cosine", "cosine-csls", "polya", "size-adjusted"}
"""Attacks that allow for how much a row holds."""
_BY_COUNT = _FIND_APART | {"cosine", "cosine-csls", "polya", "repetition"}
"""Attacks that compare how often items came."""


def check(study: "Study", source: "Source | None") -> None:
    """Nothing can be wrong: it looks at what was seen."""


def steps(context: "Context") -> Iterator[Step]:
    """One step, where rows are baskets that were shown before."""
    if context.source.form == "baskets" and context.seen.known.kind is Kind.BAGS:
        yield alone("blindness", _doubts, context)


def _doubts(context: "Context") -> Part:
    names = {attack.name for attack in context.study.attacks}
    # What an attack of someone else compares cannot be told from its name.
    if not all(map(own_attack, names)):
        return {"doubts": ()}
    known, shown, who = _pairs(context)
    found = (
        *_nothing_shared(known, shown, who, names),
        *_unequal_sizes(known, shown, who, names),
        *_counts_ignored(known, shown, who, names),
    )
    return {"doubts": found}


def _pairs(context: "Context") -> tuple[Any, Any, str]:
    """Counts of some known rows and of their anonymous rows, pair by pair, and who they are."""
    seen = context.seen
    targets, tokens = len(seen.truth), context.source.tokens
    places = np.unique(np.linspace(0, targets - 1, min(targets, _PAIRS)).astype(np.int64))
    who = "all targets" if len(places) == targets else f"{len(places):,} of {targets:,} targets"
    known = counts_of(seen.known.select(seen.truth[places]), tokens)
    return known, counts_of(seen.anonymous[places], tokens), who


def _nothing_shared(known: Any, shown: Any, who: str, names: set[str]) -> Iterator[Doubt]:
    """True pairs share no more items than the rows of different people do."""
    if known.shape[0] < _FEWEST or names & _FIND_APART:
        return
    one, two = (_held(side) for side in (known, shown))
    each = np.arange(known.shape[0])
    mine = _common(one, two, each)
    others = [_common(one, two, np.roll(each, by)) for by in range(1, _OTHERS + 1)]
    chance = np.mean(others, axis=0)
    more = mine - chance
    if more.mean() <= _SIGNIFICANCE * more.std(ddof=1) / np.sqrt(len(more)):
        yield Doubt(
            "nothing-shared",
            f"People share {mine.mean():.3g} items with their own row and {chance.mean():.3g} with "
            f"those of others, on average of {who}: attacks that count what is shared find nobody, "
            "and no other was tried.",
        )


def _unequal_sizes(known: Any, shown: Any, who: str, names: set[str]) -> Iterator[Doubt]:
    """Baskets differ widely in size, and no attack allows for it."""
    if known.shape[0] < _FEWEST or names & _BY_SIZE:
        return
    spread = max(_spread(np.diff(_held(side).indptr)) for side in (known, shown))
    if spread > _WIDELY:
        yield Doubt(
            "unequal-sizes",
            f"Sizes of baskets differ by {100 * spread:.0f} % of their mean (standard deviation, "
            f"{who}), and no attack that allows for it was tried: large rows win by their size.",
        )


def _counts_ignored(known: Any, shown: Any, who: str, names: set[str]) -> Iterator[Doubt]:
    """Items came several times on both sides, and no attack compares how often."""
    if not names & _BY_COUNT and all((side.data > 1).any() for side in (known, shown)):
        yield Doubt(
            "counts-ignored",
            f"Baskets of both tables hold items several times ({who} were looked at), and no "
            "attack that compares how often was tried.",
        )


def _held(counts: Any) -> Any:
    """Which items each row holds, as a sparse matrix of ones."""
    ones = counts.copy()
    ones.data = np.ones(len(ones.data))
    return ones


def _common(one: Any, two: Any, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many items each row of a side shares with a row of the other."""
    common: NDArray[np.float64] = np.asarray(one[rows].multiply(two).sum(axis=1), float).ravel()
    return common


def _spread(sizes: NDArray[np.int64]) -> float:
    return float(sizes.std() / sizes.mean()) if sizes.any() else 0.0
