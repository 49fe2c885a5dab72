"""What attacks need to know of a release that shows one token of a top set."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reidrisk.errors import InvalidInput
from reidrisk.observations import Observations
from reidrisk.releases.topics.popularity import Shown as ShowsOneOfTop
from reidrisk.scores.chances import log_chance

Floats = NDArray[np.float64]


class Estimated(Protocol):
    """An estimate of popularity."""

    @property
    def in_use(self) -> Floats:
        """Chance of each token to be in a top set, rows x tokens; above 0, at most 1."""
        ...


class Release(ShowsOneOfTop, Protocol):
    """A release that shows tokens of a top set more often than others, such as `TopicsApi`."""

    def popularity(
        self, known: NDArray[np.integer[Any]] | Observations, *, pooled: bool
    ) -> Estimated:
        """How popular tokens are, as far as known rows tell."""
        ...


def check_alphabet(release: Release, seen: Observations) -> None:
    """Refuse rows of another alphabet than the release's."""
    if seen.tokens != release.topics:
        raise InvalidInput(
            f"the observations have {seen.tokens} tokens and the release {release.topics} topics; "
            f"fit the attack with the release that was observed, or topics={seen.tokens}"
        )


def marginal(release: Release, popularity: Floats, seen: Observations) -> Floats | float:
    """What to subtract from the logarithm of the chance of each token, if known slots are missing.

    A missing slot adds nothing to a score, which is right for a likelihood ratio: nothing is known
    of this user, so the chance is that of a random user. It would be wrong for a likelihood, whose
    logarithm is negative. Among complete rows the two rank alike; there we keep to the paper's.
    """
    if seen.complete:
        return 0.0
    return log_chance(release.q_out + (release.q_in - release.q_out) * popularity)
