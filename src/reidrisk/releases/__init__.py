"""Mechanisms that turn people into what sites see."""

from reidrisk.releases.topics import TopicsApi
from reidrisk.releases.topics_rows import ExactRows

__all__ = ["ExactRows", "TopicsApi"]
