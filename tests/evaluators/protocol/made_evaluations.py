"""Evaluations made by hand: replies as a judge writes them, and their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchbook.evaluators.protocol.evaluation_rows import CellId, EvaluationRow, JudgedText, asked_about, evaluation_row
from benchbook.evaluators.protocol.findings import SameModel
from benchbook.evaluators.protocol.validity import Options

DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
TEXT = "# Plan\n\n1. Collect the invoices from March.\n2. Check each total against the ledger.\n"
QUOTES = ("# Plan", "Collect  the INVOICES", "Collect ... the ledger", "each total")
JUDGED = JudgedText(TEXT)


def reply_text(meta: dict[str, str], scores: Sequence[int], quotes: Sequence[str] = QUOTES, **other: Any) -> str:
    """A strict reply; `other` replaces its fields."""
    total = sum(scores)
    return json.dumps(
        {
            "meta": {**meta, "timestamp": "2026-03-14"},
            "scores": {**dict(zip(DIMENSIONS, scores, strict=True)), "overall_score": total},
            "verdict": "FAIL" if total <= 3 else "PASS" if total >= 7 else "PARTIAL",
            "flags": [],
            "evidence": [
                {"dimension": dimension, "quote": quote, "reason": "It shows."}
                for dimension, quote in zip(DIMENSIONS, quotes, strict=True)
            ],
            "notes": "",
            **other,
        },
        ensure_ascii=False,
    )


def split_points(total: int) -> tuple[int, int, int, int]:
    """Four scores of 0 to 2 that add up to `total`, first ones first."""
    first, second, third, fourth = (max(0, min(2, total - 2 * at)) for at in range(4))
    return first, second, third, fourth


def made_row(
    total: int | Sequence[int],
    *,
    question: str = "Q1",
    variant: str = "A",
    target: str = "t",
    output: str = "o",
    judge: str = "j",
    repeat: int = 0,
    text: JudgedText = JUDGED,
    quotes: Sequence[str] = QUOTES,
    reply: str | None = None,
    options: Options | None = None,
    prompt_sha256: str | None = None,
    **other: Any,
) -> EvaluationRow:
    """The row of a judge that gives `total` points (or four scores); `reply` replaces what it says."""
    asked = asked_about(CellId(question, variant, target, output), judge, SameModel(), repeat)
    scores = split_points(total) if isinstance(total, int) else total
    raw = reply if reply is not None else reply_text(asked.meta(), scores, quotes, **other)
    return evaluation_row(asked, raw, text, options=options, prompt_sha256=prompt_sha256, fact_seq=7)
