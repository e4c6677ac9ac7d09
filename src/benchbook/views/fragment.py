"""A document as a piece of somebody else's page: a notebook's output, shown on white and on dark, once or often.

It has no script and no id, so that nothing collides where it is shown twice; its styles hold for it alone. What a model
wrote is text, as on every page. Where a notebook takes styles out, headings, lists and tables are left.
"""

from __future__ import annotations

import re
from functools import cache

from benchbook.evaluators.document import Document
from benchbook.views.html import blocks_html
from benchbook.views.markup import DARK, LIGHT, Html, el, join, properties, style_sheet, text

_OUTPUT = "benchbook-output"
_ID = re.compile(r' id="([^"]*)"')
# They lead to an id. The first is a link's, whose words stay.
_TO_ID = re.compile(r' (?:href="#|aria-labelledby="|aria-describedby=")[^"]*"')


def fragment(document: Document, *, css: str = "", body_class: str | None = None) -> str:
    """The document's blocks, with the styles that they need. `css` is ours, as of a page.

    A quote in an attribute or a text is always escaped (`markup.text`), so what is matched here is markup of ours.
    """
    blocks = _ID.sub(r' data-part="\1"', _TO_ID.sub("", "".join(blocks_html(document.blocks))))
    foot = [el("p", text(document.foot), class_="quiet")] if document.foot else []
    inside = el("div", Html(blocks), *foot, class_=body_class)
    return el("div", el("style", Html(_styles(css))), inside, class_=_OUTPUT)


@cache
def _styles(css: str) -> str:
    """The page's styles, nested, so that they hold inside the output alone: named twice, they win over the notebook's.

    Its theme is told by what JupyterLab, VS Code and Colab write into their pages; elsewhere the system's holds.
    """
    output = f".{_OUTPUT}"
    light, dark = (f"color-scheme:{name};{properties(of)}" for name, of in (("light", LIGHT), ("dark", DARK)))
    is_light = '[data-jp-theme-light="true"],.vscode-light,[theme="light"]'
    is_dark = '[data-jp-theme-light="false"],.vscode-dark,.vscode-high-contrast,[theme="dark"]'
    parts = re.sub(r"#(?!hatch\b)([a-z][a-z-]*)(?=[^;{}]*\{)", r'[data-part="\1"]', style_sheet("page.css") + css)
    return join(
        Html(f"{output}{{{light}}}"),
        Html(f"@media screen and (prefers-color-scheme:dark){{{output}{{{dark}}}}}"),
        Html(f":is({is_light}) {output}{{{light}}}:is({is_dark}) {output}{{{dark}}}"),
        Html(f"{output}{output}{{{parts}\n{style_sheet('fragment.css')}}}"),
    )
