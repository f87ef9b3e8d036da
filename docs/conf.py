"""How Sphinx builds this site: `make docs`. It needs no network."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from pygments.lexers.data import JsonLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "recjury"
author = "The recjury authors"
release = installed_version("recjury")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "campaign_reference",
    "command_reference",
]
exclude_patterns = ["_build", "_ext"]
html_theme = "furo"
html_title = f"recjury {release}"
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Docstrings are plain text with `code` in single backticks.
default_role = "code"
autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": False}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
# Other libraries' types have no page here, and neither have the parts that are not public.
nitpick_ignore_regex = [("py:.*", ".*")]


def setup(app: Sphinx) -> None:
    """Colour the examples of docs/data.md, whose language names their format, as JSON."""
    for form in ("messages", "line", "recjury", "crsarena", "concept"):
        app.add_lexer(f"json-{form}", JsonLexer)
