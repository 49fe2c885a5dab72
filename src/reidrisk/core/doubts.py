"""Doubts: named reasons not to trust a low figure, and what each of their codes means."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from reidrisk.errors import InvalidInput

Code = Literal[
    "blind",
    "compared-by-equality",
    "copies",
    "counts-ignored",
    "few-shared",
    "input",
    "low-level",
    "misaligned",
    "not-compared",
    "not-this-run",
    "nothing-shared",
    "other-crowd",
    "other-knowledge",
    "other-unit",
    "partial-portfolio",
    "register-incomplete",
    "register-unmatched",
    "rows-left-out",
    "spelled-differently",
    "unassessed",
    "unequal-sizes",
    "unmatched-users",
    "unsealed",
    "weak-attacks",
    "winners-agree",
]
"""Of doubts; they stay as they are, since gates name them."""

CODES: Mapping[Code, str] = {
    "blind": (
        "the strongest attack is not shown to be better than guessing: look for an attacker who "
        "sees what these did not, or have it proved that there is none"
    ),
    "compared-by-equality": (
        "a column of numbers with decimals or of long texts was compared by equality, so that "
        "values that are near count as different: round them, cut them into ranges, or write them "
        "in one form"
    ),
    "copies": (
        "more rows than chance explains are equal to another, and people may hide among copies of "
        "themselves: remove the copies"
    ),
    "counts-ignored": (
        "baskets hold items several times, and no attack that compares how often was tried: add "
        "one, such as cosine"
    ),
    "few-shared": (
        "the two tables share few of their values: write the same things alike in both"
    ),
    "input": "what was read may be spoilt, for a reason that has no code of its own: see its text",
    "low-level": (
        "a figure holds with a lower level than was asked for, or with less than 90 %: raise level"
    ),
    "misaligned": (
        "rows would agree better after a small shift of slots, codes or users: check that both "
        "tables count from the same beginning"
    ),
    "not-compared": (
        "something of this run is not in the run to compare with, so it was not compared: run the "
        "other with the same slots and attacks"
    ),
    "not-this-run": (
        "the result is not that of the run in whose folder it lies: run the study again"
    ),
    "nothing-shared": (
        "people share no more with their own row than with those of others, so attacks that count "
        "what is shared find nobody: look at how the tables were split"
    ),
    "other-crowd": (
        "the run to compare with chose among another number of users: compare runs of the same "
        "number"
    ),
    "other-knowledge": (
        "attackers of the run to compare with know something else: compare runs of the same "
        "columns and points"
    ),
    "other-unit": "the run to compare with counts another unit: compare runs of the same unit",
    "partial-portfolio": (
        "an attack did not run, or ran on a sample: run it again with more effort or time"
    ),
    "register-incomplete": (
        "the register has fewer people with some values than the table, so it is not complete: "
        "use a complete one"
    ),
    "register-unmatched": (
        "no record has its values in the register: write the values alike in both"
    ),
    "rows-left-out": (
        "many rows name no user and are in no figure: fill the column of users"
    ),
    "spelled-differently": (
        "one thing seems to be written in two ways, and counts as two: write it in one way"
    ),
    "unassessed": (
        "more than 10 % of the targets are in no figure, because one side saw nothing of them: "
        "they may still be at risk, so say why they are left out"
    ),
    "unequal-sizes": (
        "baskets differ widely in size, and no attack that allows for it was tried, so that large "
        "rows win by their size: add one, such as cosine"
    ),
    "unmatched-users": (
        "a pattern does not match some users, who may then be nobody in the other table: correct "
        "the pattern"
    ),
    "unsealed": "the result carries no checksum, so it may have been changed: run the study again",
    "weak-attacks": (
        "only attacks were judged that leave out what attackers may well know: add one that "
        "weighs tokens, learns from rows, or knows the release"
    ),
    "winners-agree": (
        "rows single out other people, with whom they agree far better than with their own row: "
        "check that ids did not slip, and that the truth is right"
    ),
}  # fmt: skip
"""What each code means, and what to do about it."""

ABOUT_STRENGTH = frozenset({
    "blind", "compared-by-equality", "counts-ignored", "nothing-shared", "partial-portfolio",
    "unequal-sizes", "weak-attacks",
})  # fmt: skip
"""Doubts whether stronger attackers would find more. What is proved of all attackers answers them;
it does not answer doubts whether what was read is what it seems."""


@dataclass(frozen=True)
class Doubt:
    """A named reason not to trust a low figure; it fails the gate until accepted by its code.

    Attributes:
        code: One of `CODES`.
        text: What was seen, in a sentence.

    Example:
        >>> doubt = rr.study.Doubt("partial-portfolio", "latent ran on 500 of 9,000 targets.")
        >>> print(doubt)
        partial-portfolio: latent ran on 500 of 9,000 targets.
        >>> doubt.about_strength
        True
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "strict": True}

    code: Code
    text: str

    def __post_init__(self) -> None:
        known_codes((self.code,), "a doubt")

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"

    @property
    def about_strength(self) -> bool:
        """Whether it asks if a stronger attacker would find more."""
        return self.code in ABOUT_STRENGTH


def known_codes(codes: Iterable[str], what: str) -> tuple[Code, ...]:
    """The codes, each once, in the order of the table; unknown ones are refused.

    Args:
        codes: Of doubts.
        what: What names them, for a message.
    """
    given = {codes} if isinstance(codes, str) else set(codes)
    if unknown := sorted(given - CODES.keys()):
        raise InvalidInput(
            f"{what} has a code, and {unknown[0]!r} is none; the codes are {', '.join(CODES)}",
            code="unknown-doubt",
        )
    return tuple(code for code in CODES if code in given)


class CodedWarning(str):
    """A warning about what was read: its sentence, which knows the code of the doubt it becomes.

    Readers, notes and data frames go on to see a sentence.
    """

    __slots__ = ("code",)

    code: Code

    def __new__(cls, text: str, code: Code = "input") -> Self:
        """A sentence with a code."""
        made = super().__new__(cls, text)
        made.code = code
        return made


def coded(code: Code, sentences: Iterable[str]) -> Iterator[CodedWarning]:
    """Warnings with a code.

    Args:
        code: One of `CODES`.
        sentences: Of warnings.
    """
    for sentence in sentences:
        yield CodedWarning(sentence, code)


def doubts_of_warnings(warnings: Collection[str]) -> tuple[Doubt, ...]:
    """The doubts that warnings of a source are; those without a code have the code `input`.

    Args:
        warnings: Sentences.
    """
    return tuple(Doubt(getattr(one, "code", "input"), str(one)) for one in warnings)
