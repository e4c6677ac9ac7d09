"""HTML and SVG that can't be got wrong: text becomes markup by being escaped, and in no other way.

`Html` is a type of its own, so that mypy refuses a str where markup is meant; elements close themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import NewType

from benchbook.evaluators.document import Column, Table
from benchbook.text import visible
from benchbook.views import numbers

Html = NewType("Html", str)

_VOID = frozenset({"br", "hr", "link", "meta"})


def text(value: object) -> Html:
    """`value` as text: escaped, with nothing in it that a bidi-aware view would act upon."""
    return Html(escape(visible(str(value))))


def join(*pieces: Html) -> Html:
    return Html("".join(pieces))


def el(name: str, /, *children: Html, **attributes: object) -> Html:
    """`<name …>children</name>`. `class_` and `aria_label` become `class` and `aria-label`; a None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(children)}</{name}>")


def table_html(table: Table) -> Html:
    """A table with caption and scopes, in a box of its own that scrolls sideways on a narrow screen."""
    if not table:
        return join()
    caption = el("caption", text(table.caption), class_="unseen" if table.titled else None)
    head = el("tr", *(el("th", text(one.name), scope="col", class_=_align(one)) for one in table.columns))
    body = [
        el(
            "tr",
            el("th", text(row[0]), scope="row", dir="auto"),
            *(
                el("td", text(cell), class_=_align(column, cell), dir=None if column.number else "auto")
                for column, cell in zip(table.columns[1:], row[1:], strict=True)
            ),
        )
        for row in numbers.cells(table)
    ]
    whole = el("table", caption, el("thead", head), el("tbody", *body))
    return el("div", whole, class_="table", tabindex=0, role="region", aria_label=table.caption)


def _align(column: Column, cell: str = "") -> str | None:
    """A cell that says why it has no number may be broken into lines; a number may not."""
    if not column.number:
        return None
    return "number words" if cell.startswith(f"{numbers.DASH} (") else "number"


LIGHT: Mapping[str, str] = {
    "paper": "#fbfcfd",
    "panel": "#f0f3f6",
    "ink": "#16212c",
    "quiet": "#51606e",
    "rule": "#d3dbe2",
    "edge": "#7f8d9a",
    "link": "#0b5cad",
    "value": "#0b4f9c",
    "span": "#8fb4dc",
    "good": "#14683f",
    "good-wash": "#dcefe3",
    "bad": "#b01e2e",
    "bad-wash": "#fae4e4",
    "doubt": "#855300",
    "doubt-wash": "#faeccb",
    "none": "#51606e",
    "none-wash": "#e8edf1",
    "passed": "#3f8f68",
    "failed": "#cf5560",
    "silent": "#8a6fae",
    "unscored": "#ad7a12",
    "absent": "#7f8d9a",
}

DARK: Mapping[str, str] = {
    "paper": "#10171d",
    "panel": "#19232b",
    "ink": "#e7edf2",
    "quiet": "#a5b3bf",
    "rule": "#2f3c47",
    "edge": "#6d7d8b",
    "link": "#8cc0f7",
    "value": "#8cc0f7",
    "span": "#38638f",
    "good": "#72d09d",
    "good-wash": "#173527",
    "bad": "#ff949a",
    "bad-wash": "#40191e",
    "doubt": "#edbb57",
    "doubt-wash": "#392b0f",
    "none": "#a5b3bf",
    "none-wash": "#24303a",
    "passed": "#57ad83",
    "failed": "#e0727b",
    "silent": "#a88fcd",
    "unscored": "#d3a03a",
    "absent": "#6d7d8b",
}


def _palette_css() -> str:
    """The custom properties that the style sheet uses; paper is always printed light."""
    light, dark = properties(LIGHT), properties(DARK)
    return (
        f":root{{color-scheme:light dark;{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


def properties(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


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
        # The style sheet is ours and holds nothing of a run, so it is not escaped.
        el("style", Html("\n" + _palette_css() + style_sheet("page.css"))),
        *((el("style", Html(more_css)),) if more_css else ()),
    )


@cache
def style_sheet(name: str) -> str:
    """A style sheet of this package."""
    return (files("benchbook.views") / name).read_text(encoding="utf-8")
