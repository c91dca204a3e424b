"""Configuration of the documentation: `sphinx-build -W --keep-going docs OUT`."""

import re
from importlib.metadata import version as version_of

project = "Palmette"
author = "The Palmette developers"
copyright = author
release = version = version_of("palmette")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown"}

# Docstrings are numpydoc; names in single backticks become links if they are known. Types are plain
# text ("array of shape (n_samples, n_features)").
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator, ClassifierMixin, TransformerMixin, tuple, Exception",
}
autosummary_generate = False  # the pages are written by hand

myst_heading_anchors = 3

html_theme = "alabaster"
html_title = "Palmette"
html_show_sourcelink = False
html_theme_options = {
    "description": "Classification over class hierarchies, given or learned",
    "fixed_sidebar": True,
    "page_width": "76rem",
    "body_max_width": "60rem",
    "sidebar_width": "15rem",
}

# methods that every estimator inherits from scikit-learn are documented there
_FROM_SKLEARN = re.compile(r"set_\w+_request|[gs]et_params|get_metadata_routing|set_output")


def _skip(app, what, name, obj, skip, options):
    return True if _FROM_SKLEARN.fullmatch(name) else None


def setup(app):
    """Skip members that are inherited from scikit-learn."""
    app.connect("autodoc-skip-member", _skip)
