"""Attacks that learn from a panel: what they learn, what they refuse, what is kept in files."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.attacks import Neural, PairNetwork, View, attack_named
from reidrisk.attacks.neural import FEW
from reidrisk.core.observations import Observations
from reidrisk.core.rows import BagRows
from reidrisk.errors import MissingExtra
from reidrisk.information.sequence_model import learn_information
from reidrisk.learning.pairs import pairs_of
from reidrisk.learning.progress import Training
from reidrisk.risk.arguments import Fitted
from reidrisk.scores import ShortlistedChances, TypeChain
from reidrisk.testing import check_attack

KINDS = [Neural, PairNetwork]
QUICK = Training(steps=300, every=50, rate=0.02)
QUICK_PAIRS = Training(steps=200, every=50, rate=0.003, batch=64)
API = rr.TopicsApi(topics=40, top=3, noise=0.05)


def quick(kind, steps=None):
    """Training in seconds."""
    how = QUICK if kind is Neural else QUICK_PAIRS
    return how if steps is None else replace(how, steps=steps)


def people(users, seed, **how):
    return rr.data.synthetic_topics(users, topics=40, types=6, size=3, epochs=5, seed=seed, **how)


def world(users=600, targets=200, panel=4_000, **how):
    seen = API.observe(people(users, 1, **how), targets=targets, seed=7)
    return seen, API.observe(people(panel, 2, **how), targets=panel, seed=8)


def shuffled(panel):
    """The same rows, everyone's other side being somebody else's."""
    order = np.random.default_rng(1).permutation(len(panel.truth))
    return Observations(panel.known, panel.anonymous, panel.truth[order], tokens=panel.tokens)


def some_rows(users=30, tokens=4, slots=2):
    rows = np.random.default_rng(users).integers(0, tokens, (users, slots))
    return Observations(rows, rows, np.arange(users), tokens=tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_is_asked_for(kind):
    assert kind().needs == ("panel",)
    assert kind(some_rows()).needs == ()
    with refuses("missing-knowledge"):
        kind().fit(View.of(some_rows()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("panel", "seen", "code"),
    [
        (some_rows(19), some_rows(), "too-few-users"),
        (some_rows(tokens=5), some_rows(), "alphabet-mismatch"),
        (
            some_rows(),
            Observations(np.zeros((9, 2, 2), int), np.zeros((9, 2), int), np.arange(9), tokens=4),
            "wrong-kind-of-rows",
        ),
        (
            some_rows(),
            Observations(BagRows([[0], [1]], tokens=4), [[0], [1]], [0, 1], tokens=4),
            "wrong-kind-of-rows",
        ),
        (some_rows().shard(0, 25), some_rows(), "incomplete-panel"),
    ],
)
def test_a_panel_that_teaches_nothing_is_refused(kind, panel, seen, code):
    """Before torch is looked for."""
    with refuses(code):
        kind(panel).fit(View.of(seen))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"begin": "anywhere"}, "unknown-choice"),
        ({"classes": 0}, "not-a-whole-number"),
        ({"keep_best": 0}, "not-a-whole-number"),
        ({"panel": some_rows(), "model": "model.safetensors"}, "conflicting-arguments"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, code):
    with refuses(code):
        Neural(**settings)


@pytest.mark.parametrize("kind", KINDS)
def test_without_torch_the_extra_is_named(kind, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("reidrisk.learning.")]:
        if hasattr(sys.modules[name], "torch") or "network_files" in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("missing-extra", MissingExtra):
        kind(some_rows()).fit(View.of(some_rows()))


def test_the_order_of_the_panel_says_nothing():
    panel = some_rows(200)
    order = np.random.default_rng(1).permutation(200)
    one, other = (
        pairs_of(some, panel.known, "neural").split(seed=3) for some in (panel, panel.only(order))
    )
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours.known, theirs.known)
        np.testing.assert_array_equal(ours.shown, theirs.shown)


@pytest.mark.torch
@pytest.mark.parametrize(
    "attack",
    [
        Neural(training=quick(Neural, 40)),
        Neural(training=quick(Neural, 40), keep_best=None, classes=4),
        PairNetwork(training=quick(PairNetwork, 20)),
    ],
    ids=["neural", "neural, everyone", "pair-network"],
)
def test_they_keep_the_promises_of_an_attack(attack):
    seen, panel = world(200, 40, 300)
    check_attack(attack, seen, panel=panel)


@pytest.mark.torch
def test_gaps_are_learned_as_a_symbol():
    api = rr.TopicsApi(topics=40, top=3, noise=0.05, absence=0.3)
    seen, panel = (
        api.observe(people(users, seed), targets=targets, seed=7)
        for users, seed, targets in ((200, 1, 40), (500, 2, 500))
    )
    check_attack(Neural(training=quick(Neural, 40)), seen, panel=panel)


@pytest.mark.torch
@pytest.mark.parametrize("begin", ["types", "scratch"])
def test_it_learns_what_who_knows_the_types_knows(begin):
    seen, panel = world()
    attack = Neural(panel, begin=begin, classes=12, training=replace(QUICK, steps=600))
    score = attack.fit(View.of(seen))
    found = rr.measure(seen, Fitted(attack, score))[5]
    best = rr.measure(seen, rr.TypeAware(API, people(1, 1).interests))[5]
    simple = rr.measure(seen, rr.WeightedHamming(API))[5]
    assert found.value > simple.value
    assert found.value > best.value - 0.04
    assert rr.posterior(seen, Fitted(attack, score)).claims.fits


@pytest.mark.torch
def test_where_interests_drift_it_beats_who_takes_types_for_good():
    seen, panel = world(2_000, 500, 8_000, persistence=0.6)
    attack = Neural(panel, classes=12, training=replace(QUICK, steps=800))
    found, other = rr.measure(seen, [attack, rr.TypeAware(API, types=6, panel=panel)], slots=5)
    assert found[5].value > other[5].value


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_pairs_teach_nothing(kind):
    """Who is right among 600 users once in 600 times has learned nothing."""
    seen, panel = world()
    found = rr.measure(seen, kind(shuffled(panel), training=quick(kind)))[5]
    assert found.value < 0.04


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_rows_that_always_agree_are_learned_by_heart(kind):
    random = np.random.default_rng(1)
    rows = random.integers(0, 12, (60, 4))
    seen = Observations(rows, rows, np.arange(60), tokens=12)
    attack = kind(seen, training=replace(quick(kind, 400), patience=20))
    assert rr.measure(seen, attack)[4].value > 0.9


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_score(kind):
    seen, panel = world(300, 50, 400)
    one, other, third = (
        kind(panel, training=replace(quick(kind, 40), seed=seed)).fit(View.of(seen))
        for seed in (1, 1, 2)
    )
    rows, shown = seen.true_rows, seen.anonymous
    np.testing.assert_array_equal(one.of(rows, shown), other.of(rows, shown))
    assert (one.of(rows, shown) != third.of(rows, shown)).any()


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_that_are_alike_score_alike_wherever_they_stand(kind):
    seen, panel = world(300, 50, 400)
    score = kind(panel, training=quick(kind, 40)).fit(View.of(seen))
    rows, shown = np.repeat(seen.true_rows, 7, axis=0), np.repeat(seen.anonymous, 7, axis=0)
    order = np.random.default_rng(1).permutation(len(rows))
    scores = score.of(rows, shown)
    np.testing.assert_array_equal(scores.reshape(-1, 7), scores[::7, None].repeat(7, axis=1))
    np.testing.assert_array_equal(score.of(rows[order], shown[order]), scores[order])


@pytest.mark.torch
def test_a_learned_chain_is_kept_in_a_file(tmp_path):
    seen, panel = world(300, 50, 400)
    attack = Neural(panel, training=replace(QUICK, steps=60))
    learned = attack.learn(View.of(seen))
    path = tmp_path / "chain.safetensors"
    learned.write(path)
    assert learned.looks
    again = Neural(model=path).fit(View.of(seen))
    rows, shown = seen.true_rows, seen.anonymous
    expected = TypeChain(*learned.network.tables()).of(rows, shown)
    np.testing.assert_array_equal(again.of(rows, shown), expected)
    assert Neural(model=path).needs == ()


@pytest.mark.torch
def test_among_many_users_the_best_are_listed():
    seen, panel = world(FEW + 1, 20, 400)
    attack = Neural(panel, training=replace(QUICK, steps=10), keep_best=50)
    score = attack.fit(View.of(seen))
    assert isinstance(score, ShortlistedChances)
    assert score.keep_best == 50
    assert isinstance(attack.fit(View.of(seen.shard(0, FEW))), TypeChain)
    assert isinstance(replace(attack, keep_best=None).fit(View.of(seen)), TypeChain)


@pytest.mark.torch
def test_what_was_learned_to_tell_bits_serves_an_attack(tmp_path):
    seen, panel = world(300, 50, 400)
    from reidrisk.learning.network_files import read_model

    learn_information(panel, how=replace(QUICK, steps=20), folder=tmp_path)
    one, given = sorted(
        tmp_path.rglob("model.safetensors"),
        key=lambda file: len(read_model(file, kind="laptop").tensors),
    )
    assert isinstance(Neural(model=given).fit(View.of(seen)), TypeChain)
    with refuses("wrong-model"):
        Neural(model=one).fit(View.of(seen))


@pytest.mark.torch
def test_a_file_that_is_not_as_written_or_of_other_rows_is_refused(tmp_path):
    seen, panel = world(300, 50, 400)
    path = tmp_path / "chain.safetensors"
    Neural(panel, training=replace(QUICK, steps=20)).learn(View.of(seen)).write(path)
    with refuses("wrong-model"):
        Neural(model=path).fit(View.of(some_rows()))
    learned = Neural(panel, training=replace(QUICK, steps=20)).learn(View.of(seen))
    learned.write(path, labels=range(40))
    for labels in (None, range(40)):
        Neural(model=path, labels=labels).fit(View.of(seen))
    with refuses("wrong-model"):
        Neural(model=path, labels=range(40, 0, -1)).fit(View.of(seen))
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with refuses("damaged-file"):
        Neural(model=path).fit(View.of(seen))
    with refuses("file-not-found"):
        Neural(model=tmp_path / "nowhere").fit(View.of(seen))


@pytest.mark.torch
def test_rows_longer_than_trained_are_refused_by_the_network_and_not_by_the_chain():
    seen, panel = world(300, 50, 400)
    short = panel.prefix(3)
    neural = Neural(short, training=replace(QUICK, steps=20)).fit(View.of(seen))
    neural.check(seen)
    network = PairNetwork(short, training=quick(PairNetwork, 20))
    with refuses("panel-mismatch"):
        network.fit(View.of(seen))
    score = network.fit(View.of(seen.prefix(3))).score
    with refuses("slot-mismatch"):
        score.check(seen)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["neural", "pair-network"])
def test_a_study_gives_them_its_training_users(name):
    kind = type(attack_named(name))
    attack = kind(training=quick(kind, 40))
    study = rr.Study(
        release=API,
        attacks=(rr.Hamming(), attack),
        slots=(2, 5),
        targets=100,
        training=0.5,
        strangers=0.2,
        seed=1,
    )
    result = study.run(people(1_500, 3))
    values = {risk.slots: risk.value for risk in result.risks if risk.attack == name}
    assert set(values) >= {2, 5}


@pytest.mark.parametrize("name", ["neural", "pair-network"])
def test_a_study_without_training_users_says_so(name):
    with refuses("missing-knowledge"):
        rr.Study(release=API, attacks=(attack_named(name),), slots=(5,), targets=100, seed=1)
