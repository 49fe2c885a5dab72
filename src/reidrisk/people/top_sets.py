"""Cut or pad the top sets of users to a fixed size."""

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import whole_number
from reidrisk.core.parallel import kernel
from reidrisk.core.randomness import uniforms
from reidrisk.errors import InvalidInput

Tokens = NDArray[np.int32]


def cut_or_pad(
    sets: Tokens,
    ids: NDArray[np.int64],
    *,
    top: int,
    seed: int,
    priority: NDArray[np.int8] | None,
    tokens: int,
) -> Tokens:
    """Sets of `top` tokens each: higher priority first, then chance; or with random tokens added.

    Args:
        sets: Users x epochs x size.
        ids: Of the users; chance is drawn by them.
        top: Size of the answer's sets.
        seed: Of the draws.
        priority: One number per token, all equal if None.
        tokens: Size of the alphabet.
    """
    users, epochs, size = sets.shape
    if whole_number("top", top, least=1) > tokens:
        raise InvalidInput(
            f"top is at most the number of topics, {tokens}; got {top}", code="top-too-large"
        )
    ranks = np.zeros(tokens, np.int8) if priority is None else np.asarray(priority, np.int8)
    count = epochs * max(size, top - size)
    draws = uniforms(seed=seed, purpose="people/top", users=ids, count=count)
    answer = np.empty((users, epochs, top), np.int32)
    fill = cut if top <= size else pad
    fill(sets, ranks, draws.reshape(users, epochs, -1), answer)
    return answer


@kernel
def cut(sets: Tokens, ranks: NDArray[np.int8], draws: NDArray[np.float64], answer: Tokens) -> None:
    """Keep the members of highest rank; between equals the larger draw wins."""
    users, epochs, top = answer.shape
    for user in range(users):
        for epoch in range(epochs):
            members = sets[user, epoch]
            keys = ranks[members] + draws[user, epoch]  # draws are below 1, ranks are whole
            best = np.argsort(-keys)
            for place in range(top):
                answer[user, epoch, place] = members[best[place]]


@kernel
def pad(sets: Tokens, ranks: NDArray[np.int8], draws: NDArray[np.float64], answer: Tokens) -> None:
    """Add tokens that are not in the set, each uniform among those left."""
    users, epochs, size = sets.shape
    for user in range(users):
        for epoch in range(epochs):
            chosen = answer[user, epoch]
            for place in range(size):
                chosen[place] = sets[user, epoch, place]
            for place in range(size, chosen.size):
                left = ranks.size - place
                token = min(int(draws[user, epoch, place - size] * left), left - 1)
                for taken in np.sort(chosen[:place]):
                    token += taken <= token
                chosen[place] = token
