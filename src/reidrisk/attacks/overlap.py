"""Compare what two users were ever shown, whenever it was: the attack of other studies."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reidrisk.attacks.release import Release, check_alphabet
from reidrisk.observations import Observations
from reidrisk.scores import ProfileWeights


@dataclass(frozen=True, slots=True)
class ProfileOverlap:
    """Guess the user with the most tokens in common, whatever slots they were shown in.

    It serves where slots of two sites do not correspond. With a release the profile is denoised:
    a token that is more likely noise than real, `q_out > (q_in - q_out) p`, does not count.

    Args:
        release: What showed the tokens, to denoise; without it every token counts.
    """

    knows: ClassVar[str] = "nothing but the rows; the release if profiles are denoised"
    assumes: ClassVar[str] = "Makes no use of the week in which a token was shown."
    likelihood: ClassVar[bool] = False

    release: Release | None = None

    @property
    def name(self) -> str:
        """Denoised or not, these are two attacks."""
        return "profile-overlap" if self.release is None else "denoised-profile-overlap"

    def fit(self, seen: Observations) -> ProfileWeights:
        """One for each common token that counts."""
        if self.release is None:
            return ProfileWeights(np.ones(seen.tokens))
        check_alphabet(self.release, seen)
        popularity = self.release.popularity(seen, pooled=True).in_use[0]
        rise = self.release.q_in - self.release.q_out
        return ProfileWeights(np.where(rise * popularity < self.release.q_out, 0.0, 1.0))
