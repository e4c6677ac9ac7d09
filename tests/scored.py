"""Records of `answer_correctness@v1`, made quickly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchbook.ask.starting import RunResult
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig

ITEMS = (
    {"id": "a", "prompt": "1 + 1?", "expected_answer": "2", "section": "core", "difficulty": "easy"},
    {"id": "b", "prompt": "Capital of France?", "expected_answer": "Paris", "section": "core", "difficulty": "hard"},
    {"id": "c", "prompt": "2 * 3?", "expected_answer": "6", "section": "edge_case", "answer_format": "answer_prefix"},
    {"id": "d", "prompt": "5 / 2?", "expected_answer": "2.50", "difficulty": "easy"},
    {"id": "e", "prompt": "Say nothing.", "expected_answer": "nothing"},
)
PREDICTIONS = (
    {"item_id": "b", "predicted": " PARIS \n", "eval_time_ms": 12, "step": 300},
    {"item_id": "a", "predicted": "It is 2.", "eval_time_ms": 7, "step": 300},
    {"item_id": "c", "predicted": "Thinking...\nAnswer: 6", "eval_time_ms": None, "step": 300},
    {"item_id": "d", "predicted": "2.5", "eval_time_ms": 0, "step": 300},
)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def scored(
    folder: Path,
    predictions: Sequence[Mapping[str, Any]] | None = PREDICTIONS,
    items: Sequence[Mapping[str, Any]] = ITEMS,
    **settings: Any,
) -> RunResult:
    evalset = write_lines(folder / "items.jsonl", items)
    path = None if predictions is None else str(write_lines(folder / "predictions.jsonl", predictions))
    values = {"evalset": str(evalset), "predictions": path, "runs": str(folder / "runs"), "run_id": "run"}
    return score_predictions(ScoreConfig(**(values | settings)))
