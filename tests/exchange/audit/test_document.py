"""Audits as people read them: one sentence first, and texts of others as nothing but text."""

from __future__ import annotations

import pytest
from hypothesis import given

from benchbook.exchange.audit.document import audit_document, verdict_sentence
from benchbook.exchange.audit.result import LogAudit
from benchbook.exchange.log import LogNote, LogSample, LogScorer
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.terminal import document_lines
from exchange.audit.made_logs import audit, claim, sample, samples, scored
from hostile import texts
from support import examples

FOUR = samples(1.0, 1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((), "The log claims no number of its samples"),
        ((0.75,), "The number follows from the samples"),
        ((0.75, 0.75), "All 2 numbers follow from the samples"),
        ((0.75, 0.8), "1 of 2 numbers does not follow from the samples"),
        ((0.1, 0.8, None), "2 of 3 numbers do not follow from the samples"),
        ((0.75, None), "1 of 2 numbers follows from the samples; 1 can't be told"),
        ((None,), "Whether its number follows from the samples can't be told"),
    ],
)
def test_the_verdict_is_a_sentence(values: tuple[float | None, ...], words: str) -> None:
    assert verdict_sentence(audit(FOUR, *map(claim, values))) == words


def test_a_terminal_has_both_numbers_and_the_reason() -> None:
    shown = "\n".join(document_lines(audit_document([audit(FOUR, claim(75.0), claim(0.75))]), width=200))
    assert "✕ match mean: 75 does not follow: computed 0.75; it is a percentage" in shown
    assert "✓ match mean: 0.75 follows" in shown
    assert "match: mean 0.75 of 4 scored; 95 % interval 0.3006 to 0.9544" in shown


def test_what_does_not_follow_comes_first() -> None:
    page = "".join(markdown_page(audit_document([audit(FOUR, claim(0.75), claim(None), claim(0.1))])))
    rows = [line for line in page.splitlines() if line.startswith("| match mean")]
    assert [row.split(" | ")[3] for row in rows] == ["does not follow", "can't be told", "follows"]


def test_several_logs_have_a_table_and_a_part_each() -> None:
    logs = [audit(FOUR, claim(0.75), task="first"), audit(FOUR, claim(0.5), task="second")]
    page = "".join(markdown_page(audit_document(logs)))
    assert page.startswith("# 1 of 2 numbers does not follow from the samples")
    assert "| made.json | second | m/1 | 0 | 1 | 0 |" in page
    assert page.count("\n## made.json, ") == 2
    assert "".join(html_page(audit_document(logs))).count('id="numbers-') == 4  # section and heading


def hostile(text: str) -> LogAudit:
    judge = LogScorer(name=text, lowest=0, highest=0.5, judge=text)
    said = scored(1.0, guessed=text, explanation=f'The submission states: "{text} and so on and on".')
    held: list[LogSample] = [
        sample(text, scores={text: said}, answer=text, prompt=text or "p", references=(text,), group=text, limit=text),
        sample(
            f"{text}2", scores={text: scored(None)}, prompt=text or "p", references=("other",), metadata={text: text}
        ),
    ]
    claims = (
        claim(0.5, scorer=text, metric=text, where=text),
        claim(0.5, None, why_not=text),
        claim(0.5, scorer=text, only=(text, text)),
    )
    notes = [LogNote(code="note", words=text)]
    return audit(
        held, *claims, scorers=(judge,), task=text, model=text, form=text, status="failed", error=text, notes=notes
    )


@given(texts)
@examples(60)
def test_texts_of_others_are_inert(text: str) -> None:
    logs = [hostile(text), hostile(text)]
    for document in (audit_document(logs), audit_document(logs[:1])):
        shown = "\n".join(document_lines(document, width=120))
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        shown.encode()
        page = "".join(html_page(document))
        page.encode()
        assert "<script" not in page
        assert "<b>" not in page
        "".join(markdown_page(document)).encode()
