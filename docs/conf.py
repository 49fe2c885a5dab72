"""Settings of the documentation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for our own extension, and what pictures share

project = "reidrisk"
author = "The reidrisk authors"
extensions = [
    "command_reference",
    "myst_nb",
    "picturing",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
nb_execution_mode = "off"  # tests run notebooks; pages show what they hold
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "reidrisk"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {
        "color-brand-primary": "#005a8f",
        "color-brand-content": "#005a8f",
        "color-brand-visited": "#5a4a8f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc7f2",
        "color-brand-content": "#7cc7f2",
        "color-brand-visited": "#b9a7f0",
        "color-background-primary": "#14181d",
        "color-background-secondary": "#1d232a",
        "color-foreground-primary": "#e9edf1",
    },
}
