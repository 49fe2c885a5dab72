"""Count how many users hold each token, and merge tokens until enough do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.parallel import kernel
from reidrisk.errors import InvalidInput
from reidrisk.people.protocol import People
from reidrisk.releases.postprocess import own_tokens
from reidrisk.releases.profiles import Items, of_everybody
from reidrisk.releases.protocol import Release, Tokens, name_of

Counts = NDArray[np.int64]


def holders_of(people: People, own: Tokens, tokens: int) -> Counts:
    """Number of users who hold each token, in any epoch.

    Args:
        people: The people.
        own: The shown token that each token of people becomes, -1 for none.
        tokens: Number of shown tokens.
    """

    def count(items: Items) -> Counts:
        counts = np.zeros(tokens, np.int64)
        _count_holders(items.starts, items.members, own, np.full(tokens, -1, np.int64), counts)
        return counts

    counts: Counts = np.sum(list(of_everybody(people, count)), axis=0)
    return counts


def merged(people: People, own: Tokens, tokens: int, least: int) -> Tokens:
    """Groups of tokens, each held by at least `least` users: the group of each token.

    Tokens that enough users hold stay alone. The others are merged with their neighbours: from the
    first to the last, a group takes tokens until enough users hold any of them, and the next one
    begins. What is left at the end goes into the last group; if there is none, to the token that
    the fewest hold of those that stayed alone, the first of them.

    Args:
        people: The people.
        own: The shown token that each token of people becomes, -1 for none.
        tokens: Number of shown tokens.
        least: Number of users who must hold each group.

    Raises:
        InvalidInput: All tokens together are held by fewer.
    """
    counts = holders_of(people, own, tokens)
    rare = np.flatnonzero(counts < least)
    users, held = _all_pairs(people, own, counts < least)
    # Holders token by token, as `_fill_groups` reads them.
    order = np.argsort(held, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(held, minlength=tokens))])
    groups = np.full(tokens, -1, np.int32)
    complete = _fill_groups(
        rare, starts, users[order], least, np.full(people.users, -1, np.int64), groups
    )
    alone = np.flatnonzero(counts >= least)
    if not complete and not alone.size:
        raise InvalidInput(
            f"fewer than {least} users hold any token at all, so no token can be held by {least} "
            "of them; lower users, or show more people",
            code="too-few-users",
        )
    # The tokens of a last group that too few hold; none, if all groups are complete.
    left = groups == complete
    groups[left] = complete - 1
    groups[alone] = complete + np.arange(alone.size)
    if not complete and rare.size:
        groups[left] = complete + int(np.argmin(counts[alone]))
    return _by_first(groups)


@kernel
def _count_holders(
    starts: Counts, members: NDArray[Any], own: Tokens, last: Counts, counts: Counts
) -> None:
    """Count each user once per token, also where several tokens of people became the same one."""
    for user in range(starts.size - 1):
        for place in range(starts[user], starts[user + 1]):
            token = own[members[place]]
            if token >= 0 and last[token] != user:
                last[token] = user
                counts[token] += 1


@kernel
def _fill_groups(
    rare: Counts, starts: Counts, users: Counts, least: int, seen: Counts, groups: Tokens
) -> int:
    """Give tokens to groups, one after the other; returns how many groups are complete.

    The tokens of a last group that is not complete have that number.
    """
    group, held = 0, 0
    for token in rare:
        groups[token] = group
        for place in range(starts[token], starts[token + 1]):
            # A user with several tokens of the group counts once.
            if seen[users[place]] != group:
                seen[users[place]] = group
                held += 1
        if held >= least:
            group, held = group + 1, 0
    return group


def tokens_of(of: Release, people: People, what: str) -> Tokens:
    """What each token of people is shown as by a release; refused if it shows others."""
    own = own_tokens(of, people)
    if own is None:
        raise InvalidInput(
            f"{what} counts who holds each token, and {name_of(of)} shows no tokens that people "
            "hold; let it be of a release that does, such as item-samples",
            code="unsupported-release",
        )
    return own


def _all_pairs(people: People, own: Tokens, wanted: NDArray[np.bool_]) -> tuple[Counts, Counts]:
    """Pairs of a user and a wanted token that the user holds."""

    def some(items: Items) -> tuple[Counts, Counts, int]:
        users, held = _pairs(items, own)
        kept = wanted[held]
        return users[kept], held[kept], len(items.sizes)

    users, held, first = [], [], 0
    for mine, tokens, count in of_everybody(people, some):
        users.append(mine + first)
        held.append(tokens)
        first += count
    return np.concatenate(users), np.concatenate(held)


def _pairs(items: Items, own: Tokens) -> tuple[Counts, Counts]:
    users = np.repeat(np.arange(len(items.sizes)), items.sizes)
    held = own[items.members].astype(np.int64)
    return users[held >= 0], held[held >= 0]


def _by_first(groups: Tokens) -> Tokens:
    """Renumber groups by their first token, so that numbers do not depend on how they arose."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[group]
