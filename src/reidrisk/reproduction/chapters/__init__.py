"""The chapters in order: the paper first, then neighbouring studies."""

from typing import Any

from reidrisk.reproduction.chapters import (
    alvim,
    beugin,
    experiment,
    information,
    jha,
    matching,
    networks,
    random_user,
    relations,
    songs,
    topics_api,
)

CHAPTERS: tuple[Any, ...] = (
    random_user,
    matching,
    relations,
    topics_api,
    experiment,
    networks,
    information,
    songs,
    jha,
    beugin,
    alvim,
)
"""Modules with `TITLE`, `SOURCE` and `steps`."""
