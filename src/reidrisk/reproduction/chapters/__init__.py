"""The chapters, in the order in which they are shown: the paper first, its neighbours behind."""

from typing import Any

CHAPTERS: tuple[Any, ...] = ()
"""Modules with `TITLE`, `SOURCE` and `steps`."""
