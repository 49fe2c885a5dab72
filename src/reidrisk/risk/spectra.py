"""From guessing to what is certainly impossible: all figures of one release, in one list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from reidrisk.attacks import Attack, FullInformation, Release
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Estimate
from reidrisk.observations import Observations
from reidrisk.risk.engine import Engine, one_length
from reidrisk.risk.measuring import measure
from reidrisk.risk.optima import optimum
from reidrisk.risk.posteriors import posterior
from reidrisk.theory import upper_from_local_dp, upper_from_mutual_information

Side = Literal["lower", "estimate", "upper"]


@dataclass(frozen=True, slots=True)
class Level:
    """One figure of a spectrum.

    Attributes:
        name: Whose accuracy it is.
        side: Attackers do at least this well, about this well at best, or never better.
        estimate: The figure; a computed one is its own interval, with level 1.
        assumes: What it rests on: one sentence.
        fits: Whether what was observed agrees with the model behind it; None if there is none.
    """

    name: str
    side: Side
    estimate: Estimate
    assumes: str
    fits: bool | None = None

    @property
    def label(self) -> str:
        """The name, with a warning if the model does not fit."""
        return f"{self.name} (under a model that does not fit)" if self.fits is False else self.name


@dataclass(frozen=True, slots=True)
class Spectrum:
    """What attackers of different strength achieve, weakest first.

    Attributes:
        users: How many they choose among.
        slots: How many they have seen.
        levels: The figures: guessing, attacks, optima under models, bounds.
        not_assessed: Targets of whom one side saw nothing; they are in no figure.
    """

    users: int
    slots: int
    levels: tuple[Level, ...]
    not_assessed: int

    def __getitem__(self, name: str) -> Level:
        for level in self.levels:
            if level.name == name:
                return level
        raise InvalidInput(
            f"there is no level {name!r}; there are {', '.join(one.name for one in self.levels)}"
        )

    @property
    def best_attack(self) -> Level:
        """The strongest attack that was carried out."""
        found = [one for one in self.levels if one.side == "lower"]
        return max(found, key=lambda one: one.estimate.value)

    def __str__(self) -> str:
        width = max(len(one.label) for one in self.levels)
        lines = [f"{self.users:,} users, {self.slots} slots"]
        lines += [
            f"  {one.label:<{width}}  {one.side:<8}  {one.estimate.value:.4%} "
            f"[{one.estimate.low:.4%}, {one.estimate.high:.4%}]"
            for one in self.levels
        ]
        return "\n".join(lines)


class PrivateRelease(Release, Protocol):
    """A release that shows one token of a top set, and knows how private one slot is."""

    @property
    def epsilon(self) -> float:
        """Local differential privacy of one slot, in nats."""
        ...


def spectrum(
    seen: Observations,
    attacks: Sequence[Attack],
    *,
    release: PrivateRelease | None = None,
    models: Sequence[Attack] = (),
    revealed: Observations | None = None,
    shared_bits: float | None = None,
    slots: int | None = None,
    engine: Engine | None = None,
    level: float = 0.95,
) -> Spectrum:
    """Measure attacks and what bounds them, from guessing to what no attacker can do.

    Args:
        seen: Who is compared with whom.
        attacks: At least one.
        release: What showed the tokens: adds what local differential privacy allows.
        models: Attacks that are likelihoods: each adds the optimum under its model.
        revealed: What a full-information attacker has, `TopicsApi.reveal` with the same seed: adds
            the full-information optimum. Needs `release`.
        shared_bits: Mutual information, in bits, of what the known site and the other one are
            shown of a user in these slots: adds what Fano's inequality allows.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.
    """
    length = one_length(seen, slots)
    curves = measure(seen, list(attacks), slots=length, engine=engine, level=level)
    levels = [
        attack_level(attack, curve[length]) for attack, curve in zip(attacks, curves, strict=True)
    ]
    levels += [
        model_level(seen, model, slots=length, engine=engine, level=level) for model in models
    ]
    if revealed is not None:
        if release is None:
            raise InvalidInput("full information needs the release beside what it revealed")
        levels.append(
            full_information_level(release, revealed, slots=length, engine=engine, level=level)
        )
    if shared_bits is not None:
        levels.append(shared_bits_level(shared_bits, seen.users))
    if release is not None:
        levels.append(local_privacy_level(release, seen.users, slots=length))
    return Spectrum(
        seen.users, length, arranged(levels, seen.users), curves[0].not_assessed[length]
    )


def arranged(levels: Sequence[Level], users: int) -> tuple[Level, ...]:
    """Guessing first, then by side and size; ceilings that were exceeded say so."""
    guessing = Level("guessing", "lower", _computed(1 / users), "Naming anyone, whatever is shown.")
    attacks = [one for one in levels if one.side == "lower"]
    marked = [
        replace(one, assumes=one.assumes + _exceeded(one, attacks))
        if one.side == "estimate"
        else one
        for one in levels
    ]
    order = {"lower": 0, "estimate": 1, "upper": 2}
    marked.sort(key=lambda one: (order[one.side], one.estimate.value))
    return (guessing, *marked)


def _exceeded(ceiling: Level, attacks: list[Level]) -> str:
    beyond = [one.name for one in attacks if one.estimate.low > ceiling.estimate.high]
    if not beyond:
        return ""
    return f" Exceeded by {', '.join(beyond)}: it is a ceiling only within its model."


def attack_level(attack: Attack, found: Estimate) -> Level:
    """An attack that was carried out: at least this is possible."""
    return Level(attack.name, "lower", found, attack.assumes)


def model_level(
    seen: Observations,
    model: Attack,
    *,
    slots: int | None = None,
    engine: Engine | None = None,
    level: float = 0.95,
) -> Level:
    """The optimum under a model, and whether the model fits."""
    belief = posterior(seen, model, slots=slots, engine=engine, level=level)
    best = optimum(seen, model, slots=slots, engine=engine, level=level)
    sentence = (
        f"No attacker can exceed this who knows {model.knows}, if users and weeks are as the model "
        f"says. {belief.calibration}"
    )
    return Level(f"best within {model.name}", "estimate", best, sentence, belief.calibration.fits)


def full_information_level(
    release: Release,
    revealed: Observations,
    *,
    slots: int | None = None,
    engine: Engine | None = None,
    level: float = 0.95,
) -> Level:
    """The optimum of who knows everyone's top sets, from what `TopicsApi.reveal` gave."""
    attack = FullInformation(release)
    best = optimum(revealed, attack, slots=slots, engine=engine, level=level)
    sentence = "No attacker exceeds this who sees what one site is shown, whatever else is known."
    return Level("full information", "upper", best, sentence)


def shared_bits_level(bits: float, users: int) -> Level:
    """What Fano's inequality allows who knows of each user only what one site is shown."""
    bound = upper_from_mutual_information(bits=bits, users=users)
    sentence = (
        f"Fano's inequality: two sites share {bits:.3g} bits about a user. For attackers who know "
        "of each user only what one site is shown."
    )
    return Level("mutual information allows", "upper", _computed(bound), sentence)


def local_privacy_level(release: PrivateRelease, users: int, *, slots: int) -> Level:
    """What local differential privacy allows, over all slots together."""
    epsilon = slots * release.epsilon
    bound = upper_from_local_dp(epsilon=epsilon, users=users, representations=release.topics**slots)
    sentence = (
        f"Local differential privacy with epsilon = {epsilon:.4g}: for any attacker and any "
        "population."
    )
    return Level("local privacy allows", "upper", _computed(bound), sentence)


def _computed(value: float) -> Estimate:
    return Estimate(float(value), float(value), float(value), 1.0, 0, "computed")
