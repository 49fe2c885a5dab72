"""Re-identification risk, measured: if we release this, can a person be picked out again?

The parts are loaded when they are first used, so importing the package is quick. The examples in
docstrings take two lines for granted: `import numpy as np` and `import reidrisk as rr`.

    >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
    >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
    >>> print(study.run(people).risks[0].estimate)
    2.3403% [1.3669%, 3.7266%] (95%, n=1,000)
"""

from typing import TYPE_CHECKING

from reidrisk.core.lazy import on_first_use

if TYPE_CHECKING:
    from reidrisk import (
        attacks,
        data,
        estimates,
        information,
        report,
        reproduction,
        risk,
        study,
        testing,
        theory,
    )
    from reidrisk.attacks import (
        FullInformation,
        Hamming,
        Overlap,
        RarityOverlap,
        Repetition,
        TypeAware,
        WeightedHamming,
    )
    from reidrisk.core.matches import Matches
    from reidrisk.core.observations import Observations
    from reidrisk.core.randomness import uniforms
    from reidrisk.core.rows import BagRows, SetRows, TokenRows
    from reidrisk.engines import LocalEngine, ReferenceEngine
    from reidrisk.engines.spark import SparkEngine
    from reidrisk.errors import InvalidInput, MissingExtra, ReidriskError, TooLarge
    from reidrisk.estimates import Estimate
    from reidrisk.io.parquet_rows import ParquetRows
    from reidrisk.releases import (
        Cohorts,
        Generalised,
        ItemSamples,
        MinimumUsers,
        RandomisedResponse,
        TopicsApi,
        popularity,
    )
    from reidrisk.risk import (
        measure,
        measure_guesses,
        measure_sizes,
        measure_strangers,
        optimum,
        per_user,
        posterior,
        singling,
        spectrum,
        unicity,
    )
    from reidrisk.scores import OverlapWeights, TokenTable, TokenWeights, TypeMixture
    from reidrisk.study import Result, Study, compare, explain
    from reidrisk.theory import RepresentationMatrix
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "attacks": (
                "FullInformation",
                "Hamming",
                "Overlap",
                "RarityOverlap",
                "Repetition",
                "TypeAware",
                "WeightedHamming",
            ),
            "engines": ("LocalEngine", "ReferenceEngine"),
            "engines.spark": ("SparkEngine",),
            "errors": ("InvalidInput", "MissingExtra", "ReidriskError", "TooLarge"),
            "estimates": ("Estimate",),
            "io.parquet_rows": ("ParquetRows",),
            "core.matches": ("Matches",),
            "core.observations": ("Observations",),
            "core.randomness": ("uniforms",),
            "risk": (
                "measure",
                "measure_guesses",
                "measure_sizes",
                "measure_strangers",
                "optimum",
                "per_user",
                "posterior",
                "singling",
                "spectrum",
                "unicity",
            ),
            "releases": (
                "Cohorts",
                "Generalised",
                "ItemSamples",
                "MinimumUsers",
                "RandomisedResponse",
                "TopicsApi",
                "popularity",
            ),
            "core.rows": ("BagRows", "SetRows", "TokenRows"),
            "scores": ("OverlapWeights", "TokenTable", "TokenWeights", "TypeMixture"),
            "study": ("Result", "Study", "compare", "explain"),
            "theory": ("RepresentationMatrix",),
            "data": (),
            "report": (),
            "reproduction": (),
            "testing": (),
            "information": (),
        },
    )

__version__ = "0.2.0"

__all__ = [
    "BagRows",
    "Cohorts",
    "Estimate",
    "FullInformation",
    "Generalised",
    "Hamming",
    "InvalidInput",
    "ItemSamples",
    "LocalEngine",
    "Matches",
    "MinimumUsers",
    "MissingExtra",
    "Observations",
    "Overlap",
    "OverlapWeights",
    "ParquetRows",
    "RandomisedResponse",
    "RarityOverlap",
    "ReferenceEngine",
    "ReidriskError",
    "Repetition",
    "RepresentationMatrix",
    "Result",
    "SetRows",
    "SparkEngine",
    "Study",
    "TokenRows",
    "TokenTable",
    "TokenWeights",
    "TooLarge",
    "TopicsApi",
    "TypeAware",
    "TypeMixture",
    "WeightedHamming",
    "__version__",
    "attacks",
    "compare",
    "data",
    "estimates",
    "explain",
    "information",
    "measure",
    "measure_guesses",
    "measure_sizes",
    "measure_strangers",
    "optimum",
    "per_user",
    "popularity",
    "posterior",
    "report",
    "reproduction",
    "risk",
    "singling",
    "spectrum",
    "study",
    "testing",
    "theory",
    "unicity",
    "uniforms",
]
