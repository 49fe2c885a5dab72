"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.errors import InvalidInput
from reidrisk.study.quantities import memory, share, size, sizes


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10000", 10_000), ("10k", 10_000), ("10 K", 10_000), ("10M", 10_000_000), ("1.5k", 1_500),
        ("10_000", 10_000), ("10,000", 10_000), ("1B", 10**9), ("1G", 10**9), (7, 7), (1e6, 10**6),
        ("1.001k", 1_001), ("9007199254740993", 9_007_199_254_740_993), ("0", 0),
    ],
)  # fmt: skip
def test_sizes(text, number):
    assert size(text) == number
    assert isinstance(size(text), int)


@given(st.integers(0, 9 * 10**9), st.sampled_from("kMBG"))
def test_a_size_with_a_unit_is_exact(number, unit):
    factor = {"k": 3, "M": 6, "B": 9, "G": 9}[unit]
    digits = str(number).rjust(factor + 1, "0")
    assert size(f"{digits[:-factor]}.{digits[-factor:]}{unit}") == number
    assert size(f"{number}{unit}") == number * 10**factor


@pytest.mark.parametrize(
    "text", ["", "k", "-1", -1, "1.5", 1.5, "10q", "1e6", True, None, "1%", "1 0"]
)
def test_what_is_no_size_is_refused(text):
    with refuses("not-a-whole-number"):
        size(text, "users")


def test_sizes_beyond_64_bits_are_refused():
    for text in (2**63, str(2**63), "10000000000G", "9" * 5_000, 16**5_000):
        with pytest.raises(InvalidInput, match=r"users is (at most 9,223,372|a whole number)"):
            size(text, "users")
    assert size(2**63 - 1) == 2**63 - 1


def test_shares_beyond_all_bounds_are_refused():
    for number in (16**5_000, "9" * 5_000, "1e999"):
        with refuses("not-a-share"):
            share(number, "noise")


@pytest.mark.parametrize(
    ("text", "number"),
    [("1%", 0.01), ("0.01", 0.01), (0.5, 0.5), ("100%", 1.0), (0, 0.0), (" 5 %", 0.05)],
)  # fmt: skip
def test_shares(text, number):
    assert share(text) == number


@pytest.mark.parametrize("text", ["", "%", "101%", "1.5", "-1%", "nan", "x", True, None, "1%%"])
def test_what_is_no_share_is_refused(text):
    with refuses("not-a-share"):
        share(text, "noise")


@pytest.mark.parametrize("text", ["1", 1, 1.0, "1.0", "1.", " 1 ", "1e0"])
def test_a_bare_one_is_refused_with_both_readings(text):
    with refuses("ambiguous-share"):
        share(text, "max-risk")


@given(st.integers(2, 100))
def test_a_forgotten_percent_sign_is_seen(number):
    with refuses("not-a-share", snapshot=False):
        share(number)
    assert share(f"{number}%") == number / 100


@given(st.floats(0, 1, exclude_max=True))
def test_below_one_a_number_and_a_percentage_are_the_same(number):
    assert share(repr(number)) == number
    assert share(f"{number * 100!r}%") == pytest.approx(number)


def test_lists_of_sizes():
    assert sizes("1,2, 4,1k") == (1, 2, 4, 1000)
    with refuses("not-a-whole-number"):
        sizes("1,x", "slots")


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("2GiB", 2 << 30),
        ("1.5 G", 3 << 29),
        ("500MB", 500_000_000),
        ("64kib", 1 << 16),
        ("1t", 1 << 40),
    ],
)
def test_memory_is_read_with_its_unit(text, bytes_):
    assert memory(text) == bytes_


@pytest.mark.parametrize("text", ["", "2", "0GiB", "-1G", "2GiX", "much", "1e3M"])
def test_what_is_no_memory_is_refused(text):
    with refuses("invalid-size"):
        memory(text)
