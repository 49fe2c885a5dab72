"""The analyses of a study, one file each, in the order of their steps."""

import sys
from typing import TYPE_CHECKING, cast

from reidrisk.core.plugins import modules_of

if TYPE_CHECKING:
    from reidrisk.study.analyses.protocol import Analysis

# `protocol` has no `ORDER`: it is no analysis.
_FOUND = [one for one in modules_of(sys.modules[__name__]) if hasattr(one, "ORDER")]

ANALYSES = cast("tuple[Analysis, ...]", tuple(sorted(_FOUND, key=lambda one: one.ORDER)))
"""Those of this package; a study adds analyses of others after them."""
