"""The Topics API of the browser, its rules, and what can be computed about it."""

from reidrisk.releases.topics.api import TopicsApi
from reidrisk.releases.topics.popularity import Popularity, popularity

__all__ = ["Popularity", "TopicsApi", "popularity"]
