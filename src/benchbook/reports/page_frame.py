"""The head of every page: what the browser may do, and the style. What is in the body is the page's own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from benchbook.reports.markup import Html, el, text
from benchbook.reports.palette import palette_css

__all__ = ["page_head", "style_sheet"]

# No script, nothing from outside, no form, no base: whatever a model wrote, the browser may not act upon it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page_head(title: str, more_css: str = "") -> Html:
    """The head of a page that asks for nothing from outside. `more_css` is ours, and holds nothing of a run."""
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", text(f"{title} – Benchbook")),
        el("link", rel="icon", href="data:,"),
        el("style", _style()),
        *((el("style", Html(more_css)),) if more_css else ()),
    )


@cache
def _style() -> Html:
    """The style sheet is ours and holds nothing of a run, so it is not escaped."""
    return Html("\n" + palette_css() + style_sheet("page.css"))


@cache
def style_sheet(name: str) -> str:
    """A style sheet of this package."""
    return (files("benchbook.reports") / name).read_text(encoding="utf-8")
