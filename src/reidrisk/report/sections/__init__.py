"""The sections of a report: one module each, in the order of their `ORDER`.

A section is a function of a result, called `section`; it returns None if there is nothing to show.
Sections of others come after ours.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from reidrisk.core.plugins import modules_of, part_at
from reidrisk.core.sanitize import cleaned
from reidrisk.errors import InvalidInput
from reidrisk.report.exhibits import Section
from reidrisk.report.sections import singling, unicity
from reidrisk.study.result import Result

SectionOf = Callable[[Result], Section | None]

_WANTED = "a section of the report: a function of a result that gives a Section or None"
# Names of places in the page that are not sections made here.
_TAKEN = ("limits", "again", "theme", "title")


@cache
def _own() -> tuple[SectionOf, ...]:
    """Sections of this package, in order."""
    modules = [one for one in modules_of(sys.modules[__name__]) if hasattr(one, "section")]
    return tuple(one.section for one in sorted(modules, key=lambda one: one.ORDER))


def sections(result: Result, more: Sequence[SectionOf] = ()) -> tuple[Section, ...]:
    """The sections of a report that have something to show.

    Args:
        result: What is reported.
        more: Sections of others, which come last.
    """
    made = [*_of(result), *(_foreign(one, result) for one in more)]
    kept = tuple(section for section in made if section)
    _check_names(kept)
    return kept


def _of(result: Result) -> Sequence[Section | None]:
    """What we show of a result: the sections of a table, or those of a study."""
    if result.singling is not None:
        return singling.sections(result.singling)
    if result.unicity is not None:
        return unicity.sections(result.unicity)
    return [section(result) for section in _own()]


def section_at(path: str) -> SectionOf:
    """A section of someone else, by `package.module:function`.

    Args:
        path: Such as `package.module:function`.

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
    # Our sections are made of a cleaned result; one of somebody else may add text of its own.
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
