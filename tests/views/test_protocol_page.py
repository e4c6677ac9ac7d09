"""Issue 5, item 9: the page of an experiment: well-formed, bounded, and text stays text."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.protocol.evaluation_rows import (
    CellId,
    EvaluationRow,
    JudgedText,
    SpanRow,
    coverage_gaps,
    sorted_rows,
)
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import Options
from benchbook.views.markup import text
from benchbook.views.protocol.archive_model import Archive, ArchiveNames, RunLog
from benchbook.views.protocol.evaluation import Piece, excerpt, fitting, marked_pieces
from benchbook.views.protocol.page import MAX_OPENED, protocol_page
from chromium import CHROMIUM, FLAGS, started_browser
from evaluators.protocol.drift_lab import drift_lab_rows
from evaluators.protocol.made_evaluations import JUDGED, TEXT, made_row
from views.test_html import TAGS, Page

LOG = RunLog(
    experiment="drift", spec="judge_protocol@v1", spec_sha256="", evidence="must_be_found", judges=[], n_samples=1
)
HOSTILE = "</pre><script>alert(1)</script>\u202e<img src=x onerror=y>&quot;'\"\x00\x1b[31m\ud835"
OWN_TAGS = {"mark", "sup", "blockquote", "ol"}


def page_of(rows: Sequence[EvaluationRow], texts: dict[str, str] | None = None, log: RunLog = LOG) -> tuple[str, Page]:
    known = {JUDGED.sha256: TEXT} if texts is None else texts
    written = "".join(protocol_page(Archive(sorted_rows(rows), [], log, protocol_v1()), known.get))
    return written, Page(written)


def check_well_formed(page: Page) -> None:
    assert page.faults == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= TAGS | OWN_TAGS
    ids = [str(attributes["id"]) for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.of("a"):
        href = str(link["href"])
        assert href[1:] in ids if href.startswith("#") else href.startswith("archive/")
        assert re.fullmatch(r"#?[A-Za-z0-9._~/-]+", href)


def test_quotes_are_marked_in_the_text_and_what_is_not_there_stands_beside_it() -> None:
    written, page = page_of([made_row(8, quotes=("# Plan", "never <b>written", "Collect ... the ledger", "Collect"))])
    check_well_formed(page)
    assert '<mark><span class="unseen">[quote 1: </span># Plan<sup aria-hidden="true">1</sup>' in written
    assert '<span class="unseen">[quote 3, 4: </span>Collect<sup aria-hidden="true">3, 4</sup>' in written
    assert '<span class="unseen">[quote 3: </span>the ledger<sup aria-hidden="true">3</sup>' in written
    assert written.count("<mark>") == 3
    missing = written[written.index('class="quote missing"') :]
    assert "never &lt;b&gt;written" in missing
    assert "not in the judged text" in missing
    assert [item["class"] for item in page.of("li") if "quote" in str(item.get("class"))] == [
        "quote found", "quote missing", "quote found", "quote found",
    ]  # fmt: skip
    assert written.count('href="#e1-q3"') == written.count('id="e1-q3"') == 1


def test_the_grid_leads_to_each_evaluation_and_says_what_counts() -> None:
    rows = [
        made_row(8, judge="j"),
        made_row(2, judge="k"),
        made_row(5, judge="t"),
        made_row(8, judge="j", repeat=1, reply="no"),
        made_row(8, question="Q2", judge="j"),
    ]
    written, page = page_of(rows)
    check_well_formed(page)
    grid = written[written.index('aria-label="Grid of verdicts"') : written.index('<section id="targets"')]
    for number, words in (
        (1, "✓</span> PASS 8"),
        (2, "!</span> invalid"),
        (3, "✕</span> FAIL 2"),
        (4, "◐</span> PARTIAL 5"),
    ):
        assert f'<a href="#evaluation-{number}"><span aria-hidden="true">{words}</a>' in grid
    assert "<small>self</small>" in grid
    assert grid.count('title="not evaluated"') == 2  # Q2 by k and t
    assert "5 evaluations, of which 4 count" in written
    assert "UNPARSABLE_OUTPUT" in written[written.index('id="evaluation-2"') :]


def test_outputs_of_one_long_folder_can_be_told_apart() -> None:
    folder = "anthropic_claude-sonnet-4.5_extended-thinking"
    names = [f"{folder}/q1_{which}.pdf" for which in ("baseline_explicit", "baseline_implicit")]
    written, _ = page_of([made_row(8, output=name) for name in names])
    for name in names:
        assert f"…{name[-31:]}</bdi></small>" in written


def test_a_cell_that_nobody_evaluated_has_its_line() -> None:
    gaps = coverage_gaps([CellId("Q9", "B", "u", "o9")], [], ["j"])
    written, page = page_of([made_row(8)], log=RunLog(**{**as_fields(LOG), "gaps": gaps}))
    check_well_formed(page)
    assert "Not evaluated: 1 cell of the evaluation set." in written
    assert written.count('title="not evaluated"') == 1
    assert "o9" in written


def as_fields(log: RunLog) -> dict[str, object]:
    return {name: getattr(log, name) for name in log.__struct_fields__}


def test_nothing_is_an_experiment_too() -> None:
    _, page = page_of([])
    check_well_formed(page)


def test_what_a_model_wrote_is_only_ever_text() -> None:
    judged = JudgedText(f"# Plan {HOSTILE}\r\n{HOSTILE}")
    rows = [
        made_row(
            8, question=HOSTILE, variant=HOSTILE, target=HOSTILE, output=HOSTILE, judge=judge, text=judged,
            quotes=(HOSTILE, HOSTILE + "?", "", "# Plan"), reply=reply,
        )
        for judge, reply in ((HOSTILE, None), ("k", HOSTILE), ("l", ""))
    ]  # fmt: skip
    written, page = page_of(rows, {judged.sha256: judged.text}, RunLog(**{**as_fields(LOG), "experiment": HOSTILE}))
    check_well_formed(page)
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "src"]
    assert page.of("script") == page.of("img") == []
    assert not re.search("[\x00\x1b\u202e\ud835\r]", written)
    assert "\\u000d" not in written  # of a line's end
    assert written.encode()


def test_the_page_names_its_language_policy_and_headings_in_order() -> None:
    _, page = page_of([made_row(8), made_row(8, judge="k")])
    assert page.of("html") == [{"lang": "en"}]
    (policy,) = (one for one in page.of("meta") if "http-equiv" in one)
    assert str(policy["content"]).startswith("default-src 'none';")
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attributes.get("scope") for attributes in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table"))


def big_rows(character: str, n: int, n_quotes: int = 4) -> tuple[list[EvaluationRow], dict[str, str]]:
    """`n` evaluations of texts of 20,000 characters with quotes all over them."""
    rng = random.Random(7)
    rows, texts = [], {}
    for at in range(n):
        words = f"{at} " + character * 19_990
        quotes = []
        for number in range(n_quotes):
            start = rng.randrange(19_000)
            words = words[:start] + f"<q{number}>" + words[start + 4 :]
            quotes.append(f"<q{number}>")
        judged = JudgedText(words)
        rows.append(made_row(8, output=f"o{at}", text=judged, quotes=quotes))
        texts[judged.sha256] = words
    return rows, texts


@pytest.mark.slow
@pytest.mark.parametrize("character", ["a", '"', "\u202e", "漢", "\U0001f600"])
def test_texts_of_20000_characters_and_300_evaluations_stay_under_20_mb(character: str) -> None:
    rows, texts = big_rows(character, 300)
    written, page = page_of(rows, texts)
    check_well_formed(page)
    assert len(written.encode()) < 20_000_000
    assert written.count("<mark>") >= 300
    if character == "a":
        assert "left out here" not in written
    else:
        assert "characters are left out here. The record keeps the whole text under its SHA-256, " in written


@pytest.mark.slow
def test_more_evaluations_than_fit_lead_to_the_archive() -> None:
    judged = JudgedText(TEXT)
    rows = [made_row(8, output=f"o{at}", text=judged) for at in range(MAX_OPENED + 500)]
    written, page = page_of(rows)
    check_well_formed(page)
    assert f"Here are the first {MAX_OPENED:,}; 500 more are in the archive." in written
    assert len(page.of("details")) == MAX_OPENED + 1
    assert len(written.encode()) < 20_000_000
    last = sorted_rows(rows)[-1]
    assert f'href="archive/{ArchiveNames(rows).path(last)}"' in written


def test_real_judgements_have_a_page() -> None:
    rows, texts = drift_lab_rows(Options(evidence="report"))
    written, page = page_of(rows, texts)
    check_well_formed(page)
    found = sum(item.located in ("exact", "normalised", "fragments") for row in rows for item in row.evidence)
    missing = sum(len(row.evidence) for row in rows) - found
    assert written.count('class="quote found"') == found
    assert written.count('class="quote missing"') == missing
    for words in texts.values():
        assert str(text(words[:12].replace("\r", ""))) in written


@pytest.mark.slow
def test_a_browser_draws_it(tmp_path: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("chromium is not here")
    place = tmp_path / "page.html"
    place.write_text(
        page_of([made_row(8), made_row(2, judge="k", quotes=("# Plan", "no", "", "x"))])[0], encoding="utf-8"
    )
    flags = ["--headless", *FLAGS, f"--user-data-dir={tmp_path}/profile", "--dump-dom"]
    done = subprocess.run([CHROMIUM, *flags, place.as_uri()], capture_output=True, timeout=120, check=False)
    dom = done.stdout.decode("utf-8")
    assert dom.count("<mark>") >= 4
    assert "not in the judged text" in dom


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::EncodingWarning")  # axe reads its own script so
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_used_by_everybody(tmp_path: Path, scheme: Literal["light", "dark"]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    rows = [made_row(8), made_row(2, judge="k", quotes=("# Plan", "no", "", "x")), made_row(5, judge="t")]
    place = tmp_path / "page.html"
    opened = page_of(rows)[0].replace('<details class="evaluation"', '<details open class="evaluation"')
    place.write_text(opened, encoding="utf-8")
    with started_browser() as started:
        page = started.new_context(color_scheme=scheme, bypass_csp=True).new_page()
        page.goto(place.as_uri())
        found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_pieces_of_overlapping_quotes() -> None:
    spans = [(1, [SpanRow(2, 6)]), (2, [SpanRow(4, 8)]), (3, [SpanRow(4, 8), SpanRow(9, 10)])]
    assert marked_pieces(12, spans) == (
        Piece(0, 2, ()), Piece(2, 4, (1,)), Piece(4, 6, (1, 2, 3)), Piece(6, 8, (2, 3)), Piece(8, 9, ()),
        Piece(9, 10, (3,)), Piece(10, 12, ()),
    )  # fmt: skip
    assert marked_pieces(0, [(1, [])]) == ()
    assert marked_pieces(3, [(1, [SpanRow(1, 99)])]) == (Piece(0, 1, ()), Piece(1, 3, (1,)))


spans_of = st.lists(
    st.tuples(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=3)), max_size=4
).map(lambda some: [(number, [SpanRow(start, start + size) for start, size in spans]) for number, spans in some])


@given(st.integers(0, 60), spans_of)
def test_pieces_are_the_whole_text_and_each_character_has_its_quotes(
    length: int, spans: list[tuple[int, list[SpanRow]]]
) -> None:
    pieces = marked_pieces(length, spans)
    at = 0
    for piece in pieces:
        assert piece.start == at < piece.end
        at = piece.end
        for position in range(piece.start, piece.end):
            quotes = {number for number, some in spans if any(one.start <= position < one.end for one in some)}
            assert set(piece.quotes) == quotes
    assert at == length


@given(st.text(max_size=300), spans_of, st.integers(0, 3_000))
def test_an_excerpt_holds_every_mark_or_nothing_but_its_beginning(
    words: str, spans: list[tuple[int, list[SpanRow]]], n_bytes: int
) -> None:
    pieces = marked_pieces(len(words), spans)
    shown = excerpt(words, pieces, n_bytes)
    size = sum(len(text(words[piece.start : piece.end]).encode()) for piece in shown.pieces)
    assert size <= n_bytes
    assert shown.left_out == len(words) - sum(piece.end - piece.start for piece in shown.pieces)
    assert [piece.start for piece in shown.pieces] == sorted({piece.start for piece in shown.pieces})
    marks = [piece for piece in pieces if piece.quotes]
    kept = [piece for piece in shown.pieces if piece.quotes]
    assert kept in ([], marks)
    if not shown.left_out:
        assert shown.pieces == pieces


@given(st.text(st.characters(codec=None), max_size=300), st.integers(0, 500))
def test_what_fits_is_the_longest_beginning_that_does(words: str, n_bytes: int) -> None:
    shown = fitting(words, n_bytes)
    assert words.startswith(shown)
    assert len(text(shown).encode()) <= n_bytes
    if len(shown) < len(words):
        assert len(text(words[: len(shown) + 1]).encode()) > n_bytes
