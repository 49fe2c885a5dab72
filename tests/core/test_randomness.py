import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.snapshots import refuses

from reidrisk.core import randomness
from reidrisk.core.randomness import philox, reference_philox, reference_uniforms, uniforms

WORD = st.integers(0, 2**64 - 1)
RARE = 1e-4  # seeds are fixed: a smaller p-value means that the code has changed for the worse

# Every pair of columns is of draws that must have nothing to do with each other.
USERS = 2**17
NEIGHBOURS = {
    "draws of one block": ({}, {"column": 1}),
    "draws of two blocks": ({"column": 1}, {"column": 2}),
    "draws of equal halves": ({}, {"column": 2}),
    "draws far apart": ({}, {"column": 7}),
    "users side by side": ({}, {"users": range(1, USERS + 1)}),
    "users far apart": ({}, {"users": range(2**32, 2**32 + USERS)}),
    "users in reverse": ({}, {"users": range(USERS - 1, -1, -1)}),
    "negative users": ({}, {"users": range(-USERS, 0)}),
    "users by name": ({}, {"users": [str(user) for user in range(USERS)]}),
    "seeds side by side": ({}, {"seed": 8}),
    "seeds far apart": ({}, {"seed": 7 + 2**64}),
    "purposes alike": ({}, {"purpose": "site B"}),
    "seed and draw": ({"seed": 8}, {"column": 1}),
    "purpose and user": ({"purpose": "site B"}, {"users": range(1, USERS + 1)}),
}


def known_answer(counter, key, answer):
    """Random123 writes words of 32 bits, the lowest first; we pair them."""
    halves = [int(word, 16) for word in f"{counter} {key} {answer}".split()]
    return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


# From Random123, tests/kat_vectors.
KNOWN_ANSWERS = [
    known_answer(
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    known_answer(
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    known_answer(
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def fast_philox(identities, block, key):
    words = np.empty((2, len(identities)), np.uint64)
    philox(np.array(identities, np.uint64), np.uint64(block), np.uint64(key), words)
    return words


def column(seed=7, purpose="site A", users=range(USERS), column=0):
    return uniforms(seed=seed, purpose=purpose, users=users, count=column + 1)[:, column]


@pytest.mark.parametrize(("identity", "block", "key", "first", "second"), KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(identity, block, key, first, second):
    assert reference_philox(identity, block, key) == (first, second)
    assert fast_philox([identity] * 9, block, key).T.tolist() == [[first, second]] * 9


@given(st.lists(WORD, max_size=20), WORD, WORD)
@settings(deadline=None)
def test_philox_equals_its_reference(identities, block, key):
    slow = [list(reference_philox(identity, block, key)) for identity in identities]
    assert fast_philox(identities, block, key).T.tolist() == slow


@given(
    seed=st.integers(0, 2**80),
    purpose=st.text(min_size=1),
    users=st.lists(st.integers(-(2**63), 2**64 - 1)) | st.lists(st.text()),
    count=st.integers(0, 9),
)
@settings(deadline=None)
def test_uniforms_equal_their_reference(seed, purpose, users, count):
    slow = [
        reference_uniforms(seed=seed, purpose=purpose, user=user, count=count) for user in users
    ]
    fast = uniforms(seed=seed, purpose=purpose, users=users, count=count)
    assert fast.tolist() == slow
    assert fast.shape == (len(users), count)
    assert fast.dtype == np.float64


def test_the_numbers_of_this_version_are_the_numbers_of_all_versions():
    numbers = uniforms(seed=7, purpose="site A/noise", users=[0, 1, -1], count=3)
    names = uniforms(seed=2**100, purpose="é", users=["", "ada", "\ud800\0"], count=3)
    assert numbers.tolist() == [
        [0.964488724810791, 0.3346979585064557, 0.6616403741402715],
        [0.9733533105141191, 0.35684928519577463, 0.4757216097134048],
        [0.522905255138223, 0.3716448625694211, 0.02647048081313219],
    ]
    assert names.tolist() == [
        [0.1054740839323497, 0.15886007757554765, 0.6739226521917662],
        [0.03097155022043252, 0.04813038976246886, 0.49147260966338147],
        [0.1447821895496172, 0.7804956643365487, 0.06503983769278188],
    ]


@pytest.mark.parametrize(
    ("seed", "purpose", "printed"),
    [(7, "site A/noise", "41fb0cc67daccca9"), (255, "x", "4c07bc509b9db225")],
)
def test_the_key_is_what_b2sum_prints(seed, purpose, printed):
    # printf '7:site A/noise' | b2sum -l 64
    key = int.from_bytes(bytes.fromhex(printed), "little")
    word, _ = reference_philox(3, 0, key)
    assert column(seed, purpose, [3]) == (word >> 11) / 2**53


def test_no_two_pairs_of_seed_and_purpose_share_a_key():
    pairs = [(1, "a"), (1, "1:a"), (17, "a"), (1, "1a"), (1, ":a"), (0, "1:a"), (16, "1:a")]
    assert len({column(seed, purpose, [0])[0] for seed, purpose in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "users",
    [
        range(5),
        (0, 1, 2, 3, 4),
        [np.int8(0), 1, np.uint64(2), 3, 4],
        *(np.arange(5).astype(kind) for kind in ("i1", "u1", "<i2", ">i4", "u8", object)),
        np.arange(10)[::2] // 2,
        pa.array(range(5)),
    ],
    ids=lambda users: f"{type(users).__name__} {getattr(users, 'dtype', '')}",
)
def test_the_same_numbers_are_the_same_users(users):
    assert (column(users=users) == column(users=np.arange(5))).all()


@pytest.mark.parametrize(
    "users",
    [
        ("ada", "", "é"),
        *(np.array(["ada", "", "é"], kind) for kind in (None, object, np.dtypes.StringDType())),
        pa.array(["ada", "", "é"]),
    ],
    ids=lambda users: f"{type(users).__name__} {getattr(users, 'dtype', '')}",
)
def test_the_same_strings_are_the_same_users(users):
    assert (column(users=users) == column(users=["ada", "", "é"])).all()


def test_a_negative_user_is_its_complement():
    for kind in (np.int8, np.int64, object):
        assert column(users=np.array([-1], kind)) == column(users=[2**64 - 1])
    assert (column(users=range(2**63, 2**63 + 2)) == column(users=range(-(2**63), 2 - 2**63))).all()


@pytest.mark.parametrize("users", [[], (), range(0), np.array([]), np.array([], str)])
def test_no_users_have_no_draws(users):
    assert uniforms(seed=0, purpose="none", users=users, count=3).shape == (0, 3)
    assert uniforms(seed=0, purpose="none", users=users, count=0).shape == (0, 0)


@given(st.data(), st.integers(0, 7))
@settings(deadline=None)
def test_order_and_company_change_nothing(data, count):
    everyone = uniforms(seed=7, purpose="site A", users=range(50), count=count)
    some = data.draw(st.lists(st.integers(0, 49)))
    assert (uniforms(seed=7, purpose="site A", users=some, count=count) == everyone[some]).all()


@pytest.mark.parametrize("count", range(9))
def test_fewer_draws_are_the_first_of_many(count):
    few = uniforms(seed=7, purpose="site A", users=range(100), count=count)
    many = uniforms(seed=7, purpose="site A", users=range(100), count=9)
    assert (few == many[:, :count]).all()


@pytest.mark.parametrize("block", [1, 10, 1024, 2**20])
@pytest.mark.parametrize("cores", [1, 2, 7])
def test_threads_and_blocks_change_nothing(monkeypatch, cores, block):
    ask = {"seed": 7, "purpose": "threads", "users": range(1000), "count": 5}
    usual = uniforms(**ask)
    monkeypatch.setattr("reidrisk.core.parallel.cores", lambda: cores)
    monkeypatch.setattr(randomness, "BLOCK", block)
    assert (uniforms(**ask) == usual).all()


def test_threads_do_not_race(monkeypatch):
    # Blocks of the usual size take long enough for threads to overlap.
    ask = {"seed": 7, "purpose": "race", "users": range(2**15), "count": 64}
    monkeypatch.setattr("reidrisk.core.parallel.cores", lambda: 1)
    alone = uniforms(**ask)
    monkeypatch.setattr("reidrisk.core.parallel.cores", lambda: 8)
    for _ in range(5):
        assert (uniforms(**ask) == alone).all()


def test_compiling_changes_nothing():
    code = (
        "from reidrisk.core.randomness import uniforms\n"
        "draws = uniforms(seed=7, purpose='plain', users=range(-9, 9), count=5)\n"
        "print(draws.tobytes().hex())"
    )
    plain = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    fast = uniforms(seed=7, purpose="plain", users=range(-9, 9), count=5)
    assert plain.stdout.strip() == fast.tobytes().hex()


@pytest.fixture(scope="module")
def million():
    return uniforms(seed=7, purpose="uniform", users=range(USERS), count=8).ravel()


def test_draws_lie_in_the_unit_interval(million):
    assert 0 <= million.min() < 1e-5
    assert 1 - 1e-5 < million.max() < 1


def test_draws_do_not_repeat(million):
    # One pair in 2**20 draws of 53 bits is expected once in 30,000 seeds.
    assert np.unique(million).size == million.size


@pytest.mark.parametrize("bits", [1, 4, 8, 12])
@pytest.mark.parametrize("skip", [0, 20, 41])
def test_bits_at_any_depth_are_uniform(million, skip, bits):
    bins = (np.ldexp(million, skip + bits).astype(np.uint64) % 2**bits).astype(np.int64)
    assert stats.chisquare(np.bincount(bins, minlength=2**bits)).pvalue > RARE


def test_draws_follow_the_uniform_law(million):
    assert stats.kstest(million, "uniform").pvalue > RARE


def test_every_user_has_a_fair_mean():
    means = uniforms(seed=7, purpose="means", users=range(2000), count=500).mean(axis=1)
    assert stats.kstest((means - 0.5) * np.sqrt(12 * 500), "norm").pvalue > RARE


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_neighbours_are_independent(one, other):
    first, second = column(**one), column(**other)
    assert stats.pearsonr(first, second).pvalue > RARE
    squares = np.histogram2d(first, second, bins=32, range=[(0, 1), (0, 1)])[0]
    assert stats.chisquare(squares.ravel()).pvalue > RARE
    # Exclusive or shows what a sum hides: equal or opposite low bits.
    bits = [np.ldexp(side, 53).astype(np.uint64) for side in (first, second)]
    flips = np.bitwise_count(bits[0] ^ bits[1]).sum()
    assert stats.norm.sf(abs(flips - 26.5 * USERS) / np.sqrt(53 / 4 * USERS)) > RARE


@pytest.mark.parametrize("part", ["identity", "block", "key"])
def test_one_bit_in_changes_half_the_bits_out(part):
    # 64 * 128 shares of 4,000 coins each: the largest is below 4.9 standard deviations at 1 %.
    identities = np.random.default_rng(7).integers(0, 2**64, 4000, np.uint64)
    before = fast_philox(identities, 5, 9)
    for bit in range(64):
        flip = {"identity": 0, "block": 0, "key": 0, part: 1 << bit}
        after = fast_philox(
            identities ^ np.uint64(flip["identity"]), 5 ^ flip["block"], 9 ^ flip["key"]
        )
        changed = (before ^ after).view(np.uint8)
        shares = np.unpackbits(changed.reshape(2, -1, 8), axis=2).mean(axis=1)
        assert abs(shares - 0.5).max() < 4.9 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"seed": -1}, "not-a-whole-number"),
        ({"seed": 7.0}, "not-a-whole-number"),
        ({"seed": True}, "not-a-whole-number"),
        ({"seed": None}, "not-a-whole-number"),
        ({"purpose": ""}, "missing-purpose"),
        ({"purpose": b"noise"}, "missing-purpose"),
        ({"count": -2}, "not-a-whole-number"),
        ({"count": 2.5}, "not-a-whole-number"),
        ({"count": np.True_}, "not-a-whole-number"),
        ({"count": np.timedelta64(2, "s")}, "not-a-whole-number"),
        ({"users": 5}, "wrong-shape"),
        ({"users": "ada"}, "wrong-shape"),
        ({"users": {1, 2}}, "wrong-shape"),
        ({"users": np.zeros((2, 3), int)}, "wrong-shape"),
        ({"users": [[1, 2], [3, 4]]}, "wrong-shape"),
        ({"users": [1, "1"]}, "mixed-ids"),
        ({"users": ["ada", None]}, "mixed-ids"),
        ({"users": [1, True]}, "mixed-ids"),
        ({"users": [[1], [2, 3]]}, "mixed-ids"),
        ({"users": np.array([1.0])}, "mixed-ids"),
        ({"users": np.array([True])}, "mixed-ids"),
        ({"users": np.array([b"ada"])}, "mixed-ids"),
        ({"users": np.array([1], "m8[s]")}, "mixed-ids"),
        ({"users": [2**64]}, "id-out-of-range"),
        ({"users": range(-(2**63) - 1, 1 - 2**63)}, "id-out-of-range"),
    ],
    ids=str,
)
def test_bad_input_is_refused(bad, code):
    good = {"seed": 7, "purpose": "noise", "users": [1], "count": 1}
    with refuses(code):
        uniforms(**(good | bad))
