"""Mechanisms that turn people into what sites see."""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk.releases._observe import are_strangers, observe, repeat, reveal
    from reidrisk.releases.bits import Bits
    from reidrisk.releases.cohorts import Cohorts
    from reidrisk.releases.exact import ExactRows
    from reidrisk.releases.gaps import GapChances
    from reidrisk.releases.generalised import Generalised
    from reidrisk.releases.item_samples import ItemSamples
    from reidrisk.releases.minimum_users import MinimumUsers
    from reidrisk.releases.parameters import Parameter, parameter, parameters_of
    from reidrisk.releases.protocol import (
        AnyRelease,
        Exact,
        Informs,
        KnowsWhoIsThere,
        OneOfTop,
        Recodes,
        Release,
        Reveals,
        SaysGaps,
        ShowsOneOfTop,
        Surveys,
        prepared,
    )
    from reidrisk.releases.randomised_response import RandomisedResponse
    from reidrisk.releases.topics.api import TopicsApi
    from reidrisk.releases.topics.popularity import Popularity, popularity
    from reidrisk.releases.utilities import Utility, utility
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "bits": ("Bits",),
            "cohorts": ("Cohorts",),
            "exact": ("ExactRows",),
            "gaps": ("GapChances",),
            "generalised": ("Generalised",),
            "item_samples": ("ItemSamples",),
            "minimum_users": ("MinimumUsers",),
            "_observe": ("are_strangers", "observe", "repeat", "reveal"),
            "parameters": ("Parameter", "parameter", "parameters_of"),
            "randomised_response": ("RandomisedResponse",),
            "protocol": (
                "AnyRelease",
                "Exact",
                "Informs",
                "KnowsWhoIsThere",
                "OneOfTop",
                "Recodes",
                "Release",
                "Reveals",
                "SaysGaps",
                "ShowsOneOfTop",
                "Surveys",
                "prepared",
            ),
            "topics.api": ("TopicsApi",),
            "topics.popularity": ("Popularity", "popularity"),
            "utilities": ("Utility", "utility"),
        },
    )

__all__ = [
    "AnyRelease",
    "Bits",
    "Cohorts",
    "Exact",
    "ExactRows",
    "GapChances",
    "Generalised",
    "Informs",
    "ItemSamples",
    "KnowsWhoIsThere",
    "MinimumUsers",
    "OneOfTop",
    "Parameter",
    "Popularity",
    "RandomisedResponse",
    "Recodes",
    "Release",
    "Reveals",
    "SaysGaps",
    "ShowsOneOfTop",
    "Surveys",
    "TopicsApi",
    "Utility",
    "are_strangers",
    "observe",
    "parameter",
    "parameters_of",
    "popularity",
    "prepared",
    "repeat",
    "reveal",
    "utility",
]
