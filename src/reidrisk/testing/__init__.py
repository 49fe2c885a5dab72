"""Promises that every part keeps, for plug-ins too: call these from your own tests."""

from reidrisk.testing.attacks import check_attack

__all__ = ["check_attack"]
