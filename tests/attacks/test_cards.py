"""Threat models of attacks: complete, true, and there for plug-ins that say less."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.snapshots import refuses
from tests.vectors import vectors

from reidrisk import BagRows, Observations, TokenWeights, TopicsApi, data
from reidrisk.attacks import ATTACKS, Card, View, attack_named, card_of, check_needs
from reidrisk.attacks.card import NOT_STATED, SETTING_NEEDS, SIDES
from reidrisk.attacks.protocol import NEEDS
from reidrisk.testing import check_attack

API = TopicsApi(topics=12, top=3, noise=0.1)
PEOPLE = data.synthetic_topics(200, topics=12, epochs=3, types=3, size=3, seed=4)
SEEN = API.observe(PEOPLE, targets=40, seed=1)
PANEL = API.observe(
    data.synthetic_topics(100, topics=12, epochs=3, types=3, size=3, seed=5), seed=2
)
LABELS = np.arange(12)
TIMES = np.where(LABELS % 2, "habit", "")
KNOWN = {"release": API, "panel": PANEL, "population": PEOPLE.interests, "labels": LABELS,
         "times": TIMES}  # fmt: skip
EVERYTHING = View.of(SEEN, **KNOWN)


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_every_attack_has_a_whole_card(name):
    attack = attack_named(name)
    card = card_of(attack)
    assert (card.name, card.kind, card.side) == (name, "attack", "lower")
    assert (card.knows, card.assumes) == (attack.knows, attack.assumes)
    assert (card.needs, card.likelihood) == (attack.needs, attack.likelihood)
    assert NOT_STATED not in asdict(card).values()
    assert all(
        text.endswith(".")
        for text in (card.says, card.assumes, card.limits, card.cost, card.source)
    )
    assert not card.knows.endswith(".")  # it ends "an attacker who knows ..."
    assert len(card.lines) == len({label for label, _ in card.lines}) == len(fields(Card)) - 2
    assert all(text[0].isupper() and text.endswith(".") for _, text in card.lines)


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_without_what_a_card_needs_an_attack_is_refused(name):
    attack = attack_named(name)
    check_needs(attack, EVERYTHING)
    for need in card_of(attack).needs:
        with refuses("missing-knowledge"):
            attack.fit(replace(EVERYTHING, **{need: None}))


WITH_TORCH = {name for name, kind in ATTACKS.items() if "panel" in kind().needs}


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - WITH_TORCH))
def test_with_what_a_card_needs_and_nothing_else_an_attack_is_fitted(name):
    attack = attack_named(name)
    seen = API.reveal(PEOPLE, targets=40, seed=1) if name == "full-information" else SEEN
    seen = vectors() if name == "nearest" else seen
    view = View.of(seen, **KNOWN)
    others = {need: None for need in NEEDS if need not in card_of(attack).needs}
    attack.fit(replace(view, **others)).check(seen)


BAGS = BagRows([[0, 1], [2], [1, 1, 3]], tokens=12)
IN_BAGS = Observations(BAGS, BAGS, np.arange(3), tokens=12)
IN_SETS = Observations(np.array([[[0, 1]], [[2, 3]]]), [[0]], [0], tokens=12)


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - WITH_TORCH))
@pytest.mark.parametrize(("what", "seen"), [("bags", IN_BAGS), ("sets", IN_SETS)])
def test_what_a_card_says_is_refused_is(name, what, seen):
    """Attacks that look at a release or at columns refuse more, which other tests say."""
    said = card_of(attack_named(name)).limits
    said = said[said.find("Refuses") :] if "Refuses" in said else ""
    if what in said:
        with refuses("wrong-kind-of-rows", snapshot=False):  # a new attack needs no snapshot
            attack_named(name).fit(View.of(seen, release=API, labels=LABELS)).check(seen)
    elif card_of(attack_named(name)).needs == ():
        attack_named(name).fit(View.of(seen)).check(seen)


def test_an_attack_that_was_given_the_release_needs_none():
    assert card_of(type(attack_named("weighted-hamming"))(API)).needs == ()


@dataclass(frozen=True)
class Terse:
    name: ClassVar[str] = "terse"
    knows: ClassVar[str] = "the order of weeks"
    assumes: ClassVar[str] = "Agreement in later weeks says more."
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    cost: float = 1.0  # a parameter, and no word on a card

    def fit(self, view: View) -> TokenWeights:
        return TokenWeights(np.ones(view.tokens) * self.cost)


@dataclass(frozen=True)
class Wordy(Terse):
    """Do as Terse does."""

    limits: ClassVar[str] = "Sees no gaps"
    source: ClassVar[str] = ""


def test_a_plug_in_that_says_only_what_the_protocol_asks_for_works_and_has_a_card():
    check_attack(Terse())
    card = card_of(Terse())
    stated = {
        "knows": "the order of weeks",
        "assumes": "Agreement in later weeks says more.",
        "needs": (),
        "likelihood": False,
    }
    assert {name: getattr(card, name) for name in stated} == stated
    assert {card.says, card.limits, card.cost, card.source} == {NOT_STATED}
    assert dict(card.lines)["Attacker"] == "Knows the order of weeks."
    assert all(text for _, text in card.lines)


def test_a_plug_in_may_say_more():
    card = card_of(Wordy())
    assert (card.says, card.limits, card.source) == (
        "Do as Terse does.",
        "Sees no gaps",
        NOT_STATED,
    )
    assert dict(card.lines)["Limits"] == "Sees no gaps."


def test_a_plug_in_without_needs_needs_nothing():
    class Older:
        name, knows, assumes, likelihood = "older", "nothing", "Best.", False

    older: Any = Older()
    assert card_of(older).needs == ()
    assert (
        dict(card_of(older).lines)["Needs"] == "Nothing besides the known and the anonymous rows."
    )


def test_what_a_plug_in_uses_is_told_by_what_it_needs_if_it_does_not_say():
    class Looks(Terse):
        needs: ClassVar[tuple[str, ...]] = ("anonymous",)

    class Says(Looks):
        uses: ClassVar[str] = "one row"

    assert [card_of(kind()).uses for kind in (Terse, Looks, Says)] == [
        "one row",
        "all rows",
        "one row",
    ]
    assert dict(card_of(Looks()).lines)["Looks at"].startswith("All anonymous rows at once")


@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_every_attack_says_what_it_uses(name):
    """Who is fitted on the anonymous rows uses all of them."""
    uses = attack_named(name).uses
    assert uses in {"one row", "all rows"}
    assert uses == "all rows" or "anonymous" not in attack_named(name).needs


def test_every_side_and_every_need_has_words():
    assert set(NEEDS) < set(SETTING_NEEDS)
    assert all(text.endswith(".") for text in SIDES.values())
