"""The Markdown report, read back by a CommonMark parser with GFM tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from benchbook.evalsets import Item
from benchbook.text import one_line
from benchbook.views.markdown import fenced, inline
from benchbook.views.words import MAX_CHARS
from views.made_up import HOSTILE, hostile_report, markdown_report, report, shown, unscored


class Rendered(HTMLParser):
    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.words = ""
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


OURS = {"h1", "h2", "h3", "p", "ul", "li", "strong", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("kind", ["realistic", "ready", "same", "missing", "empty", "nothing", "hostile"])
def test_it_renders_to_our_own_elements_only(kind: str) -> None:
    assert set(Rendered("".join(markdown_report(shown(kind)))).tags) <= OURS


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_makes_no_structure(words: str) -> None:
    plain = Rendered("".join(markdown_report(report([unscored(0, candidate_answer="x", item_id="x")]))))
    texts = {"candidate_answer": words[:MAX_CHARS] or "x", "item_id": words[:300] or "x"}
    asked = words[:MAX_CHARS] or "x"
    item = Item(id="i", prompt=asked, context=asked, expected_answer=asked)
    hostile = Rendered("".join(markdown_report(report([unscored(0, **texts)], item=item))))
    assert hostile.tags == plain.tags


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_fence_is_longer_than_any_in_its_text(words: str) -> None:
    block = fenced(words)
    fence = re.match("`+", block)
    assert fence is not None
    assert fence.group() not in block[len(fence.group()) : -len(fence.group()) - 1]
    assert set(Rendered(block).tags) == {"pre", "code"}


@pytest.mark.parametrize("words", [text[:500] for text in HOSTILE.values()], ids=HOSTILE.keys())
def test_inline_text_reads_as_it_was_written(words: str) -> None:
    table = Rendered(f"| a | b |\n| --- | --- |\n| {inline(words)} | end |\n")
    assert table.tags.count("td") == 2
    assert one_line(words) in table.words


def test_links_of_plain_text_are_no_links() -> None:
    shown = inline("https://evil.example www.evil.example a@evil.example")
    assert "://" not in shown
    assert "www." not in shown
    assert "@" not in shown


def test_the_hostile_report_is_utf8() -> None:
    "".join(markdown_report(hostile_report())).encode("utf-8")
