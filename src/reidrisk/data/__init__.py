"""People: where users and their tokens come from."""

from reidrisk.data.interests import Information, Interests
from reidrisk.data.people import People
from reidrisk.data.population import SyntheticTopics, synthetic_topics

__all__ = ["Information", "Interests", "People", "SyntheticTopics", "synthetic_topics"]
