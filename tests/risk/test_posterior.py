import numpy as np
import pytest
from tests.risk.worlds import Nothing
from tests.snapshots import refuses

from reidrisk import Observations, ReferenceEngine, TopicsApi, data
from reidrisk.attacks import FullInformation, Hamming, TypeAware, WeightedHamming
from reidrisk.risk import measure, per_user, posterior, spectrum

API = TopicsApi()
PEOPLE = data.synthetic_topics(users=4_000, epochs=6, seed=1)
SEEN = API.observe(PEOPLE, targets=1_200, seed=7)
REVEALED = API.reveal(PEOPLE, targets=1_200, seed=7)
TYPES = TypeAware(API, PEOPLE.interests)


def test_claims_are_shares_of_the_sum_over_everyone():
    few = SEEN.only(slice(0, 40))
    score = WeightedHamming(API).fit(SEEN).normalised()
    found = posterior(few, WeightedHamming(API), slots=6)
    for target in range(40):
        nats = score.of(few.known, few.anonymous[target]) / 2**40
        chances = np.exp(nats - nats.max())
        assert found.claimed[target] == pytest.approx(1 / chances.sum(), rel=1e-9)


def test_every_engine_claims_the_same():
    few = SEEN.only(slice(0, 8))
    fast, slow = (posterior(few, TYPES, engine=engine) for engine in (None, ReferenceEngine()))
    np.testing.assert_allclose(fast.claimed, slow.claimed, rtol=1e-3)
    np.testing.assert_array_equal(fast.credits, slow.credits)


def test_who_knows_the_types_claims_what_is_right():
    """The model is the truth, so mean claim and mean credit agree; the seed is fixed."""
    found = posterior(SEEN, TYPES)
    assert found.claims.fits
    assert found.mean_claim.value == pytest.approx(found.risk.value, abs=0.03)
    assert found.risk == measure(SEEN, TYPES)[6]


def test_full_information_claims_what_is_right_and_knows_more():
    found = posterior(REVEALED, FullInformation(API))
    assert found.claims.fits
    assert found.mean_claim.low > posterior(SEEN, TYPES).mean_claim.high


def test_independent_weeks_are_not_what_people_are():
    """On people with types, weights that take weeks for independent claim too much."""
    found = posterior(SEEN, WeightedHamming(API))
    assert not found.claims.fits


def test_a_selective_attacker_names_fewer_and_is_right_more_often():
    found = posterior(SEEN, TYPES)
    half = found.selective[0]
    assert half.precision == 0.5
    assert 0 < half.named.value < 1
    assert half.right.value > max(0.5, found.risk.value)


def test_a_constant_guess_claims_one_in_n():
    np.testing.assert_allclose(posterior(SEEN, Nothing()).claimed, 1 / 4_000, rtol=1e-9)


def test_some_users_are_more_at_risk_than_others():
    rows = SEEN.truth[:60]
    again = API.repeat(PEOPLE, rows, repeats=20, seed=7)
    found = per_user(SEEN, rows, again, WeightedHamming(API), slots=6)
    credit = measure(SEEN, WeightedHamming(API))[6]
    assert found.mean.value == pytest.approx(credit.value, abs=0.1)
    assert found.median.value < found.worst_decile.value


@pytest.mark.parametrize("shape", [(60, 6), (59, 20, 6), (60, 20, 5)])
def test_repetitions_of_another_shape_are_refused(shape):
    with refuses("wrong-shape"):
        per_user(SEEN, SEEN.truth[:60], np.zeros(shape, int), Hamming())


def test_the_spectrum_goes_from_guessing_to_the_impossible():
    found = spectrum(
        SEEN,
        [WeightedHamming(API), Hamming(), TYPES],
        release=API,
        models=[WeightedHamming(API), TYPES],
        revealed=REVEALED,
        shared_bits=6.0,
        people=PEOPLE,
    )
    assert [bound.name for bound in found.bounds][:4] == [
        "guessing", "hamming", "weighted-hamming", "type-aware",
    ]  # fmt: skip
    sides = [bound.side for bound in found.bounds]
    assert sides == ["lower"] * 4 + ["estimate"] * 3 + ["upper"] * 2
    for side in ("lower", "estimate", "upper"):
        values = [bound.estimate.value for bound in found.bounds if bound.side == side]
        assert values == sorted(values)
    assert found["guessing"].estimate.value == 1 / 4_000
    assert found.best_attack.name == "type-aware"
    assert found["best within type-aware"].fits
    assert not found["best within weighted-hamming"].fits
    assert "does not fit" in found["best within weighted-hamming"].label
    assert "if users and slots are as the model says" in found["best within type-aware"].assumes
    best = found["best within type-aware"].estimate
    assert found["type-aware"].estimate.low <= best.high
    assert best.low <= found["full information"].estimate.high
    assert found["local privacy"].estimate.value == 1
    assert found["mutual information"].estimate.value == pytest.approx(7 / np.log2(4_000))
    assert all(bound.assumes.endswith(".") for bound in found.bounds)
    assert "allows" not in str(found)
    assert "does not fit" in str(found)


def test_a_ceiling_that_is_exceeded_says_so():
    """Types break through the best of those who know only that nobody matters."""
    found = spectrum(SEEN, [TYPES], models=[Nothing()])
    assert "Exceeded by type-aware" in found["best within nothing"].assumes


def test_a_figure_that_is_not_there_is_named():
    found = spectrum(SEEN, [Hamming()])
    with refuses("not-measured"):
        _ = found["neural"]


def test_a_name_is_no_attack_yet():
    seen = Observations([[0], [1]], [[0]], [0], tokens=2)
    with refuses("not-an-attack"):
        measure(seen, "hamming")


def test_full_information_needs_the_release():
    with refuses("missing-release"):
        spectrum(SEEN, [Hamming()], revealed=REVEALED)


def test_targets_that_could_not_be_assessed_are_counted():
    anonymous = np.array(SEEN.anonymous)
    anonymous[:7] = -1
    seen = Observations(SEEN.known, anonymous, SEEN.truth, tokens=349)
    found = posterior(seen, WeightedHamming(API))
    assert found.not_assessed == 7
    assert len(found.claimed) == 1_193
    assert spectrum(seen, [Hamming()]).not_assessed == 7
