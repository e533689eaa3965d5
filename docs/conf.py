"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs build/docs``."""

import sys
from pathlib import Path

import matplotlib

import flymotion

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "site"))

from reference import write_reference  # noqa: E402 # which lies in site/

matplotlib.use("agg")

project = "flymotion"
author = "The flymotion developers"
copyright = author
version = release = flymotion.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "links",
    "mathml",
    "offline",
]
root_doc = "index"
exclude_patterns = ["_build", "site", "gallery/**/*.py", "gallery/**/*.ipynb", "gallery/searchindex.*"]
templates_path = ["site/templates"]

# Pages are Markdown that reads well on a code host, too: its anchors are those of headings there.
myst_heading_anchors = 4
myst_enable_extensions = ["fieldlist"]

autosummary_generate = write_reference(DOCS / "reference")
autodoc_typehints = "none"  # numpydoc's sections say types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "capture_repr": (),  # what a script prints is enough
    "write_computation_times": False,  # that page loads scripts from elsewhere
    "doc_module": ("flymotion",),
    "backreferences_dir": None,
    "image_scrapers": ("figures.scrape",),
}

toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "flymotion"
html_math_renderer = "mathml"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"reference/**": []}  # of many hundred names: each page would take seconds; breadcrumbs lead back
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": False,
    "header_links_before_dropdown": 6,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
