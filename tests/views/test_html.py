"""The HTML report: well-formed, self-contained, and text stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from benchbook.evalsets import Item
from benchbook.specs.folders import as_text
from benchbook.text import visible
from benchbook.views.markup import DARK, LIGHT, el, text
from benchbook.views.rubric.digest import MAX_FAILED, MAX_PASSED, RunReport
from benchbook.views.words import MAX_CHARS
from views.contrast import PAIRS
from views.made_up import HOSTILE, good, html_report, report, shown, unscored

KINDS = ("realistic", "ready", "same", "missing", "empty", "nothing", "hostile")
VOID = {"br", "hr", "link", "meta"}
# Everything that the page is made of. What a model wrote adds nothing to it.
TAGS = {
    "html", "head", "meta", "title", "link", "style", "body", "a", "header", "nav", "main", "footer", "section", "div",
    "span", "p", "h1", "h2", "h3", "h4", "ul", "li", "dl", "dt", "dd", "bdi", "small", "strong", "code", "pre", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption",
    "svg", "defs", "pattern", "path", "desc", "rect", "line", "circle", "text",
}  # fmt: skip


class Page(HTMLParser):
    """Reads a page as a browser's tokenizer would, and keeps what the tests ask about."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"attribute twice in {tag}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(made: RunReport) -> tuple[str, Page]:
    written = "".join(html_report(made))
    return written, Page(written)


@pytest.fixture(scope="module", params=KINDS)
def page(request: pytest.FixtureRequest) -> tuple[str, Page]:
    return page_of(shown(request.param))


def test_every_tag_is_closed_and_known(page: tuple[str, Page]) -> None:
    _, parsed = page
    assert parsed.faults == []
    assert parsed.open == []
    assert {tag for tag, _ in parsed.tags} <= TAGS


def test_nothing_runs_and_nothing_comes_from_outside(page: tuple[str, Page]) -> None:
    _, parsed = page
    for tag, attributes in parsed.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes
        for name in ("href", "xlink:href", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith("#") or value == "data:,", (tag, value)
        assert "url(" not in (attributes.get("style") or "")
    policy = next(one["content"] for one in parsed.of("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


def test_the_style_sheet_asks_for_nothing(page: tuple[str, Page]) -> None:
    written, _ = page
    (style,) = re.findall("<style>(.*?)</style>", written, re.DOTALL)
    assert re.findall(r"url\(([^)]*)\)", style) == ["#hatch"]
    assert "@import" not in style
    assert "http" not in style


def test_ids_are_unique_and_links_lead_somewhere(page: tuple[str, Page]) -> None:
    _, parsed = page
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(one["href"] or "")[1:] for one in parsed.of("a")} <= set(ids)
    for _, attributes in parsed.tags:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name) is None or attributes[name] in ids


def test_a_screen_reader_finds_its_way(page: tuple[str, Page]) -> None:
    _, parsed = page
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for landmark in ("header", "nav", "main", "footer"):
        assert len(parsed.of(landmark)) == 1
    assert parsed.of("html")[0]["lang"] == "en"
    assert all(one.get("scope") in ("col", "row") for one in parsed.of("th"))
    assert len(parsed.of("caption")) == len(parsed.of("table"))
    pictures = [one for one in parsed.of("svg") if one.get("aria-hidden") != "true"]
    assert all(one["role"] == "img" and one["aria-labelledby"] and one["aria-describedby"] for one in pictures)


def test_no_character_of_a_model_acts_upon_the_view(page: tuple[str, Page]) -> None:
    written, _ = page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", written)
    written.encode("utf-8")  # no lone surrogates


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("long line", "empty")])
def test_hostile_text_is_shown_as_it_came(name: str) -> None:
    words = HOSTILE[name]
    _, parsed = page_of(report([unscored(0, candidate_answer=words)]))
    whole = "".join(parsed.words)
    assert visible(words) in whole
    assert "window.hit" not in "".join(str(attributes) for _, attributes in parsed.tags)


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("long line", "empty")])
def test_the_prompt_context_and_reference_of_a_sample_are_shown_as_text(name: str) -> None:
    words = HOSTILE[name]
    made = report([unscored(0)], item=Item(id="i", prompt=f"P {words}", context={"k": words}, expected_answer=words))
    _, parsed = page_of(made)
    whole = "".join(parsed.words)
    assert visible(f"P {words}") in whole
    assert visible(as_text({"k": words})) in whole
    assert [title for title in ("Prompt", "Context", "Reference") if title in parsed.words] == [
        "Prompt", "Context", "Reference"
    ]  # fmt: skip
    assert "window.hit" not in "".join(str(attributes) for _, attributes in parsed.tags)


def test_an_item_without_a_reference_says_so() -> None:
    written, parsed = page_of(report([unscored(0)], item=Item(id="i", prompt="p")))
    assert "– (the eval set has none)" in written
    assert "Context" not in parsed.words


def test_a_long_prompt_is_cut() -> None:
    item = Item(id="i", prompt="p" * 10**6, context="c" * 10**6, expected_answer="r" * 10**6)
    written, _ = page_of(report([unscored(0)], item=item))
    assert len(written) < 200_000
    assert written.count(f"Cut after {MAX_CHARS:,} characters") == 3


def test_every_text_of_a_model_is_isolated() -> None:
    written, parsed = page_of(report([unscored(0, candidate_answer="\u202eabc")]))
    said = [one for one in parsed.of("pre") if one.get("class") == "said"]
    assert said
    assert all(one["dir"] == "auto" for one in said)
    assert ".said { unicode-bidi: isolate;" in written
    assert "\\u202eabc" in written


def test_a_long_text_is_cut_and_says_how_to_get_the_rest() -> None:
    written, _ = page_of(report([unscored(7, candidate_answer="x" * 1_000_000)]))
    assert len(written) < 200_000
    assert f"Cut after {MAX_CHARS:,} characters; `benchbook show support-2026-08-01-a --sample 7`" in written


def test_the_page_stays_bounded_whatever_the_number_of_samples() -> None:
    rows = [unscored(n) if n % 2 else good(n) for n in range(3000)]
    written, parsed = page_of(report(rows))
    ids = [one for _, attributes in parsed.tags if (one := attributes.get("id")) and re.fullmatch(r"sample-\d+", one)]
    assert len(ids) == MAX_FAILED + MAX_PASSED
    assert "1,300 are left out" in written  # of 1,500 failed ones
    assert "1,450 are left out" in written


def test_failed_samples_come_first_and_link_to_raw_replies() -> None:
    written, parsed = page_of(report([good(0), unscored(1), good(2)]))
    assert written.index('id="sample-1"') < written.index('id="sample-0"')
    assert {
        "href": "#sample-1-replies",
        "aria-label": "2 raw replies about sample 1",
        "class": "to-replies",
    } in parsed.of("a")
    assert written.count("Attempt 2, journal fact 8") == 1
    assert "malformed_json" in written
    assert text("```json\n{}\n```") in written


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ready", ["Ready to release", "READY", "all gates hold, in the worst case too"]),
        ("realistic", ["Not ready", "NOT_READY", "Pass rate is 80.0 %; the gate asks for at least 85 %"]),
        ("same", ["Inconclusive", "Read these 2 first", "The judge gave all 48 answers the same scores"]),
        ("missing", ["No decision", "Missing metadata:", "model_version", "code_version", "Not judged"]),
        ("empty", ["Not ready", "the run has no samples", "This run is not complete: it is interrupted (Ctrl-C)"]),
        ("nothing", ["Inconclusive", "Nothing was scored", "– (not measured)"]),
    ],
)
def test_the_decision_is_said_in_words(kind: str, words: list[str]) -> None:
    _, parsed = page_of(shown(kind))
    whole = "".join(parsed.words)
    assert [one for one in words if one not in whole] == []


def test_how_to_verify_is_said_with_the_whole_hash() -> None:
    made = shown("ready")
    written, _ = page_of(made)
    assert f"benchbook verify {made.manifest.run_id} --expect {made.manifest.journal_sha256}" in written


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back", "asked"), PAIRS)
def test_colours_can_be_told_apart(scheme: dict[str, str], front: str, back: str, asked: float) -> None:  # WCAG 2.2 AA
    low, high = sorted((luminance(scheme[front]), luminance(scheme[back])))
    assert (high + 0.05) / (low + 0.05) >= asked


def test_both_schemes_name_the_same_colours() -> None:
    assert set(LIGHT) == set(DARK)


def test_markup_closes_itself_and_escapes() -> None:
    assert el("p", text("<b>\u202e"), class_="x", title='"', hidden=None) == (
        '<p class="x" title="&quot;">&lt;b&gt;\\u202e</p>'
    )
    assert el("br") == "<br>"
