"""All figures of one release, from guessing to what is ruled out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reidrisk.attacks.protocol import Attack, View
from reidrisk.core.observations import Observations
from reidrisk.engines import LocalEngine
from reidrisk.errors import InvalidInput
from reidrisk.estimates import Bound, Claims, Estimate
from reidrisk.information.records import Bits
from reidrisk.people.protocol import People
from reidrisk.releases.protocol import AnyRelease, Surveys, known_release
from reidrisk.risk._measure import measured
from reidrisk.risk._optimum import optimum
from reidrisk.risk._posterior import Posterior, check_likelihood, posterior
from reidrisk.risk.arguments import SearchEngine, Subject, attack_of, fitted, one_length
from reidrisk.risk.bounds import Setting, bounds_in

_ORDER = {"lower": 0, "estimate": 1, "upper": 2}


@dataclass(frozen=True, slots=True)
class Spectrum:
    """What attackers of different strength achieve, weakest first.

    Attributes:
        users: How many they choose among.
        slots: How many they have seen.
        bounds: The figures: guessing, attacks, optima under models, bounds.
        not_assessed: Targets of whom one side saw nothing; they are in no figure of an attack.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> found = rr.spectrum(seen, [rr.Hamming()], release=api)
        >>> [(one.name, one.side) for one in found.bounds]
        [('guessing', 'lower'), ('hamming', 'lower'), ('local privacy', 'upper')]
        >>> round(found.best_attack.estimate.value, 3)
        0.023
    """

    users: int
    slots: int
    bounds: tuple[Bound, ...]
    not_assessed: int

    def __getitem__(self, name: str) -> Bound:
        for one in self.bounds:
            if one.name == name:
                return one
        raise InvalidInput(
            f"there is no figure {name!r}; there are {', '.join(one.name for one in self.bounds)}",
            code="not-measured",
        )

    @property
    def levels(self) -> tuple[Bound, ...]:
        """The same as `bounds`; the name of earlier versions."""
        return self.bounds

    @property
    def best_attack(self) -> Bound:
        """The strongest attack that was carried out."""
        found = [one for one in self.bounds if one.side == "lower"]
        return max(found, key=lambda one: one.estimate.value)

    def __str__(self) -> str:
        width = max(len(one.label) for one in self.bounds)
        lines = [f"{self.users:,} users, {self.slots} slots"]
        lines += [
            f"  {one.label:<{width}}  {one.side:<8}  {one.estimate.value:.4%} "
            f"[{one.estimate.low:.4%}, {one.estimate.high:.4%}]"
            for one in self.bounds
        ]
        return "\n".join(lines)


def spectrum(
    seen: Observations,
    attacks: Sequence[Subject],
    *,
    release: AnyRelease | None = None,
    people: People | None = None,
    seed: int | None = None,
    models: Sequence[Subject] = (),
    view: View | None = None,
    revealed: Observations | None = None,
    shared_bits: float | Bits | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
) -> Spectrum:
    """Measure attacks and what bounds them, from guessing to what no attacker can do.

    Args:
        seen: Who is compared with whom.
        attacks: At least one.
        release: What showed the tokens; its promises are added. One that looks at everybody first
            is given as `releases.prepared(release, everybody)` if `people` are not everybody.
        people: The people behind the known rows, in their order; if not given, what was seen stands
            in for them. With `seed`, the full-information optimum and bounds of small worlds are
            added.
        seed: The seed with which people were observed.
        models: Attacks that are likelihoods; the optimum under the model of each is added.
        view: What attackers may use to fit; what they have seen, if not given.
        revealed: What a full-information attacker has, if it was revealed before with the same
            seed; the full-information optimum is added. Needs `release`.
        shared_bits: Mutual information, in bits, of what the known site and the other one are
            shown of a user in these slots; the bound of Fano's inequality is added. A number is
            taken to be exact.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> api = rr.TopicsApi(topics=40)
        >>> seen = api.observe(people, seed=7)
        >>> attack = rr.WeightedHamming(api)
        >>> print(rr.spectrum(seen, [attack], release=api, models=[attack]))
        1,000 users, 2 slots
          guessing                      lower     0.1000% [0.1000%, 0.1000%]
          weighted-hamming              lower     2.3442% [1.3669%, 3.7266%]
          best within weighted-hamming  estimate  2.4936% [2.4936%, 2.4936%]
          local privacy                 upper     100.0000% [100.0000%, 100.0000%]
    """
    # Refused before any search begins.
    for model in models:
        check_likelihood(attack_of(model))
    length = one_length(seen, slots)
    engine = LocalEngine() if engine is None else engine
    if isinstance(release, Surveys) and people is not None and seen.strangers is not None:
        raise InvalidInput(
            f"{release.name} looks at everybody before it shows anybody, and strangers are not "
            "among the people behind the known rows; give what it is once it has seen everybody, "
            "reidrisk.releases.prepared(release, everybody)",
            code="unprepared-release",
        )
    # None for a release that surveys people who are not at hand: it then gives no bounds.
    shows = known_release(release, people)
    setting = Setting(
        seen, length, level, engine, shows, people, seed, revealed, _as_bits(shared_bits)
    )
    found = measured(seen, attacks, view=view, slots=length, engine=engine, level=level)
    figures = [attack_bound(one.attack, one.curve[length]) for one in found]
    for model in models:
        # A model that is also among the attacks has been fitted and searched already.
        before = [one for one in found if one.attack is attack_of(model)]
        subject = before[0].fitted if before else fitted(model, seen, view)
        matches = before[0].matches if before else None
        belief = posterior(seen, subject, slots=length, matches=matches, engine=engine, level=level)
        figures.append(
            model_bound(seen, subject, belief=belief, slots=length, engine=engine, level=level)
        )
    figures += bounds_in(setting)
    return Spectrum(seen.users, length, arranged(figures), found[0].curve.not_assessed[length])


def _as_bits(shared: float | Bits | None) -> Bits | None:
    if shared is None or isinstance(shared, Bits):
        return shared
    # As of one slot: a number is of all slots together, and taken to be exact.
    return Bits("mutual information", 1, float(shared), 0.0, "given")


def arranged(figures: Sequence[Bound]) -> tuple[Bound, ...]:
    """Figures ordered by side and size, guessing first; exceeded estimates say so."""
    attacks = [one for one in figures if one.side == "lower"]
    marked = [
        replace(one, assumes=one.assumes + _exceeded(one, attacks))
        if one.side == "estimate"
        else one
        for one in figures
    ]
    guessing = [one for one in marked if one.name == "guessing"]
    others = [one for one in marked if one.name != "guessing"]
    others.sort(key=lambda one: (_ORDER[one.side], one.estimate.value))
    return (*guessing, *others)


def _exceeded(ceiling: Bound, attacks: list[Bound]) -> str:
    # By opposite ends of the intervals: a difference that they explain is no excess.
    beyond = [one.name for one in attacks if one.estimate.low > ceiling.estimate.high]
    if not beyond:
        return ""
    return f" Exceeded by {', '.join(beyond)}: it is a ceiling only within its model."


def attack_bound(attack: Attack, found: Estimate) -> Bound:
    """The figure of an attack that was carried out: a lower bound on what attackers can do."""
    return Bound(attack.name, "lower", found, attack.assumes)


def model_bound(
    seen: Observations,
    model: Subject,
    *,
    belief: Posterior | None = None,
    view: View | None = None,
    slots: int | None = None,
    engine: SearchEngine | None = None,
    level: float = 0.95,
    saying: Callable[[Claims], str] = str,
) -> Bound:
    """The optimum under a model, and whether the model fits.

    Args:
        seen: Who is compared with whom.
        model: An attack that is a likelihood.
        belief: Its posterior, if it is known.
        view: What it may use to fit; what it has seen, if not given.
        slots: After how many slots; all, if not given.
        engine: Where it runs; this machine, if not given.
        level: Chance with which an interval holds the truth.
        saying: Writes a sentence about claims and what came true.
    """
    subject = fitted(model, seen, view)
    if belief is None:
        belief = posterior(seen, subject, slots=slots, engine=engine, level=level)
    best = optimum(seen, subject, slots=slots, engine=engine, level=level)
    attack, claims = subject.attack, belief.claims
    sentence = (
        f"No attacker can exceed this who knows {attack.knows}, if users and slots are as the "
        f"model says. {saying(claims)}"
    )
    return Bound(f"best within {attack.name}", "estimate", best, sentence, claims.fits)
