"""Random draws as a pure function of seed, purpose and user id.

A draw belongs to a user, not to a row: shuffling, cutting, adding or removing other users, or
running on more cores cannot change it. Purposes keep uses apart, so that the noise of one site
says nothing about the noise of another. See `docs/decisions/0003-randomness-belongs-to-users.md`.

Philox is the counter-based generator of Salmon et al., "Parallel random numbers: as easy as
1, 2, 3", SC 2011. It is not a cipher: nothing secret may hang on its draws.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel, over_blocks
from reidrisk.errors import InvalidInput

Users = Sequence[int] | Sequence[str] | npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Draws = npt.NDArray[np.float64]

# A product of 32-bit words needs 64 bits, and numba turns a mix of signed and unsigned into floats.
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_INCREMENTS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW, HALF = np.uint64(2**32 - 1), np.uint64(32)
ROUNDS = 10
_SIGNED = range(-(2**63), 2**63)
# A double holds 53 bits.
SPARE, UNIT = np.uint64(11), 2.0**-53
# So few draws are made by the definition, and nobody waits for a kernel.
FEW = 2**16
# Draws per block of work: they fit in a core's own cache.
BLOCK = 2**16


def uniforms(*, seed: int, purpose: str, users: Users, count: int) -> Draws:
    """Numbers from [0, 1) that depend on nothing but seed, purpose, user and column.

    Args:
        seed: Any whole number from 0 on, however large.
        purpose: What the draws are for, such as "site A/noise"; another purpose, other draws.
        users: Whole numbers of up to 64 bits (-1 and 2**64 - 1 are the same user), or strings.
        count: Draws per user; the first three of eight are the three you get with `count=3`.

    Returns:
        One row per user, one column per draw.

    Example:
        >>> coins = rr.uniforms(seed=7, purpose="site A/noise", users=["ann", "bob"], count=2)
        >>> coins.round(3)
        array([[0.943, 0.12 ],
               [0.623, 0.511]])
        >>> again = rr.uniforms(seed=7, purpose="site A/noise", users=["bob"], count=2)
        >>> bool((again[0] == coins[1]).all())
        True
    """
    key, identities = _key(seed, purpose), _identities(users)
    draws = np.empty((identities.size, whole_number("count", count, least=0)))

    def work(start: int, stop: int) -> None:
        # Converting here spares a second copy of all users.
        some = identities[start:stop].astype(np.uint64)
        _fill(some, np.uint64(key), np.empty((2, some.size), np.uint64), draws[start:stop])

    if draws.size <= FEW:
        blocks = np.arange((count + 1) // 2, dtype=np.uint64)
        words = reference_philox(identities.astype(np.uint64)[:, None], blocks, key)
        draws[:, ::2], draws[:, 1::2] = (
            (word[:, :columns] >> SPARE) * UNIT
            for word, columns in zip(words, ((count + 1) // 2, count // 2), strict=True)
        )
    else:
        over_blocks(work, identities.size, max(1, BLOCK // max(1, count)))
    return draws


def reference_uniforms(*, seed: int, purpose: str, user: int | str, count: int) -> list[float]:
    """One user's row, slowly: the definition of `uniforms`."""
    key = _key(seed, purpose)
    identity = _hash(user) if isinstance(user, str) else user % 2**64
    blocks = range((count + 1) // 2)
    words = [word for block in blocks for word in reference_philox(identity, block, key)]
    return [(word >> 11) / 2**53 for word in words[:count]]


def reference_philox(identity: Any, block: Any, key: int) -> tuple[Any, Any]:
    """Philox4x32-10 of the counter (identity, block): two words of 64 bits, low halves first.

    Of whole numbers, or of arrays of them without sign.
    """
    low = 2**32 - 1
    a, b, c, d = identity & low, identity >> 32, block & low, block >> 32
    left, right = key & low, key >> 32
    for _ in range(10):
        one, two = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = two >> 32 ^ b ^ left, two & low, one >> 32 ^ d ^ right, one & low
        left, right = left + 0x9E3779B9 & low, right + 0xBB67AE85 & low
    return a | b << 32, c | d << 32


@kernel
def philox(identities: Words, block: np.uint64, key: np.uint64, words: Words) -> None:
    """Write the two words of `reference_philox` for each identity into the rows of `words`."""
    for user in range(identities.size):
        a, b = identities[user] & LOW, identities[user] >> HALF
        c, d = block & LOW, block >> HALF
        left, right = key & LOW, key >> HALF
        # Kept in the body: the loop over users becomes vector code only if nothing is called.
        for _ in range(ROUNDS):
            one, two = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
            a, b, c, d = two >> HALF ^ b ^ left, two & LOW, one >> HALF ^ d ^ right, one & LOW
            left, right = (left + _INCREMENTS[0]) & LOW, (right + _INCREMENTS[1]) & LOW
        words[0, user] = a | b << HALF
        words[1, user] = c | d << HALF


@kernel
def _fill(identities: Words, key: np.uint64, words: Words, draws: Draws) -> None:
    """Fill the columns of `draws`, two at a time; `words` is room for two of each user."""
    users, count = draws.shape
    for column in range(0, count, 2):
        philox(identities, np.uint64(column // 2), key, words)
        for half in range(min(2, count - column)):
            for user in range(users):
                draws[user, column + half] = (words[half, user] >> SPARE) * UNIT


def _key(seed: int, purpose: str) -> int:
    if not isinstance(purpose, str) or not purpose:
        raise InvalidInput(
            f"purpose must be a string that says what the draws are for, got {purpose!r}: "
            'pass one such as "site A/noise"',
            code="missing-purpose",
        )
    # Digits never contain a colon, so no two pairs share a text.
    return _hash(f"{whole_number('seed', seed, least=0):x}:{purpose}")


def _hash(text: str) -> int:
    """BLAKE2b of 64 bits, lowest byte first; `b2sum -l 64` prints the same bytes."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _identities(users: Users) -> npt.NDArray[np.integer[Any]]:
    """Users as numbers of up to 64 bits."""
    if isinstance(users, range) and users.start in _SIGNED and users.stop in _SIGNED:
        users = np.arange(users.start, users.stop, users.step)
    # Without object, numpy would turn a list of 1 and "1" into two equal strings.
    array = np.asarray(users) if hasattr(users, "__array__") else np.array(users, dtype=object)
    if array.ndim != 1:
        raise InvalidInput(
            f"users must be an array or sequence with one id per user, got shape {array.shape}: "
            "flatten an array, turn anything else into a list",
            code="wrong-shape",
        )
    if array.dtype.kind in "iu":
        return array
    values = list(array)
    kinds = set(map(type, values))
    if all(issubclass(kind, str) for kind in kinds):
        return np.fromiter(map(_hash, values), np.uint64, len(values))
    if not all(map(_is_whole, kinds)):
        raise InvalidInput(
            "users must be all whole numbers or all strings, got "
            f"{', '.join(sorted(kind.__name__ for kind in kinds))}: convert them to one of the two",
            code="mixed-ids",
        )
    if min(values) < _SIGNED.start or max(values) >= 2**64:
        raise InvalidInput(
            f"user ids must fit in 64 bits, got {min(values)} to {max(values)}: "
            "pass longer ones as strings",
            code="id-out-of-range",
        )
    return np.array([int(value) % 2**64 for value in values], np.uint64)


def _is_whole(kind: type) -> bool:
    # Python counts truth values among the integers, and numpy counts spans of time.
    return issubclass(kind, int | np.integer) and not issubclass(kind, bool | np.timedelta64)
