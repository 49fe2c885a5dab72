"""Mechanisms that turn people into what sites see."""

from reidrisk.releases.exact import ExactRows
from reidrisk.releases.gaps import GapChances
from reidrisk.releases.item_samples import ItemSamples
from reidrisk.releases.observing import observe, repeat, reveal
from reidrisk.releases.parameters import Parameter, parameter, parameters_of
from reidrisk.releases.randomised_response import RandomisedResponse
from reidrisk.releases.release import (
    Bits,
    Exact,
    Informs,
    OneOfTop,
    Release,
    Reveals,
    SaysGaps,
    ShowsOneOfTop,
)
from reidrisk.releases.topics import Popularity, TopicsApi, popularity

__all__ = [
    "Bits",
    "Exact",
    "ExactRows",
    "GapChances",
    "Informs",
    "ItemSamples",
    "OneOfTop",
    "Parameter",
    "Popularity",
    "RandomisedResponse",
    "Release",
    "Reveals",
    "SaysGaps",
    "ShowsOneOfTop",
    "TopicsApi",
    "observe",
    "parameter",
    "parameters_of",
    "popularity",
    "repeat",
    "reveal",
]
