"""Settings of the documentation site: the repository's own Markdown, read by Sphinx and MyST.

The pages know nothing of the tool. The contents of the site are the links of docs/README.md, in
their order; `make docs` fails if one leads nowhere, or if a page is not among them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
INDEX = "docs/README"

project = "wardian"
copyright = "the wardian authors"
release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/wardian/__init__.py").read_text())[0]
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md"]
myst_heading_anchors = 4
nitpicky = True
html_theme = "furo"
html_title = "wardian"
html_show_sphinx = False
html_copy_source = False


def contents(app: Any, name: str, source: list[str]) -> None:
    """Change what only the site needs: words after ``` that highlighters know, and on the first
    page a table of contents made of the links in the index."""
    source[0] = re.sub(r"^```(\w+) \w+$", r"```\1", source[0], flags=re.MULTILINE)
    if name == root_doc:
        source[0] += _tree("Start", [f"/{INDEX}"])
        index = (ROOT / f"{INDEX}.md").read_text()
        for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
            links = re.findall(r"\]\(([^)#]+)\.md\)", part)
            pages = [f"/{_normal(link)}" for link in dict.fromkeys(links) if link != "../README"]
            source[0] += _tree(part.partition("\n")[0], pages)


def _normal(link: str) -> str:
    return str((ROOT / "docs" / f"{link}.md").resolve().relative_to(ROOT).with_suffix(""))


def _tree(title: str, pages: list[str]) -> str:
    lines = "\n".join(pages)
    return f"\n```{{toctree}}\n:caption: {title}\n:hidden:\n\n{lines}\n```\n"


def front_page(app: Any, error: Exception | None) -> None:
    """Web servers look for index.html."""
    if error is None:
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> None:
    app.connect("source-read", contents)
    app.connect("build-finished", front_page)
