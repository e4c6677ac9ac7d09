"""The frame of a page: head, policy and style. What is in it is the page's own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from benchbook.reports.markup import Html, el, text
from benchbook.reports.palette import palette_css

__all__ = ["page_head"]

# No script, nothing from outside, no form, no base: whatever a model wrote, the browser may not act upon it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page_head(title: str, *style_sheets: str) -> Html:
    """`<head>` of a page that needs nothing but itself; `style_sheets` are files of this package."""
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", text(title)),
        el("link", rel="icon", href="data:,"),
        el("style", _style(style_sheets)),
    )


@cache
def _style(style_sheets: tuple[str, ...]) -> Html:
    """The style sheets are ours and hold nothing of a run, so they are not escaped."""
    folder = files("benchbook.reports")
    return Html("\n" + palette_css() + "".join((folder / name).read_text(encoding="utf-8") for name in style_sheets))
