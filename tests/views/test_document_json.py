"""A document as JSON: what the page shows, numbers as they are written and as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchbook.evaluators.document import HTML, TERMINAL, Document, Lines, Paragraph, Section, Value, table
from benchbook.views.digest import digest_of
from benchbook.views.json import document_json
from benchbook.views.rubric import run_document
from views.made_up import shown

ROWS = [("a", Value("rate", 0.84996, apart_from=0.85)), ("b", Value("rate", None, unknown="no data")), ("c", 3)]


def as_read(made: Document) -> dict[str, Any]:
    return dict(json.loads(json.dumps(document_json(made))))


def test_a_number_is_written_as_everywhere_and_stands_beside_it() -> None:
    made = Document("T", "rubric@v1", (table("Rates", {"Which": "text", "Rate": "rate"}, ROWS),), digest="ab")
    assert as_read(made) == {
        "title": "T",
        "by": "rubric@v1",
        "digest": "ab",
        "blocks": [
            {
                "block": "table",
                "caption": "Rates",
                "columns": [{"name": "Which", "number": False}, {"name": "Rate", "number": True}],
                "rows": [["a", "84.996 %"], ["b", "– (no data)"], ["c", "300.0 %"]],
                "values": [[None, 0.84996], [None, None], [None, 3]],
            }
        ],
    }


def test_what_is_for_a_terminal_alone_is_left_out_and_text_stays_text() -> None:
    blocks = (Paragraph("<b>", only=HTML), Paragraph("t", only=TERMINAL), Lines(("l",)))
    (found,) = as_read(Document("T", "x", (Section("s", "S", blocks),)))["blocks"]
    paragraph = {"block": "paragraph", "text": "<b>", "tone": "plain"}
    assert found == {"block": "section", "id": "s", "title": "S", "blocks": [paragraph]}


@pytest.mark.parametrize("kind", ["realistic", "missing", "empty", "hostile"])
def test_a_report_is_json_with_the_parts_of_the_page(kind: str) -> None:
    made = shown(kind)
    digest = digest_of(made)
    found = as_read(run_document(made, digest))
    sections = [one["id"] for one in found["blocks"] if one["block"] == "section"]
    assert sections[0] == "gates"
    assert sections[-2:] == ["reproducibility", "verify"]
    items = [one["title"] for one in found["blocks"] if one["block"] == "item"]
    assert items == [f"Sample {row.sample}" for row in (*digest.failed, *digest.passed)]
