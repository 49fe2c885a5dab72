"""The two families of matrices by which the paper separates privacy notions."""

import numpy as np
import scipy

from reidrisk.core.checks import probability, whole_number
from reidrisk.errors import InvalidInput
from reidrisk.theory.matrix import RepresentationMatrix


def matching_beats_random_user(users: int) -> RepresentationMatrix:
    """Pairs of users who show a symbol of their own or one they share, half and half.

    The best random-user accuracy is 3/4, the best matching accuracy 7/8.  Paper: lemma 5.

    Args:
        users: Number of users.

    Example:
        >>> pairs = rr.theory.matching_beats_random_user(4)
        >>> rr.theory.random_user_optimum(pairs), round(rr.theory.upper_matching(pairs), 4)
        (0.75, 0.875)
    """
    users = whole_number("users", users, least=2)
    if users % 2:
        raise InvalidInput(
            f"users come in pairs here, got {users}; take an even number",
            code="odd-number-of-users",
        )
    everyone = np.arange(users)
    rows = np.concatenate([everyone, everyone])
    # m = 3n/2: a symbol for each user, then one for each pair.
    columns = np.concatenate([everyone, users + everyone // 2])
    return RepresentationMatrix(scipy.sparse.coo_array((np.full(2 * users, 0.5), (rows, columns))))


def safe_without_promise(users: int) -> RepresentationMatrix:
    """Two representations, of which user i shows the second with chance (i - 1) / (n - 1).

    The best accuracy is 2/n, although P is (epsilon, delta)-locally private only with delta = 1
    and not k-anonymous (but for n = 2, where k = 1): neither is necessary.  Paper: lemma 8.

    Args:
        users: Number of users.

    Example:
        >>> shown = rr.theory.safe_without_promise(10)
        >>> rr.theory.random_user_optimum(shown), rr.theory.local_dp_epsilon(shown)
        (0.2, inf)
    """
    users = whole_number("users", users, least=2)
    second = np.linspace(0.0, 1.0, users)
    return RepresentationMatrix(np.column_stack([1 - second, second]))


_FAVOURITES = ((0, 1), (0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 5), (4, 5))
"""What the eight listeners of the built-in example like: two of six genres each."""

_GENRES = ("classical", "folk", "jazz", "metal", "rock", "soul")


def listeners(noise: float = 0.0) -> RepresentationMatrix:
    """Eight listeners who each show one of two favourite genres, or, as noise, any of the six.

    Args:
        noise: Chance that the genre shown is drawn from all six.

    Example:
        >>> listeners = rr.theory.listeners()
        >>> listeners.users, listeners.representation_labels[:3].tolist()
        (8, ['classical', 'folk', 'jazz'])
        >>> rr.theory.random_user_optimum(listeners)
        0.375
    """
    noise = probability("noise", noise)
    likes = np.zeros((len(_FAVOURITES), len(_GENRES)))
    np.put_along_axis(likes, np.array(_FAVOURITES), 1 / 2, axis=1)
    shown = (1 - noise) * likes + noise / len(_GENRES)
    return RepresentationMatrix(shown, representation_labels=_GENRES)
