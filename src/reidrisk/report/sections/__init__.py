"""The sections of a report, in order; one without records is left out.

A section is one file with a function of a result. Those of others come after ours, by the same
function.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from reidrisk.core.plugins import part_at
from reidrisk.core.sanitize import cleaned
from reidrisk.errors import InvalidInput
from reidrisk.report.exhibits import Section
from reidrisk.report.sections import (
    growth,
    guesses,
    independence,
    information,
    per_user,
    regulators,
    releases,
    sizes,
    spectrum,
    strangers,
    sweeps,
    threat_models,
)
from reidrisk.study.result import Result

SectionOf = Callable[[Result], Section | None]

_ORDER: tuple[SectionOf, ...] = (
    spectrum.section,
    regulators.section,
    growth.section,
    guesses.section,
    sizes.section,
    per_user.section,
    strangers.section,
    sweeps.section,
    releases.section,
    information.section,
    independence.section,
    threat_models.section,
)
_WANTED = "a section of the report: a function of a result that gives a Section or None"
# Names of places in the page that are not sections made here.
_TAKEN = ("limits", "again", "theme", "title")


def sections(result: Result, more: Sequence[SectionOf] = ()) -> tuple[Section, ...]:
    """Those that have something to say; `more` are of others, and come last."""
    made = [section(result) for section in _ORDER] + [_foreign(one, result) for one in more]
    kept = tuple(section for section in made if section)
    _check_names(kept)
    return kept


def section_at(path: str) -> SectionOf:
    """A section of someone else, by `package.module:function`.

    Example:
        >>> rr.report.section_at("reidrisk.report.sections.per_user:section").__name__
        'section'
    """
    return _callable(part_at(path, _WANTED), path)


def _foreign(function: SectionOf, result: Result) -> Section | None:
    name = getattr(function, "__qualname__", repr(function))
    made = _callable(function, name)(result)
    if made is not None and not isinstance(made, Section):
        raise InvalidInput(
            f"{name} should be {_WANTED}, but it gave {type(made).__name__}", code="not-a-section"
        )
    return cleaned(made)


def _callable(part: SectionOf, name: str) -> SectionOf:
    if not callable(part):
        raise InvalidInput(
            f"{name!r} should be {_WANTED}, but it is {type(part).__name__}", code="not-a-section"
        )
    return part


def _check_names(made: Sequence[Section]) -> None:
    """Names become addresses in the page and names of files."""
    exhibits = [exhibit.name for section in made for exhibit in section.exhibits]
    for names in (Counter([*_TAKEN, *(section.name for section in made)]), Counter(exhibits)):
        for name, times in names.items():
            if times > 1:
                raise InvalidInput(
                    f"two parts of the report are called {name!r}; give yours another name",
                    code="duplicate-section",
                )
            if not re.fullmatch("[a-z0-9-]+", name):
                raise InvalidInput(
                    f"{name!r} cannot be the name of a part of the report; use a to z, digits "
                    "and hyphens",
                    code="invalid-section-name",
                )
