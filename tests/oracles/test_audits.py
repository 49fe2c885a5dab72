"""Audits against definitions in exact fractions: every pair of users, every set of outcomes.

A row p and a row q satisfy (epsilon, delta) if `p(S) <= e^epsilon q(S) + delta` for every set S of
representations. The smallest e^epsilon is the largest `(p(S) - delta) / q(S)`.
"""

import itertools
import math
import sys
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from qif.measure import d_privacy
from tests.worlds import layouts

from reidrisk import theory

SMALLEST = 5e-324
SLACK = Decimal("1e-9")
precise = Context(prec=60)


def smallest_factor(array, delta):
    """Smallest e^epsilon by trying every set of outcomes for every ordered pair of rows."""
    rows = [[Fraction(float(entry)) for entry in row] for row in array]
    sets = [
        outcomes
        for size in range(1, len(rows[0]) + 1)
        for outcomes in itertools.combinations(range(len(rows[0])), size)
    ]
    factor = Fraction(1)
    for one, other in itertools.permutations(rows, 2):
        for outcomes in sets:
            above = sum(one[o] for o in outcomes) - Fraction(delta)
            below = sum(other[o] for o in outcomes)
            if above > 0 and below == 0:
                return math.inf
            if above > 0:
                factor = max(factor, above / below)
    return factor


def quick_factor(array, delta):
    """The same for larger worlds: the worst set holds all outcomes above some ratio."""
    rows = [[Fraction(float(entry)) for entry in row] for row in array]
    factor = Fraction(1)
    for one, other in itertools.permutations(rows, 2):
        pairs = sorted(
            zip(one, other, strict=True),
            key=lambda pair: pair[0] / pair[1] if pair[1] else math.inf * (pair[0] > 0),
            reverse=True,
        )
        above, below = -Fraction(delta), Fraction(0)
        for p, q in pairs:
            above, below = above + p, below + q
            if above > 0 and below == 0:
                return math.inf
            if above > 0:
                factor = max(factor, above / below)
    return factor


def assert_smallest(epsilon, factor, most=sys.float_info.max / 2):
    """Exactly enough, and at most 1e-9 more than needed (or infinite, for factors above `most`)."""
    if factor == math.inf or (factor > most and epsilon == math.inf):
        assert epsilon == math.inf
        return
    assert math.isfinite(epsilon), f"{float(precise.ln(as_decimal(factor)))} would do"
    assert Fraction(precise.exp(Decimal(epsilon))) * (1 + Fraction(1, 10**55)) >= factor
    assert Decimal(epsilon) <= precise.ln(as_decimal(factor)) + SLACK


def as_decimal(fraction):
    return precise.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))


@st.composite
def dyadic_worlds(draw, users=(1, 4), representations=(1, 5), grid=32, least=0):
    """Rows of whole multiples of 1/32 that sum to 1 exactly: no sum of theirs is ever rounded."""
    columns = draw(st.integers(*representations))

    def row(cuts):
        edges = [0, *sorted(cuts), grid - least * columns]
        return [high - low + least for low, high in itertools.pairwise(edges)]

    cut = st.integers(0, grid - least * columns)
    cuts = st.lists(cut, min_size=columns - 1, max_size=columns - 1)
    rows = draw(st.lists(cuts.map(row), min_size=users[0], max_size=users[1]))
    if draw(st.booleans()):
        rows.append(rows[0])
    return np.array(rows) / grid


@st.composite
def rough_worlds(draw, users=(2, 3), representations=(2, 4)):
    """Rows with everything that is hard for floats: ties, zeros, huge ratios, subnormals."""
    columns = draw(st.integers(*representations))
    weight = st.one_of(
        st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0, 1e-8, 1e-17]),
        st.floats(min_value=0, max_value=1, allow_subnormal=False),
    )
    tiny = st.sampled_from([None, None, None, 0.0, 1e-17, 1e-30, 1e-300, 1e-310, SMALLEST])
    rows = []
    for _ in range(draw(st.integers(*users))):
        weights = draw(
            st.lists(weight, min_size=columns, max_size=columns).filter(lambda row: max(row) >= 0.1)
        )
        row = [entry / math.fsum(weights) for entry in weights]
        for place in range(columns):
            replacement = draw(tiny)
            if replacement is not None and row[place] < 1e-7:
                row[place] = replacement
        rows.append(row)
    return np.array(rows)


@given(dyadic_worlds(least=1) | dyadic_worlds() | rough_worlds(users=(1, 4)))
@example(np.array([[0.5, 0.5], [0.5, 0.5]]))
@example(np.array([[1.0, SMALLEST], [1.0, 2 * SMALLEST]]))
@example(np.array([[0.5, 0.5], [1.0, SMALLEST]]))
@example(np.array([[0.5, 0.5], [math.nextafter(0.5, 1), math.nextafter(0.5, 0)]]))
@example(np.array([[1.0, 0.0], [1.0, 0.0]]))
@example(np.array([[1.0, 0.0], [1.0, SMALLEST]]))
def test_without_delta_epsilon_is_the_largest_log_ratio_of_a_column(array):
    factor = smallest_factor(array, 0)
    answers = {theory.local_dp_epsilon(matrix) for matrix in layouts(array).values()}
    assert len(answers) == 1
    assert_smallest(answers.pop(), factor, most=math.inf)


@pytest.mark.parametrize("users", [2, 15, 16, 17, 40])
def test_without_delta_epsilon_equals_the_smallest_of_qif_for_the_metric_that_is_one(users):
    array = np.random.default_rng(users).dirichlet(np.ones(9), users)
    expected = d_privacy.smallest_epsilon(array, lambda one, other: float(one != other))
    for matrix in layouts(array).values():
        assert theory.local_dp_epsilon(matrix) == pytest.approx(expected, rel=1e-12)


@given(dyadic_worlds(least=1) | dyadic_worlds(), st.integers(1, 32))
def test_with_delta_epsilon_is_the_smallest_where_no_sum_is_rounded(array, part):
    """Many of these sit exactly on the edge: p(S) = delta, which must count as private."""
    factor = smallest_factor(array, Fraction(part, 32))
    for matrix in layouts(array).values():
        assert_smallest(theory.local_dp_epsilon(matrix, part / 32), factor)


@given(array=rough_worlds(), data=st.data())
def test_with_delta_epsilon_is_the_smallest_whatever_is_rounded(array, data):
    """Half of the deltas are the chance of some set, to the last bit: the edge again."""
    sums = [sum(array[0, list(outcomes)]) for outcomes in ([0], [1], [0, 1])]
    delta = data.draw(
        st.sampled_from([entry for entry in sums if 0 < entry < 1] or [0.1])
        | st.sampled_from([0.1, 0.3, 0.5, 1e-6, 1e-17, 1e-300, SMALLEST])
        | st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True)
    )
    factor = smallest_factor(array, delta)
    for matrix in layouts(array).values():
        assert_smallest(theory.local_dp_epsilon(matrix, delta), factor)


EDGES = {
    "0.036 + 0.264 is a little more than 0.3": ([[0.036, 0.264, 0.7], [0, 0, 1]], 0.3),
    "0.1 + 0.2 is a little more than 0.3": ([[0.1, 0.2, 0.7], [0, 0, 1]], 0.3),
    "0.4 + 0.5 is exactly 0.9": ([[0.4, 0.5, 0.1], [0, 0, 1]], 0.9),
    "what exceeds delta is lost in a sum": ([[0.5, 1e-17, 0.5], [0, 1e-30, 1]], 0.5),
    "the smallest number exceeds delta": ([[0.5, SMALLEST, 0.5], [0, 0, 1]], 0.5),
    "delta cancels nearly everything": (
        [[0.05, 0.05 + 1e-12, 0.9 - 1e-12], [1e-14, 1e-14, 1 - 2e-14]],
        0.1,
    ),
    "a ratio beyond all floats": ([[0.5, 0.5], [SMALLEST, 1]], 0.1),
    "a tiny delta": ([[1.0, 1e-300], [1.0, 0.0]], 1e-300),
    "a delta that is too tiny": ([[1.0, 1e-300], [1.0, 0.0]], 0.999e-300),
}


@pytest.mark.parametrize(("rows", "delta"), EDGES.values(), ids=EDGES)
def test_with_delta_epsilon_is_the_smallest_on_the_edge(rows, delta):
    array = np.array(rows, dtype=np.float64)
    factor = smallest_factor(array, delta)
    for matrix in layouts(array).values():
        assert_smallest(theory.local_dp_epsilon(matrix, delta), factor)


@pytest.mark.parametrize("users", [15, 16, 17, 33, 50])
@pytest.mark.parametrize("delta", [1e-3, 0.05, 0.4])
def test_with_delta_the_worst_pair_is_found_whichever_block_of_rows_it_is_in(users, delta):
    """One pair is far worse than all others; it stands at the edges of the blocks in turn."""
    rng = np.random.default_rng(users)
    calm = rng.dirichlet(np.full(6, 50.0), users)
    for one, other in ((0, users - 1), (users - 1, 0), (14, users // 2), (users - 1, users - 2)):
        array = calm.copy()
        array[one] = [0.9, 0.02, 0.02, 0.02, 0.02, 0.02]
        array[other] = [0.001, 0.2, 0.2, 0.2, 0.2, 0.199]
        factor = quick_factor(array[[one, other]], delta)
        assert quick_factor(array[[one, other, 1]], delta) == factor
        for matrix in layouts(array).values():
            assert_smallest(theory.local_dp_epsilon(matrix, delta), factor)


@pytest.mark.parametrize("users", [17, 40])
def test_with_delta_random_worlds_of_several_blocks_agree_with_the_definition(users):
    array = np.random.default_rng(users).dirichlet(np.full(5, 0.7), users)
    for delta in (0.01, 0.2, 0.7):
        factor = quick_factor(array, delta)
        for matrix in layouts(array).values():
            assert_smallest(theory.local_dp_epsilon(matrix, delta), factor)


@given(dyadic_worlds(users=(2, 4), representations=(2, 4)), st.integers(1, 31))
def test_the_two_definitions_of_this_file_are_one(array, part):
    delta = Fraction(part, 32)
    assert quick_factor(array, delta) == smallest_factor(array, delta)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
def test_the_order_of_users_and_representations_changes_nothing(delta):
    rng = np.random.default_rng(7)
    array = rng.dirichlet(np.full(8, 0.5), 37)
    expected = theory.local_dp_epsilon(array, delta)
    for _ in range(5):
        shuffled = array[rng.permutation(37)][:, rng.permutation(8)]
        for matrix in layouts(shuffled).values():
            assert theory.local_dp_epsilon(matrix, delta) == pytest.approx(expected, abs=1e-9)


@given(dyadic_worlds(users=(1, 5)))
def test_more_delta_never_needs_more_epsilon(array):
    answers = [theory.local_dp_epsilon(array, part / 64) for part in range(65)]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(answers))
    assert answers[-1] == 0


def test_equal_users_and_a_single_user_need_no_epsilon():
    for rows in ([[0.1, 0.2, 0.7]], [[0.1, 0.2, 0.7]] * 40, [[1.0, 0.0]] * 3):
        for matrix in layouts(np.array(rows)).values():
            for delta in (0.0, SMALLEST, 0.5, 1.0):
                assert theory.local_dp_epsilon(matrix, delta) == 0


def test_a_mechanism_that_names_its_user_with_chance_delta_is_found_out():
    """Own symbol with chance delta, else one of two by randomised response: (log 3, delta)."""
    users, delta = 40, 2**-6
    array = np.zeros((users, users + 2))
    array[np.arange(users), np.arange(users)] = delta
    array[:, users] = np.where(np.arange(users) % 2, 0.25, 0.75) * (1 - delta)
    array[:, users + 1] = 1 - delta - array[:, users]
    for matrix in layouts(array).values():
        assert theory.local_dp_epsilon(matrix) == math.inf
        assert theory.local_dp_epsilon(matrix, delta / 2) == math.inf
        assert theory.local_dp_epsilon(matrix, delta) == pytest.approx(math.log(3), abs=1e-9)


deltas = [0.0, SMALLEST, 1e-6, 1 / 32, 0.1, 0.25, 0.5, 0.9, 1.0]


@given(dyadic_worlds(users=(1, 6)))
def test_what_an_audit_finds_bounds_the_optimum(array):
    """Rows sum to 1 exactly, so that the lemma holds without any allowance for rounding."""
    users, representations = array.shape
    optimum = sum(Fraction(entry) for entry in array.max(axis=0)) / users
    for matrix in layouts(array).values():
        for delta in deltas:
            bound = theory.upper_from_local_dp(
                epsilon=theory.local_dp_epsilon(matrix, delta),
                delta=delta,
                users=users,
                representations=representations,
            )
            assert bound.raw >= optimum
            assert bound >= theory.random_user_optimum(matrix)


@given(rough_worlds(users=(1, 5)))
def test_what_an_audit_finds_bounds_the_optimum_of_rough_worlds(array):
    users, representations = array.shape
    for delta in deltas:
        bound = theory.upper_from_local_dp(
            epsilon=theory.local_dp_epsilon(array, delta),
            delta=delta,
            users=users,
            representations=representations,
        )
        assert bound >= theory.random_user_optimum(array) * (1 - 1e-15)


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=30))
def test_anonymity_is_the_size_of_the_smallest_group_and_bounds_the_optimum(shown):
    k = min(Counter(shown).values())
    matrix = theory.RepresentationMatrix.from_assignment(shown)
    for item in (matrix, *layouts(matrix.entries.toarray()).values()):
        assert theory.anonymity(item) == k
        bound = theory.upper_from_k_anonymity(k)
        assert bound >= Fraction(1, k)
        assert bound >= theory.random_user_optimum(item)


@given(dyadic_worlds(users=(1, 5), representations=(1, 3), grid=4))
def test_anonymity_is_zero_as_soon_as_one_row_is_not_one_hot(array):
    one_hot = all(max(row) == 1 for row in array.tolist())
    k = min(Counter(map(tuple, array.tolist())).values()) if one_hot else 0
    for matrix in layouts(array).values():
        assert theory.anonymity(matrix) == k


def test_representations_that_nobody_shows_do_not_make_a_release_less_anonymous():
    array = np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    for matrix in layouts(array).values():
        assert theory.anonymity(matrix) == 2
        assert theory.local_dp_epsilon(matrix) == math.inf
    tiny = [[1.0, SMALLEST], [1.0, SMALLEST]]
    assert theory.anonymity(tiny) == 0
    assert theory.anonymity(sp.csr_array(tiny)) == 0


@pytest.mark.parametrize("k", [1, 2, 3, 7, 10, 49, 10**6, 10**18, 10**400])
def test_the_bound_of_k_anonymity_is_the_smallest_float_that_is_not_below_one_over_k(k):
    bound = theory.upper_from_k_anonymity(k)
    assert Fraction(bound) >= Fraction(1, k)
    assert Fraction(math.nextafter(bound, 0)) < Fraction(1, k)
    assert bound.raw == bound


@given(
    epsilon=st.floats(min_value=0, max_value=700),
    delta=st.floats(min_value=0, max_value=1),
    users=st.integers(1, 10**9),
    representations=st.none() | st.integers(1, 10**9),
)
def test_the_bound_of_local_privacy_is_never_below_its_formula(
    epsilon, delta, users, representations
):
    bound = theory.upper_from_local_dp(
        epsilon=epsilon, delta=delta, users=users, representations=representations
    )
    power = Fraction(precise.exp(Decimal(epsilon))) * (1 - Fraction(1, 10**55))
    exact = (power + min(users, representations or users) * Fraction(delta)) / users
    assert Fraction(bound.raw) >= exact
    assert Fraction(bound.raw) <= exact * (1 + Fraction(1, 10**15)) + Fraction(SMALLEST)
    assert bound == min(bound.raw, 1.0)


@given(bits=st.floats(min_value=0, max_value=1e6), users=st.integers(2, 10**30))
def test_the_bound_of_fano_is_never_below_its_formula(bits, users):
    bound = theory.upper_from_mutual_information(bits=bits, users=users)
    logarithm = precise.divide(precise.ln(Decimal(users)), precise.ln(Decimal(2)))
    exact = (1 + Fraction(bits)) / Fraction(logarithm) * (1 - Fraction(1, 10**55))
    assert Fraction(bound.raw) >= exact
    assert Fraction(bound.raw) <= exact * (1 + Fraction(1, 10**15))
    assert bound == min(bound.raw, 1.0)


@pytest.mark.parametrize(
    "row", [[1, 2**-53, 2**-53, 2**-120], [1, 2**-54, 2**-120, 3 * 2**-54]], ids=["kept", "undone"]
)
def test_the_matching_bound_is_not_below_the_exact_sum_when_its_last_digits_are_lost(row):
    """The sum is 1 + 2^-52 + 2^-120; two floats could hold it, but not what it passes on the way.

    In the second row the part that pushed the last digits out is itself undone.
    """
    assert sum(map(Fraction, row)) == 1 + Fraction(1, 2**52) + Fraction(1, 2**120)
    for matrix in layouts(np.array([row])).values():
        assert Fraction(theory.upper_matching(matrix).raw) >= sum(map(Fraction, row))
