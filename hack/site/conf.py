"""Sphinx's configuration of the documentation site; build.py prepares the folder of pages and calls Sphinx.

Sphinx with the theme Furo and Markdown by MyST: Sphinx is what CPython, attrs, urllib3, pip and pytest use today, its
releases follow each other every few months, and its search is a script of the site that also works in a folder without
a server. MkDocs has had no release since 2024, and the authors of its theme Material now work on a successor. Furo
loads neither fonts nor scripts from other hosts.
"""

import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.search import SearchEnglish

sys.path.insert(0, str(Path(__file__).parent))

import search

project = "clientgo"
author = "The clientgo authors"
project_copyright = "The clientgo authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"
# The default dark style underlines the names of modules, as if they were links.
pygments_dark_style = "monokai"
html_title = "clientgo"
# Browsers ask the server for /favicon.ico otherwise, and report an error.
html_favicon = "favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_static_path: list[str] = []
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Docstrings are Markdown with texts such as `<a>` that are no HTML.
myst_disable_syntax = ["html_block", "html_inline"]
# Names of Go and shells of a user are no languages of Pygments in the code that pages show.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]
python_use_unqualified_type_names = True
nitpicky = False
# Pages of the reference are no entries of the sidebar, which each page would repeat.
toc_object_entries_show_parents = "hide"


def setup(app: Sphinx) -> None:
    """Let the search find words in Chinese."""

    class EnglishAndChinese(SearchEnglish):
        js_splitter_code = search.SPLIT_QUERY + search.FROM_FILES

        def split(self, input: str) -> list[str]:
            return search.words(input)

    app.add_search_language(EnglishAndChinese)
