"""Mechanisms that turn people into what sites see."""

from reidrisk.releases.popularity import Popularity, popularity
from reidrisk.releases.topics import TopicsApi
from reidrisk.releases.topics_rows import ExactRows

__all__ = ["ExactRows", "Popularity", "TopicsApi", "popularity"]
