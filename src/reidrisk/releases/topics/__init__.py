"""Release: the Topics API of the browser."""

from reidrisk.releases.topics.api import TopicsApi
from reidrisk.releases.topics.popularity import Popularity, popularity

__all__ = ["Popularity", "TopicsApi", "popularity"]
