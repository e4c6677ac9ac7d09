"""The real judgements of prompt-drift-lab as evaluation rows, read in place.

Its five dimensions are put onto the protocol's four by a table of this test alone: what an import declares is the
import's to test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.protocol.evaluation_rows import CellId, EvaluationRow, JudgedText, asked_about, evaluation_row
from benchbook.evaluators.protocol.findings import SameModel
from benchbook.evaluators.protocol.validity import Options
from evaluators.protocol.made_evaluations import reply_text
from support import shared_data

TARGETS = {"gemini": "google_gemini-3-pro", "claude": "anthropic_claude-sonnet-4.5_extended-thinking"}
FROM_FIVE = {
    "FORMAT_COMPLIANCE": "A_structure",
    "INSTRUCTION_COMPLIANCE": "B_snapshot_constraint",
    "SEMANTIC_FIDELITY": "E_drift_failure",
    "COMPLETENESS": "D_completeness",
}
BUNDLES = (
    "v0_baseline_judge/judge_chatgpt_bundle_gemini",
    "v0_baseline_judge/judge_claude_bundle_gemini",
    "v0_baseline_judge/judge_gemini_bundle_claude",
    "v0_invalid/self_judge_claude",
    "v0_invalid/self_judge_gemini",
)


@cache
def _pdf_text(path: Path) -> JudgedText:
    pdfium = pytest.importorskip("pypdfium2")
    with pdfium.PdfDocument(path) as document:
        return JudgedText("\n".join(page.get_textpage().get_text_range() for page in document))


def drift_lab_rows(options: Options | None = None) -> tuple[list[EvaluationRow], dict[str, str]]:
    """The rows, and the judged texts by hash. The test that calls this is skipped where the data is absent."""
    folder = shared_data("prompt-drift-lab")
    rows, texts = [], {}
    for bundle in BUNDLES:
        _, name = bundle.split("/")
        judge, target = name.split("_")[1], name.rsplit("_", 1)[-1]
        judge = target if judge == "judge" else judge
        for file, scores, quotes in _judgements(
            json.loads((folder / f"judge_bundles/{bundle}.json").read_text("utf-8"))
        ):
            text = _pdf_text(folder / "outputs" / TARGETS[target] / file)
            question, variant = file.removesuffix(".pdf").split("_", 1)
            cell = CellId(question, variant, TARGETS[target], file)
            asked = asked_about(cell, TARGETS.get(judge, judge), SameModel())
            rows.append(evaluation_row(asked, reply_text(asked.meta(), scores, quotes), text, options=options))
            texts[text.sha256] = text.text
    return rows, texts


def _judgements(bundle: dict[str, Any]) -> Iterator[tuple[str, list[int], list[str]]]:
    for judged in bundle["per_file_scores"]:
        file = (judged.get("file") or judged["file_name"]).rsplit("/", 1)[-1].replace(" ", "_")
        evidence = judged["evidence"]
        scores = [judged["scores"][name] for name in FROM_FIVE.values()]
        quotes = [evidence.get(name, "") if isinstance(evidence, dict) else evidence[0] for name in FROM_FIVE.values()]
        yield file, scores, quotes
