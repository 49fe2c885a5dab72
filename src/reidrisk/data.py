"""Public functions that make synthetic people and read people and observations from files."""

from reidrisk.information.population_fit import PopulationFit, SequenceTarget, fit_population
from reidrisk.information.sequences import (
    SequenceChances,
    SequenceInformation,
    sequence_information,
)
from reidrisk.io.assembly import Choices, make_profiles
from reidrisk.io.authors.simulator import read_tfrecord_observations, read_tfrecord_profiles
from reidrisk.io.authors.weights import TokenDistances, read_token_weights, write_token_weights
from reidrisk.io.export import (
    write_observations,
    write_profiles,
    write_tfrecord_observations,
    write_tfrecord_profiles,
    write_top_sets,
)
from reidrisk.io.histories import Epochs, read_histories
from reidrisk.io.layouts import Layout
from reidrisk.io.linked import Linked, read_linked, read_observations
from reidrisk.io.parquet_vectors import write_vector_rows
from reidrisk.io.people_files import PeopleFiles, open_profiles
from reidrisk.io.plays import plays_layout, read_plays, read_profiles, read_taxonomy
from reidrisk.io.topic_tree import TopicTree, read_topic_tree
from reidrisk.io.vector_export import write_vectors
from reidrisk.io.vector_people import read_vectors
from reidrisk.learning.item_embedding import ItemEmbedding, embed_items
from reidrisk.people.interests import Information, Interests
from reidrisk.people.profiles import Counts, Profiles
from reidrisk.people.protocol import Cells, People
from reidrisk.people.synthetic import SyntheticTopics, synthetic_topics
from reidrisk.people.vectors import VectorPeople

__all__ = [
    "Cells",
    "Choices",
    "Counts",
    "Epochs",
    "Information",
    "Interests",
    "ItemEmbedding",
    "Layout",
    "Linked",
    "People",
    "PeopleFiles",
    "PopulationFit",
    "Profiles",
    "SequenceChances",
    "SequenceInformation",
    "SequenceTarget",
    "SyntheticTopics",
    "TokenDistances",
    "TopicTree",
    "VectorPeople",
    "embed_items",
    "fit_population",
    "make_profiles",
    "open_profiles",
    "plays_layout",
    "read_histories",
    "read_linked",
    "read_observations",
    "read_plays",
    "read_profiles",
    "read_taxonomy",
    "read_tfrecord_observations",
    "read_tfrecord_profiles",
    "read_token_weights",
    "read_topic_tree",
    "read_vectors",
    "sequence_information",
    "synthetic_topics",
    "write_observations",
    "write_profiles",
    "write_tfrecord_observations",
    "write_tfrecord_profiles",
    "write_token_weights",
    "write_top_sets",
    "write_vector_rows",
    "write_vectors",
]
