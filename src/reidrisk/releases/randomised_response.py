"""Release: randomised response, the true token or any other (Warner 1965)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidrisk.core.checks import real_number
from reidrisk.core.observations import MISSING
from reidrisk.core.randomness import uniforms
from reidrisk.core.rows import TokenRows
from reidrisk.estimates.estimate import Bound
from reidrisk.people.protocol import People
from reidrisk.releases.exact import ExactRows, independent_rows
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.guarantees import local_privacy
from reidrisk.releases.parameters import parameter
from reidrisk.releases.protocol import Crowd, Floats, OneOfTop
from reidrisk.scores import TokenWeights
from reidrisk.scores.protocol import IMPOSSIBLE_GAIN, log_chance


@dataclass(frozen=True, slots=True)
class RandomisedResponse:
    """Show, in each epoch, the user's heaviest token, or by chance another one.

    With N tokens the truth is shown with chance `e^epsilon / (e^epsilon + N - 1)`, every other
    token with chance `1 / (e^epsilon + N - 1)`. Where a user was away nothing is shown.

    Args:
        epsilon: Local differential privacy of one slot, in nats; infinite shows the truth.

    Example:
        >>> round(rr.RandomisedResponse(epsilon=1.0986).one_of_top(2).q_in, 3)
        0.75
    """

    name: ClassVar[str] = "randomised-response"

    epsilon: float = parameter(
        help="Local differential privacy of one slot, in nats",
        least=0,
        safer_as_it_grows=False,
        search=(0.01, 20.0),
        example=3,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", real_number("epsilon", self.epsilon, least=0))

    def slots(self, people: People) -> int:
        """One for each epoch."""
        return people.epochs

    def one_of_top(self, tokens: int) -> OneOfTop:
        """Chances with which the true token, and any other, is shown."""
        # exp overflows above 709; from there on the chance of another token is 0 anyway.
        other = 1 / (math.exp(min(self.epsilon, 700.0)) + tokens - 1)
        other = 0.0 if math.isinf(self.epsilon) else other
        return OneOfTop(tokens, 1, 1 - (tokens - 1) * other, other)

    def show(
        self, people: People, start: int, stop: int, *, site: int, seed: int, again: int = 0
    ) -> TokenRows:
        """What a site is shown of users `start` to `stop`: users x slots."""
        true = people.top_sets(start, stop, top=1, seed=seed)[:, :, 0]
        purpose = f"randomised response/site {site}/again {again}"
        coins = uniforms(
            seed=seed, purpose=purpose, users=people.ids[start:stop], count=true.shape[1]
        )
        # 0 where the truth is always shown; the quotient below is then used nowhere.
        lies = 1 - self.one_of_top(people.tokens).q_in
        with np.errstate(divide="ignore", invalid="ignore"):
            # A draw below the chance of a lie is uniform again when divided by it; a quotient may
            # round up to 1.
            other = np.minimum(coins / lies * (people.tokens - 1), people.tokens - 2)
        other = np.where(coins < lies, other, 0).astype(true.dtype)
        other += other >= true  # skip the true token
        rows = np.where((coins < lies) & (true != MISSING), other, true)
        return TokenRows.checked(rows, tokens=people.tokens)

    def always_shows(self, people: People) -> bool:
        """Whether nobody is ever away: everybody who is there shows a token."""
        return people.complete

    def there(self, people: People, start: int, stop: int) -> NDArray[np.bool_]:
        """Whether a user was there in an epoch; those who show a random set count as there."""
        if people.complete:
            return np.ones((stop - start, people.epochs), bool)
        return np.asarray(people.top_sets(start, stop, top=1, seed=0)[:, :, 0] != MISSING)

    def promises(self, people: Crowd, slots: int) -> tuple[Bound, ...]:
        """Local differential privacy of all slots; none if people may be away: gaps tell."""
        return local_privacy(slots * self.epsilon, people.users) if people.complete else ()

    def gaps(self, known: Floats) -> GapChances:
        """Whoever is away is away from both sites."""
        return GapChances.of(known)

    def secrets(self, people: People, start: int, stop: int, *, seed: int) -> NDArray[np.int32]:
        """The true tokens: users x slots x 1."""
        return people.top_sets(start, stop, top=1, seed=seed)

    def likelihood(self, tokens: int) -> TokenWeights:
        """The exact likelihood of what is shown, given the true tokens, gaps included."""
        shown = self.one_of_top(tokens)
        return TokenWeights(
            np.full(tokens, log_chance(shown.q_in)),
            log_chance(shown.q_out),
            known_gap=IMPOSSIBLE_GAIN,
            shown_gap=IMPOSSIBLE_GAIN,
            both_gaps=0.0,
        )

    @property
    def independent_sites(self) -> bool:
        """True: each site has draws of its own."""
        return True

    def rows(self, people: People, *, site: int = 1, seed: int = 0) -> ExactRows:
        """Exactly what a site is shown of each user; all sites are alike."""
        true = people.top_sets(0, people.users, top=1, seed=seed)[:, :, 0]
        shown = self.one_of_top(people.tokens)
        chances = np.full((*true.shape, people.tokens + 1), shown.q_out)
        chances[:, :, -1] = 0.0
        # Where a user is away, -1 is the place of a gap; these rows are written anew below.
        np.put_along_axis(chances, true[:, :, None], shown.q_in, axis=2)
        away = true == MISSING
        chances[away] = 0.0
        chances[away, -1] = 1.0
        return independent_rows(chances)
