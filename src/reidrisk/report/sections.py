"""The sections of a report, in order; one without records is left out."""

from reidrisk.report import growth, information, people, sizes, spectrum, sweeps
from reidrisk.report.parts import Section
from reidrisk.study.result import Result

_ORDER = (
    spectrum.section,
    growth.section,
    sizes.section,
    people.section,
    sweeps.section,
    information.section,
)


def sections(result: Result) -> tuple[Section, ...]:
    """Those that have something to say."""
    made = (section(result) for section in _ORDER)
    return tuple(section for section in made if section)
