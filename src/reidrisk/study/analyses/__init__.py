"""What a study may ask, a question a file; in the order of their steps, cheapest insight first."""

from reidrisk.study.analyses import (
    beside,
    bounds,
    claims,
    crowds,
    information,
    models,
    risks,
    single_users,
    strangers,
    sweeps,
)
from reidrisk.study.analyses.analysis import Analysis

ANALYSES: tuple[Analysis, ...] = (
    risks,
    claims,
    strangers,
    models,
    crowds,
    single_users,
    information,
    bounds,
    sweeps,
    beside,
)
