"""Information that was counted and learned, as a study of the sample could have found it."""

from dataclasses import replace

from tests.report.sample import LEVEL, sample

from reidrisk.information.records import Mean
from reidrisk.study.result import Independence, Learned, LearningCurve, Reckoned

WARNING = "400 users are too few for the alphabet."


def figure(name, by, bits, reach, *, slots=4, leans="either", how="", warning=""):
    return Reckoned(
        name, by, how, leans, slots, bits, bits - reach, bits + reach, LEVEL, 400, "what it is",
        warning,
    )  # fmt: skip


def curve(name, start, end):
    looks = tuple(
        (100 * step, end + (start - end) / step - 0.05, end + (start - end) / step)
        for step in range(1, 9)
    )
    return LearningCurve(name, looks)


def reckoned_sample():
    """The sample with figures of all kinds."""
    return replace(
        sample(),
        reckoned=(
            figure("entropy", "counts", 7.51, 0.02, slots=1),
            figure("conditional entropy", "counts", 5.6, 0.6, slots=1),
            figure("mutual information", "counts", 1.9, 0.6, slots=1, warning=WARNING),
            figure("mutual information", "counts", 5.1, 0.1, slots=1, leans="high", how="plug-in"),
            figure("mutual information", "counts", -0.2, 0.1, slots=1, leans="low", how="shuffled"),
            figure("entropy", "laptop", 6.62, 0.03, leans="high"),
            figure("conditional entropy", "laptop", 5.53, 0.04, leans="high"),
            figure("mutual information", "laptop", 1.09, 0.05),
        ),
        learned=(
            Learned("laptop", 18_432, 4, 280, 40, 80,
                    (curve("entropy", 7.9, 6.6), curve("conditional entropy", 7.7, 5.5))),
        ),
        independence=(
            Independence(4, Mean(3.7, 0.04), Mean(4.36, 0.05), Mean(0.66, 0.01), "laptop", 80),
        ),
    )  # fmt: skip
