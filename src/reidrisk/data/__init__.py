"""People and what sites saw of them: synthetic ones, and the border to files."""

from reidrisk.data.assembly import Choices, make_profiles
from reidrisk.data.calibration import Calibration, SequenceTarget, calibrate
from reidrisk.data.exports import (
    write_observations,
    write_profiles,
    write_tfrecord_observations,
    write_tfrecord_profiles,
    write_top_sets,
)
from reidrisk.data.histories import Epochs, read_histories
from reidrisk.data.interests import Information, Interests
from reidrisk.data.linked import Linked, read_observations
from reidrisk.data.people import People
from reidrisk.data.population import SyntheticTopics, synthetic_topics
from reidrisk.data.profiles import Counts, Profiles
from reidrisk.data.sequences import SequenceChances, SequenceInformation, sequence_information
from reidrisk.data.simulator import read_tfrecord_observations, read_tfrecord_profiles
from reidrisk.data.tables import read_profiles, read_taxonomy
from reidrisk.data.topic_tree import TopicTree, read_topic_tree
from reidrisk.data.weights import TokenDistances, read_token_weights, write_token_weights

__all__ = [
    "Calibration",
    "Choices",
    "Counts",
    "Epochs",
    "Information",
    "Interests",
    "Linked",
    "People",
    "Profiles",
    "SequenceChances",
    "SequenceInformation",
    "SequenceTarget",
    "SyntheticTopics",
    "TokenDistances",
    "TopicTree",
    "calibrate",
    "make_profiles",
    "read_histories",
    "read_observations",
    "read_profiles",
    "read_taxonomy",
    "read_tfrecord_observations",
    "read_tfrecord_profiles",
    "read_token_weights",
    "read_topic_tree",
    "sequence_information",
    "synthetic_topics",
    "write_observations",
    "write_profiles",
    "write_tfrecord_observations",
    "write_tfrecord_profiles",
    "write_token_weights",
    "write_top_sets",
]
