"""Digests that stand in files: their values never change."""

import hashlib
import os

import numpy as np

from reidrisk.core import digest

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_parts_are_hashed_as_one():
    numbers = np.arange(3, dtype="<i8")
    assert digest.sha256("abc") == digest.sha256(b"a", "b", bytearray(b"c")) == ABC
    assert digest.sha256_bytes(one for one in "abc").hex() == ABC
    assert digest.sha256(numbers.data) == hashlib.sha256(numbers.tobytes()).hexdigest()


def test_the_order_of_keys_does_not_matter():
    text = b'{"a": [1, 0.5, null], "\\u00e9": NaN}'
    same = {"é": float("nan"), "a": [1, 0.5, None]}
    assert digest.sha256_json(same) == hashlib.sha256(text).hexdigest()


def test_a_cached_digest_is_taken_while_the_file_looks_the_same(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    os.utime(file, ns=(1, 1))
    assert digest.sha256_file(file) == digest.sha256_file(file, cached=True) == ABC
    file.write_bytes(b"abcd")
    assert digest.sha256_file(file, cached=True) != ABC
