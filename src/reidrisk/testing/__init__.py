"""Promises that every part keeps, for plug-ins too: call these from your own tests."""

from reidrisk.testing.attacks import check_attack
from reidrisk.testing.engines import check_engine
from reidrisk.testing.releases import check_release
from reidrisk.testing.scores import check_score

__all__ = ["check_attack", "check_engine", "check_release", "check_score"]
