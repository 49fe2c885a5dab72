"""What local differential privacy of every slot allows, and what is reached."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.releases.worlds import Fixed
from tests.snapshots import refuses
from tests.worlds import matrices

from reidrisk import RandomisedResponse, TooLarge, theory
from reidrisk.theory import reference
from reidrisk.theory.local_privacy import MOST_SLOTS, upper_factor

EPSILONS = st.floats(0, 30)
SLOTS = st.integers(1, 12)
USERS = st.integers(1, 10**9)
ROUNDING = 1 + 1e-12


def sharp(epsilon, users, **more):
    return theory.sharp_upper_from_local_dp(epsilon=epsilon, users=users, **more)


def rows_of(shown, slots):
    """What users show in several slots who do the same in each, each slot with its own chance."""
    return [
        [math.prod(chances) for chances in itertools.product(row, repeat=slots)] for row in shown
    ]


@given(EPSILONS, st.floats(0, 1), USERS, SLOTS)
def test_it_is_the_best_of_all_compositions(epsilon, delta, users, slots):
    factor, failing = upper_factor(epsilon), Fraction(delta)
    exact = reference.local_privacy_bound(factor, failing, users, slots)
    bound = sharp(epsilon, users, delta=delta, slots=slots)
    assert exact <= Fraction(bound.raw)
    assert Fraction(math.nextafter(bound.raw, 0)) < exact


@given(EPSILONS, st.floats(0, 1), USERS, SLOTS, st.integers(1, 10**9))
def test_it_is_never_above_lemma_6_with_epsilons_and_deltas_added(
    epsilon, delta, users, slots, representations
):
    more = {"users": users, "representations": representations}
    bound = theory.sharp_upper_from_local_dp(epsilon=epsilon, delta=delta, slots=slots, **more)
    added = theory.upper_from_local_dp(
        epsilon=slots * epsilon, delta=min(1.0, slots * delta), **more
    )
    assert bound <= added * ROUNDING


@settings(max_examples=300)
@given(matrices(users=(1, 6), representations=(1, 6), zeros=False), st.floats(0, 1))
def test_no_private_release_of_one_slot_is_above_it(array, delta):
    users, representations = array.shape
    epsilon = theory.local_dp_epsilon(array, delta)
    bound = sharp(epsilon, users, delta=delta, representations=representations)
    assert theory.random_user_optimum(array) <= bound * ROUNDING


@settings(max_examples=150)
@given(
    st.integers(2, 5).flatmap(
        lambda users: st.lists(
            matrices(users=(users, users), representations=(2, 3), zeros=False),
            min_size=2,
            max_size=4,
        )
    ),
    st.floats(0, 0.3),
)
def test_no_private_release_of_several_slots_is_above_it(slots, delta):
    """Slots of different kinds, drawn independently; the worst epsilon holds for all."""
    together = functools.reduce(
        lambda left, right: np.einsum("ia,ib->iab", left, right).reshape(len(left), -1), slots
    )
    users, representations = together.shape
    epsilon = max(theory.local_dp_epsilon(one, delta) for one in slots)
    bound = sharp(epsilon, users, delta=delta, slots=len(slots), representations=representations)
    assert theory.random_user_optimum(together) <= bound * (1 + 1e-9)


@given(st.integers(0, 12), st.fractions(0, 1, max_denominator=8), st.integers(2, 5))
def test_in_one_slot_it_is_reached(power, failing, users):
    """Randomised response over as many tokens as users, which sometimes tells."""
    factor = upper_factor(power / 2)
    lie = (1 - failing) / (factor + users - 1)
    shown = [
        [failing + lie * factor if token == user else lie for token in range(users)]
        for user in range(users)
    ]
    exact = sum(max(column) for column in zip(*shown, strict=True)) / users
    bound = sharp(power / 2, users, delta=float(failing))
    assert float(exact) == pytest.approx(float(bound), rel=1e-14)


@given(st.integers(0, 8), st.fractions(0, 1, max_denominator=8), st.integers(1, 5))
def test_for_two_users_it_is_reached_over_any_slots(power, failing, slots):
    factor = upper_factor(power / 2)
    lie = (1 - failing) / (factor + 1)
    rows = rows_of([[lie * factor, lie, failing, 0], [lie, lie * factor, 0, failing]], slots)
    exact = sum(max(column) for column in zip(*rows, strict=True)) / 2
    bound = sharp(power / 2, 2, delta=float(failing), slots=slots)
    assert float(exact) == pytest.approx(float(bound), rel=1e-14)


@given(EPSILONS, st.floats(0, 1), USERS, SLOTS)
def test_more_of_anything_never_lowers_it(epsilon, delta, users, slots):
    def named(**changes):
        given = {"epsilon": epsilon, "delta": delta, "slots": slots, "representations": 5}
        return theory.sharp_upper_from_local_dp(**{**given, "users": users, **changes})

    assert named(epsilon=epsilon + 0.1) >= named()
    assert named(delta=min(1.0, delta + 0.1)) >= named()
    assert named(slots=slots + 1) >= named()
    assert named(representations=6) >= named()


def test_at_the_ends():
    assert sharp(0, 4, slots=9) == 0.25
    assert sharp(0, 4, delta=1) == 1
    assert sharp(math.inf, 4) == 1
    assert sharp(1e6, 4, representations=2) == 0.5
    assert sharp(3, 1) == 1
    assert sharp(5, 10, representations=1) == 0.1
    with refuses("too-many-slots", TooLarge):
        sharp(1, 4, slots=MOST_SLOTS + 1)
    with refuses("not-a-number"):
        sharp(-1, 4)
    with refuses("not-a-whole-number"):
        sharp(1, 4, slots=0)


@given(
    st.floats(1e-6, 0.999), st.floats(0, 0.01), st.integers(1, 10**9), SLOTS, st.integers(1, 10**9)
)
def test_the_largest_epsilon_suffices_and_a_larger_one_does_not(limit, delta, users, slots, most):
    more = {"users": users, "slots": slots, "delta": delta, "representations": most}
    found = theory.largest_epsilon(limit, **more)
    if found is None:
        assert theory.sharp_upper_from_local_dp(epsilon=0, **more) > limit
    elif math.isinf(found):
        assert theory.sharp_upper_from_local_dp(epsilon=1e9, **more) <= limit
    else:
        assert theory.sharp_upper_from_local_dp(epsilon=found, **more) <= limit
        above = math.nextafter(found, math.inf) if found > 0 else 1e-300
        assert theory.sharp_upper_from_local_dp(epsilon=above, **more) > limit


def test_the_closed_form_of_one_slot_backwards():
    """Limit r among n: `e^epsilon = r (n - 1) / (1 - r)`."""
    found = theory.largest_epsilon(0.01, users=10_000)
    assert found == pytest.approx(math.log(0.01 * 9_999 / 0.99), rel=1e-12)


@settings(max_examples=60)
@given(st.floats(0, 6), st.integers(2, 4), st.integers(1, 9), st.integers(1, 3))
def test_the_optimum_of_randomised_response(epsilon, tokens, users, slots):
    """Against its own matrix, where every sequence of some slots is somebody's."""
    differing = max([1, *(k for k in range(1, slots + 1) if tokens**k <= users)])
    sequences = itertools.cycle(itertools.product(range(tokens), repeat=differing))
    held = [next(sequences) + (0,) * (slots - differing) for _ in range(users)]
    people = Fixed.of([[[token] for token in row] for row in held], tokens)
    matrix = RandomisedResponse(epsilon).rows(people).chances
    found = theory.randomised_response_optimum(
        epsilon=epsilon, tokens=tokens, users=users, slots=slots
    )
    assert found == pytest.approx(theory.random_user_optimum(matrix), rel=1e-11)


def test_randomised_response_in_closed_form():
    """Nine users and three tokens: `9 users, sum of column maxima = 3 e^eps / (e^eps + 2)`."""
    assert theory.randomised_response_optimum(
        epsilon=math.log(4), tokens=3, users=9
    ) == pytest.approx(2 / 9)
    assert theory.randomised_response_optimum(
        epsilon=math.log(4), tokens=3, users=9, slots=5
    ) == pytest.approx(4 / 9)
    assert theory.randomised_response_optimum(epsilon=math.inf, tokens=7, users=7) == 1
    assert theory.randomised_response_optimum(epsilon=2, tokens=1, users=5) == 0.2
    assert theory.randomised_response_optimum(epsilon=2, tokens=3, users=1) == 1


@given(st.floats(0, 10), st.integers(1, 400), SLOTS, st.integers(1, 500))
def test_what_is_reached_is_never_above_the_bound(epsilon, users, slots, tokens):
    reached = theory.randomised_response_optimum(
        epsilon=epsilon, tokens=tokens, users=users, slots=slots
    )
    bound = sharp(epsilon, users, slots=slots, representations=tokens**slots)
    assert reached <= bound * ROUNDING
    most = theory.telling_tokens(epsilon=epsilon, users=users, slots=slots)
    best = theory.randomised_response_optimum(
        epsilon=epsilon, tokens=most, users=users, slots=slots
    )
    assert reached <= best * ROUNDING


@given(st.floats(0.01, 10), st.integers(2, 10**7))
def test_in_one_slot_the_bound_is_what_randomised_response_reaches(epsilon, users):
    assert theory.telling_tokens(epsilon=epsilon, users=users) == users
    reached = theory.randomised_response_optimum(epsilon=epsilon, tokens=users, users=users)
    assert reached == pytest.approx(float(sharp(epsilon, users)), rel=1e-14)
