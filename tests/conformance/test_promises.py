"""Every release, attack, score, engine and analysis of the package keeps its promises."""

import numpy as np
import pytest
from tests.baskets import baskets
from tests.conformance import discovery
from tests.snapshots import refuses
from tests.vectors import vectors

from reidrisk import LocalEngine, Overlap, Study, TopicsApi, data
from reidrisk.attacks import View, attack_named
from reidrisk.attacks.table import all_attacks
from reidrisk.core.plugins import modules_of
from reidrisk.errors import InvalidInput, MissingExtra
from reidrisk.releases import observe, reveal
from reidrisk.report import sections
from reidrisk.scores import Distribution
from reidrisk.testing import check_analysis, check_attack, check_engine, check_release, check_score
from reidrisk.testing.releases import TOKENS

RELEASES, ENGINES = discovery.releases(), discovery.engines()
ANALYSES = discovery.analyses()


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_keeps_its_promises(name):
    check_release(RELEASES[name])


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_keeps_its_promises(name):
    check_engine(ENGINES[name])


RELEASE = TopicsApi(topics=12, top=3, noise=0.2)
PEOPLE = data.synthetic_topics(users=60, topics=12, epochs=3, types=3, size=3, seed=4)
OTHERS = data.synthetic_topics(users=60, topics=12, epochs=3, types=3, size=3, seed=5)


def fitted(name):
    """An attack by name: what it is for, its score, and what it needs besides."""
    attack = attack_named(name)
    have = {
        "release": RELEASE,
        "panel": observe(RELEASE, OTHERS, targets=60, seed=2),
        "population": PEOPLE.interests,
        "labels": np.arange(12),
        "times": np.where(np.arange(12) % 2, "habit", ""),
    }
    besides = {need: have[need] for need in attack.needs if need in have}
    try:
        seen, score = discovery.fitted(
            attack,
            observe(RELEASE, PEOPLE, targets=20, seed=1),
            lambda: reveal(RELEASE, PEOPLE, targets=20, seed=1),
            **besides,
        )
    except MissingExtra as missing:
        pytest.skip(str(missing))  # attacks that train are checked where there is torch
    return attack, seen, score, besides


OF_VECTORS = ("nearest", "two-covariance")
"""Attacks that refuse tokens."""

WORLDS = {
    "one slot": (vectors(60, slots=1), vectors(60, slots=1, seed=3)),
    "two slots with gaps": tuple(vectors(60, slots=2, gaps=0.2, bits=8, seed=at) for at in (4, 5)),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", sorted(all_attacks()))
def test_every_attack_rates_vectors_or_refuses_them(name, world):
    attack, (seen, panel) = attack_named(name), WORLDS[world]
    besides = {"panel": panel} if "panel" in attack.needs else {}
    have = {"release": RELEASE, "population": PEOPLE.interests, "labels": np.arange(9), **besides}
    view = View.of(seen, times=np.array([""]), **have)
    try:
        score = attack.fit(view)
    except InvalidInput as wrong:
        refusals = {"not-tokens", "wrong-kind-of-rows", "needs-top-sets"}
        assert wrong.code in refusals  # noqa: PT017  many attacks rate vectors
        assert name not in {"cosine", "cosine-csls", "self-trained", "stacked", *OF_VECTORS}
        return
    except MissingExtra as missing:
        pytest.skip(str(missing))
    check_attack(attack, seen, **besides)
    check_score(score, seen)


@pytest.mark.parametrize("name", OF_VECTORS)
def test_attacks_on_vectors_refuse_tokens(name):
    seen = observe(RELEASE, PEOPLE, targets=20, seed=1)
    panel = observe(RELEASE, OTHERS, targets=60, seed=2)
    with refuses("wrong-kind-of-rows"):
        attack_named(name).fit(View.of(seen, panel=panel))


@pytest.mark.parametrize("name", sorted(all_attacks().keys() - set(OF_VECTORS)))
def test_every_attack_and_its_score_keep_their_promises(name):
    attack, seen, score, besides = fitted(name)
    check_attack(attack, seen, **besides)
    check_score(score, seen)


@pytest.mark.parametrize("score", discovery.scores(), ids=lambda score: type(score).__name__)
def test_scores_that_no_attack_makes_here_keep_their_promises(score):
    check_score(score)


def test_no_score_is_left_out():
    """A score is what an attack makes, its normalised form, or one of `discovery.scores`."""
    made = list(discovery.scores())
    for name in all_attacks().keys() - set(OF_VECTORS):
        try:
            made.append(fitted(name)[2])
        except pytest.skip.Exception:
            continue
    made += [score.normalised() for score in made if isinstance(score, Distribution)]
    left_out = discovery.score_kinds() - {type(score) for score in made}
    assert left_out == set(), "add an example to discovery.scores"


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_keeps_its_promises(name):
    study, people = discovery.study_of_everything(), data.synthetic_topics(200, TOKENS, 2, seed=1)
    if name == "blindness":  # it looks at baskets
        study, people = Study(attacks=(Overlap(),), targets=None), baskets(40)
    if name == "noise_levels":  # it looks at vectors
        study, people = discovery.study_of_vectors()
    assert list(ANALYSES[name].steps(study.context(people, LocalEngine()))), (
        "ask for it in discovery.study_of_everything"
    )
    check_analysis(ANALYSES[name], study, people)


def test_an_analysis_has_a_section_of_its_name():
    told = {one.__name__.rpartition(".")[-1] for one in modules_of(sections)}
    # How sure attackers are, and what models allow, is told beside what was measured, and doubts
    # are told at the top.
    assert ANALYSES.keys() - told == {"blindness", "claims", "models"}
