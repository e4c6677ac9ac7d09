"""SPEC P4.1 on real judgements: the table of quotes in the shared data's README."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.quotes import LengthRule, locate
from support import shared_data

KINDS = ("exact", "normalised", "fragments", "not_found", "empty")
TARGETS = {"gemini": "google_gemini-3-pro", "claude": "anthropic_claude-sonnet-4.5_extended-thinking"}


@cache
def pdf_text(path: Path) -> NormalisedText:
    pdfium = pytest.importorskip("pypdfium2")
    with pdfium.PdfDocument(path) as document:
        return NormalisedText("\n".join(page.get_textpage().get_text_range() for page in document))


def quotes(bundle: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(file name, quote) for every quote. What the README says of these bundles' shapes is all that is evened out."""
    for judged in bundle["per_file_scores"]:
        name = judged.get("file") or judged["file_name"]
        evidence = judged["evidence"]
        for quote in evidence.values() if isinstance(evidence, dict) else evidence:
            yield name.rsplit("/", 1)[-1].replace(" ", "_"), quote


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("v0_baseline_judge/judge_chatgpt_bundle_claude", (1, 13, 0, 18, 48)),
        pytest.param("v0_baseline_judge/judge_chatgpt_bundle_gemini", (0, 0, 8, 40, 0)),
        pytest.param("v0_baseline_judge/judge_claude_bundle_gemini", (3, 8, 9, 60, 0)),
        pytest.param("v0_baseline_judge/judge_gemini_bundle_claude", (0, 0, 2, 42, 0)),
        pytest.param("v0_invalid/judge_claude_bundle_gemini", (1, 0, 23, 56, 0)),
        pytest.param("v0_invalid/judge_gemini_bundle_claude", (0, 0, 0, 80, 0)),
        pytest.param("v0_invalid/self_judge_claude", (13, 0, 13, 54, 0)),
        pytest.param("v0_invalid/self_judge_gemini", (16, 6, 29, 29, 0)),
        pytest.param("v1_paraphrase_judge/judge_chatgpt_bundle_gemini", (30, 1, 0, 49, 0)),
        pytest.param("v2_schema_strict_judge/judge_chatgpt_bundle_gemini", (35, 0, 0, 45, 0)),
    ],
)
def test_quotes_of_a_real_bundle_are_located_as_the_readme_says(name: str, expected: tuple[int, ...]) -> None:
    folder = shared_data("prompt-drift-lab")
    outputs = folder / "outputs" / TARGETS[name.rsplit("_", 1)[-1]]
    bundle = json.loads((folder / "judge_bundles" / f"{name}.json").read_text("utf-8"))
    counts: Counter[str] = Counter()
    for file, quote in quotes(bundle):
        text = pdf_text(outputs / file)
        found = locate(quote, text, LengthRule(4, 2))
        counts[found.kind] += 1
        assert all(text.text[start:end].strip() for start, end in found.spans)
    assert tuple(counts[kind] for kind in KINDS) == expected
