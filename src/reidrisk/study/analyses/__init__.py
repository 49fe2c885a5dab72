"""What a study may ask, a question a file; in the order of their steps, cheapest insight first."""

from reidrisk.study.analyses import (
    bounds,
    claims,
    crowds,
    information,
    models,
    per_user,
    releases,
    risks,
    strangers,
    sweeps,
)
from reidrisk.study.analyses.protocol import Analysis

ANALYSES: tuple[Analysis, ...] = (
    risks,
    claims,
    strangers,
    models,
    crowds,
    per_user,
    information,
    bounds,
    sweeps,
    releases,
)
