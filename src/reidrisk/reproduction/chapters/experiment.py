"""The main experiment: re-identification among ten million users.

Paper: sections 8.1 to 8.3.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from reidrisk import data
from reidrisk.attacks import (
    Attack,
    FullInformation,
    Hamming,
    TokenTable,
    TypeAware,
    WeightedHamming,
)
from reidrisk.core.observations import Observations
from reidrisk.estimates import (
    Estimate,
    extrapolate,
    mean_of_numbers,
    paired_difference,
    sizes_to_fit,
)
from reidrisk.people.synthetic import SyntheticTopics
from reidrisk.releases import TopicsApi
from reidrisk.reproduction.chapter import (
    ATTACK,
    ChapterStep,
    Mark,
    Point,
    Row,
    Scale,
    claimed,
    missing,
)
from reidrisk.reproduction.text import percent
from reidrisk.risk import measure_sizes, posterior
from reidrisk.risk._measure import Measured, measured
from reidrisk.risk.arguments import Fitted

TITLE = "Re-identification by topics"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), sections 8.1 to 8.3"

API = TopicsApi(topics=349, top=5, noise=0.05)
_EPOCHS = (1, 2, 4, 6, 8)
_LAST = _EPOCHS[-1]
PUBLISHED_USERS = 10_000_000
LIMIT = 0.03
CLOSE = 1.25
"""How many times the risk of another attack may be and still be close to it: our reading."""

_PANEL = 200_000
"""Users of whom the learned attack learns, at most; the paper had 20 million."""

_FIGURE = "Figure 3"


class _Experiment:
    """People, what is seen of them, and attacks that were carried out; all made when asked for."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.people = cache(self._people)
        self.seen = cache(self._seen)
        self.simple = cache(self._simple)

    def _people(self) -> SyntheticTopics:
        return data.synthetic_topics(users=self.scale.users, seed=self.scale.seed)

    def _seen(self) -> Observations:
        return API.observe(
            self.people(),
            targets=min(self.scale.targets, self.scale.users),
            seed=self.scale.seed + 6,
        )

    def _simple(self) -> list[Measured]:
        return self.carried_out([Hamming(), WeightedHamming(API)])

    def carried_out(
        self, attacks: Sequence[Attack | Fitted], epochs: tuple[int, ...] = _EPOCHS
    ) -> list[Measured]:
        """Attack all targets after each number of epochs."""
        return measured(self.seen(), attacks, slots=epochs)

    @property
    def on_whom(self) -> str:
        """In words."""
        targets = min(self.scale.targets, self.scale.users)
        return f"{self.scale.users:,} users of the calibrated population, {targets:,} targets"


def steps(scale: Scale) -> Iterator[ChapterStep]:
    """The attacks of the paper, then ours and the ceilings."""
    world = _Experiment(scale)
    yield ChapterStep("Hamming attacks", lambda: _hamming_attacks(world))
    yield ChapterStep("among ten million", lambda: _below_limit(world))
    yield ChapterStep("learned attack", lambda: _learned(world))
    yield ChapterStep("token table", lambda: _token_table(world))
    yield ChapterStep("type-aware", lambda: _type_aware(world))
    yield ChapterStep("full information", lambda: (_full_information(world),))


def _hamming_attacks(world: _Experiment) -> tuple[Row, ...]:
    """The two curves, and what is said of them."""
    plain, weighted = world.simple()
    # What became of each target is kept after the last epoch only, so the first is searched anew.
    at_first = measured(world.seen(), [one.fitted for one in (plain, weighted)], slots=_EPOCHS[0])
    first, last = (
        other.matches.credit - one.matches.credit for one, other in (at_first, (plain, weighted))
    )
    # A difference of two differences of credits, each of which lies between -1 and 1.
    growth = mean_of_numbers(last - first, low=-2.0, high=2.0)
    gaps = [percent(weighted.curve[r].value - plain.curve[r].value) for r in _EPOCHS]
    difference = paired_difference(plain.matches.credit, weighted.matches.credit)
    return (
        _curve(world, plain, "Unweighted Hamming"),
        _curve(world, weighted, "Weighted Hamming"),
        Row(
            where="Section 8.3",
            what=f"The weighted attack beats the unweighted one: difference at r = {_LAST}",
            published="above 0",
            ours=difference,
            unit="%",
            mark=claimed(holds=difference.low > 0, calibrated=True),
            why=f"Same targets, paired; {world.on_whom}.",
        ),
        Row(
            where="Section 8.3",
            what="The gap between the two grows with the number of epochs: gap at "
            f"r = {_LAST} less that at r = 1",
            published="above 0",
            ours=growth,
            unit="%",
            mark=claimed(holds=growth.low > 0, calibrated=True),
            why=f"Same targets, paired; gaps at r = {_listed(_EPOCHS)}: {_listed(gaps)}; "
            f"{world.on_whom}.",
        ),
    )


def _curve(world: _Experiment, found: Measured, name: str) -> Row:
    return Row(
        where=_FIGURE,
        what=f"{name}: the risk grows with the number of epochs; shown is r = {_LAST}",
        published="grows (the values are only in the picture)",
        ours=found.curve[_LAST],
        unit="%",
        mark=claimed(holds=_rises([found.curve[r].value for r in _EPOCHS]), calibrated=True),
        why=f"{_along(found)}; {world.on_whom}.",
        axis="epochs",
        points=_points(found),
    )


def _below_limit(world: _Experiment) -> tuple[Row, ...]:
    """Caption of figure 3, for the two attacks that learn nothing."""
    return tuple(
        _below(world, found, name)
        for found, name in zip(world.simple(), ("Unweighted", "Weighted"), strict=True)
    )


def _below(world: _Experiment, found: Measured, name: str) -> Row:
    users = world.scale.users
    # Among more users everybody is harder to find, so a smaller crowd is no comparison.
    if users >= PUBLISHED_USERS:
        ours = found.curve[_LAST]
        mark, how = claimed(holds=ours.value < LIMIT, calibrated=True), "Measured"
    else:
        ours = _among_more(world, found)
        mark = told(ours)
        how = (
            f"Extrapolated from {users:,} users to {PUBLISHED_USERS:,} by a power law; interval "
            f"{percent(ours.low)} to {percent(ours.high)}"
        )
        if mark == "not run":
            how += ", which reaches over 3 %, so only --scale full can tell"
    return Row(
        where=_FIGURE,
        what=f"{name} Hamming, r = {_LAST}, {PUBLISHED_USERS:,} users: the risk is below 3 %",
        published="below 3 %, the best of three attacks",
        ours=ours,
        unit="%",
        mark=mark,
        why=f"{how}; {world.on_whom}.",
    )


def _among_more(world: _Experiment, found: Measured) -> Estimate:
    curve = measure_sizes(
        world.seen(), found.fitted, users=sizes_to_fit(world.scale.users), slots=_LAST
    )
    law = extrapolate(curve, [PUBLISHED_USERS], correlation=curve.correlation)
    return law.predicted[PUBLISHED_USERS]


def told(ours: Estimate) -> Mark:
    """Of a prediction: what all of its interval says; nothing, if its ends do not agree."""
    if ours.low < LIMIT <= ours.high:
        return "not run"
    return claimed(holds=ours.high < LIMIT, calibrated=True)


def _learned(world: _Experiment) -> tuple[Row, ...]:
    """The third attack of the paper, by the network that a laptop can train."""
    seconds = world.scale.seconds * ATTACK
    if why := missing(world.scale):
        return tuple(
            Row(where, what, published, None, "%", "not run", why)
            for where, what, published in (_BEST, _CLOSE, _LOW)
        )
    from reidrisk.attacks.neural import Neural  # noqa: PLC0415  needed by who learns
    from reidrisk.learning.models import CHAIN_TRAINING  # noqa: PLC0415  the same

    panel_users = min(_PANEL, world.scale.users)
    # Other people, shown by other draws: whoever is learned from is not attacked.
    others = data.synthetic_topics(users=panel_users, seed=world.scale.seed + 1)
    panel = API.observe(others, targets=panel_users, seed=world.scale.seed + 7)
    how = replace(CHAIN_TRAINING["types"], seconds=seconds)
    (found,) = world.carried_out([Neural(panel, training=how)])
    _, weighted = world.simple()
    difference = paired_difference(weighted.matches.credit, found.matches.credit)
    ratio = _times(found.curve[_LAST], weighted.curve[_LAST])
    why = (
        f"A chain of classes trained on {panel_users:,} other users for at most {seconds:.0f} "
        f"processor seconds, not the authors' network; {world.on_whom}."
    )
    among = world.scale.users >= PUBLISHED_USERS
    risk = found.curve[_LAST]
    return (
        Row(*_BEST, difference, "%", claimed(holds=difference.low > 0, calibrated=True),
            f"Same targets, paired. {_along(found)}. {why}", axis="epochs", points=_points(found)),
        Row(*_CLOSE, ratio, "", claimed(holds=ratio.low <= CLOSE, calibrated=True),
            f"Close is read as at most {CLOSE:g} times. These people have types that last, which "
            f"the weighted attack does not know. {why}"),
        Row(*_LOW, risk, "%", claimed(holds=risk.value < LIMIT, calibrated=True) if among
            else "not run", why if among else f"Only --scale full has as many users. {why}"),
    )  # fmt: skip


_BEST = (
    "Section 8.3",
    f"The learned attack beats the weighted one: difference at r = {_LAST}",
    "above 0",
)
_CLOSE = (
    "Section 8.3",
    f"The learned attack is close to the weighted one: times its risk at r = {_LAST}",
    "close to 1",
)
_LOW = (
    _FIGURE,
    f"Learned attack, r = {_LAST}, {PUBLISHED_USERS:,} users: the risk is below 3 %",
    "below 3 %, the best of three attacks",
)


def _times(one: Estimate, other: Estimate) -> Estimate:
    """A risk as a multiple of another: from end to opposite end, so both levels are used up."""
    least = 1 / (2 * other.trials)  # where nobody was named
    ends = one.low / max(other.high, least), one.high / max(other.low, least)
    value = one.value / max(other.value, least)
    level = one.level + other.level - 1
    return Estimate(value, *ends, level, one.trials, "union bound")


def _token_table(world: _Experiment) -> tuple[Row]:
    """Who knows which topics go together: from two epochs on, since one takes as long as all."""
    table = TokenTable(API, pairs=world.people().interests.pairs)
    (found,) = world.carried_out([table], _EPOCHS[1:])
    return (_ours(world, found),)


def _ours(world: _Experiment, found: Measured) -> Row:
    attack = found.fitted.attack
    return Row(
        where=_FIGURE,
        what=f"An attacker who knows {attack.knows} ({attack.name}): risk at r = {_LAST}",
        published="not in the paper",
        ours=found.curve[_LAST],
        unit="%",
        mark="added here",
        why=f"{_along(found)}; {world.on_whom}.",
        axis="epochs",
        points=_points(found),
    )


def _type_aware(world: _Experiment) -> tuple[Row, Row]:
    """Who knows the types of people, and what nobody exceeds who knows no more."""
    (found,) = world.carried_out([TypeAware(API, world.people().interests)])
    held = posterior(world.seen(), found.fitted, matches=found.matches)
    return (
        _ours(world, found),
        Row(
            where=_FIGURE,
            what=f"Nobody who sees what two sites show does better, at r = {_LAST}: the optimum "
            "under the model of the calibrated population",
            published="not in the paper",
            ours=held.mean_claim,
            unit="%",
            mark="added here",
            why="The mean posterior of the best guess by Bayes' rule over all users (lemma 2); the "
            f"model {'fits' if held.claims.fits else 'does not fit'} what was observed; "
            f"{world.on_whom}.",
        ),
    )


def _full_information(world: _Experiment) -> Row:
    """Who knows every top set."""
    # With the seed of `_seen`, so that the same targets are attacked.
    revealed = API.reveal(
        world.people(),
        targets=min(world.scale.targets, world.scale.users),
        seed=world.scale.seed + 6,
    )
    held = posterior(revealed, FullInformation(API))
    return Row(
        where="Corollary 1",
        what=(
            f"Who knows every user's top sets in all weeks (full information): risk at r = {_LAST}"
        ),
        published="not in the paper",
        ours=held.risk,
        unit="%",
        mark="added here",
        why="The ceiling of the closed world: nobody who has only what this release shows does "
        f"better; by Bayes' rule {percent(held.mean_claim.value)} is expected; {world.on_whom}.",
    )


def _points(found: Measured) -> tuple[Point, ...]:
    return tuple(Point(found.name, r, found.curve[r]) for r in found.curve)


def _along(found: Measured) -> str:
    values = [percent(found.curve[r].value) for r in found.curve]
    return f"r = {_listed([*found.curve])}: {_listed(values)}"


def _listed(items: Sequence[object]) -> str:
    return ", ".join(map(str, items))


def _rises(values: Sequence[float]) -> bool:
    return all(one <= other for one, other in itertools.pairwise(values)) and values[0] < values[-1]
