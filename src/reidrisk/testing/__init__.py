"""Promises that every part keeps, for plug-ins too: call these from your own tests."""

from reidrisk.testing.attacks import check_attack
from reidrisk.testing.releases import check_release

__all__ = ["check_attack", "check_release"]
