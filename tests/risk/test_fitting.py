"""Attacks are fitted once, and what was found is not searched again."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from reidrisk import LocalEngine, Observations, TokenWeights
from reidrisk.attacks.protocol import View
from reidrisk.risk import Fitted, fitted, measure, measure_sizes, optimum, per_user, posterior
from reidrisk.risk._measure import measured
from reidrisk.risk._posterior import beliefs

RNG = np.random.default_rng(3)
KNOWN = RNG.integers(0, 5, (700, 4))
TRUTH = RNG.permutation(700)
ANONYMOUS = np.where(RNG.random((700, 4)) < 0.5, KNOWN[TRUTH], RNG.integers(0, 5, (700, 4)))
SEEN = Observations(KNOWN, ANONYMOUS, TRUTH, tokens=5)


@dataclass(frozen=True)
class Counted:
    """An attack that keeps the views it was fitted on."""

    name: ClassVar[str] = "counted"
    knows: ClassVar[str] = "nothing"
    assumes: ClassVar[str] = "Nothing."
    likelihood: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ()

    views: list = field(default_factory=list)

    def fit(self, view):
        self.views.append(view)
        return TokenWeights(np.full(view.tokens, np.log(0.6)), np.log(0.1))


class Busy(LocalEngine):
    """An engine that counts searches."""

    searches = 0

    def search(self, *args, **kwargs):
        type(self).searches += 1
        return super().search(*args, **kwargs)


AGAIN = np.stack([ANONYMOUS[:9]] * 4, axis=1)

WAYS = [
    lambda attack, **how: measure(SEEN, attack, slots=(2, 4), **how),
    lambda attack, **how: posterior(SEEN, attack, **how).claimed.tolist(),
    lambda attack, **how: optimum(SEEN, attack, slots=2, **how),
    lambda attack, **how: measure_sizes(SEEN, attack, users=(10, 700), **how),
    lambda attack, **how: per_user(SEEN, TRUTH[:9], AGAIN, attack, **how).mean,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_fitted_attack_is_taken_as_it_is(way):
    attack = Counted()
    before = fitted(attack, SEEN)
    attack.views.clear()
    found = way(before)
    assert attack.views == []
    assert found == way(attack)
    assert len(attack.views) == 1


@pytest.mark.parametrize("way", WAYS)
def test_attacks_are_fitted_on_the_view_that_is_given(way):
    attack, view = Counted(), View.of(SEEN)
    way(attack, view=view)
    assert attack.views == [view]


def test_without_a_view_an_attacker_has_what_it_has_seen_and_never_the_truth():
    attack = Counted()
    fitted(attack, SEEN)
    (view,) = attack.views
    assert view.known is SEEN.known
    assert not hasattr(view, "truth")
    np.testing.assert_array_equal(view.anonymous, sorted(SEEN.anonymous.tolist()))


def test_a_fitted_attack_is_one_attack_and_not_a_list():
    one = fitted(Counted(), SEEN)
    assert isinstance(one, Fitted)
    assert measure(SEEN, one) == measure(SEEN, [one])[0]


@pytest.mark.parametrize("precision", [None, 1e-6])
def test_what_was_found_is_handed_out(precision):
    (found,) = measured(SEEN, [Counted()], slots=(1, 3), precision=precision)
    whole = LocalEngine().search(SEEN.prefix(3), found.fitted.score)
    np.testing.assert_array_equal(found.matches.best, whole.best)
    np.testing.assert_array_equal(found.matches.credit, whole.credit)
    assert found.curve[3].value == pytest.approx(whole.credit.mean())


@dataclass(frozen=True)
class Proper(Counted):
    """One whose score is its own model."""

    def fit(self, view):
        return super().fit(view).normalised()


def test_a_search_that_was_made_is_not_made_again():
    (found,) = measured(SEEN, [Proper()])
    Busy.searches = 0
    again = posterior(SEEN, found.fitted, matches=found.matches, engine=Busy())
    assert Busy.searches == 0
    assert again.claimed.tolist() == posterior(SEEN, found.fitted).claimed.tolist()
    assert again.risk == found.curve[4]


@dataclass(frozen=True)
class Uneven(Counted):
    """One whose weights do not sum to one, and by how much depends on what is known."""

    def fit(self, view):
        return TokenWeights(np.log([0.9, 0.5, 0.5, 0.5, 0.1]), np.log([0.02, 0.1, 0.1, 0.1, 0.3]))


def test_matches_of_another_score_than_the_model_are_not_taken():
    (found,) = measured(SEEN, [Uneven()])
    again = posterior(SEEN, found.fitted, matches=found.matches)
    assert again.claimed.tolist() == posterior(SEEN, Uneven()).claimed.tolist()
    assert again.risk.value != found.curve[4].value


def test_claims_and_optimum_describe_one_model():
    """Over all outcomes, weighted by their chances, claims average to the optimum."""
    known, outcomes = np.array([[0], [1], [4], [4]]), np.arange(5)[:, None]
    seen = Observations(known, outcomes, np.zeros(5, int), tokens=5)
    model = Uneven().fit(seen).normalised()
    chances = np.exp([model.of(known, row) / 2**40 for row in outcomes]).T
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-9)
    claimed, _, _ = beliefs(seen, model, LocalEngine())
    everyone = Observations(known, known, np.arange(4), tokens=5)
    best = optimum(everyone, Uneven()).value
    assert chances.mean(axis=0) @ claimed == pytest.approx(best, rel=1e-9)
