"""Configuration of the documentation: `sphinx-build -W --keep-going docs OUT`."""

import os
import re
import warnings
from importlib.metadata import version as version_of

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

os.environ.pop("PALMETTE_DATA", None)  # the examples use embedded and generated data only

project = "Palmette"
author = "The Palmette developers"
copyright = author
release = version = version_of("palmette")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["sg_execution_times.rst", "**/sg_execution_times.rst"]

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
autosummary_generate = True  # one page per class of docs/api/
autosummary_generate_overwrite = True

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Prompts and outputs are left out of what the buttons copy.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/generated/examples",
    "doc_module": ("palmette",),
    "reference_url": {"palmette": None},
    "within_subsection_order": "ExampleTitleSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "plot_gallery": "True",
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = "Palmette"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["palmette.css"]
html_favicon = "_static/logo.svg"
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": project},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

# methods that every estimator inherits from scikit-learn are documented there
_FROM_SKLEARN = re.compile(r"set_\w+_request|[gs]et_params|get_metadata_routing|set_output")


def _skip(app, what, name, obj, skip, options):
    return True if _FROM_SKLEARN.fullmatch(name) else None


# Formulas are MathML, which browsers show without scripts from the network.
html_math_renderer = "mathml"


def _inline_math(writer, node):
    writer.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _block_math(writer, node):
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise SkipNode


def setup(app):
    """Skip members that are inherited from scikit-learn, and write formulas as MathML."""
    app.connect("autodoc-skip-member", _skip)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))
