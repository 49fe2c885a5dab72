"""Settings of the documentation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # extensions of our own

project = "reidrisk"
author = "The reidrisk authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "command_reference"]
html_theme = "furo"
html_title = "reidrisk"
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
myst_heading_anchors = 2
