"""People: where users and their tokens come from."""

from reidrisk.data.calibration import Calibration, SequenceTarget, calibrate
from reidrisk.data.interests import Information, Interests
from reidrisk.data.people import People
from reidrisk.data.population import SyntheticTopics, synthetic_topics
from reidrisk.data.sequences import SequenceChances, SequenceInformation, sequence_information
from reidrisk.data.taxonomy import Taxonomy, taxonomy

__all__ = [
    "Calibration",
    "Information",
    "Interests",
    "People",
    "SequenceChances",
    "SequenceInformation",
    "SequenceTarget",
    "SyntheticTopics",
    "Taxonomy",
    "calibrate",
    "sequence_information",
    "synthetic_topics",
    "taxonomy",
]
