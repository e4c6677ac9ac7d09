"""A document inside somebody else's page: it collides with nothing, runs nothing, and is read on white and on dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from benchbook.views.fragment import fragment
from benchbook.views.markup import DARK, LIGHT
from benchbook.views.rubric.report import run_document
from chromium import started_browser
from views.made_up import shown
from views.test_html import KINDS, TAGS, Page


@pytest.fixture(scope="module", params=KINDS)
def piece(request: pytest.FixtureRequest) -> str:
    """In full, which shows more than a notebook does: samples with their texts and raw replies."""
    return fragment(run_document(shown(request.param), in_full=True))


def test_it_is_well_formed_and_nothing_in_it_collides_or_leads_anywhere(piece: str) -> None:
    parsed = Page(piece)
    assert (parsed.faults, parsed.open) == ([], [])
    assert {tag for tag, _ in parsed.tags} <= TAGS - {"html", "head", "meta", "link", "body", "main", "footer"}
    for tag, attributes in parsed.tags:
        assert not {"id", "href", "src", "style", "aria-labelledby", "aria-describedby"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag


def test_its_styles_hold_for_it_alone(piece: str) -> None:
    (style,) = re.findall("<style>(.*?)</style>", piece, re.DOTALL)
    depth, selectors = 0, []
    for before, brace in re.findall(r"([^{}]*)([{}])", style):
        if brace == "{" and depth == 0:
            selectors.append(before.split(";")[-1].strip())
        depth += 1 if brace == "{" else -1
    assert depth == 0
    assert [one for one in selectors if "benchbook-output" not in one and not one.startswith("@media")] == []
    assert re.findall(r"#[a-z][a-z-]*(?=[^;{}]*\{)", style) == []
    assert not {"@import", "http"} & set(re.findall(r"@import|http", style))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started_browser() as started:
        yield started


_AROUND = """() => {
  const of = (selector) => getComputedStyle(document.querySelector(selector));
  return [of('h1').fontSize, of('h1').color, of('td').textAlign, of('td').padding, of('body').backgroundColor];
}"""
_INSIDE = """() => {
  const of = (selector) => getComputedStyle(document.querySelector('.benchbook-output' + selector));
  const fits = document.documentElement.scrollWidth <= innerWidth;
  return [of('').backgroundColor, of(' td').backgroundColor, of(' h1').fontSize, fits, 'hit' in window];
}"""


@pytest.mark.slow  # it starts a browser
@pytest.mark.parametrize(
    ("body", "dark_system", "paper"),
    [
        ('data-jp-theme-light="true"', True, LIGHT["paper"]),
        ('data-jp-theme-light="false"', False, DARK["paper"]),
        ('class="vscode-dark"', False, DARK["paper"]),
        ("", True, DARK["paper"]),
        ("", False, LIGHT["paper"]),
    ],
)
def test_a_browser_shows_it_in_the_notebooks_theme_and_leaves_the_rest_alone(
    browser: Any, body: str, dark_system: bool, paper: str
) -> None:
    theirs = "<style>td{background:#888;text-align:center}h1{color:rgb(1,2,3)}</style>"
    around = f"<!doctype html>{theirs}<body {body}><h1>Notebook</h1><table><tr><td>cell</td></tr></table>"
    piece = fragment(run_document(shown("hostile"), in_full=True))
    page = browser.new_page(color_scheme="dark" if dark_system else "light", viewport={"width": 900, "height": 600})
    page.set_content(around)
    before = page.evaluate(_AROUND)
    page.set_content(f"{around}<div>{piece}</div><div>{piece}</div>")
    assert page.evaluate(_AROUND) == before
    background = f"rgb({', '.join(str(int(paper[n : n + 2], 16)) for n in (1, 3, 5))})"
    assert page.evaluate(_INSIDE) == [background, "rgba(0, 0, 0, 0)", "24px", True, False]
    page.close()
