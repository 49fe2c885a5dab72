"""Checks of attacks, releases, engines, scores and analyses, for tests of plug-ins too."""

from reidrisk.testing.analyses import check_analysis
from reidrisk.testing.attacks import check_attack
from reidrisk.testing.engines import check_engine
from reidrisk.testing.releases import check_release
from reidrisk.testing.scores import check_score

__all__ = ["check_analysis", "check_attack", "check_engine", "check_release", "check_score"]
