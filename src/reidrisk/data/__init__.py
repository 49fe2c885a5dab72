"""People and what sites saw of them: the border between files and everything else."""

from reidrisk.data.assembly import Choices, make_profiles
from reidrisk.data.exports import (
    write_observations,
    write_profiles,
    write_tfrecord_observations,
    write_tfrecord_profiles,
    write_top_sets,
)
from reidrisk.data.histories import Epochs, read_histories
from reidrisk.data.linked import Linked, read_observations
from reidrisk.data.people import People
from reidrisk.data.profiles import Counts, Profiles
from reidrisk.data.simulator import read_tfrecord_observations, read_tfrecord_profiles
from reidrisk.data.tables import read_profiles, read_taxonomy
from reidrisk.data.weights import TokenWeights, read_token_weights, write_token_weights

__all__ = [
    "Choices",
    "Counts",
    "Epochs",
    "Linked",
    "People",
    "Profiles",
    "TokenWeights",
    "make_profiles",
    "read_histories",
    "read_observations",
    "read_profiles",
    "read_taxonomy",
    "read_tfrecord_observations",
    "read_tfrecord_profiles",
    "read_token_weights",
    "write_observations",
    "write_profiles",
    "write_tfrecord_observations",
    "write_tfrecord_profiles",
    "write_token_weights",
    "write_top_sets",
]
