"""The closed world: everyone's top sets are known.  Paper: section 7, full information."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.release import Release, check_alphabet
from reidrisk.errors import InvalidInput
from reidrisk.observations import SETS, Observations
from reidrisk.scores import SetWeights
from reidrisk.scores.chances import IMPOSSIBLE, log_chance


@dataclass(frozen=True, slots=True)
class FullInformation:
    """Guess the user whose top sets hold the shown token in the most weeks.

    It is the best rule of an attacker who knows every user's distribution, and so the upper end of
    what any attacker can do with what one site is shown. Known rows are top sets, users x slots x
    top: `TopicsApi.reveal`.

    Args:
        release: What showed the tokens.
    """

    name: ClassVar[str] = "full-information"
    knows: ClassVar[str] = "every user's top set of every week"
    assumes: ClassVar[str] = "Best whatever the population is: the whole distribution is known."
    likelihood: ClassVar[bool] = True

    release: Release

    def fit(self, seen: Observations) -> SetWeights:
        """The chance to be shown, inside and outside a top set."""
        check_alphabet(self.release, seen)
        if seen.known.ndim != SETS or seen.set_size != self.release.top:
            raise InvalidInput(
                f"full information needs top sets of {self.release.top} tokens for each user and "
                "slot; use the observations of TopicsApi.reveal"
            )
        # A user without a top set in a week shows nothing in it. A missing slot adds nothing, so
        # this is made the worst outcome by raising all others.
        lift = 0.0 if seen.complete else -IMPOSSIBLE
        inside = np.full(seen.tokens, log_chance(self.release.q_in) + lift)
        return SetWeights(inside, log_chance(self.release.q_out) + lift)
