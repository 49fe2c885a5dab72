"""Each bound alone, and bounds of others."""

import sys
from types import ModuleType

import numpy as np
import pytest
from tests.releases.worlds import Fixed
from tests.risk.test_uppers import best, best_of_assessed
from tests.snapshots import refuses

from reidrisk import ItemSamples, Observations, RandomisedResponse, TopicsApi, theory
from reidrisk.estimates import Bound, Estimate
from reidrisk.information import Bits
from reidrisk.releases import observe, reveal
from reidrisk.risk import bounds
from reidrisk.risk.bounds import Setting, bound_named, bounds_in

RNG = np.random.default_rng(5)
SETS = np.array([[RNG.permutation(3)[:2] for _ in range(2)] for _ in range(300)])
THERE = Fixed.of(SETS, 3)
AWAY = Fixed.of(np.where(RNG.random((300, 2, 1)) < 0.4, -1, SETS), 3)
API = TopicsApi(topics=3, top=2, noise=0.3)


def setting_of(release, people, *, slots=None, seed=2, **more):
    seen = observe(release, people, seed=seed)
    slots = seen.slots if slots is None else slots
    return Setting(seen, slots, release=release, people=people, seed=seed, **more)


def only(name, setting):
    (found,) = bounds_in(setting, [name])
    return found


def test_the_table_is_made_from_the_modules():
    assert sorted(bounds.BOUNDS) == [
        "envelope", "exact-optimum", "full-information", "guessing", "k-anonymity", "matching",
        "mutual-information", "noise-matching", "noise-on-vectors", "promises",
    ]  # fmt: skip


def test_guessing():
    found = only("guessing", setting_of(API, THERE))
    assert (found.name, found.side, found.estimate.value) == ("guessing", "lower", 1 / 300)
    assert found.estimate.level == 1


def test_promises_are_those_of_the_release():
    setting = setting_of(API, THERE, slots=1)
    found = only("promises", setting)
    assert found == API.promises(THERE, 1)[0]
    assert found.name == "local privacy"
    assert found == only("promises", Setting(setting.seen, 1, release=API))
    assert bounds_in(setting_of(API, AWAY), ["promises"]) == ()
    assert bounds_in(Setting(setting.seen, 1), ["promises"]) == ()


class Promising:
    """A release that promises something to everybody, whether they were away or not."""

    def promises(self, people, slots):
        return (Bound("toy", "upper", Estimate.computed(slots / people.users), "A toy."),)


def test_without_people_nothing_is_promised_if_there_are_users_without_a_trace():
    for known, promised in (([[0], [1]], 1), ([[0], [-1]], 0)):
        seen = Observations(known, [[0]], [0], tokens=2)
        assert len(bounds_in(Setting(seen, 1, release=Promising()), ["promises"])) == promised


WORLDS = [
    (API, THERE),
    (API, AWAY),
    (TopicsApi(topics=3, top=2, noise=0.3, absence=0.5), AWAY),
    (RandomisedResponse(epsilon=1.0), AWAY),
]


@pytest.mark.parametrize(("release", "people"), WORLDS)
@pytest.mark.parametrize("slots", [1, 2])
def test_full_information_is_the_exact_optimum_within_its_interval(release, people, slots):
    """Gaps are seen, and the larger of two denominators counts; the seed is fixed."""
    setting = setting_of(release, people, slots=slots, level=0.99)
    found = only("full-information", setting)
    exact = max(
        best(release, people, slots, 2), best_of_assessed(release, people, slots, 2, setting.seen)
    )
    assert found.side == "upper"
    assert found.estimate.low <= exact <= found.estimate.high
    assert found.estimate.value == pytest.approx(exact, rel=0.1)
    assert found.estimate.level == 0.99
    assert "never" not in found.assumes
    assert ("whichever is larger" in found.assumes) == (people is AWAY)


def test_full_information_may_be_revealed_before():
    setting = setting_of(API, AWAY)
    revealed = reveal(API, AWAY, seed=2)
    before = Setting(setting.seen, 2, release=API, revealed=revealed)
    assert only("full-information", before) == only("full-information", setting)


def test_full_information_is_left_out_where_nothing_is_revealed():
    for release in (ItemSamples(samples=2), TopicsApi(topics=3, top=2, delay=1.0)):
        assert bounds_in(setting_of(release, THERE), ["full-information"]) == ()
    no_seed = Setting(observe(API, THERE, seed=2), 2, release=API, people=THERE)
    assert bounds_in(no_seed, ["full-information"]) == ()


def test_full_information_of_others_is_refused():
    seen = observe(API, THERE, seed=2)
    revealed = reveal(API, THERE, seed=2)
    with refuses("missing-release"):
        bounds_in(Setting(seen, 2, revealed=revealed), ["full-information"])
    samples, other = ItemSamples(samples=2), reveal(API, THERE, seed=3)
    with refuses("unsupported-release"):
        bounds_in(Setting(seen, 2, release=samples, revealed=revealed), ["full-information"])
    with refuses("observations-differ"):
        bounds_in(Setting(seen, 2, release=API, revealed=other), ["full-information"])


def with_bits(value, error, level=0.95):
    seen = Observations(np.zeros((1024, 2), int), [[0, 0]], [0], tokens=2)
    bits = Bits("mutual information", 2, value, error, "two slots")
    return only("mutual-information", Setting(seen, 2, level, shared_bits=bits))


def test_mutual_information_takes_the_bits_with_their_error():
    found = with_bits(1.5, 0.1)
    assert found.side == "estimate"
    assert found.estimate.value == pytest.approx(0.4)
    assert found.estimate.high == pytest.approx((4 + 1.959964 * 0.2) / 10)
    assert found.estimate.low == pytest.approx((4 - 1.959964 * 0.2) / 10)
    assert found.estimate.level == 0.95
    assert "not proved for the people at hand" in found.assumes
    assert with_bits(1.5, 0.1, level=0.999).estimate.high > found.estimate.high
    assert with_bits(0.01, 0.1).estimate.low == pytest.approx(0.1)


def test_exact_bits_have_no_interval():
    found = with_bits(1.5, 0.0).estimate
    assert (found.low, found.value, found.high, found.level) == (found.value,) * 3 + (1.0,)


@pytest.mark.parametrize(("release", "people"), [*WORLDS, (ItemSamples(samples=2), AWAY)])
@pytest.mark.parametrize("slots", [1, 2])
def test_the_exact_optimum_is_the_larger_of_two_denominators(release, people, slots):
    setting = setting_of(release, people, slots=slots)
    found = only("exact-optimum", setting)
    exact = max(
        best(release, people, slots, 2), best_of_assessed(release, people, slots, 2, setting.seen)
    )
    assert found.estimate.value == pytest.approx(exact, rel=1e-9)
    assert (found.side, found.estimate.level) == ("upper", 1)


def test_over_whole_rows_the_exact_optimum_is_that_of_theory():
    found = only("exact-optimum", setting_of(API, THERE)).estimate
    assert found.value == theory.random_user_optimum(API.rows(THERE, site=2, seed=2).chances)


def test_everyone_at_once():
    found = only("matching", setting_of(API, THERE))
    assert found.name == "everyone at once"
    assert found.estimate.value == theory.upper_matching(API.rows(THERE, site=2, seed=2).chances)
    assert found.estimate.value >= only("exact-optimum", setting_of(API, THERE)).estimate.value


def test_k_anonymity_of_those_who_always_show_the_same():
    plain = TopicsApi(topics=3, top=1, noise=0)
    people = Fixed.of([[[0]], [[0]], [[0]], [[1]], [[1]]], 3)
    found = only("k-anonymity", setting_of(plain, people))
    assert (found.side, found.estimate.value) == ("upper", 0.5)
    assert "2-anonymity" in found.assumes
    alone = Fixed.of([[[0]], [[0]], [[1]]], 3)
    for release, world in ((plain, alone), (API, THERE)):
        assert bounds_in(setting_of(release, world), ["k-anonymity"]) == ()


def test_users_of_whom_nothing_is_known_do_not_make_others_anonymous():
    """Two and two are alike, but the known site saw only one of the first two."""
    people = Fixed.of([[[0]], [[0]], [[1]], [[1]]], 3)
    plain, truth = TopicsApi(topics=3, top=1, noise=0), [0, 2, 3]
    for first, k in (([0], 2), ([-1], 1)):
        seen = Observations([[0], first, [1], [1]], [[0], [1], [1]], truth, tokens=3)
        setting = Setting(seen, 1, release=plain, people=people, seed=1)
        assert len(bounds_in(setting, ["k-anonymity"])) == (k > 1)
        assert only("exact-optimum", setting).estimate.value == pytest.approx(2 / (2 + k))


@pytest.mark.parametrize("name", ["exact-optimum", "matching", "k-anonymity"])
def test_large_worlds_have_no_exact_bounds(name):
    large = TopicsApi(topics=20, top=2)
    people = Fixed.of([[[0, 1]] * 5, [[0, 1]] * 5], 20)
    assert bounds_in(setting_of(large, people), [name]) == ()
    others = Fixed.of(SETS[:200], 3)
    mixed = Setting(observe(API, others, seed=2), 2, release=API, people=THERE, seed=2)
    assert bounds_in(mixed, [name]) == ()


def toy(setting):
    """Half of what can be."""
    return Bound("half", "estimate", Estimate.computed(0.5), f"After {setting.slots} slots.")


def test_bounds_of_others_are_named_by_their_path(monkeypatch):
    module = ModuleType("toy_bounds")
    module.toy, module.wrong, module.none = toy, lambda _: 0.5, 3
    monkeypatch.setitem(sys.modules, "toy_bounds", module)
    setting = setting_of(API, THERE)
    found = bounds_in(setting, ["guessing", "toy_bounds:toy"])
    assert [one.name for one in found] == ["guessing", "half"]
    with refuses("invalid-bound"):
        bounds_in(setting, ["toy_bounds:wrong"])
    with refuses("not-a-bound"):
        bound_named("toy_bounds:none")
    with refuses("unknown-bound"):
        bound_named("magic")
