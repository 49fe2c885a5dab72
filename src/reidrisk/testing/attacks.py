"""Promises that every part keeps, for plug-ins too: call these from your own tests."""

import numpy as np

from reidrisk.attacks import Attack
from reidrisk.engines import LocalEngine, ReferenceEngine
from reidrisk.observations import MISSING, Observations
from reidrisk.people.population import synthetic_topics
from reidrisk.releases import TopicsApi
from reidrisk.scores import Score


def check_attack(attack: Attack, seen: Observations | None = None) -> None:
    """Check that an attack keeps the promises of `reidrisk.attacks.Attack`.

    It is a value: it can be hashed, and cannot be changed. It says what it knows and assumes.
    Fitting it never looks at the truth, gives the same score each time and changes nothing. Its
    score works for every number of slots, on every engine alike. A user of whom nothing is known
    is never rated above one who was shown the very same tokens as the target.

    Args:
        attack: The one to check.
        seen: Small observations that it can rate; if not given, 200 users who are shown topics of
            an alphabet of 349.

    Raises:
        AssertionError: A promise is broken; the message says which.
    """
    seen = _small_world() if seen is None else seen
    _promise(
        isinstance(attack.name, str) and attack.name == attack.name.lower(), "name, lower case"
    )
    _promise(all(isinstance(text, str) and text for text in (attack.knows, attack.assumes)),
             "sentences on what it knows and assumes")  # fmt: skip
    _promise(isinstance(attack.likelihood, bool), "whether its score is a likelihood")
    _promise(_is_frozen(attack), "to be a value: frozen, and with a hash")
    before = seen.known.block(0, seen.known.users).copy()
    score = attack.fit(seen)
    _promise(
        bool((seen.known.block(0, seen.known.users) == before).all()),
        "to leave what it is fitted on as it is",
    )
    _promise(_rates_alike(score, attack.fit(seen), seen), "the same score each time it is fitted")
    others = np.roll(seen.truth, 1)
    swapped = Observations(seen.known, seen.anonymous, others, tokens=seen.tokens)
    _promise(_rates_alike(score, attack.fit(swapped), seen), "never to look at the truth")
    for slots in {1, seen.slots}:
        _check_engines(score, seen.prefix(slots))
    _check_missing(attack, seen)


def _promise(kept: bool, what: str) -> None:  # noqa: FBT001  reads as a sentence
    if not kept:
        raise AssertionError(f"an attack promises {what}; this one does not keep it")


def _is_frozen(attack: Attack) -> bool:
    try:
        hash(attack)
    except TypeError:
        return False
    try:
        setattr(attack, "name", attack.name)  # noqa: B010  meant to fail
    except (AttributeError, TypeError):
        return True
    return False


def _small_world() -> Observations:
    people = synthetic_topics(users=200, epochs=3, seed=1)
    return TopicsApi().observe(people, targets=40, seed=1)


def _rates_alike(one: Score, other: Score, seen: Observations) -> bool:
    known, shown = seen.true_rows, seen.anonymous
    return bool((one.of(known, shown) == other.of(known, shown)).all())


def _check_engines(score: Score, seen: Observations) -> None:
    slow = ReferenceEngine().search(seen, score)
    credit = slow.credit
    _promise(bool(((credit >= 0) & (credit <= 1)).all()), "credits that are chances")
    fast = LocalEngine().search(seen, score)
    same = all((getattr(fast, part) == getattr(slow, part)).all() for part in ("best", "ties"))
    _promise(same, "the same answer on every engine")


def _check_missing(attack: Attack, seen: Observations) -> None:
    """The last user becomes a stranger, the first one is shown what the first target shows."""
    known = seen.known.block(0, seen.known.users).copy()
    known[-1] = MISSING
    known[0].reshape(seen.slots, -1)[:] = seen.anonymous[0, :, None]
    with_stranger = Observations(known, seen.anonymous, seen.truth, tokens=seen.tokens)
    score = attack.fit(with_stranger)
    same, stranger = score.of(known[[0, -1]], seen.anonymous[0])
    _promise(same >= stranger, "not to rate a stranger above a user who shows the same tokens")
