"""Mechanisms that turn people into what sites see."""

from reidrisk.releases.topics.api import TopicsApi
from reidrisk.releases.topics.exact import ExactRows
from reidrisk.releases.topics.popularity import Popularity, popularity

__all__ = ["ExactRows", "Popularity", "TopicsApi", "popularity"]
