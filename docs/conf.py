"""Settings of the documentation."""

project = "reidrisk"
author = "The reidrisk authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "reidrisk"
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
myst_heading_anchors = 2
