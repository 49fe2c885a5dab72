"""What every attack promises, ours and those of others, and what it may look at."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

from reidrisk.observations import Observations
from reidrisk.people.interests import Interests
from reidrisk.releases.release import Release
from reidrisk.scores import Score


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """What an attacker may use to fit: never the truth, nor the rows that are to be named.

    Attributes:
        known: Rows whose user the attacker knows.
        tokens: Size of the alphabet.
        complete: Whether no known slot is empty.
        set_size: How many tokens are known of one slot.
        release: What showed the rows, if that is known.
        panel: Other users, of whom both sides and who is who are known.
        population: How interests are spread over people, if that is known.
    """

    known: Any
    tokens: int
    complete: bool
    set_size: int
    release: Release | None = None
    panel: Observations | None = None
    population: Interests | None = None

    @classmethod
    def of(
        cls,
        seen: Observations,
        *,
        release: Release | None = None,
        panel: Observations | None = None,
        population: Interests | None = None,
    ) -> Self:
        """What an attacker who has seen this may use, and knows that besides."""
        return cls(
            seen.known, seen.tokens, seen.complete, seen.set_size, release, panel, population
        )

    @property
    def slots(self) -> int:
        """Number of slots of every row."""
        return int(self.known.shape[1])


class Attack(Protocol):
    """How an attacker rates known users; fitted on what the attacker may see.

    Attributes:
        name: Short, in lower case, as on the command line.
        knows: What the attacker needs to know, beside the rows: part of a sentence.
        assumes: Under what the attack is the best possible: a sentence.
        likelihood: Whether a fitted score is the logarithm of a chance, `log Pr(shown | known)`, up
            to what is the same for all users. Only then does an attacker know how sure it is.
        needs: What of the view must be there: "release", "panel", "population"; none of them if
            the attack was given it.

    A plug-in is a frozen dataclass with these; `reidrisk.testing.check_attack` tests one.
    """

    @property
    def name(self) -> str: ...  # noqa: D102  explained above

    @property
    def knows(self) -> str: ...  # noqa: D102

    @property
    def assumes(self) -> str: ...  # noqa: D102

    @property
    def likelihood(self) -> bool: ...  # noqa: D102

    @property
    def needs(self) -> tuple[str, ...]: ...  # noqa: D102

    def fit(self, view: View) -> Score:
        """The score, from what an attacker may see."""
        ...
