"""Made-up runs to compare, with rows of samples.parquet written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from benchbook.comparison.items import ComparedRun, compared_columns, compared_items
from benchbook.evaluators.registry import evaluator_named

SPEC = "answer_correctness@v1"
SCHEMA: Mapping[str, Any] = {
    "sample": pl.Int64, "item_id": pl.String, "repeat": pl.Int64, "section": pl.String, "category": pl.String,
    "difficulty": pl.String, "group": pl.String, "answer_format": pl.String, "prompt": pl.String,
    "expected": pl.String, "predicted": pl.String, "correctness": pl.Float64, "miss_reason": pl.String,
    "error": pl.String,
}  # fmt: skip


def answer(item_id: str, predicted: str | None, **more: Any) -> dict[str, Any]:
    """One row: the expected answer is `yes` and the prompt is the id's own, unless `more` has others."""
    row = dict.fromkeys(SCHEMA) | {
        "item_id": item_id,
        "prompt": f"Prompt of {item_id}?",
        "expected": "yes",
        "repeat": 0,
    }
    row |= {"predicted": predicted} | more
    right = predicted == row["expected"]
    inside = predicted is not None and row["expected"] in predicted
    why = "no_prediction" if predicted is None else "expected_inside_longer_text" if inside else "different"
    return row | {"correctness": float(right), "miss_reason": None if right else why}


def samples(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([row | {"sample": place} for place, row in enumerate(rows)], SCHEMA)


def run_of(name: str, frame: pl.DataFrame, spec: str = SPEC, manifest: Mapping[str, Any] | None = None) -> ComparedRun:
    """A run with these rows of samples.parquet, under a shipped evaluator."""
    evaluator = evaluator_named(spec)
    items = compared_items(frame, evaluator, manifest)
    return ComparedRun(name, spec, items, compared_columns(evaluator), manifest or {})


def answers(name: str, *rows: dict[str, Any], **manifest: Any) -> ComparedRun:
    """An `answer_correctness@v1` run of these rows."""
    return run_of(name, samples(rows), manifest=manifest)


def marks(name: str, pattern: str, **more: Any) -> ComparedRun:
    """A run whose items are right where `pattern` has a 1: `marks("a", "101")`."""
    rows = [answer(f"i{place}", "yes" if mark == "1" else "no", **more) for place, mark in enumerate(pattern)]
    return answers(name, *rows)


def scores(name: str, *rows: tuple[str, int, float | None, bool]) -> ComparedRun:
    """A `rubric@v1` run: (item, repeat, sample_score, passed)."""
    frame = pl.DataFrame(
        [
            {
                "sample": place, "item_id": item, "repeat": repeat, "prompt": f"Prompt of {item}?", "expected": "yes",
                "candidate_answer": f"{item} {score}", "sample_score": score, "passed": passed,
            }
            for place, (item, repeat, score, passed) in enumerate(rows)
        ],
        {
            "sample": pl.Int64, "item_id": pl.String, "repeat": pl.Int64, "prompt": pl.String, "expected": pl.String,
            "candidate_answer": pl.String, "sample_score": pl.Float64, "passed": pl.Boolean,
        },
    )  # fmt: skip
    return run_of(name, frame, "rubric@v1")


def unanswered(name: str, values: Sequence[float | None], **manifest: Any) -> ComparedRun:
    """A `rubric@v1` run of derivation 3 in which every scored sample passes; None is a sample left unanswered."""
    frame = pl.DataFrame(
        [
            {
                "sample": place, "item_id": f"i{place}", "repeat": 0, "prompt": f"Prompt of i{place}?",
                "expected": "yes", "candidate_answer": None if value is None else f"i{place} {value}",
                "sample_score": value, "passed": value is not None,
                "accuracy_score": None if value is None else 2,
                "candidate_error": "provider_error" if value is None else None,
            }
            for place, value in enumerate(values)
        ],
        {
            "sample": pl.Int64, "item_id": pl.String, "repeat": pl.Int64, "prompt": pl.String, "expected": pl.String,
            "candidate_answer": pl.String, "sample_score": pl.Float64, "passed": pl.Boolean,
            "accuracy_score": pl.Int64, "candidate_error": pl.String,
        },
    )  # fmt: skip
    return run_of(name, frame, "rubric@v1", manifest)
