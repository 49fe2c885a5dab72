"""Threat models of bounds: complete, on the side that figures have; and of what a result holds."""

import sys
from dataclasses import asdict, replace
from types import ModuleType

import numpy as np
import pytest
from tests.releases.worlds import Fixed
from tests.snapshots import refuses
from tests.threat_models import PAGE, page

from reidrisk import (
    Cohorts,
    GaussianNoise,
    Hamming,
    LaplaceNoise,
    TopicsApi,
    TypeAware,
    WeightedHamming,
    data,
)
from reidrisk.attacks import ATTACKS
from reidrisk.attacks.card import NOT_STATED, SETTING_NEEDS, card_of
from reidrisk.estimates import Bound, Estimate
from reidrisk.information import Bits
from reidrisk.releases import observe, prepared
from reidrisk.risk import cards, spectrum
from reidrisk.risk.bounds import BOUNDS, Setting, bounds_in
from reidrisk.risk.threat_models import card_of_model, cards_of
from reidrisk.study.result import Attacker

RNG = np.random.default_rng(5)
SETS = np.array([[RNG.permutation(3)[:2] for _ in range(2)] for _ in range(60)])
THERE = Fixed.of(SETS, 3)
API = TopicsApi(topics=3, top=2, noise=0.3)
BITS = Bits("mutual information", 2, 0.4, 0.01, "two slots")
ALIKE = Fixed.of([[[0]]] * 3 + [[[1]]] * 2, 3)
PLAIN = TopicsApi(topics=3, top=1, noise=0)


def setting_of(release, people):
    release = prepared(release, people)
    seen = observe(release, people, seed=2)
    return Setting(seen, seen.slots, release=release, people=people, seed=2, shared_bits=BITS)


VECTORS = data.VectorPeople(RNG.normal(0, 1, (40, 2)), np.arange(40))
SETTINGS = [
    setting_of(API, THERE),
    setting_of(PLAIN, ALIKE),
    setting_of(Cohorts(users=2), ALIKE),
    setting_of(GaussianNoise(scale=0.5, clip=1.0), VECTORS),
    setting_of(LaplaceNoise(scale=1.0, clip=1.0, norm="l2"), VECTORS),
]


def figures(name):
    return [(setting, one) for setting in SETTINGS for one in bounds_in(setting, [name])]


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_every_bound_has_a_whole_card(name):
    (card,) = [one for one in cards(name) if one.kind == "bound"]
    assert NOT_STATED not in asdict(card).values()
    assert set(card.needs) <= set(SETTING_NEEDS)
    assert card.likelihood is None
    assert all(text[0].isupper() and text.endswith(".") for _, text in card.lines)
    assert not card.knows.endswith(".")
    assert not card.holds_for.endswith(".")


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_the_side_of_a_card_is_that_of_its_figures(name):
    (card,) = [one for one in cards(name) if one.kind == "bound"]
    found = figures(name)
    assert {one.side for _, one in found} == {card.side}
    assert {one.name for _, one in found} == set(sys.modules[BOUNDS[name].__module__].ABOUT.figures)


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_without_what_a_card_needs_there_is_no_bound(name):
    (card,) = [one for one in cards(name) if one.kind == "bound"]
    for setting, _ in figures(name):
        for need in card.needs:
            assert bounds_in(replace(setting, **{need: None}), [name]) == ()
        spared = dict.fromkeys(("people", "seed", "release", "shared_bits"))
        kept = {need: value for need, value in spared.items() if need not in card.needs}
        if name != "promises" or setting.release is API:  # cohorts must know their people
            assert bounds_in(replace(setting, **kept), [name])


@pytest.mark.parametrize("name", sorted(set(BOUNDS) - {"promises"}))
def test_a_figure_says_of_whom_it_holds_in_the_words_of_the_card(name):
    (card,) = [one for one in cards(name) if one.kind == "bound"]
    if name != "guessing":
        assert all(card.holds_for in one.assumes for _, one in figures(name))


def test_promises_without_people_may_be_an_estimate_as_the_card_says():
    seen = observe(API, THERE, targets=7, seed=2)
    (found,) = bounds_in(Setting(seen, 2, release=API), ["promises"])
    assert found.side == "estimate"
    assert "it is an estimate and no upper bound" in cards("promises")[0].limits


def test_all_cards_are_those_of_all_attacks_and_bounds():
    found = cards()
    assert [one.name for one in found] == [*sorted(ATTACKS), *BOUNDS]
    assert len({(one.name, one.kind) for one in found}) == len(found)


def test_there_is_no_card_of_a_name_that_nothing_has():
    with refuses("unknown-attack"):
        cards("magic")


def toy(setting):
    """Half of what can be.

    More of it.
    """
    return Bound("half", "estimate", Estimate.computed(0.5), "A toy.")


def test_bounds_of_others_have_cards(monkeypatch):
    module = ModuleType("toy_bounds")
    module.toy, module.none = toy, 3
    monkeypatch.setitem(sys.modules, "toy_bounds", module)
    (card,) = cards("toy_bounds:toy")
    assert (card.name, card.kind, card.side, card.needs) == ("toy_bounds:toy", "bound", None, None)
    assert (card.says, card.limits) == ("Half of what can be.", NOT_STATED)
    assert all(text for _, text in card.lines)
    with refuses("not-a-bound"):
        cards("toy_bounds:none")


PEOPLE = data.synthetic_topics(200, topics=12, epochs=2, types=3, size=3, seed=4)
TOPICS = TopicsApi(topics=12, top=3, noise=0.1)
SEEN = TOPICS.observe(PEOPLE, targets=50, seed=1)
TRIED = [Hamming(), WeightedHamming(TOPICS), TypeAware(TOPICS, PEOPLE.interests)]


def test_every_figure_of_a_spectrum_has_a_card_of_its_side():
    found = spectrum(
        SEEN, TRIED, release=TOPICS, people=PEOPLE, seed=1, models=TRIED[1:], shared_bits=1.0
    )
    attackers = [Attacker(one.name, one.knows, one.assumes, one.likelihood) for one in TRIED]
    made = {card.name: card for card in cards_of(attackers, found.bounds)}
    assert set(made) == {one.name for one in found.bounds}
    assert all(made[one.name].side == one.side for one in found.bounds)
    assert all(NOT_STATED not in asdict(card).values() for card in made.values())
    within = made["best within type-aware"]
    assert within == card_of_model(card_of(TypeAware()))
    assert within.knows in found["best within type-aware"].assumes


def test_of_an_attack_of_someone_else_a_card_says_what_the_result_records():
    """Also of one that is called as ours is, and says something else."""
    own = Attacker("own", "a secret", "Best.", likelihood=True)
    false = Attacker("hamming", "more than ours", "Best.", likelihood=False)
    share = Estimate.computed(0.5)
    given = [
        Bound("own", "lower", share, "Best."),
        Bound("best within own", "estimate", share, "."),
        Bound("mine", "upper", share, "It is mine."),
        Bound("best within gone", "estimate", share, "Gone."),
    ]
    made = {card.name: card for card in cards_of([own, false], given)}
    assert list(made) == ["own", "hamming", "best within own", "mine", "best within gone"]
    assert (made["own"].knows, made["own"].limits, made["own"].needs) == (
        "a secret",
        NOT_STATED,
        None,
    )
    assert made["hamming"].source == NOT_STATED
    assert made["best within own"].holds_for == "attackers who know a secret"
    assert (made["mine"].assumes, made["mine"].side) == ("It is mine.", "upper")
    assert made["best within gone"].assumes == "Gone."
    assert all(text for card in made.values() for _, text in card.lines)


def test_results_that_do_not_record_attacks_in_words_have_our_cards():
    found = [Bound("hamming", "lower", Estimate.computed(0.5), "Old words.")]
    assert cards_of([], found) == cards("hamming")


def test_the_page_of_the_documentation_shows_the_cards():
    """`python -m tests.threat_models` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()
    assert all(page().count(f"### {card.name}, {card.kind}\n") == 1 for card in cards())
