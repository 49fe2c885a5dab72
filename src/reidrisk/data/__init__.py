"""People: where users and their tokens come from."""

from reidrisk.data.calibration import Calibration, SequenceTarget, calibrate
from reidrisk.data.interests import Information, Interests
from reidrisk.data.people import People
from reidrisk.data.population import SyntheticTopics, synthetic_topics
from reidrisk.data.sequences import SequenceChances, SequenceInformation, sequence_information
from reidrisk.data.topic_tree import TopicTree, read_topic_tree

__all__ = [
    "Calibration",
    "Information",
    "Interests",
    "People",
    "SequenceChances",
    "SequenceInformation",
    "SequenceTarget",
    "SyntheticTopics",
    "TopicTree",
    "calibrate",
    "read_topic_tree",
    "sequence_information",
    "synthetic_topics",
]
